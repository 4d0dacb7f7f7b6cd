"""How a job ended: its outcome, what a person is told of it, and whether trying again can help."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow.sdk import RetryDecision, RetryPolicy

MEANING = {
    1: "unexpected failure",
    2: "usage or configuration is wrong; nothing was written",
    3: "blocking findings; nothing was written",
    4: "some actions failed or did not verify; the rest is applied and recorded",
    5: "a source or the target cannot be reached, or another run holds the lease",
    6: "the plan no longer fits: it was edited, or a source or the target moved since",
}
"""The exit codes of nestsync's jobs (docs/exit-codes.md)."""
DONE, UNEXPECTED, USAGE, BLOCKING, PARTLY, UNREACHABLE = range(6)
_ALLOWED = re.compile(r"[^A-Za-z0-9_.:+-]")
_LONGEST, _LONGEST_NAME = 128, 60


class Stopped(SystemExit):
    """A task that ends with what a person has to know: its message. `again` says whether a retry can help.

    Airflow logs a `SystemExit` in one line, where it shows a stack trace for any other exception; and what stops a
    run is a matter of catalogs and configurations, not of code.
    """

    def __init__(self, message: str, code: int = UNEXPECTED, *, again: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.again = again

    def __str__(self) -> str:
        return str(self.args[0])


class RetryWhereItHelps(RetryPolicy):
    """Tries again what `Stopped` says can be tried again, and whatever else went wrong around the job."""

    def evaluate(self, exception: BaseException, try_number: int, max_tries: int, context: Any = None) -> RetryDecision:
        if isinstance(exception, Stopped) and not exception.again:
            return RetryDecision.fail("trying again would end the same")
        return RetryDecision.default()


@dataclass(frozen=True)
class Outcome:
    """What a job left in its outcome file: the document that ``--json`` prints."""

    exit_code: int
    said: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path, exit_code: int) -> Outcome:
        """The outcome in `file`; one that says nothing where the job did not come so far."""
        try:
            said = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls(exit_code)
        return cls(exit_code, said if isinstance(said, dict) else {})

    def demanded(self, command: str) -> Outcome:
        """The outcome itself. Raises `Stopped` where `command` is said to have ended well, and says nothing of it."""
        if self.exit_code == DONE and not self.said:
            raise Stopped(
                f"nestsync {command} ended with 0, and nothing says what it did.\nhint: the driver has to run on this "
                "worker, where its outcome is a file: its spark-submit must not have deploy-mode cluster",
                USAGE,
            )
        return self

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """What each stage counted."""
        return {stage["stage"]: stage["counts"] for stage in self.said.get("stages", ())}

    @property
    def report(self) -> str | None:
        """The path of the report, where this job wrote one."""
        found = self.said.get("report")
        return found if isinstance(found, str) else None

    def as_xcom(self) -> dict[str, Any]:
        """What other tasks, and people who look at XCom, get."""
        return {
            "run_id": self.said.get("run_id") or None,
            "exit_code": self.exit_code,
            "verdict": self.said.get("verdict"),
            "counts": self.counts,
            "report": self.report,
            "plan_hash": self.said.get("plan_hash"),
            "next_steps": self.said.get("next_steps") or [],
        }

    @property
    def can_be_tried_again(self) -> bool:
        """Whether the same job may well end otherwise the next time."""
        if self.exit_code == PARTLY:  # what the server refused may pass; what findings block stays blocked
            return any(
                stage["stage"] == "apply" and (stage["counts"].get("failed") or stage.get("error"))
                for stage in self.said.get("stages", ())
            )
        return self.exit_code in (UNEXPECTED, UNREACHABLE) or was_killed(self.exit_code)

    def message(self, command: str, last_line: str = "") -> str:
        """What a person is told of a job that did not end well."""
        if was_killed(self.exit_code):
            return (
                f"nestsync {command} was ended by signal {_signal(self.exit_code)}. What it did is in its journal, and "
                "the same task goes on with it."
            )
        meaning = MEANING.get(self.exit_code, "no exit code of nestsync")
        return f"nestsync {command} ended with exit {self.exit_code} ({meaning}).\n{self._details(last_line)}"

    def _details(self, last_line: str) -> str:
        # Of a run that came half way, the verdict tells what was done, and why it stopped.
        error = {} if self.exit_code == PARTLY else self.said.get("error") or {}
        where = f"{error['where']}: " if error.get("where") else ""
        problems = error.get("problems") or []
        lines = [f"{where}{error['what']}"] if error.get("what") else []
        if len(problems) > 1:
            lines = [f"{where}{len(problems)} problems", *(f"  {problem}" for problem in problems)]
        if not lines and self.said.get("verdict"):
            lines = [self.said["verdict"]]
        if not lines:
            lines = [
                f"The job left no outcome: it did not get as far as nestsync. spark-submit's last line: {last_line}"
            ]
        lines += [f"hint: {error['hint']}"] if error.get("hint") else []
        lines += [f"next: {step}" for step in self.said.get("next_steps") or ()]
        return "\n".join(lines)


def was_killed(exit_code: int) -> bool:
    """Whether `exit_code` is a signal's: negative from Python, 128 and more from a shell."""
    return exit_code < 0 or 128 < exit_code < 160


def _signal(exit_code: int) -> int:
    return -exit_code if exit_code < 0 else exit_code - 128


def nestsync_run_id(run_id: str, name: str, kind: str = "") -> str:
    """The run id of nestsync for the DAG run `run_id` of the configuration `name`, always the same.

    A cleared task goes on with its run by it, and another configuration never has the same, though both may have one
    schedule and one workspace: a name holds neither of the characters that follow it here. `kind` keeps apart what
    else is done with the configuration. Characters that nestsync does not take are replaced; those that would be lost
    so, or cut off, are stood for by a hash.
    """
    wanted = f"{name}+{kind}:{run_id}" if kind else f"{name}:{run_id}"
    taken = _ALLOWED.sub("-", f"{name[:_LONGEST_NAME]}{wanted[len(name) :]}")  # room for the DAG run's own id
    if not taken[:1].isalnum():
        taken = f"r{taken}"
    if taken == wanted and len(taken) <= _LONGEST:
        return taken
    digest = hashlib.sha256(wanted.encode("utf-8", "backslashreplace")).hexdigest()[:10]
    return f"{taken[: _LONGEST - 11]}-{digest}"


__all__ = [
    "BLOCKING",
    "DONE",
    "MEANING",
    "PARTLY",
    "UNEXPECTED",
    "USAGE",
    "Outcome",
    "RetryWhereItHelps",
    "Stopped",
    "nestsync_run_id",
    "was_killed",
]
