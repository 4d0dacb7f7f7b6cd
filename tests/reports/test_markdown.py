"""The Markdown: read by a real parser, short enough for a comment, and without anything that a name could do in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from nestsync.reports import markdown
from nestsync.reports.facts import Digest, RuleCase, Subject
from nestsync.reports.markdown import CASES_SHOWN, LONGEST, code, sentence
from nestsync.reports.text import plain
from tests.reports import samples

PARSER = MarkdownIt("gfm-like", {"linkify": False, "html": True})
A_COMMENT = 65_536
"""Characters that GitHub takes in one."""
HOSTILE = (
    *samples.HOSTILE,
    "a|b",
    "a\\|b",
    "`tick`",
    "``",
    "`",
    "line\nbreak\r\n# heading",
    "@everyone #1 :smile:",
    "[a](javascript:alert(1))",
    "![x](http://127.0.0.1/x.png)",
    "**bold** _it_ ~~gone~~",
    "https://example.invalid www.example.invalid",
    "&lt;b&gt; &amp;",
    "\u202egnp.exe",
    "- item",
    "1. item",
    "    indented",
    "\\",
)


def tokens(text: str) -> Iterator[Token]:
    for token in PARSER.parse(text):
        yield token
        yield from token.children or ()


def read_back(text: str) -> str:
    """What a reader sees of one paragraph, which must be nothing but text and code."""
    opening, inline, closing = PARSER.parse(text)
    assert (opening.type, closing.type) == ("paragraph_open", "paragraph_close")
    assert {child.type for child in inline.children or ()} <= {"text", "code_inline", "text_special"}, text
    return seen(inline)


@pytest.mark.parametrize("sample", samples.EVERY, ids=lambda sample: sample.__name__)
def test_it_has_the_verdict_the_next_commands_and_the_page(sample: Callable[[], Digest], tmp_path: Path) -> None:
    digest = sample()
    text = markdown.write(digest, tmp_path, "index.html").read_text(encoding="utf-8")
    found = list(tokens(text))
    assert digest.outcome.verdict in [seen(token) for token in found if token.type == "inline"]
    fences = [token.content.rstrip("\n") for token in found if token.type == "fence"]
    assert fences == [step for step in digest.outcome.next_steps if step.startswith("nestsync ") or "\n" in step]
    assert [token.attrGet("href") for token in found if token.type == "link_open"] == ["index.html"]
    assert len(text) < A_COMMENT


def test_findings_are_a_table_by_rule_and_source_most_severe_first() -> None:
    rows = cells(markdown.render(samples.blocked(), "index.html"))
    assert rows[0] == ["severity", "rule", "source", "found", "the first"]
    assert [row[:4] for row in rows[1:]] == [
        ["blocking", "round-trip-loss", "hms_main", "12"],
        ["blocking", "collision", "hms_main", "1"],
        ["blocking", "separator-conflict", "hms_main", "1"],
        ["warning", "missing-parent", "hms_main", "1"],
        ["warning", "unreadable-table", "hms_main", "1"],
        ["info", "not-a-table", "hms_main", "1"],
    ]


def cells(text: str) -> list[list[str]]:
    """The table in `text`, as a reader sees it."""
    rows: list[list[str]] = []
    inside = False
    for token in PARSER.parse(text):
        if token.type == "tr_open":
            rows.append([])
        if token.type == "inline" and inside:
            rows[-1].append(seen(token))
        inside = token.type in ("td_open", "th_open")
    return rows


def seen(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ())


def test_who_ran_it_is_told() -> None:
    assert "UTC by `ann@host-1`: [" in markdown.render(samples.finished(), "index.html")
    assert "UTC by `ann@host-1`, `<img src=x onerror=alert(1)>@unknown`: [" in markdown.render(samples.blocked(), "i")
    assert "UTC: [" in markdown.render(samples.unreachable(), "index.html")


@pytest.mark.parametrize("changed", [True, False, None])
def test_a_configuration_that_changed_since_is_told(changed: bool | None) -> None:
    text = markdown.render(replace(samples.finished(), configuration_changed=changed), "index.html")
    assert ("The configuration has changed since this run" in text) is bool(changed)


def test_the_run_before_is_compared_with() -> None:
    text = markdown.render(samples.continued(), "index.html")
    assert "**Compared with the run before**: Since run" in text
    assert "Compared" not in markdown.render(samples.finished(), "index.html")


def test_what_did_not_run_is_said() -> None:
    text = markdown.render(samples.unreachable(), "index.html")
    assert "not known, the check did not run" in text
    assert "nothing was planned, and nothing was written" in text


def test_plan_and_outcome_are_counted() -> None:
    assert "**Plan and outcome**: 22 created, 1 unchanged" in markdown.render(samples.finished(), "index.html")


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_is_text_wherever_it_stands(name: str) -> None:
    row = samples.finding(("hive", name), message=f"the level {name} is wrong")
    row = replace(row, subject=Subject(name, ("hive", name), name))
    digest = replace(samples.blocked(), cases=(RuleCase("collision", name, "blocking", 1, (row,)),))
    digest = replace(digest, outcome=replace(digest.outcome, verdict=f"{name} did not answer.", next_steps=(name,)))
    text = markdown.render(digest, "index.html")
    kinds = {token.type for token in tokens(text)}
    assert kinds <= {
        *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text", "code_inline"),
        *("strong_open", "strong_close", "link_open", "link_close", "fence", "softbreak", "text_special"),
        *(f"{part}_{side}" for part in ("table", "thead", "tbody", "tr", "th", "td") for side in ("open", "close")),
        *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    }
    links = [token.attrGet("href") for token in tokens(text) if token.type == "link_open"]
    assert links == ["index.html"]
    (_, row_cells) = cells(text)
    message = plain(f"the level {name} is wrong").replace("\\|", "\\\\u007C")
    assert row_cells[4].endswith(message if len(message) <= LONGEST else "…")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)


ANY = st.text(st.characters(), max_size=40) | st.text("<>&`|\\*_[]()#@!:~-+1. \n\u202e", max_size=20)


@given(ANY)
def test_code_gives_back_what_was_put_in(text: str) -> None:
    found = read_back(code(text))
    assert found in (plain(text), f'"{plain(text)}"')


@given(ANY.filter(lambda text: text.strip()))
def test_a_sentence_gives_back_what_was_put_in(text: str) -> None:
    assert read_back(sentence(text)).strip() in (plain(text).strip(), f'"{plain(text)}"')


@pytest.mark.parametrize(
    "said",
    [
        *("ask @platform", "as in #12", "see www.example.invalid", "see WWW.example.invalid", "so :tada:"),
        *("see https://example.invalid/x", "FTP://example.invalid", "as in GH-12", "as in gh-12.", "as in OPS-7"),
    ],
)
def test_nobody_is_mentioned_and_nothing_becomes_a_link(said: str) -> None:
    (_, inline, _) = PARSER.parse(sentence(said))
    assert [child.type for child in inline.children or ()] == ["code_inline"]


def test_it_stays_short_whatever_was_found() -> None:
    row = samples.finding(("hive", "x" * 5_000), message="y" * 5_000)
    cases = tuple(RuleCase(f"rule-{i}", "hms_main", "blocking", 1, (row,)) for i in range(500))
    text = markdown.render(replace(samples.blocked(), cases=cases), "index.html")
    assert len(text) < A_COMMENT
    assert len(cells(text)) == 1 + CASES_SHOWN
    assert f"{500 - CASES_SHOWN} more rules and sources are in the report." in text
    assert max(len(cell) for line in cells(text) for cell in line) <= 2 * LONGEST + 1


def test_an_address_of_the_page_is_kept_together() -> None:
    text = markdown.render(samples.blocked(), "https://reports.example.invalid/a b/(x)/index.html")
    assert [token.attrGet("href") for token in tokens(text) if token.type == "link_open"] == [
        "https://reports.example.invalid/a%20b/%28x%29/index.html"
    ]
