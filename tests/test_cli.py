"""The command line: what it says, what it prints where, and what it ends with."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from nestsync import __version__, errors
from nestsync.cli import app
from nestsync.errors import CatalogUnreachable, NestsyncError
from nestsync.outcome import RunOutcome, StageOutcome
from nestsync.runfiles import RunFiles
from nestsync.shell import Manner, Work, carry_out
from nestsync.ui import Confirm, Ui
from tests.terminals import terminal

pytestmark = pytest.mark.system


ROOT = Path(__file__).parents[1]
STAGES = ("run", "assess", "inventory", "check", "plan", "apply", "verify", "report")
PAST = ("history", "diff", "prune")
COMMANDS = (*STAGES, "validate", "demo", "explain", "tree", "separators", *PAST)
SOURCES = "[{name: prod, system: lance_dir, root: a}, {name: public, system: lance_dir, root: b}]"


AS_USUAL = Manner()


def nestsync(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The real command, as a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from nestsync.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "pipelines")},
    )


def ended(work: Work, manner: Manner = AS_USUAL, **options: Path) -> int:
    """The exit code of a command that does `work`."""
    with pytest.raises(typer.Exit) as caught:
        carry_out("check", manner, work, **options)
    return caught.value.exit_code


def outcome(exit_code: int = 0, **parts: object) -> RunOutcome:
    stages = (StageOutcome("inventory", "ok", 3.21, {"tables": 1200}), StageOutcome("check", "blocked", 5.0))
    return RunOutcome("r1", "check", exit_code, "All is well.", stages, **parts)  # type: ignore[arg-type]


def config_file(folder: Path) -> Path:
    file = folder / "nestsync.yaml"
    file.write_text(f"workspace: space\nsources: {SOURCES}\n", encoding="utf-8")
    return file


# ---- before anything runs


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_every_command_and_every_exit_code(option: str) -> None:
    said = CliRunner().invoke(app, [option], terminal_width=200).output
    for command in COMMANDS:
        assert f" {command} " in said
    assert all(f"{code} " in said for code in range(7))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "--json" in result.output
    assert ("--yes" in result.output) == (command in {"run", "apply"})
    assert ("--source" in result.output) == (command in {"inventory", "tree"})
    assert ("--run-id" in result.output) == (command in {*STAGES, "tree", "separators"})


def test_the_version() -> None:
    assert nestsync("--version").stdout == f"nestsync {__version__}\n"


def test_help_starts_without_anything_heavy() -> None:
    script = """
        import sys
        from typer.testing import CliRunner
        from nestsync.cli import app
        CliRunner().invoke(app, ["-h"])
        heavy = {"pyspark", "pyarrow", "pydantic", "pandas", "lance", "great_expectations"}
        print(sorted(heavy & set(sys.modules)))
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "pipelines")},
    )  # fmt: skip
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["chek"], "Did you mean 'check'?", id="command-misspelt"),
        pytest.param(["run"], "Missing option '-c' / '--config'", id="no-configuration"),
        pytest.param(["run", "-c", "x", "--nope"], "No such option: --nope", id="unknown-option"),
        pytest.param(["plan", "-c", "x", "--yes"], "No such option: --yes", id="nothing-to-confirm-in-a-plan"),
        pytest.param(["run", "-c", "none.yaml"], "none.yaml: there is no such file", id="no-such-file"),
    ],
)
@pytest.mark.proves("exit-2")
def test_a_mistake_on_the_command_line(arguments: list[str], said: str) -> None:
    done = CliRunner().invoke(app, arguments, terminal_width=200)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.proves("exit-2")
def test_every_problem_of_a_configuration_has_a_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(f"sources: {SOURCES}\nstrateggy: upsert\napply: {{concurrency: many}}\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["run", "-c", str(file)])
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        f"error [configuration-invalid] {file}: 2 problems",
        "  line 2: strateggy: unknown key; did you mean 'strategy'?",
        "  line 3: apply.concurrency: must be a whole number, not the text 'many'",
        "  hint: see docs/configuration.md",
    ]


def test_machines_get_one_document_for_a_failure_too(tmp_path: Path) -> None:
    done = nestsync("run", "--json", "-c", str(tmp_path / "none.yaml"))
    document = json.loads(done.stdout)
    assert document["exit_code"] == done.returncode == 2
    assert document["error"]["code"] == "configuration"
    assert document["error"]["where"] == str(tmp_path / "none.yaml")
    assert set(document) == set(outcome().as_json()) | {"error"}
    assert "there is no such file" in done.stderr


def test_a_run_that_was_stopped_is_told_as_far_as_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    stopped = outcome(5, error=CatalogUnreachable("it does not answer", where="flat", hint="start it"))
    assert ended(lambda _ui, _confirm: stopped, Manner(json=True)) == 5
    said = capsys.readouterr()
    document = json.loads(said.out)
    error = {"code": "catalog-unreachable", "what": "it does not answer", "where": "flat", "hint": "start it"}
    assert document == stopped.as_json() | {"error": error | {"problems": []}}
    assert said.err.splitlines() == ["error [catalog-unreachable] flat: it does not answer", "  hint: start it"]


@pytest.mark.parametrize("command", ["check", "plan"])
def test_a_stage_that_cannot_begin_says_so_before_spark_starts(tmp_path: Path, command: str) -> None:
    done = nestsync(command, "-c", str(config_file(tmp_path)))
    assert done.returncode == 2
    assert "there is no run yet" in done.stderr
    assert "starting Spark" not in done.stderr


def test_a_stage_without_the_one_before_it_says_so_before_spark_starts(tmp_path: Path) -> None:
    file = config_file(tmp_path)
    RunFiles(tmp_path / "space").update_summary("r1", "inventory", {"flat": {"role": "source"}})
    done = nestsync("plan", "-c", str(file), "--run-id", "r1")
    assert done.returncode == 2
    assert "run r1 has no check yet" in done.stderr
    assert f"nestsync check -c {file} --run-id r1" in done.stderr
    assert "starting Spark" not in done.stderr


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


def test_a_valid_configuration_names_its_catalogs_and_a_wrong_one_its_mistakes(tmp_path: Path) -> None:
    file = tmp_path / "nestsync.yaml"
    target = "{name: lakehouse, system: iceberg_rest, uri: 'http://127.0.0.1:1'}"
    block = "{schedule: '@daily', anything: [at, all]}"
    file.write_text(f"sources: {SOURCES}\ntarget: {target}\nairflow: {block}\n", encoding="utf-8")
    said = json.loads(nestsync("validate", "-c", str(file), "--json").stdout)
    assert [(catalog["name"], catalog["role"]) for catalog in said["catalogs"]] == [
        ("prod", "source"),
        ("public", "source"),
        ("lakehouse", "target"),
    ]
    assert (said["workspace"], said["reports"]) == (str(tmp_path / "workspace"), str(tmp_path / "workspace/reports"))
    assert "lakehouse  target  iceberg_rest" in nestsync("validate", "-c", str(file)).stdout
    assert said["warnings"] == []
    file.write_text(f"sources: {SOURCES}\nseparator: {{value: '::'}}\n", encoding="utf-8")
    (warning,) = json.loads(nestsync("validate", "-c", str(file), "--json").stdout)["warnings"]
    assert warning.startswith("separator.value: Delimiter '::' is not allowed because it is not a single character")
    assert f"warning: {warning}" in nestsync("validate", "-c", str(file)).stdout
    file.write_text(f"sources: {SOURCES}\nengine: [spark]\n", encoding="utf-8")
    wrong = nestsync("validate", "-c", str(file))
    assert (wrong.returncode, "engines" in wrong.stderr) == (2, True)


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
    assert ended(fails, config_file=config_file(tmp_path)) == 1
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


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(fails, Manner(debug=True)) == 1
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def work(_ui: Ui, _confirm: Confirm) -> RunOutcome:
        raise KeyboardInterrupt

    assert ended(work) == 130
    assert capsys.readouterr().err.startswith("error [interrupted] interrupted\n  hint: --run-id goes on")


def test_a_signal_is_told_also_where_spark_ended_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    def work(_ui: Ui, _confirm: Confirm) -> RunOutcome:
        try:
            raise SystemExit(128 + signal.SIGTERM)
        finally:
            raise errors.RunNotFound("the session is gone")  # noqa: RUF100, B012

    assert ended(work, Manner(json=True)) == 128 + signal.SIGTERM
    said = capsys.readouterr()
    assert json.loads(said.out)["error"]["code"] == "terminated"
    assert said.err.startswith("error [terminated] ended by a signal\n  hint: --run-id goes on")


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
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines")}
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], env=environment) as process:
        deadline = time.monotonic() + 60
        for sign in ("started", "tidying"):  # a second one ends nothing
            while not (tmp_path / sign).exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    assert (tmp_path / "tidied").exists()


def test_a_reader_that_leaves_is_no_failure() -> None:
    script = """
        from nestsync import shell
        from nestsync.outcome import RunOutcome
        from typer import Exit
        import time
        def work(ui, confirm):
            time.sleep(0.5)
            return RunOutcome("r", "check", 0, "x" * 1000000)
        try:
            shell.carry_out("check", shell.Manner(json=True), work)
        except Exit as end:
            raise SystemExit(end.exit_code)
        """
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines")}
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
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


# ---- completion


def completed(*words: str) -> list[str]:
    """What bash is offered for the last of `words`."""
    shell = {
        "_NESTSYNC_COMPLETE": "complete_bash",
        "_TYPER_COMPLETE_TESTING": "1",
        "COMP_WORDS": " ".join(("nestsync", *words)),
        "COMP_CWORD": str(len(words)),
    }
    return CliRunner().invoke(app, [], env=shell, prog_name="nestsync").stdout.split()


def test_completion_knows_commands_runs_and_sources(tmp_path: Path) -> None:
    file = config_file(tmp_path)
    workspace = RunFiles(tmp_path / "space")
    for run_id in ("20260101T000000-a", "20260102T000000-b", "nightly"):
        workspace.update_summary(run_id, "inventory", {})
    workspace.update_summary("nightly", "inventory", {"prod": {}, "target": {}})
    assert completed("re") == ["report"]
    assert completed("check", "-c", str(file), "--run-id", "2026") == ["20260102T000000-b", "20260101T000000-a"]
    assert completed("inventory", "-c", str(file), "--source", "pr") == ["prod"]
    assert completed("inventory", "-c", str(tmp_path / "none.yaml"), "--source", "p") == []
    assert completed("tree", "--workspace", str(tmp_path / "space"), "--run-id", "n") == ["nightly"]
    assert completed("tree", "--workspace", str(tmp_path / "space"), "--source", "") == ["prod", "target"]
    assert completed("tree", "-c", str(file), "--run-id", "20260101T000000-a", "--source", "") == []
    assert completed("explain", "a", "--from", "gravitino-") == ["gravitino-physical", "gravitino-shipped"]


def test_completion_can_be_shown_for_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    assert "_NESTSYNC_COMPLETE=complete_bash" in nestsync("--show-completion", "bash").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("run",), "target is missing, and this command writes to one", id="no-target"),
        pytest.param(("inventory", "--source", "nope"), "there is no source 'nope'", id="no-such-source"),
        pytest.param(("inventory", "--source", "../x"), "the configuration names prod, public", id="the-sources"),
    ],
)
def test_what_the_configuration_does_not_name_is_refused_before_anything_starts(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "nestsync.yaml"
    file.write_text(f"workspace: space\nsources: {SOURCES}\n")
    command, *more = words
    done = CliRunner().invoke(app, [command, "-c", str(file), *more])
    assert (done.exit_code, "starting Spark" in done.stderr) == (2, False)
    assert said in done.stderr
    assert not (tmp_path / "space").exists()
