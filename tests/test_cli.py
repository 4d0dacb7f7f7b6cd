"""The command line: what it says, what it prints where, and what it ends with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nestsync import __version__
from nestsync.cli import app
from nestsync.outcome import RunOutcome
from nestsync.runfiles import RunFiles
from nestsync.shell import OUTCOME_FILE

pytestmark = pytest.mark.system


ROOT = Path(__file__).parents[1]
STAGES = ("run", "assess", "inventory", "check", "plan", "apply", "verify", "report")
PAST = ("history", "diff", "prune")
COMMANDS = (*STAGES, "validate", "demo", "explain", "tree", "separators", *PAST)
SOURCES = "[{name: prod, system: lance_dir, root: a}, {name: public, system: lance_dir, root: b}]"


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


def config_file(folder: Path) -> Path:
    file = folder / "nestsync.yaml"
    file.write_text(f"workspace: space\nsources: {SOURCES}\n", encoding="utf-8")
    return file


# ---- before anything runs


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_changes_no_exit_code(closed: str, tmp_path: Path) -> None:
    words = f"{sys.executable} -c 'from nestsync.cli import main; main()' validate -c {config_file(tmp_path)} {closed}"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines")}
    done = subprocess.run(["sh", "-c", words], env=environment, timeout=60, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("words", "exit_code", "told"),
    [
        pytest.param("explain a.b >/dev/full", 1, ["output-unwritable"], id="an answer"),
        pytest.param("explain a.b --json >/dev/full", 1, ["output-unwritable"], id="a document"),
        pytest.param("--help >/dev/full", 1, ["output-unwritable"], id="help"),
        pytest.param("--version >/dev/full", 1, ["output-unwritable"], id="version"),
        pytest.param("history --json >/dev/full", 2, ["configuration", "output-unwritable"], id="an error's document"),
        pytest.param("explain a.b >/dev/full 2>/dev/full", 1, [], id="nothing can be told"),
        pytest.param("history 2>/dev/full", 2, [], id="an error that cannot be told"),
        pytest.param("history --json 2>/dev/full", 2, [], id="a log that cannot be written"),
    ],
)
@pytest.mark.proves("exit-1")
def test_what_cannot_be_written_is_an_error_and_no_traceback(
    words: str, exit_code: int, told: list[str], unbuffered: str
) -> None:
    command = f"{sys.executable} -c 'from nestsync.cli import main; main()' {words}"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines"), "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("  hint: ")]
    assert done.returncode == exit_code
    assert [line.partition(" [")[2].partition("]")[0] for line in lines] == told
    assert all("No space left on device" in line for line in lines if "output-unwritable" in line)


@pytest.mark.parametrize("java", ["/nowhere", None])
def test_a_reset_deletes_nothing_but_a_demo(java: str | None, tmp_path: Path) -> None:
    precious = tmp_path / "home" / "thesis.txt"
    precious.parent.mkdir()
    precious.touch()
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines")} | ({} if java is None else {"JAVA_HOME": java})
    command = [sys.executable, "-c", "from nestsync.cli import main; main()", "demo", "--reset", "--home"]
    done = subprocess.run(
        [*command, str(precious.parent)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, precious.exists(), len(list(precious.parent.iterdir()))) == (2, True, 1)
    assert ("Java is missing" if java else "no demo was kept there; nothing was deleted") in done.stderr


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


@pytest.mark.parametrize(
    ("arguments", "command", "what"),
    [
        pytest.param(["chek", "--json"], "chek", "No such command 'chek'. Did you mean 'check'?", id="misspelt"),
        pytest.param(["run", "--json"], "run", "Missing option '-c' / '--config'.", id="no-configuration"),
        pytest.param(["run", "-c", "x", "--nope", "--json"], "run", "No such option: --nope", id="unknown-option"),
        pytest.param(["--json"], "", "No such option: --json (Possible options: --version)", id="no-command"),
        pytest.param(["explain", "--json", "--nope"], "explain", "No such option: --nope", id="without-spark"),
    ],
)
@pytest.mark.proves("exit-2")
def test_machines_get_one_document_for_a_mistake_on_the_command_line(
    arguments: list[str], command: str, what: str
) -> None:
    done = CliRunner().invoke(app, arguments, terminal_width=200)
    document = json.loads(done.stdout)
    assert done.exit_code == document["exit_code"] == 2
    assert (document["command"], document["verdict"], document["error"]["what"]) == (command, what, what)
    assert document["error"]["code"] == "usage"
    assert what in done.stderr


def test_a_scheduler_gets_the_document_of_a_mistake_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OUTCOME_FILE, str(tmp_path / "outcome.json"))
    done = CliRunner().invoke(app, ["run"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert json.loads((tmp_path / "outcome.json").read_text())["error"]["what"] == "Missing option '-c' / '--config'."


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


@pytest.mark.parametrize("workspace", ["taken", "taken/below"])
def test_a_workspace_that_cannot_be_is_said_before_anything_starts(tmp_path: Path, workspace: str) -> None:
    (tmp_path / "taken").touch()
    file = tmp_path / "nestsync.yaml"
    file.write_text(f"workspace: {workspace}\nsources: {SOURCES}\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["assess", "-c", str(file)])
    assert done.exit_code == 2
    assert f"workspace: {tmp_path / workspace} is no folder that can be written to" in done.stderr


def test_a_demo_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    done = CliRunner().invoke(app, ["demo", "--home", str(tmp_path / "taken" / "below")])
    assert done.exit_code == 2
    assert "the demo cannot be kept there: Not a directory" in done.stderr


@pytest.mark.timeout(120)
def test_a_java_that_is_not_there_is_said_with_how_to_install_one(tmp_path: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "nestsync", "assess", "-c", config_file(tmp_path)],
        env=os.environ | {"JAVA_HOME": str(tmp_path / "nowhere")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "Java is missing: there is no java that runs" in done.stderr
    assert "install Java 17 or 21" in done.stderr


def test_machines_get_one_document_for_a_failure_too(tmp_path: Path) -> None:
    done = nestsync("run", "--json", "-c", str(tmp_path / "none.yaml"))
    document = json.loads(done.stdout)
    assert document["exit_code"] == done.returncode == 2
    assert document["error"]["code"] == "configuration"
    assert document["error"]["where"] == str(tmp_path / "none.yaml")
    assert set(document) == set(RunOutcome("", "run", 2, "").as_json()) | {"error"}
    assert "there is no such file" in done.stderr


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
