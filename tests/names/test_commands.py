"""The commands as they are typed: options, mistakes, one document for machines, and nothing heavy in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nestsync.cli import app
from tests.names.inventories import inventoried

ROOT = Path(__file__).parents[2]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration that no stage would take: only its workspace is looked at."""
    inventoried(tmp_path / "space", {"warehouse": [("hive", "a:b"), ("hive", "c")]})
    file = tmp_path / "nestsync.yaml"
    file.write_text("workspace: space\nsources: nonsense\nnope: 1\n", encoding="utf-8")
    return file


def document(*arguments: str) -> dict[str, object]:
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, object] = json.loads(done.stdout)
    assert (found["command"], found["exit_code"], found["error"]) == (arguments[0], 0, None)
    return found


@pytest.mark.parametrize("command", ["tree", "separators"])
def test_a_workspace_is_found_by_the_configuration_or_by_its_folder(command: str, config: Path) -> None:
    by_config = document(command, "-c", str(config))
    assert by_config == document(command, "--workspace", str(config.parent / "space"), "--run-id", "r1")
    assert by_config["run_id"] == "r1"


def test_the_options_of_a_tree(config: Path) -> None:
    assert CliRunner().invoke(app, ["tree", "-c", str(config), "--source", "warehouse", "--depth", "1"]).stdout == (
        "inventory of run r1\nwarehouse (hms, source): namespaces 2, tables 7\n  hive (implied) (+2 below)\n"
    )


def test_the_options_of_an_explanation() -> None:
    assert document("explain", "a.b")["levels"] == ["a", "b"]
    assert document("explain", "a%2Eb", "--from", "iceberg-rest", "--separator", "%2E")["levels"] == ["a", "b"]
    assert document("explain", "x.a.t", "--table", "--catalog", "x", "--catalog", "y") | {
        "dialects": 0,
        "targets": 0,
    } == {
        "command": "explain",
        "exit_code": 0,
        "text": "x.a.t",
        "from": "spark",
        "separator": None,
        "catalog": "x",
        "path": None,
        "levels": ["a"],
        "name": "t",
        "other_reading": None,
        "warnings": [],
        "dialects": 0,
        "targets": 0,
        "dangers": [],
        "error": None,
    }


HINT = "name it with either -c FILE or --workspace DIR"
DIALECTS = (
    "iceberg-rest, iceberg-rest-query, gravitino, gravitino-physical, gravitino-shipped, spark, flink, trino, lance, "
    "lance-hive, hive, jdbc"
)
MISTAKES = {
    "explain a..b": (
        "[name-refused] spark: 'a..b' is no multi-part name from character 2 on",
        "accepted: `a`.`b`; --from names the dialect that the text is written in",
    ),
    "explain a --from sparc": ("[unknown-kind] there is no dialect 'sparc'", f"the dialects are {DIALECTS}"),
    "explain a --from jdbc --separator ;": (
        "[unknown-kind] jdbc: the dialect jdbc has a separator of its own",
        "a separator can be chosen for iceberg-rest, iceberg-rest-query, gravitino, gravitino-shipped, lance",
    ),
    "tree": ("[configuration] the workspace is not named", HINT),
    "separators -c x --workspace y": ("[configuration] the workspace is named twice", HINT),
    "separators --workspace /nowhere/at/all": (
        "[run-not-found] /nowhere/at/all: there is no workspace",
        "`nestsync inventory -c FILE` reads the catalogs",
    ),
    "tree -c /nowhere/x.yaml": ("[configuration] /nowhere/x.yaml: there is no such file", "name it with -c FILE"),
}


@pytest.mark.parametrize("typed", MISTAKES)
@pytest.mark.proves("exit-2")
def test_a_mistake_says_what_where_and_what_to_try(typed: str) -> None:
    done = CliRunner().invoke(app, typed.split())
    what, hint = MISTAKES[typed]
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"error {what}\n  hint: {hint}\n")


@pytest.mark.parametrize(
    ("depth", "said"),
    [("0", "0 is less than 1."), ("x", "'x' is no whole number."), ("1.5", "'1.5' is no whole number.")],
)
def test_a_depth_is_a_whole_number_from_1(depth: str, said: str) -> None:
    done = CliRunner().invoke(app, ["tree", "--workspace", "x", "--depth", depth], terminal_width=200)
    assert done.exit_code == 2
    assert f"Invalid value for '--depth': {said}" in done.stderr


@pytest.mark.system
def test_nothing_heavy_is_in_memory_after_any_of_them(config: Path) -> None:
    script = f"""
        import sys
        from typer.testing import CliRunner
        from nestsync.cli import app
        for arguments in (["explain", "a.b"], ["tree", "-c", {str(config)!r}], ["separators", "-c", {str(config)!r}]):
            for json in ([], ["--json"]):
                done = CliRunner().invoke(app, arguments + json)
                assert done.exit_code == 0, done.output
        shell = {{"_NESTSYNC_COMPLETE": "complete_bash", "_TYPER_COMPLETE_TESTING": "1"}}
        for words in ("explain a --from ", "tree -c {config} --source ", "separators -c {config} --run-id "):
            typed = shell | {{"COMP_WORDS": "nestsync " + words, "COMP_CWORD": str(len(words.split()) + 1)}}
            assert CliRunner().invoke(app, [], env=typed, prog_name="nestsync").stdout.strip()
        heavy = {{"pyspark", "delta", "pyarrow", "pydantic", "pandas", "lance", "requests"}}
        print(sorted(heavy & set(sys.modules)))
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT / "pipelines")},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[]\n", "")
