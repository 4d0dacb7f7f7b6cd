"""What a run ends with, in one sentence, and what to do next, ready to paste."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nestsync.commands import command
from nestsync.outcome import StageOutcome
from nestsync.reports.settled import ExpectationResult, unsaid

WRITES = ("create_namespace", "set_properties")


RESOLVE = "resolve each blocking finding as its hint says, in the configuration or in the mapping file"
OF_SEPARATOR = ("separator-conflict", "separator-changed")
"""The rules that another separator is the answer to."""
EMPTY = "No source holds a namespace, a table or a view."


@dataclass(frozen=True, slots=True)
class InTheWay:
    """What the check found to stand in the way."""

    separators: Sequence[Mapping[str, Any]] = ()
    """The candidates, ranked."""
    blocking: Mapping[str, int] = field(default_factory=dict)
    """How many findings of each rule block."""
    enabled_with: str | None = None
    """What the target was enabled with, where the configuration has another separator and does not say it is wanted."""


NOTHING = InTheWay()


def verdict(stages: Sequence[StageOutcome], exit_code: int, *, empty: bool = False) -> str:
    """How the run went, in one sentence; `empty` where no source of its inventory holds anything."""
    counts = {stage.stage: stage.counts for stage in stages}
    failed = next((stage for stage in stages if stage.status == "failed"), None)
    if exit_code not in (0, 3, 4) and failed is not None:
        return f"Stopped in {failed.stage}: {failed.error}"
    if exit_code == 3:
        return f"{_blocking(counts)} Nothing was written."
    if exit_code == 4:
        return _partly(counts, failed)
    return f"{_done(counts)} {EMPTY}" if empty else _done(counts)


def _blocking(counts: Mapping[str, Mapping[str, int]]) -> str:
    number = counts.get("check", {}).get("blocking", 0)
    return f"{number:,} blocking finding{'' if number == 1 else 's'} must be resolved first."


def _partly(counts: Mapping[str, Mapping[str, int]], failed: StageOutcome | None) -> str:
    applied = counts.get("apply", {})
    blocked = counts.get("plan", {}).get("blocked", 0)
    parts = [f"{applied.get('applied', 0):,} applied"] if "apply" in counts else []
    parts += [f"{applied['failed']:,} failed"] if applied.get("failed") else []
    parts += [f"{blocked:,} blocked"] if blocked else []
    parts += (
        [f"{counts['verify']['differences']:,} not as planned"] if counts.get("verify", {}).get("differences") else []
    )
    reason = f" {failed.error}" if failed is not None and failed.error else ""
    told = f": {', '.join(parts)}" if parts else ""
    return f"The target is reconciled in part{told}.{reason}"


def _done(counts: Mapping[str, Mapping[str, int]]) -> str:
    last = next((stage for stage in ("verify", "apply", "plan", "check", "inventory") if stage in counts), "")
    of = counts.get(last, {})
    match last:
        case "verify":
            applied = counts.get("apply", {}).get("applied", 0)
            nothing = "nothing had to be written, " if "apply" in counts else ""
            wrote = f"{applied:,} written and " if applied else nothing
            return f"The target is reconciled: {wrote}{_many(of.get('verified', 0), 'namespace')} verified."
        case "apply":
            return f"Applied: {of.get('applied', 0):,} written, {of.get('skipped', 0):,} skipped."
        case "plan":
            return _planned(of)
        case "check":
            return f"No blocking findings; {_many(of.get('warning', 0), 'warning')}."
        case "inventory":
            return f"Read {_many(of.get('namespaces', 0), 'namespace')} and {_many(of.get('tables', 0), 'table')}."
        case _:
            return "Done."


def _planned(of: Mapping[str, int]) -> str:
    parts = [f"{sum(of.get(kind, 0) for kind in WRITES):,} to write", f"{of.get('noop', 0):,} already as wanted"]
    parts += [f"{of[kind]:,} {kind}" for kind in ("left different", "blocked") if of.get(kind)]
    return f"Planned: {', '.join(parts)}."


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def not_met(failed: Iterable[ExpectationResult]) -> Iterator[str]:
    """A line for each of the `failed` expectations that nothing else of the run has told already."""
    for result in unsaid(failed):
        first = f", the first is {result.examples[0]}" if result.examples else ""
        yield f"{result.name} ({result.unexpected:,} of {result.rows:,}), not as expected: {result.expectation}{first}"


def next_steps(
    *,
    exit_code: int,
    run_id: str,
    config: str,
    stages: Sequence[StageOutcome],
    found: InTheWay = NOTHING,
    unread: Sequence[str] = (),
    empty: bool = False,
) -> tuple[str, ...]:
    """What to do next: commands to paste, or what to change in the configuration; as in `verdict`, where `empty`.

    `unread` are the catalogs that the run's inventory lacks, the target among them.
    """
    done = {stage.stage for stage in stages}
    if exit_code == 0 and empty:
        return (
            "see whether the sources' addresses, warehouses and folders are the right ones",
            command("run", config),
        )
    if exit_code == 3:
        of_separator = _of_separator(found.separators, found.enabled_with)
        others = _others(found.blocking) if of_separator else (RESOLVE,)
        return (*of_separator, *others, command("run", config))
    again = {4: command("apply", config, run_id), 6: command("run", config)}
    if exit_code in again:
        return (again[exit_code],)
    if exit_code != 0 or "verify" in done:
        return ()
    if unread:
        return (command("inventory", config, run_id, *(word for name in unread for word in ("--source", name))),)
    following = {"inventory": "check", "check": "plan", "plan": "apply", "apply": "verify", "verify": "report"}
    last = next((stage.stage for stage in reversed(stages) if stage.stage in following), None)
    return (command(following[last], config, run_id),) if last else ()


def _of_separator(separators: Sequence[Mapping[str, Any]], enabled_with: str | None) -> tuple[str, ...]:
    kept = () if enabled_with is None else (_keep(enabled_with),)
    suggested = [row["separator"] for row in separators if row["suggested"]]
    return kept if kept and suggested == [enabled_with] else (*kept, *_suggestions(separators))


def _keep(separator: str) -> str:
    return f"set separator.value back to {separator!r}, or separator.replaces to {separator!r} if the change is wanted"


def _suggestions(separators: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    free = next((row["separator"] for row in separators if row["suggested"]), None)
    taken = next((row for row in separators if row["configured"]), None)
    if taken is None or not taken["conflicts"] or free is None:
        return ()
    return (
        f"set separator.value to {free!r}: no name holds it, and {taken['conflicts']:,} hold {taken['separator']!r}",
        "or rename what is in conflict in the mapping file",
    )


def _others(blocking: Mapping[str, int]) -> tuple[str, ...]:
    """What no other separator resolves."""
    others = [f"{rule} ({number:,})" for rule, number in sorted(blocking.items()) if rule not in OF_SEPARATOR]
    return (f"resolve {', '.join(others)}: each finding has a hint that says how",) if others else ()


__all__ = ["WRITES", "InTheWay", "next_steps", "not_met", "verdict"]
