"""What came of the expectations, and what a run ends with once that is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nestsync.commands import command
from nestsync.core.expectations import EXPECTATIONS
from nestsync.core.findings import Severity
from nestsync.outcome import RunOutcome

DONE, BLOCKED, PARTLY = 0, 3, 4
NAMED = 3
"""How many expectations that are not met a verdict names."""
NOTHING_WRITTEN = "Nothing was written."


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """One expectation of Great Expectations (see `core.expectations`), over all rows that it is about."""

    suite: str
    name: str
    expectation: str
    """What is true where it is met, in a sentence."""
    severity: Severity
    success: bool
    rows: int
    unexpected: int
    examples: tuple[str, ...]
    page: str
    """Its page in the Data Docs, relative to the report's folder."""
    mostly: float = 1.0
    """The least part of its rows that has to be as expected."""
    departures: tuple[str, ...] = ()
    """How it is held otherwise than by default (see `core.expectations`)."""
    reason: str | None = None
    """Why."""

    @property
    def held_otherwise(self) -> str:
        """The departures and the reason for them, in a sentence without its end; empty where there are none."""
        told = ", ".join(self.departures)
        return f"{told}: {self.reason}" if told and self.reason else told


def blocking_failures(results: Iterable[ExpectationResult]) -> tuple[ExpectationResult, ...]:
    """Those of `results` that decide the exit code."""
    return tuple(result for result in results if not result.success and result.severity is Severity.BLOCKING)


def settled(
    outcome: RunOutcome, results: Iterable[ExpectationResult], *, sent: bool, config: str | None = None
) -> RunOutcome:
    """`outcome`, unless a blocking expectation is not met: then its exit code is 3, or 4 once a write was `sent`.

    What the run stopped at already (1, 2, 5, 6) stays. Where findings (3) or failures (4) decided it, they are not
    told again: only an expectation that stands for something else is added to the verdict. `config` is the
    configuration file, for the commands to paste.
    """
    failed = blocking_failures(results)
    if not failed or outcome.exit_code not in (DONE, BLOCKED, PARTLY):
        return outcome
    code = PARTLY if sent or outcome.exit_code == PARTLY else BLOCKED
    new = failed if outcome.exit_code == DONE else unsaid(failed)
    if not new:
        return replace(outcome, exit_code=code)
    verdict = f"Not as expected: {named(new)}."
    if outcome.exit_code == DONE and code == BLOCKED:
        verdict = f"{verdict} {NOTHING_WRITTEN}"
    else:
        verdict = f"{outcome.verdict} {verdict}"
    advice = tuple(dict.fromkeys(EXPECTATIONS[result.name].advice for result in new))
    following = outcome.next_steps
    if outcome.exit_code == DONE:
        following = () if config is None else (command("run", config),)
    return replace(outcome, exit_code=code, verdict=verdict, next_steps=(*advice, *following))


def unsaid(failed: Iterable[ExpectationResult]) -> tuple[ExpectationResult, ...]:
    """Those of `failed` that the run itself does not end with another exit code for."""
    return tuple(result for result in failed if not EXPECTATIONS[result.name].decided)


def named(failed: Sequence[ExpectationResult]) -> str:
    """`failed` in a few words: what was expected, under which name, and how many rows say otherwise."""
    first = [
        f"{result.expectation} ({result.name}: {result.unexpected:,} of {result.rows:,})" for result in failed[:NAMED]
    ]
    more = [f"and {len(failed) - NAMED:,} more"] if len(failed) > NAMED else []
    return "; ".join([*first, *more])


__all__ = ["ExpectationResult", "blocking_failures", "settled", "unsaid"]
