"""Which separator to choose: all candidates against the names as the sources have them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.rules import Subject
from nestsync.core.identifiers import Levels
from nestsync.core.separators import SeparatorRefused, check_separator, refusal_reason

EXAMPLES = 5

Example = tuple[str, Levels]
"""A source and the namespace of it that holds a candidate."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate: how many source namespaces hold it, whether the policy takes it, and its rank from 1."""

    separator: str
    conflicts: int
    examples: tuple[Example, ...]
    allowed: bool
    reason: str | None
    rank: int
    suggested: bool


def holders(subjects: Iterable[Subject], context: CheckContext) -> dict[str, set[Example]]:
    """The source namespaces that hold each candidate, whether a row of theirs or one of a table in them says so."""
    namespaces = {(subject.source, subject.levels) for subject in subjects if subject.role == "source"}
    return {
        separator: {found for found in namespaces if any(separator in level for level in found[1])}
        for separator in context.ranked()
    }


def rank(counts: dict[str, int], examples: dict[str, tuple[Example, ...]], context: CheckContext) -> tuple[Ranked, ...]:
    """The candidates of `context`, best first: allowed before refused, fewer conflicts first, else as configured.

    `counts` and `examples` tell the conflicts of each candidate. Suggested is the best that is allowed and free:
    held by no source, and by no level that the mapping brings in.
    """
    verdicts = {each: refusal_reason(each, context.policy, context.allowed) for each in context.ranked()}
    order = sorted(context.ranked(), key=lambda separator: (verdicts[separator] is not None, counts.get(separator, 0)))
    brought = _brought_in(context)
    free = [
        separator
        for separator in order
        if verdicts[separator] is None
        and not counts.get(separator)
        and not any(separator in level for level in brought)
    ]
    return tuple(
        Ranked(
            separator=separator,
            conflicts=counts.get(separator, 0),
            examples=examples.get(separator, ()),
            allowed=verdicts[separator] is None,
            reason=verdicts[separator],
            rank=position,
            suggested=separator in free[:1],
        )
        for position, separator in enumerate(order, start=1)
    )


def suggestion(ranked: Iterable[Ranked]) -> str | None:
    """The one separator to choose, if one is free."""
    return next((found.separator for found in ranked if found.suggested), None)


def refusal(counts: dict[str, int], context: CheckContext) -> SeparatorRefused | None:
    """Why the configured separator may not be used, with free alternatives; None where it may, or is not set."""
    if context.separator is None:
        return None
    # A candidate that is held somewhere is taken; which names hold it does not matter for the alternatives.
    taken = (*(separator for separator, count in counts.items() if count), *_brought_in(context))
    try:
        check_separator(context.separator, policy=context.policy, allowed=context.allowed, taken=taken)
    except SeparatorRefused as refused:
        return refused
    return None


def _brought_in(context: CheckContext) -> tuple[str, ...]:
    """The levels that no source has: prefixes and the targets of renames."""
    prefixes = (level for rule in context.mapping.rules for level in rule.prefix)
    renamed = (level for rename in context.mapping.renames for level in rename.target.levels)
    return (*prefixes, *renamed)


__all__ = ["EXAMPLES", "Ranked", "holders", "rank", "refusal", "suggestion"]
