"""What a job's end means: the message, another try or none, and the run that a cleared task goes on with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from airflow.sdk import RetryAction
from nestsync_airflow.outcomes import Outcome, RetryWhereItHelps, Stopped, nestsync_run_id

RETRIED, ENDED = True, False


def applied(error: str | None = None, **counts: int) -> dict[str, object]:
    return {"stages": [{"stage": "apply", "counts": counts, "error": error}]}


@pytest.mark.parametrize(
    ("exit_code", "said", "again"),
    [
        (1, {}, RETRIED),
        (2, {}, ENDED),
        (3, {}, ENDED),
        (4, applied(failed=2), RETRIED),  # what the server refused for the moment
        (4, applied("the target stopped answering after 5 of 10 writes"), RETRIED),
        (4, applied(blocked=2), ENDED),  # what findings block
        (4, {}, ENDED),  # what did not verify
        (5, {}, RETRIED),
        (6, {}, ENDED),
        (137, {}, RETRIED),
        (143, {}, RETRIED),
        (-9, {}, RETRIED),
    ],
)
def test_what_may_end_otherwise_is_tried_again(exit_code: int, said: dict[str, object], again: bool) -> None:
    outcome = Outcome(exit_code, said)
    assert outcome.can_be_tried_again is again
    stopped = Stopped("told", exit_code, again=outcome.can_be_tried_again)
    decision = RetryWhereItHelps().evaluate(stopped, 1, 3)
    assert decision.action is (RetryAction.DEFAULT if again else RetryAction.FAIL)


def test_a_job_that_ended_well_and_says_nothing_did_not_run_here(tmp_path: Path) -> None:
    with pytest.raises(Stopped, match="nestsync apply ended with 0, and nothing says what it did") as stopped:
        Outcome.read(tmp_path / "outcome.json", 0).demanded("apply")
    assert RetryWhereItHelps().evaluate(stopped.value, 1, 3).action is RetryAction.FAIL
    told = Outcome(0, {"verdict": "Done."})
    assert told.demanded("apply") is told


def test_what_goes_wrong_around_a_job_is_tried_again() -> None:
    assert RetryWhereItHelps().evaluate(ConnectionError(), 1, 3).action is RetryAction.DEFAULT


@pytest.mark.parametrize(
    ("exit_code", "said", "told"),
    [
        (
            2,
            {"error": {"what": "stratgey is no key", "where": "a.yaml", "hint": "did you mean strategy"}},
            ["exit 2 (usage or configuration is wrong", "a.yaml: stratgey is no key", "hint: did you mean strategy"],
        ),
        (2, {"error": {"what": "2 problems", "where": "a.yaml", "problems": ["x", "y"]}}, ["2 problems\n  x\n  y"]),
        (6, {"verdict": "It moved.", "next_steps": ["nestsync run"]}, ["It moved.\nnext: nestsync run"]),
        (1, {}, ["left no outcome", "spark-submit's last line: Unrecognized option"]),
        (-9, {}, ["ended by signal 9", "goes on with it"]),
        (143, {}, ["ended by signal 15"]),
    ],
)
def test_a_person_is_told_what_happened_and_what_to_do(
    exit_code: int, said: dict[str, object], told: list[str]
) -> None:
    message = Outcome(exit_code, said).message("plan", "Unrecognized option")
    assert [part for part in told if part not in message] == []


@pytest.mark.parametrize("content", [None, "", "{", "[]"])
def test_a_job_that_left_no_document_says_nothing(content: str | None, tmp_path: Path) -> None:
    file = tmp_path / "outcome.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    assert Outcome.read(file, 1) == Outcome(1, {})


def test_what_other_tasks_get(tmp_path: Path) -> None:
    file = tmp_path / "outcome.json"
    said = {"run_id": "r", "verdict": "Done.", "report": "/r/index.html", "plan_hash": "ab", "next_steps": []}
    file.write_text(json.dumps(said | applied(applied=3)), encoding="utf-8")
    assert Outcome.read(file, 0).as_xcom() == said | {"exit_code": 0, "counts": {"apply": {"applied": 3}}}


SCHEDULED = "scheduled__2026-11-28T02:00:00+00:00"


@pytest.mark.parametrize(
    ("run_id", "name", "taken"),
    [
        (SCHEDULED, "sales", f"sales:{SCHEDULED}"),
        ("nightly-1", "sales", "sales:nightly-1"),
        ("a b/c", "sales", "sales:a-b-c-aed76b79db"),
        ("x", "_sales", "r_sales:x-9bac4779e5"),
        (SCHEDULED, "s" * 200, f"{'s' * 60}:{SCHEDULED}-07f0114b5a"),
        ("ä" * 250, "sales", f"sales:{'-' * 111}-8458b99bce"),
    ],
)
def test_a_dag_run_has_one_run_of_nestsync(run_id: str, name: str, taken: str) -> None:
    assert nestsync_run_id(run_id, name) == taken
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,127}", taken)  # what nestsync takes


def test_different_dag_runs_never_share_a_run() -> None:
    runs = ["a b", "a-b", "a/b", "x" * 200, "x" * 201, "_a", "r_a"]
    names = ["sales", "_sales", "r_sales", "s" * 70, "s" * 71]  # of one workspace, it may be
    made = {nestsync_run_id(run, name, kind) for run in runs for name in names for kind in ("", "assess")}
    assert len(made) == len(runs) * len(names) * 2
