"""Where a run stands when its report is asked for on its own: what its other commands came to, also when one died."""

from __future__ import annotations

from collections.abc import Mapping

from nestsync.commands import command
from nestsync.history.endings import Ending
from nestsync.runner.context import RunContext
from nestsync.runner.outcomes import WRITES, verdict
from nestsync.stages.report.frames import with_outcome

AGAIN = {"check": ("check", "plan", "apply"), "plan": ("plan", "apply"), "apply": ("apply",), "verify": ()}
"""What is to be done again, by the stage in which a run died; every one of them goes on from where it was."""


def standing(context: RunContext, ending: Ending) -> tuple[int, str, tuple[str, ...] | None]:
    """The exit code and the verdict of a run that came to `ending`, and what to do next; None as for any other run."""
    if ending.died:
        outcomes = _outcomes(context)
        sent = sum(outcomes.get(each, 0) for each in ("applied", "failed", "unknown"))
        return (4 if sent else 1), f"The run died half way{_in(ending)}. {_written(outcomes)}", _again(context, ending)
    code = 0 if ending.exit_code is None else ending.exit_code
    stopped = any(stage.status == "failed" for stage in ending.stages)
    if code not in (0, 3, 4) and not stopped:
        return code, ending.verdict, None
    return code, verdict(ending.stages, code, empty=context.is_empty), None


def _in(ending: Ending) -> str:
    return "" if ending.stage is None else f", in {ending.stage}"


def _outcomes(context: RunContext) -> Mapping[str, int]:
    """How many changes of the plan came to what, as the ledger has it; nothing where there is no plan."""
    if not context.facts("plan"):
        return {}
    changes = with_outcome(context.actions(), context.ledger()).where(f"kind IN {WRITES}")
    # one row an outcome
    return {row["outcome"]: row["count"] for row in changes.groupBy("outcome").count().collect()}


def _written(outcomes: Mapping[str, int]) -> str:
    """What the ledger knows to be in the target, and what nobody knows."""
    if not any(outcomes.get(each) for each in ("applied", "failed", "unknown", "skipped")):
        return "Nothing was written."
    done = outcomes.get("applied", 0) + outcomes.get("skipped", 0)
    parts = [f"{done:,} of {sum(outcomes.values()):,} changes are in the target"]
    if outcomes.get("unknown"):
        number = outcomes["unknown"]
        parts.append(f"{number:,} {'was' if number == 1 else 'were'} sent and nobody knows what came of it")
    parts += [f"{outcomes['failed']:,} failed"] if outcomes.get("failed") else []
    parts += [f"{outcomes['pending']:,} were not sent"] if outcomes.get("pending") else []
    return f"{', '.join(parts)}."


def _again(context: RunContext, ending: Ending) -> tuple[str, ...]:
    config = context.config.path
    if ending.stage not in AGAIN:
        return (command("run", config),)
    following = (*AGAIN[ending.stage], "verify", "report") if context.with_target else ("check", "report")
    return tuple(command(stage, config, context.run_id) for stage in following)


__all__ = ["standing"]
