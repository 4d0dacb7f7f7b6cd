"""What a run ends with: the one record that the command line, the jobs and the reports show."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nestsync.core.errors import NestsyncError


@dataclass(frozen=True, slots=True)
class StageOutcome:
    """How one stage went: `status` is ``ok``, ``blocked`` or ``failed`` (or ``started``), `seconds` wall time."""

    stage: str
    status: str
    seconds: float
    counts: dict[str, int] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a command went. `verdict` is one sentence; `next_steps` are commands or edits, ready to paste."""

    run_id: str
    command: str
    exit_code: int
    verdict: str
    stages: tuple[StageOutcome, ...] = ()
    next_steps: tuple[str, ...] = ()
    report: Path | None = None
    plan_hash: str | None = None
    error: NestsyncError | None = None
    """What stopped the run before there was anything to report on."""
    failed: NestsyncError | None = None
    """What ended a stage of it, where there was something to report on."""

    def counts(self, stage: str) -> dict[str, int]:
        """What `stage` counted, summed over its rows; empty where it did not run."""
        return {key: value for found in self.stages if found.stage == stage for key, value in found.counts.items()}

    def as_json(self) -> dict[str, Any]:
        """The machine-readable summary (``--json``) without the error: the fields, with the report as text."""
        return {
            "run_id": self.run_id,
            "command": self.command,
            "exit_code": self.exit_code,
            "verdict": self.verdict,
            "stages": [
                {
                    "stage": stage.stage,
                    "status": stage.status,
                    "seconds": round(stage.seconds, 3),
                    "counts": stage.counts,
                    "error": stage.error,
                }
                for stage in self.stages
            ],
            "next_steps": list(self.next_steps),
            "report": None if self.report is None else str(self.report),
            "plan_hash": self.plan_hash,
        }


class BrokenOff(Exception):
    """A run was broken off half way by its cause, a signal or a failure that no stage answers for.

    `outcome` is how far it came, and `next_steps` of it how to go on; how it ended, only the cause can say.
    """

    def __init__(self, outcome: RunOutcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


INTERRUPTED = 130
"""What shells make of SIGINT: 128 and the number of the signal."""


def ended_by(error: BaseException | None) -> tuple[int, str] | None:
    """The exit code and the words for the signal that `error` is, or came up after; None where there was none.

    Spark, when it is ended with us, fails once more on the way out.
    """
    while error is not None and isinstance(error, Exception):
        error = error.__context__
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "interrupted"
    if isinstance(error, SystemExit):  # how `signals` answers one
        return error.code if isinstance(error.code, int) else 1, "ended by a signal"
    return None
