"""Runs as records: what is known of each, also of one that died, and of one that an older version made."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nestsync.history.attempts import attempt, history_file
from nestsync.history.records import read_history, read_record
from nestsync.outcome import RunOutcome, StageOutcome
from nestsync.runfiles import RunFiles
from tests.history.runs import BLOCKED, INVENTORY, died, ended

OLDER = {
    "run_id": "20260102T030405-abc",
    "inventory": {
        "hms": {"role": "source", "counts": {"namespaces": 3, "tables": 4}, "forgotten": True},
        "lake": {"role": "target"},
    },
    "check": {"counts": {"blocking": 1, "warning": 2}},
    "verify": {"differences": 0},
}
"""A summary of a version that kept no history: no system, no listing, fewer counts."""


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles(tmp_path)


def summary(files: RunFiles, run_id: str, text: str) -> None:
    file = files.root / "runs-json" / f"{run_id}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_what_a_run_counted_is_that_of_its_sources(files: RunFiles) -> None:
    ended(files, "r1")
    record = read_record(files, "r1")
    assert (record.objects("namespaces"), record.objects("tables"), record.objects("views")) == (8, 25, 1)
    assert (record.findings("blocking"), record.findings("warning"), record.written) == (0, 3, 4)
    assert (record.verified, record.target, record.has_rows, record.pruned) == (True, "lake", True, False)


def test_commands_of_one_run_are_one_record(files: RunFiles) -> None:
    files.update_summary("r1", "inventory", INVENTORY)
    for command, code, stage in (
        ("check", 3, StageOutcome("check", "blocked", 1.0, {"blocking": 2})),
        ("check", 0, StageOutcome("check", "ok", 1.0, {"blocking": 0})),
        ("plan", 6, StageOutcome("plan", "failed", 1.0, {})),
    ):
        with attempt(files, "r1", command=command, configuration=f"/conf/{command}.yaml") as begun:
            begun.tell(RunOutcome("r1", command, code, f"{command}ed", (stage,)), INVENTORY)
    record = read_record(files, "r1")
    assert (record.commands, record.exit_codes, record.exit_code) == (("check", "plan"), (3, 0, 6), 6)
    assert (record.verdict, record.configuration, record.findings("blocking")) == ("planed", "/conf/plan.yaml", 0)
    assert "plan" not in record.stages


def test_runs_are_told_in_the_order_in_which_they_began(files: RunFiles) -> None:
    ended(files, "z", days_ago=3)
    ended(files, "a", days_ago=1)
    ended(files, "m", days_ago=2)
    assert [record.run_id for record in read_history(files)] == ["z", "m", "a"]


def test_a_run_that_died_says_so_and_a_torn_line_harms_nothing(files: RunFiles) -> None:
    died(files, "r1")
    record = read_record(files, "r1")
    assert (record.state, record.exit_code, record.has_rows, record.configuration) == (
        "died",
        None,
        False,
        "/conf/a.yaml",
    )


def killed(files: RunFiles, *stages: str) -> None:
    """A command on ``r1`` that was killed in the last of `stages`."""
    with attempt(files, "r1", command=stages[0], stages=list(stages)) as begun:
        for stage in stages:
            begun.stage(stage)
    file = history_file(files, "r1")
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))


def went(files: RunFiles, stage: str) -> None:
    with attempt(files, "r1", command=stage, stages=[stage]) as begun:
        begun.stage(stage)
        begun.tell(RunOutcome("r1", stage, 0, "said", (StageOutcome(stage, "ok", 1.0),)), INVENTORY)


@pytest.mark.parametrize(
    ("commands", "state", "died_in"),
    [
        pytest.param(("!apply", "report"), "died", "apply", id="reported"),
        pytest.param(("!apply", "report", "report"), "died", "apply", id="reported-twice"),
        pytest.param(("!apply", "report", "apply"), "ended", None, id="went-on"),
        pytest.param(("apply", "!report"), "ended", None, id="only-its-report-died"),
        pytest.param(("report",), "ended", None, id="nothing-but-a-report"),
        pytest.param(("!report",), "died", "report", id="nothing-but-a-report-that-died"),
    ],
)
def test_a_report_of_a_run_does_not_undo_that_it_died(
    files: RunFiles, commands: tuple[str, ...], state: str, died_in: str | None
) -> None:
    for command in commands:
        if command.startswith("!"):
            killed(files, command[1:])
        else:
            went(files, command)
    record = read_record(files, "r1")
    assert (record.state, record.died_in) == (state, died_in)


@pytest.mark.parametrize(
    ("run_id", "began"),
    [
        ("20260102T030405-abc", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("nightly-1", None),
        ("20269999T999999-abc", None),
    ],
)
def test_a_summary_of_an_older_version_is_read_as_far_as_it_goes(
    files: RunFiles, run_id: str, began: datetime | None
) -> None:
    summary(files, run_id, json.dumps(OLDER))
    (record,) = read_history(files)
    assert (record.state, record.exit_code, record.seconds, record.commands) == ("unknown", None, None, ())
    assert (record.objects("namespaces"), record.findings("blocking"), record.findings("info")) == (3, 1, 0)
    assert (record.verified, record.written, record.target) == (True, None, "lake")
    assert began is None or record.started_at == began


STRANGE = [
    '{"event": "begun"}',
    '{"event": "begun", "at": 7}',
    '{"event": "ended", "stages": 7, "catalogs": 7, "seconds": "x", "exit_code": "y", "verdict": 1}',
    '{"event": "ended", "stages": [7, {"stage": "check", "counts": 7}], "catalogs": {"hms": 7}}',
    *("[1]", '"x"', "{", "", "\udcff"),
]
BROKEN = ["", "{", '{"inventory": 1}', '{"inventory": {"hms": 7}}', '{"check": {"counts": [1]}}', '{"check": {}}']


@pytest.mark.parametrize("line", STRANGE, ids=ascii)
@pytest.mark.parametrize("text", BROKEN, ids=ascii)
def test_whatever_is_in_its_files_a_run_is_told(files: RunFiles, line: str, text: str) -> None:
    summary(files, "r1", text)
    file = history_file(files, "r1")
    file.parent.mkdir()
    file.write_bytes(line.encode("utf-8", "surrogateescape") + b"\n")
    (record,) = read_history(files)
    json.dumps(record.as_json())
    assert record.run_id == "r1"


def test_a_broken_summary_is_told_in_the_verdict(files: RunFiles) -> None:
    ended(files, "r1")
    summary(files, "r1", "{")
    assert read_record(files, "r1").verdict == "its summary cannot be read: the file is broken or half-written"


def test_a_run_whose_rows_are_gone_keeps_its_numbers(files: RunFiles) -> None:
    ended(files, "r1", exit_code=3, stages=BLOCKED)
    (files.root / "runs-json" / "r1.json").unlink()
    record = read_record(files, "r1")
    assert (record.pruned, record.has_rows, record.objects("tables"), record.findings("blocking")) == (
        True,
        False,
        25,
        2,
    )


def test_a_run_that_was_not_inventoried_has_no_numbers(files: RunFiles) -> None:
    with attempt(files, "r1", command="run") as begun:
        begun.tell(RunOutcome("r1", "run", 5, "hms did not answer."), {})
    record = read_record(files, "r1")
    assert (record.objects("tables"), record.findings("info"), record.pruned, record.has_rows) == (
        None,
        None,
        False,
        False,
    )


def test_a_run_knows_what_its_configuration_said_and_not_what_it_said_to_its_report(files: RunFiles) -> None:
    assert read_record(files, "r1").configuration_hashes == frozenset()
    for command, said in (("check", "a"), ("plan", "b"), ("apply", "b"), ("report", "c")):
        facts = {"configuration": f"/conf/{said}.yaml", "configuration_hash": said}
        with attempt(files, "r1", command=command, stages=[command], **facts):
            pass
    record = read_record(files, "r1")
    assert (record.configuration, record.configuration_hashes) == ("/conf/b.yaml", {"a", "b"})
