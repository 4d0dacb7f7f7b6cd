"""What a target takes, as native column expressions; `core.capabilities.Capabilities.refusals` is the oracle."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from nestsync.core.capabilities import Capabilities, NameRule, Unit
from nestsync.stages.check.native import append

Test = Callable[[Column], Column]
"""Whether one level (or name) is refused."""

ANY_CHARACTER = NameRule().allowed
"""What a rule allows that allows everything: lone surrogates never come into Spark."""


@dataclass(frozen=True)
class Limit:
    """One thing that a rule does not take of a level or a name, with the words of the core's refusal of it."""

    rule: str
    reason: str
    accepted: str
    refuses: Test
    character: Test | None = None
    """The character at fault, where the words depend on it."""

    def at_fault(self, part: Column) -> Column | None:
        """The character of `part` at fault; None where the words do not name it."""
        return None if self.character is None else self.character(part)


def limits(rule: NameRule) -> Iterator[Limit]:
    """All that `rule` refuses but the empty text; of one slug, in the order in which the core names it."""
    for whole in sorted(rule.taken)[:1]:
        yield _limit(rule, whole, "reserved-character", lambda part: part.isin(*sorted(rule.taken)))
    for sign, _ in rule.reserved:
        yield _limit(rule, sign, "reserved-character", _holding(sign))
    if rule.allowed != ANY_CHARACTER:
        odd = next(c for c in map(chr, range(sys.maxunicode)) if not re.match(rule.allowed, c))
        pattern = f"(?s)(?!{rule.allowed})."
        yield _limit(rule, odd, "character-refused", _matching(pattern), _finding(pattern))
    if rule.first:
        start = next(
            c for c in map(chr, range(sys.maxunicode)) if re.match(rule.allowed, c) and not re.match(rule.first, c)
        )
        pattern = f"(?s)^(?!{rule.first})."
        yield _limit(rule, start, "character-refused", _matching(pattern), _finding(pattern))
    if rule.last:
        end = next(
            f"{start}{c}"
            for start in map(chr, range(sys.maxunicode))
            if not list(rule.refusals(start, 0))
            for c in map(chr, range(sys.maxunicode))
            if re.match(rule.allowed, c) and not re.match(rule.last, c)
        )
        pattern = rf"(?s)(?!{rule.last}).\z"
        yield _limit(rule, end, "character-refused", _matching(pattern), _finding(pattern))
    if rule.longest is not None:
        too_long = "a" * (rule.longest + 1)
        yield _limit(rule, too_long, "too-long", _longer(rule.longest, rule.unit))


def _limit(rule: NameRule, witness: str, slug: str, refuses: Test, character: Test | None = None) -> Limit:
    refusal = next(refusal for refusal in rule.refusals(witness, 0) if refusal.rule == slug)
    return Limit(slug, refusal.reason, refusal.accepted, refuses, character)


def _holding(sign: str) -> Test:
    return lambda part: part.contains(sign)


def _matching(pattern: str) -> Test:
    return lambda part: part.rlike(pattern)


def _finding(pattern: str) -> Test:
    return lambda part: F.regexp_extract(part, pattern, 0)


def _longer(longest: int, unit: Unit) -> Test:
    return lambda part: measure(part, unit) > longest


def measure(text: Column, unit: Unit) -> Column:
    """The length of `text` in `unit`."""
    if unit is Unit.CHARACTERS:
        return F.char_length(text)
    return (F.octet_length(F.encode(text, "UTF-16LE")) / 2).cast("int")


@dataclass(frozen=True)
class LevelGroup:
    """The levels that one rule goes for, with its limits."""

    levels: Column
    limits: tuple[Limit, ...]


def level_groups(system: Capabilities, levels: Column) -> list[LevelGroup]:
    """`levels` by the rule that goes for them, outermost first; the last rule goes for all deeper levels."""
    *outer, rest = system.levels
    groups = [LevelGroup(F.slice(levels, index + 1, 1), tuple(limits(rule))) for index, rule in enumerate(outer)]
    deeper = F.slice(levels, len(outer) + 1, F.size(levels)) if outer else levels
    return [*groups, LevelGroup(deeper, tuple(limits(rest)))]


def path_too_long(system: Capabilities, levels: Column) -> Column | None:
    """Whether the namespace is too long in all; None where no length is too long."""
    if system.longest_path is None:
        return None
    return _path_length(system, levels) > system.longest_path


def table_path_too_long(system: Capabilities, levels: Column, name: Column) -> Column | None:
    """Whether the table's path is too long in all, and is another path than its namespace's."""
    if system.longest_path is None or not system.path_has_name:
        return None
    with_name = _path_length(system, append(levels, name))
    return (with_name > system.longest_path) & (with_name != _path_length(system, levels))


def _path_length(system: Capabilities, parts: Column) -> Column:
    return measure(F.array_join(parts, ""), system.path_unit) + system.path_joint * (F.size(parts) - 1)


def path_accepted(system: Capabilities) -> str:
    """What the core's refusal says would be accepted of a whole path."""
    return f"at most {system.longest_path} {system.path_unit} in all"


__all__ = [
    "LevelGroup",
    "Limit",
    "level_groups",
    "limits",
    "measure",
    "path_accepted",
    "path_too_long",
    "table_path_too_long",
]
