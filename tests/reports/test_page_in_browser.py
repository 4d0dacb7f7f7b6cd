"""The page in a real Chromium, from disk: what a click, a key and a filter do, at a phone's and a desktop's width."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from nestsync.reports import html
from nestsync.reports.facts import ActionRow, Capped, Digest
from tests.reports import samples

pytestmark = pytest.mark.browser

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
EVERY = pytest.mark.parametrize("sample", samples.EVERY, ids=lambda sample: sample.__name__)
WIDTHS = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab that remembers what went wrong and what was asked of the network."""
    tab = browser.new_page(viewport=DESKTOP)  # type: ignore[arg-type]
    yield tab
    tab.close()


def opened(page: Page, digest: Digest, folder: Path) -> Page:
    path = html.write(digest, folder)
    page.goto(path.as_uri())
    return page


def shown(page: Page, table: str) -> int:
    return page.locator(f"#{table}-table tbody tr:visible").count()


@EVERY
@WIDTHS
def test_the_page_asks_for_nothing_complains_of_nothing_and_fits(
    page: Page, sample: Any, size: Any, tmp_path: Path
) -> None:
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size(size)
    opened(page, sample(), tmp_path)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert said == []
    assert asked == [(tmp_path / html.FILE).as_uri()]


def test_a_filter_keeps_the_rows_with_all_its_words(page: Page, tmp_path: Path) -> None:
    digest = samples.blocked()
    assert digest.findings is not None
    opened(page, digest, tmp_path)
    before = shown(page, "findings")
    assert before == len(digest.findings.rows)
    page.get_by_label("Filter findings").fill("missing-parent OLD")
    assert shown(page, "findings") == 1
    assert page.locator("[data-table=findings] output").inner_text() == f"1 of {before} shown"
    page.get_by_label("Filter findings").fill("")
    assert shown(page, "findings") == before


def test_a_severity_is_pressed_and_let_go(page: Page, tmp_path: Path) -> None:
    digest = samples.blocked()
    assert digest.findings is not None
    opened(page, digest, tmp_path)
    chip = page.get_by_role("button", name="warning 2")
    chip.click()
    assert chip.get_attribute("aria-pressed") == "true"
    assert shown(page, "findings") == 2
    chip.click()
    assert shown(page, "findings") == len(digest.findings.rows)


def test_a_column_sorts_up_and_down(page: Page, tmp_path: Path) -> None:
    opened(page, samples.blocked(), tmp_path)
    rules = page.locator("#findings-table tbody tr .rule")
    head = page.locator("#findings-table th", has_text="Rule")
    head.get_by_role("button").click()
    up = rules.all_inner_texts()
    assert up == sorted(up)
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").click()
    assert rules.all_inner_texts() == sorted(up, reverse=True)


def test_severities_sort_by_weight_and_not_by_letter(page: Page, tmp_path: Path) -> None:
    opened(page, samples.blocked(), tmp_path)
    page.locator("#findings-table th", has_text="Severity").get_by_role("button").click()
    words = page.locator("#findings-table tbody tr .tag").all_inner_texts()
    assert list(dict.fromkeys(words)) == ["blocking", "warning", "info"]


def test_what_is_shown_can_be_had_as_csv_with_names_that_come_back(page: Page, tmp_path: Path) -> None:
    digest = samples.blocked()
    formula = replace(samples.finding(("hive", "sum")), message="=1+1", hint='say "no"')
    digest = replace(digest, findings=Capped((formula, *samples.blocked().findings.rows), 18, "findings.csv"))  # type: ignore[union-attr]
    opened(page, digest, tmp_path)
    page.get_by_label("Filter findings").fill("hms_main")
    with page.expect_download() as download:
        page.locator("[data-table=findings] .csv").click()
    assert download.value.suggested_filename == "findings-shown.csv"
    with download.value.path().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == shown(page, "findings")
    assert rows[0] == {
        "severity": "blocking",
        "rule": "separator-conflict",
        "object": "namespace in hms_main",
        "levels": '["hive","sum"]',
        "name": "",
        "message": "'=1+1",
        "hint": 'say "no"',
    }
    levels = [json.loads(row["levels"]) for row in rows]
    assert ["hive", "<img src=x onerror=alert(1)>"] in levels
    assert ["hive", "a&b;$x${y}{{ 7*7 }}"] in levels


UNSEEN = (
    "",
    " a",
    "a ",
    "empty",
    "␣a",
    "\x1f",
    "\\u001F",
    "a\u200bb",
    "\u202ex",
    "=1+1",
    'say "no"',
    "a,b\r\nc",
    "<u>",
)


def exported(page: Page, table: str) -> list[dict[str, str]]:
    """The rows of a table as the page's CSV file gives them back."""
    with page.expect_download() as download:
        page.locator(f"[data-table={table}] .csv").click()
    with download.value.path().open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_levels_and_names_come_back_from_the_csv_whatever_is_in_them(page: Page, tmp_path: Path) -> None:
    rows = tuple(samples.finding(("hive", text), name=text or None, message="said") for text in UNSEEN)
    actions = tuple(
        ActionRow("create_namespace", levels, "pending", "why", None, ())
        for levels in [(), *((text,) for text in UNSEEN)]
    )
    digest = replace(
        samples.blocked(),
        findings=Capped(rows, len(rows), "findings.csv"),
        actions=Capped(actions, len(actions), "actions.csv"),
        action_counts={("create_namespace", "pending"): len(actions)},
    )
    opened(page, digest, tmp_path)
    found = exported(page, "findings")
    assert [json.loads(row["levels"]) for row in found] == [["hive", text] for text in UNSEEN]
    assert [json.loads(row["name"]) if row["name"] else "" for row in found] == list(UNSEEN)
    planned = exported(page, "plan")
    assert [json.loads(row["levels"]) for row in planned] == [[], *([text] for text in UNSEEN)]


def test_a_written_action_says_on_which_day(page: Page, tmp_path: Path) -> None:
    at = datetime(2026, 11, 29, 1, 6, 12, tzinfo=UTC)
    digest = replace(
        samples.finished(),
        actions=Capped((ActionRow("create_namespace", ("a",), "applied", "why", None, (), at),), 1, "actions.csv"),
    )
    opened(page, digest, tmp_path)
    assert page.locator("#plan-table time").inner_text() == "2026-11-29 01:06:12 UTC"
    assert exported(page, "plan")[0]["at"] == "2026-11-29 01:06:12 UTC"
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_plan_is_filtered_by_its_outcome(page: Page, tmp_path: Path) -> None:
    digest = samples.finished()
    opened(page, digest, tmp_path)
    applied = digest.action_counts["create_namespace", "applied"]
    page.get_by_role("button", name=f"applied {applied}").click()
    assert shown(page, "plan") == applied


def test_finding_a_namespace_shows_it_with_its_parents(page: Page, tmp_path: Path) -> None:
    opened(page, samples.finished(), tmp_path)
    page.get_by_label("Find a namespace").fill("ledger")
    lines = page.locator(".tree .line:visible > .n:first-child").all_inner_texts()
    assert [line.strip() for line in lines] == ["finance", "ledger", "daily", "orders", "returns"]
    assert page.locator("[data-tree] output").inner_text() == "4 found"


def test_a_folder_closes_and_opens_by_key(page: Page, tmp_path: Path) -> None:
    opened(page, samples.finished(), tmp_path)
    before = page.locator(".tree .line:visible").count()
    summary = page.locator(".tree summary").first
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator(".tree .line:visible").count() < before
    page.keyboard.press("Enter")
    assert page.locator(".tree .line:visible").count() == before


def test_the_first_tab_skips_to_the_report(page: Page, tmp_path: Path) -> None:
    opened(page, samples.blocked(), tmp_path)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    page.wait_for_url("**/index.html#main")


def test_a_screen_reader_is_told_what_tables_and_names_are(page: Page, tmp_path: Path) -> None:
    opened(page, samples.blocked(), tmp_path)
    told = page.locator("#findings").aria_snapshot()
    assert '- searchbox "Filter findings"' in told
    assert '- columnheader "Rule"' in told
    assert "- listitem: team:sales" in told
    assert page.locator("main h2").count() == page.get_by_role("main").get_by_role("heading", level=2).count()


def test_dark_and_light_are_told_apart(page: Page, tmp_path: Path) -> None:
    opened(page, samples.finished(), tmp_path)
    seen = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        seen.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(seen) == 2


def test_on_paper_everything_is_open_and_nothing_is_a_button(page: Page, tmp_path: Path) -> None:
    opened(page, samples.finished(), tmp_path)
    page.get_by_role("button", name="Close all").click()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".tools:visible, .copy:visible").count() == 0
    assert page.locator(".tree .line:visible").count() == page.locator(".tree .line").count()


def test_nothing_is_wider_than_the_paper(page: Page, tmp_path: Path) -> None:
    paper = {"width": 720, "height": 1000}
    page.set_viewport_size(paper)  # type: ignore[arg-type]
    opened(page, samples.blocked(), tmp_path)
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= paper["width"]


def test_a_large_catalog_is_a_page_of_5_mb_at_most_that_can_be_searched(page: Page, tmp_path: Path) -> None:
    opened(page, samples.large(), tmp_path)
    assert (tmp_path / html.FILE).stat().st_size <= 5_000_000
    page.get_by_label("Find a namespace").fill("ns_1234")
    assert page.locator("[data-tree] output").inner_text() == "1 found"
    page.get_by_label("Filter findings").fill("team_17 ns_1")
    assert 0 < shown(page, "findings") < 2_000
