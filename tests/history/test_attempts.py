"""What a command says of itself: a beginning and an end, whatever ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from nestsync.errors import CatalogUnreachable, ConfigurationError
from nestsync.history.attempts import attempt, history_file, is_under_way, kept_from_others
from nestsync.history.records import read_record
from nestsync.runfiles import RunFiles
from tests.history.runs import ended

ROOT = Path(__file__).parents[2]
AFTERWARDS = ConnectionError("the session is gone")
AFTERWARDS.__context__ = SystemExit(143)
"""What leaves a block in which the signal came, when tidying up fails."""


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles(tmp_path / "work space #1%")


def lines(files: RunFiles, run_id: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in history_file(files, run_id).read_text(encoding="ascii").splitlines()]


def test_a_command_says_that_it_began_and_what_it_ended_with(files: RunFiles) -> None:
    ended(files, "r1", exit_code=3)
    begun, end = lines(files, "r1")
    assert (begun["event"], begun["command"], begun["configuration"]) == ("begun", "run", "/conf/a.yaml")
    assert (end["event"], end["attempt"], end["exit_code"]) == ("ended", begun["attempt"], 3)
    assert end["catalogs"]["lake"] == {"role": "target", "system": "iceberg_rest", "counts": {"namespaces": 100}}
    assert [stage["stage"] for stage in end["stages"]] == ["inventory", "check", "apply", "verify"]


@pytest.mark.parametrize(
    ("error", "exit_code", "verdict"),
    [
        pytest.param(
            CatalogUnreachable("refused", where="hms"), 5, "Stopped: [catalog-unreachable] hms: refused", id="ours"
        ),
        pytest.param(KeyboardInterrupt(), 130, "Stopped: interrupted", id="ctrl-c"),
        pytest.param(SystemExit(143), 143, "Stopped: ended by a signal", id="sigterm"),
        pytest.param(AFTERWARDS, 143, "Stopped: ended by a signal", id="sigterm-that-spark-got-too"),
        pytest.param(ZeroDivisionError("oh"), 1, "Stopped: oh", id="unexpected"),
    ],
)
def test_an_error_is_an_end_too_and_goes_on(
    files: RunFiles, error: BaseException, exit_code: int, verdict: str
) -> None:
    with pytest.raises(type(error)), attempt(files, "r1", command="run"):
        raise error
    record = read_record(files, "r1")
    assert (record.state, record.exit_code, record.verdict) == ("ended", exit_code, verdict)


def test_a_run_id_that_is_no_file_name_is_refused(files: RunFiles) -> None:
    with pytest.raises(ConfigurationError, match="is no run id"), attempt(files, "../x"):
        pass


def test_a_run_is_under_way_as_long_as_its_block_lasts(files: RunFiles) -> None:
    assert not is_under_way(files, "r1")
    with attempt(files, "r1"), attempt(files, "r1"):  # two sources at once
        assert is_under_way(files, "r1")
        assert read_record(files, "r1").state == "under way"
        with kept_from_others(files, "r1") as free:
            assert not free
    assert not is_under_way(files, "r1")
    with kept_from_others(files, "r1") as free:
        assert free


@pytest.mark.system
def test_a_process_that_is_killed_leaves_a_run_that_died(files: RunFiles) -> None:
    script = f"""
        import time
        from pathlib import Path
        from nestsync.history.attempts import attempt
        from nestsync.runfiles import RunFiles
        with attempt(RunFiles(Path({str(files.root)!r})), "r1", command="run"):
            print("begun", flush=True)
            time.sleep(60)
        """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT / "pipelines")},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        assert read_record(files, "r1").state == "under way"
        process.send_signal(signal.SIGKILL)
    record = read_record(files, "r1")
    assert (record.state, record.exit_code, record.seconds) == ("died", None, None)


@pytest.mark.system
def test_lines_of_processes_at_once_do_not_mix(files: RunFiles) -> None:
    script = f"""
        from pathlib import Path
        from nestsync.history.attempts import attempt
        from nestsync.runfiles import RunFiles
        for _ in range(50):
            with attempt(RunFiles(Path({str(files.root)!r})), "r1", command="x" * 5000):
                pass
        """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines")}
    processes = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert len(lines(files, "r1")) == 300
