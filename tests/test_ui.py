"""What a person sees: names as they are and never acted on, tables that line up, progress that stays out of results."""

from __future__ import annotations

import io
import re
import time

import pytest
from hypothesis import given

from nestsync.outcome import StageOutcome
from nestsync.printing import print_table, visible, write_line
from nestsync.ui import PlainUi, QuietUi, open_ui
from tests.core.hostile import any_names
from tests.terminals import terminal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("sales.emea", "sales.emea", id="plain"),
        pytest.param("日本 é 🧊", "日本 é 🧊", id="beyond-ascii"),
        pytest.param("a\x1b[31mb", "a\\x1b[31mb", id="colour"),
        pytest.param("a\nb\tc", "a\\x0ab\\x09c", id="line-break"),
        pytest.param("a\u202eb", "a\\u202eb", id="change-of-direction"),
        pytest.param("a\u200bb", "a\\u200bb", id="zero-width"),
        pytest.param("a\u00a0b", "a\\xa0b", id="no-break-space"),
        pytest.param("\ud800", "\\ud800", id="lone-surrogate"),
        pytest.param("\U000e0041", "\\U000e0041", id="tag"),
        pytest.param("[bold]x[/bold]", "[bold]x[/bold]", id="markup-is-text"),
    ],
)
def test_nothing_in_a_name_is_hidden_or_acted_on(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(any_names)
def test_whatever_is_shown_is_one_printable_line(text: str) -> None:
    assert visible(text).isprintable()
    visible(text).encode("utf-8")


def test_a_table_lines_up_with_wide_characters_and_is_never_cut() -> None:
    stream = io.StringIO()
    long = "x" * 300
    print_table(stream, "Findings", ("rule", "found", "name"), [("a", 1, "日本"), ("b", "1,200", long)])
    assert stream.getvalue().splitlines() == [
        "Findings",
        "rule  found  name",
        "a         1  日本",
        f"b     1,200  {long}",
        "",
    ]


def test_a_stream_without_utf_8_gets_escapes() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    write_line(stream, "日本")
    assert raw.getvalue() == b"\\u65e5\\u672c\n"


def test_a_log_has_a_line_when_a_stage_begins_and_ends() -> None:
    results, log = io.StringIO(), io.StringIO()
    ui = PlainUi(results, log)
    ui.stage_started("check", "mapping every name")
    ui.progress(3, 10, "tables")  # too soon to be told
    ui.table("Found", ("rule",), [("collision",)])
    ui.stage_finished(StageOutcome("check", "ok", 1.26, {"warning": 1200}))
    assert log.getvalue() == "check: mapping every name\ncheck: ok after 1.3 s (warning 1,200)\n"
    assert results.getvalue() == "Found\nrule\ncollision\n\n"


def test_a_log_hears_of_progress_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nestsync.ui.SECONDS_BETWEEN_LINES", 0.0)
    log = io.StringIO()
    ui = PlainUi(io.StringIO(), log)
    ui.stage_started("inventory")
    ui.progress(3, 1000, "tables")
    ui.progress(7, None)
    ui.progress(0, None, "comparing a with b")
    assert log.getvalue().splitlines() == [
        "inventory: started",
        "inventory: 3 of 1,000 tables",
        "inventory: 7",
        "inventory: comparing a with b",
    ]


def test_off_a_terminal_the_ui_is_plain_and_machines_leave_standard_output_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert isinstance(open_ui(quiet=True), QuietUi)
    open_ui().note("to standard output")
    open_ui(machine=True).note("to standard error")
    captured = capsys.readouterr()
    assert captured.out == "to standard output\n"
    assert captured.err == "to standard error\n"


def test_on_a_terminal_a_bar_moves_and_a_line_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(monkeypatch, for_output=True) as person:
        ui = open_ui()
        ui.stage_started("inventory", "reading")
        ui.progress(5, 20, "tables [bold]")
        time.sleep(0.3)
        ui.note("a note")
        ui.table("Found", ("name",), [("[red]x[/red]\x1b[31m",)])
        ui.stage_finished(StageOutcome("inventory", "ok", 1.0, {"tables": 20}))
        ui.close()
        ui.close()
        shown = person.shown()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert "5 of 20 tables [bold]" in text
    assert "a note\r\n" in text
    assert "[red]x[/red]\\x1b[31m" in text
    assert re.search(r"inventory +ok +1\.0 s +tables 20", text)
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")  # the cursor is back
