"""What every command does around its work: output, questions, signals, errors and exit codes."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from nestsync import errors
from nestsync.errors import CatalogUnreachable, NestsyncError
from nestsync.outcome import BrokenOff, RunOutcome, StageOutcome
from nestsync.shell import Manner, Work, carry_out
from nestsync.ui import Confirm, Ui
from tests.terminals import terminal

pytestmark = pytest.mark.system


ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "pipelines")}
AS_USUAL = Manner()


def ended(work: Work, manner: Manner = AS_USUAL, **options: Path) -> int:
    """The exit code of a command that does `work`."""
    with pytest.raises(typer.Exit) as caught:
        carry_out("check", manner, work, **options)
    return caught.value.exit_code


def outcome(exit_code: int = 0, **parts: object) -> RunOutcome:
    stages = (StageOutcome("inventory", "ok", 3.21, {"tables": 1200}), StageOutcome("check", "blocked", 5.0))
    return RunOutcome("r1", "check", exit_code, "All is well.", stages, **parts)  # type: ignore[arg-type]


def test_a_run_that_was_stopped_is_told_as_far_as_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    stopped = outcome(5, error=CatalogUnreachable("it does not answer", where="flat", hint="start it"))
    assert ended(lambda _ui, _confirm: stopped, Manner(json=True)) == 5
    said = capsys.readouterr()
    document = json.loads(said.out)
    error = {"code": "catalog-unreachable", "what": "it does not answer", "where": "flat", "hint": "start it"}
    assert document == stopped.as_json() | {"error": error | {"problems": []}}
    assert said.err.splitlines() == ["error [catalog-unreachable] flat: it does not answer", "  hint: start it"]


# ---- how it went


def test_people_get_a_table_a_sentence_what_to_do_next_and_the_report_last(capsys: pytest.CaptureFixture[str]) -> None:
    report = Path("somewhere/index.html")
    assert ended(lambda _ui, _confirm: outcome(next_steps=("nestsync plan -c x",), report=report)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "stage      status   seconds  counted",
        "inventory  ok           3.2  tables 1,200",
        "check      blocked      5.0",
        "",
        "run r1: All is well.",
        "next:",
        "  nestsync plan -c x",
        str(report),
    ]


def test_quiet_prints_the_report_s_path_alone(capsys: pytest.CaptureFixture[str]) -> None:
    def work(ui: Ui, _confirm: Confirm) -> RunOutcome:
        ui.note("a note")
        return outcome(report=Path("index.html"))

    assert ended(work, Manner(quiet=True)) == 0
    assert capsys.readouterr() == ("index.html\n", "")


def test_machines_get_one_document_whatever_else_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    def work(ui: Ui, _confirm: Confirm) -> RunOutcome:
        ui.note("a note")
        sys.stdout.write("from a library\n")
        subprocess.run(["/bin/echo", "from a child"], check=True)
        return outcome(4, report=Path("index.html"))

    assert ended(work, Manner(json=True)) == 4
    captured = capfd.readouterr()
    document = json.loads(captured.out)
    assert captured.out.count("\n") == 1
    assert document == outcome(4, report=Path("index.html")).as_json() | {"error": None}
    for said in ("a note", "from a library", "from a child"):
        assert said in captured.err


def test_machines_get_the_error_that_ended_a_stage(capfd: pytest.CaptureFixture[str]) -> None:
    moved = errors.PlanOutdated("it moved", where="target", hint="run again")

    assert ended(lambda _ui, _confirm: outcome(6, failed=moved), Manner(json=True)) == 6
    assert json.loads(capfd.readouterr().out)["error"] == {
        "code": "plan-outdated",
        "what": "it moved",
        "where": "target",
        "hint": "run again",
        "problems": [],
    }


def test_a_scheduler_gets_the_document_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "outcome.json"
    monkeypatch.setenv("NESTSYNC_OUTCOME_FILE", str(file))
    assert ended(lambda ui, confirm: replace(outcome(3), verdict="2 blocking findings")) == 3
    assert json.loads(file.read_text())["verdict"] == "2 blocking findings"
    assert "2 blocking findings" in capsys.readouterr().out  # people read the log as ever

    def unreachable(ui: Ui, confirm: Confirm) -> RunOutcome:
        raise CatalogUnreachable("no answer", where="warehouse", hint="start it")

    assert ended(unreachable) == 5
    said = json.loads(file.read_text())
    assert (said["exit_code"], said["error"]["code"]) == (5, "catalog-unreachable")


def test_a_document_that_cannot_be_left_changes_no_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NESTSYNC_OUTCOME_FILE", str(tmp_path / "gone" / "outcome.json"))
    assert ended(lambda ui, confirm: outcome(0)) == 0
    assert "NESTSYNC_OUTCOME_FILE" in capsys.readouterr().err


@pytest.mark.parametrize(("exit_code", "colour"), [(0, 32), (3, 33), (4, 31), (6, 31)])
def test_a_terminal_shows_the_verdict_in_the_colour_of_how_it_went(
    exit_code: int, colour: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = f"nestsync apply -c {'folder/' * 20}nestsync.yaml"
    said = replace(outcome(exit_code), run_id="r1", verdict="So [bold]it[/bold] went.", next_steps=(long,))
    with terminal(monkeypatch, for_output=True) as screen:
        assert ended(lambda _ui, _confirm: said) == exit_code
        shown = screen.shown()
    assert f"run r1: \x1b[1;{colour}mSo [bold]it[/bold] went." in shown
    assert f"{long}" in shown  # to be pasted: in one line


def test_hostile_names_in_a_verdict_are_not_acted_on(capsys: pytest.CaptureFixture[str]) -> None:
    said = RunOutcome("", "check", 0, "read \x1b[31m\ud800[bold]")
    assert ended(lambda _ui, _confirm: said) == 0
    assert capsys.readouterr().out == "read \\x1b[31m\\ud800[bold]\n"


@pytest.mark.parametrize(
    "kind",
    [kind for kind in map(vars(errors).get, errors.__all__) if isinstance(kind, type)],
    ids=lambda kind: kind.__name__,
)
def test_an_error_of_ours_is_a_sentence_and_its_exit_code(
    kind: type[NestsyncError], capsys: pytest.CaptureFixture[str]
) -> None:
    def work(_ui: Ui, _confirm: Confirm) -> RunOutcome:
        raise kind("it is down", where="prod", hint="start it")

    assert ended(work) == kind.exit_code
    assert capsys.readouterr() == ("", f"error [{kind.code}] prod: it is down\n  hint: start it\n")


# ---- when nobody expected it


def fails(_ui: Ui, _confirm: Confirm) -> RunOutcome:
    raise ValueError("first line\nsecond line")


@pytest.mark.proves("exit-1")
def test_an_unexpected_failure_is_short_and_its_traceback_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nestsync.yaml"
    file.write_text("workspace: space\n", encoding="utf-8")
    assert ended(fails, config_file=file) == 1
    said = capsys.readouterr().err
    (log,) = (tmp_path / "space" / "logs").iterdir()
    assert said == (
        f"error [unexpected] ValueError: first line\n  hint: the full traceback is in {log}; --debug shows it\n"
    )
    assert "second line" in log.read_text(encoding="utf-8")
    assert "Traceback" in log.read_text(encoding="utf-8")


def test_without_a_workspace_the_traceback_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert ended(fails) == 1
    (log,) = tmp_path.glob("nestsync-*/*.log")
    assert str(log) in capsys.readouterr().err


def test_a_traceback_that_cannot_be_kept_is_no_second_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    assert ended(fails) == 1
    told = "error [unexpected] ValueError: first line\n  hint: --debug shows the full traceback\n"
    assert capsys.readouterr().err == told


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(fails, Manner(debug=True)) == 1
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def work(_ui: Ui, _confirm: Confirm) -> RunOutcome:
        raise KeyboardInterrupt

    assert ended(work) == 130
    assert capsys.readouterr().err == "error [interrupted] interrupted\n"


def test_a_signal_is_told_also_where_spark_ended_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    def work(_ui: Ui, _confirm: Confirm) -> RunOutcome:
        try:
            raise SystemExit(128 + signal.SIGTERM)
        finally:
            raise errors.RunNotFound("the session is gone")  # noqa: RUF100, B012

    assert ended(work, Manner(json=True)) == 128 + signal.SIGTERM
    said = capsys.readouterr()
    assert json.loads(said.out)["error"]["code"] == "terminated"
    assert said.err.startswith("error [terminated] ended by a signal\n")


GO_ON = "nestsync run -c nestsync.yaml --run-id r1"


@pytest.mark.parametrize(
    ("cause", "exit_code", "code"),
    [
        pytest.param(KeyboardInterrupt(), 130, "interrupted", id="ctrl-c"),
        pytest.param(SystemExit(128 + signal.SIGTERM), 143, "terminated", id="sigterm"),
        pytest.param(ValueError("a fault of ours"), 1, "unexpected", id="unexpected"),
        pytest.param(errors.SummaryUnreadable("half a file"), 2, "summary-unreadable", id="ours"),
    ],
)
@pytest.mark.parametrize("spark_fails_too", [False, True])
def test_a_run_that_was_broken_off_tells_how_far_it_came_and_how_to_go_on(
    capsys: pytest.CaptureFixture[str], cause: BaseException, exit_code: int, code: str, spark_fails_too: bool
) -> None:
    stages = (StageOutcome("inventory", "ok", 1.0), StageOutcome("check", "failed", 0.5, {}, "broken off"))

    def work(_ui: Ui, _confirm: Confirm) -> RunOutcome:
        try:
            raise BrokenOff(RunOutcome("r1", "run", 1, "", stages, (GO_ON,))) from cause
        finally:
            if spark_fails_too:
                raise ConnectionError("the session is gone")  # noqa: RUF100, B012

    assert ended(work, Manner(json=True)) == exit_code
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert (document["run_id"], document["exit_code"], document["error"]["code"]) == ("r1", exit_code, code)
    assert [(each["stage"], each["status"]) for each in document["stages"]] == [
        ("inventory", "ok"),
        ("check", "failed"),
    ]
    assert document["next_steps"] == [GO_ON]
    assert said.err.endswith(f"  go on with: {GO_ON}\n")


def test_a_scheduler_s_sigterm_lets_the_command_tidy_up(tmp_path: Path) -> None:
    script = f"""
        import time
        from pathlib import Path
        from nestsync import cli, shell
        def work(ui, confirm):
            try:
                Path({str(tmp_path / "started")!r}).touch()
                time.sleep(60)
            finally:
                Path({str(tmp_path / "tidying")!r}).touch()
                time.sleep(1)
                Path({str(tmp_path / "tidied")!r}).touch()
        cli.app.command("sleep")(lambda: shell.carry_out("sleep", shell.Manner(), work))
        cli.main(["sleep"])
        """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], env=ENVIRONMENT) as process:
        deadline = time.monotonic() + 60
        for sign in ("started", "tidying"):  # a second one ends nothing
            while not (tmp_path / sign).exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    assert (tmp_path / "tidied").exists()


@pytest.mark.parametrize(
    ("streams", "exit_code"),
    [
        pytest.param("2>&1 | head -2", 0, id="a-reader-leaves"),
        pytest.param("2>/dev/full >/dev/null", 0, id="no-room-for-the-log"),
        pytest.param(">/dev/full 2>&1", 1, id="no-room-at-all"),
    ],
)
def test_output_that_is_lost_while_it_works_does_not_end_the_work(streams: str, exit_code: int, tmp_path: Path) -> None:
    script = f"""
        from pathlib import Path
        from nestsync import cli, shell
        from nestsync.outcome import RunOutcome
        def work(ui, confirm):
            for number in range(20_000):
                ui.note("x" * 100)
                ui.stage_started(f"stage {{number}}")
            Path({str(tmp_path / "done")!r}).touch()
            return RunOutcome("r", "check", 0, "done")
        cli.app.command("work")(lambda: shell.carry_out("work", shell.Manner(), work))
        cli.main(["work"])
        """
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(textwrap.dedent(script))} {streams}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], env=ENVIRONMENT, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == exit_code
    assert len(done.stdout.splitlines()) == (2 if "head" in streams else 0)
    assert (tmp_path / "done").exists()


def test_a_reader_that_leaves_is_no_failure() -> None:
    script = """
        import time
        from nestsync import cli, shell
        from nestsync.outcome import RunOutcome
        def work(ui, confirm):
            time.sleep(0.5)
            return RunOutcome("r", "check", 0, "x" * 1000000)
        cli.app.command("work")(lambda: shell.carry_out("work", shell.Manner(json=True), work))
        cli.main(["work"])
        """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


# ---- before the target is written


def asks(_ui: Ui, confirm: Confirm) -> RunOutcome:
    return RunOutcome("", "apply", 0, f"agreed: {confirm('Write 3 namespaces to lake?')}")


@pytest.mark.parametrize(
    ("typed", "agreed"),
    [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("x\n", False), ("\x04", False)],
    ids=["y", "yes", "n", "enter", "something-else", "end-of-input"],
)
def test_on_a_terminal_a_question_is_asked_and_only_yes_is_yes(
    typed: str, agreed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with terminal(monkeypatch) as person:
        person.type(typed)
        assert ended(asks) == 0
        assert "Write 3 namespaces to lake? [y/N]" in person.shown()
    assert capsys.readouterr().out == f"agreed: {agreed}\n"


def test_yes_answers_before_the_question(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with terminal(monkeypatch) as person:
        assert ended(asks, Manner(yes=True)) == 0
        assert person.shown() == ""
    assert capsys.readouterr().out == "agreed: True\n"


def test_who_would_not_see_the_question_has_not_agreed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with terminal(monkeypatch) as person:
        monkeypatch.setattr("sys.stderr", io.StringIO())
        assert ended(asks) == 0
        assert person.shown() == ""
    assert capsys.readouterr().out == "agreed: False\n"


def test_off_a_terminal_nothing_is_asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert ended(asks) == 0
    assert capsys.readouterr() == ("agreed: True\n", "")
