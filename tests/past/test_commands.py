"""The commands as they are typed: options, mistakes, one document for machines, and nothing heavy for `history`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nestsync.cli import app
from nestsync.history.actors import this_process
from nestsync.past.listing import took
from nestsync.runfiles import RunFiles
from tests.history.runs import BLOCKED, died, ended

ROOT = Path(__file__).parents[2]
BY = str(this_process())
OTHER = {"elsewhere": {"role": "source", "system": "hms", "counts": {"namespaces": 1}}}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration, whose workspace had three runs, one that died, and one of other catalogs."""
    files = RunFiles(tmp_path / "space")
    ended(files, "night-1", days_ago=4)
    ended(files, "night-2", days_ago=3, exit_code=3, stages=BLOCKED, configuration="/conf/b.yaml")
    ended(files, "other", days_ago=2, inventory=OTHER)
    died(files, "torn")
    file = tmp_path / "nestsync.yaml"
    file.write_text("workspace: space\nsources: [{name: files, system: lance_dir, root: lance}]\n", encoding="utf-8")
    return file


def document(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    assert (found["command"], found["exit_code"], found["error"]) == (arguments[0], 0, None)
    return found


def test_history_tells_every_run(config: Path) -> None:
    said = CliRunner().invoke(app, ["history", "-c", str(config)])
    lines = [line.split() for line in said.stdout.splitlines()]
    assert lines[1][:1] + lines[1][3:] == ["night-1", "0", "s", "0", "8", "25", "0", "3", "1", "4", BY, "/conf/a.yaml"]
    assert lines[2][:1] + lines[2][3:] == ["night-2", "0", "s", "3", "8", "25", "2", "3", "1", BY, "/conf/b.yaml"]
    assert lines[4][0] == "torn"
    assert "died" in lines[4]
    assert said.stdout.endswith("the latest, torn: it began, and its process ended without a word\n")


def test_history_is_one_document_and_its_end_is_shown(config: Path) -> None:
    assert document("history", "-c", str(config)) == document("history", "--workspace", str(config.parent / "space"))
    found = document("history", "-c", str(config), "-n", "2")
    assert (found["total"], [run["run_id"] for run in found["runs"]]) == (4, ["other", "torn"])
    assert found["runs"][0] | {"catalogs": 0, "seconds": 0} == {
        "run_id": "other", "state": "ended", "died_in": None, "started_at": "2026-11-26T12:00:00+00:00", "seconds": 0,
        "actors": [this_process().as_json() | {"commands": ["run"]}],
        "commands": ["run"], "exit_code": 0, "verdict": "It ended with 0.", "configuration": "/conf/a.yaml",
        "namespaces": 1, "tables": 0, "views": 0, "blocking": 0, "warning": 3, "info": 1,
        "written": 4, "verified": True, "catalogs": 0, "pruned": False,
    }  # fmt: skip
    text = CliRunner().invoke(app, ["history", "-c", str(config), "-n", "1"]).stdout
    assert "3 earlier runs: --limit N shows more\n" in text


MISTAKES = {
    "history": ("[configuration] the workspace is not named", "name it with either -c FILE or --workspace DIR"),
    "history --workspace /nowhere/at/all": (
        "[run-not-found] /nowhere/at/all: there is no workspace", "`nestsync run -c FILE` makes one",
    ),
    "diff nope latest --workspace {space}": (
        "[run-not-found] {space}: there is no run 'nope'", "the latest runs are: night-1, night-2, other, torn",
    ),
    "diff night latest --workspace {space}": (
        "[configuration] {space}: 2 runs begin with 'night'", "the latest of them are: night-1, night-2",
    ),
    "diff torn latest --workspace {space}": (
        "[run-not-found] {space}: run torn died before its inventory was read, so there is nothing to compare",
        "`nestsync history` lists the runs",
    ),
    "diff night-1 other --workspace {space}": (
        "[configuration] {space}: runs night-1 and other have no catalog in common",
        "`nestsync history --json` says which catalogs each run read",
    ),
    "diff gone latest --workspace {space}": (
        "[run-not-found] {space}: run gone was removed, and only its line in the history is left",
        "retention says how long runs are kept",
    ),
}  # fmt: skip


@pytest.mark.parametrize("typed", MISTAKES)
@pytest.mark.proves("exit-2")
def test_a_mistake_says_what_where_and_what_to_try(typed: str, config: Path) -> None:
    space = config.parent / "space"
    if "gone" in typed:
        ended(RunFiles(space), "gone", days_ago=9)
        (space / "runs-json" / "gone.json").unlink()
    done = CliRunner().invoke(app, typed.format(space=space).split())
    what, hint = (text.format(space=space) for text in MISTAKES[typed])
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"error {what}\n  hint: {hint}\n")


def test_without_limits_nothing_is_pruned(config: Path) -> None:
    assert document("prune", "-c", str(config)) | {"error": 0} == {
        "command": "prune", "exit_code": 0, "dry_run": False, "runs": [], "kept": [], "error": 0,
    }  # fmt: skip


def test_that_no_limit_is_set_is_said(config: Path) -> None:
    said = CliRunner().invoke(app, ["prune", "-c", str(config)])
    assert (said.exit_code, said.stdout) == (
        0,
        "nothing is ever removed: the configuration's `retention` sets no limit\n",
    )


def test_history_may_be_quiet_as_other_commands(config: Path) -> None:
    loud, quiet = (CliRunner().invoke(app, ["history", "-c", str(config), *more]) for more in ([], ["--quiet"]))
    assert (quiet.exit_code, quiet.stdout) == (0, loud.stdout)


@pytest.mark.parametrize("command", ["tree", "separators"])
def test_what_looks_at_an_inventory_takes_quiet(command: str) -> None:
    assert CliRunner().invoke(app, [command, "--quiet", "--help"]).exit_code == 0
    assert "no such option" not in CliRunner().invoke(app, [command, "--quiet"]).output.lower()


def test_a_dry_run_says_what_would_go_and_removes_nothing(config: Path) -> None:
    with config.open("a") as file:
        file.write("retention: {keep_runs: 1}\n")
    before = sorted(config.parent.rglob("*"))
    said = CliRunner().invoke(app, ["prune", "-c", str(config), "--dry-run"])
    assert said.stdout == (
        "1 run would be removed\n  night-2\nkept: night-1, for it is the latest that verified lake\n"
    )
    assert sorted(config.parent.rglob("*")) == before


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (3_600, "1 h 00 min"), (7_499, "2 h 04 min")],
)
def test_a_time_as_a_person_says_it(seconds: float, said: str) -> None:
    assert took(seconds) == said


@pytest.mark.system
def test_nothing_heavy_is_in_memory_after_history_and_completion(config: Path) -> None:
    script = f"""
        import sys
        from typer.testing import CliRunner
        from nestsync.cli import app
        for json in ([], ["--json"]):
            done = CliRunner().invoke(app, ["history", "-c", {str(config)!r}, *json])
            assert done.exit_code == 0, done.output
        shell = {{"_NESTSYNC_COMPLETE": "complete_bash", "_TYPER_COMPLETE_TESTING": "1"}}
        typed = shell | {{"COMP_WORDS": "nestsync diff -c {config} ", "COMP_CWORD": "4"}}
        said = CliRunner().invoke(app, [], env=typed, prog_name="nestsync").stdout.split()
        assert said[:2] == ["latest", "previous"], said
        assert {{"night-1", "night-2", "other"}} <= set(said), said
        heavy = {{"pyspark", "delta", "pyarrow", "pydantic", "pandas", "lance", "requests"}} | {{"openlineage"}}
        print(sorted(heavy & set(sys.modules)))
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT / "pipelines")},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[]\n", "")
