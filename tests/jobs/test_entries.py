"""Every command that runs stages has a job of its own, with the same options."""

from __future__ import annotations

import runpy
import signal
import sys
from pathlib import Path

import pytest
import typer

from nestsync.cli import app

ROOT = Path(__file__).parents[2]
WITHOUT_JOB = {"demo", "explain", "tree", "separators", "history", "diff", "prune"}
COMMANDS = sorted(set(typer.main.get_command(app).commands) - WITHOUT_JOB)  # type: ignore[attr-defined]


def test_every_command_that_takes_stages_of_a_configuration_has_a_job() -> None:
    assert sorted(job.stem for job in (ROOT / "jobs").glob("*.py")) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_a_job_is_its_command(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["job", "--help"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # this process is pytest's
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "jobs" / f"{command}.py"), run_name="__main__")
    assert ended.value.code == 0
    assert f"jobs/{command}.py" in capsys.readouterr().out
