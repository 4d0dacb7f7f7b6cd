"""Which runs may go, which never do, and what stays of one that went."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from nestsync.history.attempts import attempt
from nestsync.history.records import read_history, read_record
from nestsync.history.retention import Retention, outdated, remove_files
from nestsync.outcome import StageOutcome
from nestsync.runfiles import RunFiles
from tests.history.runs import BLOCKED, NOW, VERIFIED, backdated, died, ended, unreachable

FAILED = (*VERIFIED[:2], StageOutcome("apply", "failed", 1.0, {"applied": 1, "failed": 2}))


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    """Six nights: verified each, but the last, which findings stopped."""
    files = RunFiles(tmp_path)
    for night in range(5):
        ended(files, f"night-{night}", days_ago=6 - night)
    ended(files, "night-5", days_ago=1, exit_code=3, stages=BLOCKED)
    return files


def split(files: RunFiles, **limits: int) -> tuple[list[str], dict[str, str]]:
    goes, stays = outdated(files, read_history(files), Retention(**limits), NOW)
    return [run.run_id for run in goes], {each.run_id: each.reason for each in stays}


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param({}, [], id="no-limit"),
        pytest.param({"keep_runs": 6}, [], id="as-many-as-there-are"),
        pytest.param({"keep_runs": 3}, ["night-0", "night-1", "night-2"], id="by-count"),
        pytest.param({"keep_days": 4}, ["night-0", "night-1", "night-2"], id="by-age"),
        pytest.param({"keep_runs": 3, "keep_days": 5}, ["night-0", "night-1"], id="both-have-to-agree"),
        pytest.param({"keep_runs": 1, "keep_days": 100}, [], id="one-keeps-all"),
    ],
)
def test_a_run_goes_when_every_limit_lets_it(files: RunFiles, limits: dict[str, int], expected: list[str]) -> None:
    assert split(files, **limits)[0] == expected


def test_the_latest_verified_one_stays(files: RunFiles) -> None:
    goes, stays = split(files, keep_runs=1)
    assert goes == ["night-0", "night-1", "night-2", "night-3"]
    assert stays == {"night-4": "it is the latest that verified lake"}


def test_one_that_is_under_way_stays(files: RunFiles) -> None:
    with attempt(files, "night-0", command="report"):
        goes, stays = split(files, keep_runs=2)
    assert (goes, stays) == (["night-1", "night-2", "night-3"], {"night-0": "it is under way"})


@pytest.mark.parametrize("stages", [pytest.param(FAILED, id="failed"), pytest.param(VERIFIED[:2], id="died-writing")])
def test_one_whose_writes_are_unfinished_stays_until_a_later_one_verified(
    files: RunFiles, stages: tuple[StageOutcome, ...]
) -> None:
    for run_id, days_ago in (("early", 7), ("late", 1)):
        ended(files, run_id, exit_code=4, stages=stages, days_ago=days_ago)
        files.folder("journal", run_id).joinpath("driver.jsonl").write_text("{}\n")
    ended(files, "last", stages=BLOCKED, exit_code=3)
    goes, stays = split(files, keep_runs=1)
    assert "early" in goes
    assert stays["late"] == "its writes are unfinished, and no later run verified them"


def test_the_latest_inventory_stays_though_it_is_old(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    ended(files, "only", stages=BLOCKED, days_ago=500)
    assert split(files, keep_days=1) == ([], {"only": "it is the latest with an inventory"})


def test_what_went_leaves_its_line_its_journal_and_everybody_elses_files(files: RunFiles) -> None:
    for run_id in ("night-0", "night-00"):
        if run_id == "night-00":
            ended(files, run_id, days_ago=9)
        for kind in ("listings", "plans", "reports", "journal"):
            files.folder(kind, run_id).joinpath("file").write_text("x")
    files.remember_separator("lake", ":")
    (files.root / "diffs").mkdir()
    for name in ("night-0..night-1", "night-1..night-0", "night-00..night-1"):
        (files.root / "diffs" / f"{name}.csv").write_text("x")

    remove_files(files, "night-0", files.root / "reports")
    left = {str(file.relative_to(files.root)) for file in files.root.rglob("*") if file.is_file()}
    assert {name for name in left if "night-0" in name.replace("night-00", "")} == {
        "history/night-0.jsonl", "journal/night-0/file", "locks/run-night-0.lock",
    }  # fmt: skip
    assert {"separators.json", "plans/night-00/file", "diffs/night-00..night-1.csv"} <= left
    record = read_record(files, "night-0")
    assert (record.pruned, record.exit_code, record.objects("namespaces")) == (True, 0, 8)
    assert files.separator_of("lake") == ":"


def test_a_run_that_went_is_not_counted_again(files: RunFiles) -> None:
    for run_id in split(files, keep_runs=3)[0]:
        remove_files(files, run_id, files.root / "reports")
    assert split(files, keep_runs=3) == ([], {})


@pytest.mark.parametrize(
    ("nights", "limits", "expected"),
    [
        pytest.param("ggggffff", {"keep_runs": 3}, "0", id="failed-ones-push-out-no-good-ones"),
        pytest.param("gfgfgfgg", {"keep_runs": 3}, "0123", id="failed-ones-go-with-those-around-them"),
        pytest.param("fgfgg", {"keep_runs": 3}, "0", id="older-than-the-oldest-kept"),
        pytest.param("fgfg", {"keep_runs": 3}, "", id="fewer-than-are-kept"),
        pytest.param("ffff", {"keep_runs": 3}, "", id="none-but-failed-ones"),
        pytest.param("ffgf", {"keep_days": 3}, "01", id="by-age"),
    ],
)
def test_a_night_that_failed_takes_no_good_ones_place(
    nights: str, limits: dict[str, int], expected: str, tmp_path: Path
) -> None:
    files = RunFiles(tmp_path)
    for night, kind in enumerate(nights):
        make = ended if kind == "g" else unreachable
        make(files, f"night-{night}", days_ago=len(nights) - night)
    assert "".join(run_id[-1] for run_id in split(files, **limits)[0]) == expected


@pytest.mark.parametrize("make", [unreachable, died, ended])
def test_a_run_goes_once_whatever_it_came_to(make: Callable[[RunFiles, str], None], tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    make(files, "old")
    backdated(files, "old", NOW - timedelta(days=9))
    ended(files, "late")
    assert split(files, keep_days=2)[0] == ["old"]
    remove_files(files, "old", tmp_path / "reports")
    assert split(files, keep_days=2) == ([], {})
    assert read_record(files, "old").pruned


def test_a_run_that_is_taken_up_after_it_went_is_there_again(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    unreachable(files, "old")
    remove_files(files, "old", tmp_path / "reports")
    unreachable(files, "old")
    assert not read_record(files, "old").pruned


def test_what_an_older_version_made_leaves_no_line_as_it_had_none(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    files.update_summary("old", "inventory", {})
    remove_files(files, "old", tmp_path / "reports")
    assert read_history(files) == []


def test_age_is_of_the_first_command(files: RunFiles) -> None:
    backdated(files, "night-4", NOW)
    assert split(files, keep_days=2)[0] == ["night-0", "night-1", "night-2", "night-3"]
