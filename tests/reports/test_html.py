"""The page: self-contained, escaped, bounded, and telling what there is to tell."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from nestsync.reports import html
from nestsync.reports.facts import Capped, Digest, TreeRow
from tests.reports import samples
from tests.reports.checker import complaints
from tests.reports.pages import Page

EVERY = pytest.mark.parametrize("sample", samples.EVERY, ids=lambda sample: sample.__name__)


@EVERY
def test_the_page_loads_nothing_and_runs_its_own_script_alone(sample: Callable[[], Digest]) -> None:
    source = html.render(sample())
    page = Page(source)
    assert page.remote == []
    assert page.handlers == []
    assert "url(" not in source
    assert "@import" not in source
    assert [attrs for attrs in page.tags("script") if attrs] == []
    (script,) = re.findall(r"<script>(.*?)</script>", source, re.DOTALL)
    allowed = base64.b64encode(sha256(script.encode()).digest()).decode()
    (policy,) = [attrs["content"] for attrs in page.tags("meta") if attrs.get("http-equiv")]
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'"


@EVERY
def test_tags_pair_up_and_anchors_lead_somewhere(sample: Callable[[], Digest]) -> None:
    page = Page(html.render(sample()))
    assert page.unpaired == []
    ids = {attrs["id"] for _, attrs in page.elements if "id" in attrs}
    assert {address[1:] for address in page.addresses if address.startswith("#")} <= ids


@EVERY
def test_the_verdict_and_the_next_commands_are_there(sample: Callable[[], Digest]) -> None:
    digest = sample()
    page = Page(html.render(digest))
    assert digest.outcome.verdict in page.text
    assert len(page.tags("pre")) == len(digest.outcome.next_steps)
    for step in digest.outcome.next_steps:
        assert step in page.text


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        pytest.param(samples.finished, "by ann@host-1", id="one"),
        pytest.param(
            samples.blocked,
            "by ann@host-1 (inventory), <img src=x onerror=alert(1)>@unknown (inventory, check)",
            id="several",
        ),
    ],
)
def test_who_ran_it_is_told(sample: Callable[[], Digest], said: str) -> None:
    page = Page(html.render(sample()))
    assert said in page.text


def test_who_sent_what_when_is_told_of_each_action() -> None:
    (first, *_) = Page(html.render(samples.finished())).text.split("create_namespace")[1:]
    assert "2026-11-28 01:02:03 UTC by ann@host-1" in first


def test_the_separator_that_is_configured_is_marked_among_the_candidates() -> None:
    text = " ".join(Page(html.render(samples.blocked())).text.split())
    assert text.count("configured") == 1
    assert re.search(r": \d+ names configured", text)


@pytest.mark.parametrize("changed", [True, False, None])
def test_a_configuration_that_changed_since_is_told(changed: bool | None) -> None:
    page = Page(html.render(replace(samples.finished(), configuration_changed=changed)))
    assert page.text.count("The configuration has changed since this run") == (2 if changed else 0)


def test_the_tree_says_which_findings_stand_where() -> None:
    text = " ".join(Page(html.render(samples.blocked())).text.split())
    assert "raw 2 warnings missing-parent, owner-conflict" in text
    assert "1 blocking round-trip-loss" in text


def test_hostile_names_are_text() -> None:
    page = Page(html.render(samples.blocked()))
    assert page.tags("img") == []
    assert len(page.tags("script")) == 1
    for text in ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "a&b;$x${y}{{ 7*7 }}"):
        assert text in page.text
    assert "\\u202E" in page.text
    assert "\u202e" not in page.text
    assert "a\\u001Fb" in page.text


def test_levels_are_chips_and_never_one_text() -> None:
    source = html.render(samples.blocked())
    assert '<span class="n"><b>hive</b> <b>team:sales</b> </span>' in source
    page = Page(source)
    for joined in ("hive.team", "hive:team", "hive/team", "hiveteam"):
        assert joined not in page.text


def test_what_does_not_fit_is_counted_and_named() -> None:
    digest = samples.blocked()
    assert digest.findings is not None
    shown = digest.findings.rows[:5]
    text = Page(html.render(replace(digest, findings=Capped(shown, 12_345, "findings.csv")))).text
    assert "The first 5 of 12,345 findings; all of them are in findings.csv beside this page." in text


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        pytest.param(samples.unreachable, "The check stage did not run", id="no-check"),
        pytest.param(samples.unreachable, "No catalog was read", id="no-inventory"),
        pytest.param(samples.unreachable, "connection refused by get_catalogs", id="who-did-not-answer"),
        pytest.param(samples.blocked, "Nothing was planned in this run", id="no-plan"),
        pytest.param(samples.finished, "22 created, 1 unchanged", id="outcome"),
        pytest.param(samples.finished, "only in target", id="unplanned-namespace"),
    ],
)
def test_what_did_not_happen_is_said(sample: Callable[[], Digest], said: str) -> None:
    assert said in Page(html.render(sample())).text


@pytest.mark.parametrize(
    ("exit_code", "word"),
    [
        (0, "Done"),
        (1, "Failed"),
        (2, "Not started"),
        (3, "Blocked"),
        (4, "Partly applied"),
        (5, "Unreachable"),
        (6, "Out of date"),
    ],
)
def test_every_exit_code_has_its_word(exit_code: int, word: str) -> None:
    digest = samples.finished()
    page = Page(html.render(replace(digest, outcome=replace(digest.outcome, exit_code=exit_code))))
    assert page.text.count(word) >= 1
    assert any(attrs.get("class", "").startswith("state ") for attrs in page.tags("span"))


def test_the_file_holds_what_no_encoding_can(tmp_path: Path) -> None:
    digest = samples.finished()
    path = html.write(replace(digest, outcome=replace(digest.outcome, verdict="a \ud800 b")), tmp_path)
    assert "\\uD800" in path.read_text(encoding="utf-8")


def test_a_big_run_stays_below_five_megabytes(tmp_path: Path) -> None:
    digest = samples.finished()
    findings = tuple(samples.finding(("hive", f"team:sales_{i}"), name=f"orders_{i}") for i in range(2_000))
    assert digest.tree is not None
    row = digest.tree.rows[2]
    tree = tuple(replace(row, levels=(f"domain_{i // 100:03}", f"team_{i % 100:03}")) for i in range(10_000))
    assert digest.actions is not None
    actions = (digest.actions.rows * 60)[:1_000]
    big = replace(
        digest,
        findings=Capped(findings, 2_000, "findings.csv"),
        cases=samples.cases(findings),
        tree=Capped(tree, 10_000, "namespaces.csv"),
        actions=Capped(actions, 10_000, "actions.csv"),
    )
    assert html.write(big, tmp_path).stat().st_size < 5_000_000


@pytest.mark.parametrize(("rows", "length"), [(200, 10), (10_000, 200), (10_000, 4_000), (3, 2_000_000)])
def test_the_page_is_bounded_however_long_names_are(rows: int, length: int, tmp_path: Path) -> None:
    name = "n" * length
    findings = (samples.finding(("hive", name), message="said"),) * min(rows, 5_000)
    digest = replace(
        samples.continued(),
        findings=Capped(findings, 2_000_000, "findings.csv"),
        tree=Capped((TreeRow((name,), "source"),) * rows, 1_000_000, "namespaces.csv"),
    )
    path = html.write(digest, tmp_path)
    assert path.stat().st_size <= html.LARGEST
    page = Page.read(path)
    assert digest.outcome.verdict in page.text
    assert page.unpaired == []
    for file, total in (("findings.csv", "2,000,000"), ("namespaces.csv", "1,000,000"), ("changes.csv", "1,248")):
        (said,) = re.findall(rf"The first ([\d,]+) of {total}[^.]*; all of them are in {file}", page.text)
        assert file != "namespaces.csv" or length > 10 or said == f"{rows:,}"


def test_the_run_is_compared_with_the_one_before() -> None:
    page = Page(html.render(samples.continued()))
    before = samples.earlier(1, 61, 1).run_id
    assert (
        f"Since run {before}: 12 findings new (12 blocking), 1 table vanished, 1 namespace moved, "
        "1,234 namespaces appeared in the target." in page.text
    )
    assert "died on its way" in page.text
    assert "The first 15 of 1,248; all of them are in changes.csv beside this page." in page.text
    assert (page.tags("img"), page.unpaired, page.remote) == ([], [], [])


def test_the_trend_is_drawn_and_told_in_words() -> None:
    page = Page(html.render(samples.continued()))
    labels = [attrs["aria-label"] for attrs in page.tags("svg") if "since the first" in str(attrs.get("aria-label"))]
    assert labels == [
        "Namespaces: 72, +3 since the first of them",
        "Tables: 212, +12 since the first of them",
        "Findings: 1, -1 since the first of them",
    ]
    assert len(page.tags("polyline")) == 3
    assert "The last 10 runs of these sources" in page.text


def test_a_first_run_says_that_there_is_nothing_to_compare_with() -> None:
    page = Page(html.render(samples.finished()))
    assert "There is no earlier run of these sources to compare with." in page.text
    assert page.tags("polyline") == []


@pytest.mark.system
def test_the_checker_of_html_has_nothing_to_say(tmp_path: Path) -> None:
    """And says so of a page that is wrong."""
    pages = []
    for sample in samples.EVERY:
        folder = tmp_path / sample.__name__
        folder.mkdir()
        pages.append(html.write(sample(), folder).rename(folder / f"{sample.__name__}.html"))
    assert complaints(pages) == []
    wrong = tmp_path / "wrong.html"
    wrong.write_text("<!doctype html><html lang=en><title>wrong</title><p><div>a</div></p><img>", encoding="utf-8")
    assert any("“p” end tag" in complaint for complaint in complaints([wrong]))
