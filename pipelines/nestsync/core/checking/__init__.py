"""The check, pure: mapped identifiers and what the configuration says, to findings. The oracle of the check stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from nestsync.core.checking.changes import separator_changes
from nestsync.core.checking.collisions import collisions
from nestsync.core.checking.context import CheckContext, DialectUse, Lowered, SeverityRefused, Target
from nestsync.core.checking.ranking import EXAMPLES, Ranked, holders, rank, refusal, suggestion
from nestsync.core.checking.rules import Hit, Placed, Subject, finding, hits, place
from nestsync.core.checking.together import shown_together
from nestsync.core.findings import Finding, Member, Severity
from nestsync.core.separators import SeparatorRefused


def rank_separators(subjects: Iterable[Subject], context: CheckContext) -> tuple[Ranked, ...]:
    """The ranking of every candidate over the source levels of `subjects`, with up to `EXAMPLES` examples each."""
    held = holders(subjects, context)
    counts = {separator: len(found) for separator, found in held.items()}
    return rank(counts, {separator: tuple(sorted(found)[:EXAMPLES]) for separator, found in held.items()}, context)


def check(subjects: Iterable[Subject], context: CheckContext) -> list[Finding]:
    """Everything that is wrong with the source objects among `subjects`, in no particular order.

    Objects of the target (role ``target``) only take part where others come to the same, there or for an engine, and
    where the separator is another now.
    """
    every = list(subjects)
    ranked = rank_separators(every, context)
    placed = [place(subject, context) for subject in every if subject.role == "source"]
    found = list(_by_itself(placed, context, suggestion(ranked)))
    existing = [subject for subject in every if subject.role != "source"]
    found += collisions(placed, existing, context)
    found += shown_together(placed, existing, context)
    found += separator_changes(existing, context)
    refused = refusal({each.separator: each.conflicts for each in ranked}, context)
    if refused is not None:
        found.append(refused_separator(refused, context))
    return [_lower(each, context) for each in found]


def _by_itself(placed: Iterable[Placed], context: CheckContext, free: str | None) -> Iterator[Finding]:
    """What `hits` finds, each once: what is wrong with the levels is the same for everything in a namespace."""
    said: set[Finding] = set()
    for each in placed:
        for hit in hits(each, context, free):
            found = finding(each, hit, context)
            if found not in said:
                said.add(found)
                yield found


def refused_separator(refused: SeparatorRefused, context: CheckContext) -> Finding:
    """The finding about the configured separator itself; it is the target's, or the configuration's without one."""
    return Finding(
        rule="separator-refused",
        severity=context.severity("separator-refused"),
        source="configuration" if context.target is None else context.target.name,
        object="namespace",
        levels=(),
        name=None,
        target_levels=(),
        message=refused.what,
        hint=_choose(refused),
    )


def _choose(refused: SeparatorRefused) -> str:
    if not refused.alternatives:
        return "rename the levels that hold an allowed separator, or allow another one"
    return f"set separator to {' or '.join(map(repr, refused.alternatives))}"


def adjust(found: Finding, context: CheckContext) -> Finding:
    """`found`, of another stage, with its severity as `context` has it: raised by rule, lowered for one object."""
    return _lower(replace(found, severity=context.severity(found.rule, found.severity)), context)


def _lower(found: Finding, context: CheckContext) -> Finding:
    """`found` with the severity that the configuration lowers it to, and the reason in its message.

    What is about several objects is lowered once it is for all of them: one that joins them later was not meant.
    """
    about = found.of_sources or (found,)
    accepted = [each for item in about if (each := _accepted(found.rule, item, context)) is not None]
    if len(accepted) == len(about):
        severity = min((each.severity for each in accepted), key=list(Severity).index)
        message = f"{found.message} (lowered from {found.severity}: {accepted[0].reason})"
        return replace(found, severity=severity, message=message)
    if accepted:
        of_some = f" (lowered for {len(accepted)} of {len(about)} objects, not for all)"
        return replace(found, message=found.message + of_some)
    return found


def _accepted(rule: str, item: Finding | Member, context: CheckContext) -> Lowered | None:
    """The first word of the configuration on what `rule` tells of `item`."""
    about = (rule, item.source, item.levels, item.name)
    return next((each for each in context.lowered if (each.rule, each.source, each.levels, each.name) == about), None)


__all__ = [
    "CheckContext",
    "DialectUse",
    "Hit",
    "Lowered",
    "Placed",
    "Ranked",
    "SeverityRefused",
    "Subject",
    "Target",
    "adjust",
    "check",
    "rank_separators",
    "refused_separator",
]
