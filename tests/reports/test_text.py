"""Names in reports: nothing hidden, nothing lost, nothing run."""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.reports.text import csv_cell, subject_text, visible, visible_lines, visible_name, xml_text

ANY = st.text(st.characters(), max_size=40) | st.text("<>&\"'\\u\x00\x1f\u202e\u0301\ud800 \t\n", max_size=20)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("sales", "sales", id="plain"),
        pytest.param("<img src=x>", "&lt;img src=x&gt;", id="markup"),
        pytest.param("a&b", "a&amp;b", id="ampersand"),
        pytest.param("a\x1fb", "a<u>\\u001F</u>b", id="control"),
        pytest.param("a\\u001Fb", "a\\u001Fb", id="spelled-escape-is-no-escape"),
        pytest.param("\u202eevil", "<u>\\u202E</u>evil", id="direction-mark"),
        pytest.param("e\u0301", "e<u>\\u0301</u>", id="combining-mark"),
        pytest.param("\u00e9", "\u00e9", id="precomposed"),
        pytest.param("a\u00a0b", "a<u>\\u00A0</u>b", id="no-break-space"),
        pytest.param("\ud800", "<u>\\uD800</u>", id="lone-surrogate"),
        pytest.param("a\nb", "a<u>\\u000A</u>b", id="line-break"),
    ],
)
def test_hidden_characters_are_marked(text: str, expected: str) -> None:
    assert visible(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "<u>empty</u>", id="empty"),
        pytest.param("empty", "empty", id="called-empty"),
        pytest.param(" a b  ", "<u>␣</u>a b<u>␣␣</u>", id="edges"),
        pytest.param("   ", "<u>␣␣␣</u>", id="blanks-alone"),
        pytest.param("␣a", "␣a", id="called-like-the-mark"),
    ],
)
def test_names_show_what_is_at_their_edges(text: str, expected: str) -> None:
    assert visible_name(text) == expected


def test_commands_keep_their_lines() -> None:
    assert visible_lines('separator: ";"\n\trun <x>\x07') == "separator: &#34;;&#34;\n\trun &lt;x&gt;<u>\\u0007</u>"


@given(ANY)
def test_a_shown_text_gives_the_text_back(text: str) -> None:
    shown = str(visible(text))
    assert "<" not in re.sub(r"</?u>", "", shown)
    parts = re.split(r"<u>\\u([0-9A-F]{4})</u>", shown)
    back = "".join(chr(int(part, 16)) if index % 2 else html.unescape(part) for index, part in enumerate(parts))
    assert back == text


@given(ANY, ANY)
def test_different_names_never_look_the_same(one: str, other: str) -> None:
    assert (visible_name(one) == visible_name(other)) == (one == other)


@given(ANY)
def test_xml_carries_any_text(text: str) -> None:
    element = ET.Element("x", a=xml_text(text))
    element.text = xml_text(text)
    ET.fromstring(ET.tostring(element, encoding="utf-8"))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_spreadsheet_runs_no_sentence(start: str) -> None:
    assert csv_cell(f"{start}cmd|' /C calc'!A0").startswith("'")


@pytest.mark.parametrize(("text", "cell"), [(None, ""), ("", ""), ("it is wrong", "it is wrong")])
def test_other_sentences_are_left_alone(text: str | None, cell: str) -> None:
    assert csv_cell(text) == cell


@pytest.mark.parametrize(
    ("levels", "name", "expected"),
    [
        pytest.param(("a", "b"), None, 'hms ["a","b"]', id="namespace"),
        pytest.param(("a.b",), 't"', 'hms ["a.b"] "t\\""', id="table"),
        pytest.param((), None, "hms []", id="root"),
    ],
)
def test_a_subject_keeps_its_levels_apart(levels: tuple[str, ...], name: str | None, expected: str) -> None:
    assert subject_text("hms", levels, name) == expected
