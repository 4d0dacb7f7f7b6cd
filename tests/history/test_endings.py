"""What a run came to before its report is asked for: stage by stage over all commands, and where one died."""

from __future__ import annotations

from pathlib import Path

import pytest

from nestsync.history.attempts import attempt, history_file
from nestsync.history.endings import WITHOUT_A_WORD, Ending, read_ending
from nestsync.outcome import RunOutcome, StageOutcome
from nestsync.runfiles import RunFiles

OK = {stage: StageOutcome(stage, "ok", 1.0, {"n": 1}) for stage in ("inventory", "check", "plan", "apply", "verify")}
BLOCKED = StageOutcome("check", "blocked", 1.0, {"blocking": 2})
FAILED = StageOutcome("apply", "failed", 1.0, {"failed": 1})


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles(tmp_path)


def took(files: RunFiles, *stages: StageOutcome, exit_code: int = 0, verdict: str = "said") -> None:
    """A command that came to an end."""
    with attempt(files, "r", command="run", stages=[stage.stage for stage in stages]) as begun:
        for stage in stages:
            begun.stage(stage.stage)
        begun.tell(RunOutcome("r", "run", exit_code, verdict, stages), {})


def killed(files: RunFiles, *stages: str, of: tuple[str, ...] = ("inventory", "check", "plan", "apply")) -> None:
    """A command that was killed in the last of `stages`."""
    with attempt(files, "r", command="run", stages=of) as begun:
        for stage in stages:
            begun.stage(stage)
    lines = history_file(files, "r").read_text().splitlines(keepends=True)
    history_file(files, "r").write_text("".join(lines[:-1]))


def test_of_a_run_that_nobody_knows_nothing_is_known(files: RunFiles) -> None:
    assert read_ending(files, "r") is None


def test_every_stage_is_there_whatever_command_took_it(files: RunFiles) -> None:
    took(files, OK["inventory"], BLOCKED, exit_code=3)
    took(files, OK["check"])
    took(files, OK["plan"], OK["apply"], verdict="applied")
    took(files, StageOutcome("report", "ok", 1.0), exit_code=3, verdict="of the report")
    told = tuple(OK[stage] for stage in ("inventory", "check", "plan", "apply"))
    assert read_ending(files, "r") == Ending(told, 0, "applied")


@pytest.mark.parametrize(
    ("met", "exit_code"),
    [
        pytest.param(BLOCKED, 3, id="findings"),
        pytest.param(FAILED, 4, id="failures"),
        pytest.param(FAILED, 5, id="unreachable-before-anything-was-sent"),
        pytest.param(FAILED, 6, id="drift"),
    ],
)
def test_a_later_command_that_went_well_does_not_undo_what_an_earlier_one_met(
    files: RunFiles, met: StageOutcome, exit_code: int
) -> None:
    took(files, met, exit_code=exit_code)
    took(files, OK["plan"])
    ending = read_ending(files, "r")
    assert ending is not None
    assert ending.exit_code == exit_code


@pytest.mark.parametrize("exit_code", [3, 4])
def test_what_the_expectations_of_a_report_said_is_left_to_the_next_one(files: RunFiles, exit_code: int) -> None:
    took(files, OK["apply"], OK["verify"], StageOutcome("report", "ok", 1.0), exit_code=exit_code)
    ending = read_ending(files, "r")
    assert ending is not None
    assert ending.exit_code == 0


def test_a_command_that_was_killed_says_in_which_stage(files: RunFiles) -> None:
    took(files, OK["inventory"], OK["check"])
    killed(files, "plan", "apply")
    died = StageOutcome("apply", "failed", 0.0, {}, WITHOUT_A_WORD)
    assert read_ending(files, "r") == Ending((OK["inventory"], OK["check"], died), None, died=True, stage="apply")


def test_a_run_that_went_on_after_it_was_killed_did_not_die(files: RunFiles) -> None:
    killed(files, "apply")
    took(files, OK["apply"])
    assert read_ending(files, "r") == Ending((OK["apply"],), 0, "said")


def test_one_that_is_at_work_is_told_from_one_that_died(files: RunFiles) -> None:
    with attempt(files, "r", command="apply", stages=["apply"]) as begun:
        begun.stage("apply")
        assert read_ending(files, "r") == Ending((), None, under_way=True, stage="apply")


def test_what_an_older_version_left_is_read_as_far_as_it_goes(files: RunFiles) -> None:
    file = history_file(files, "r")
    file.parent.mkdir()
    file.write_text(
        '{"event": "begun", "attempt": "a"}\n{"event": "ended", "attempt": "a", "stages": [3, {"stage": "check"}]}\n'
    )
    assert read_ending(files, "r") == Ending((StageOutcome("check", "None", 0.0, {}),), 1)
