"""Findings: one thing wrong, with one object or with several together, under a slug that never changes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from nestsync.core.identifiers import Levels


class Severity(StrEnum):
    """How much a finding matters: `blocking` stops the write, `warning` and `info` do not."""

    BLOCKING = "blocking"
    WARNING = "warning"
    INFO = "info"

    def is_less_than(self, other: Severity) -> bool:
        """Whether this matters less than `other`."""
        order = tuple(Severity)  # most severe first
        return order.index(self) > order.index(other)


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of finding: its stable slug, its severity by default, and what it means for the reader."""

    slug: str
    severity: Severity
    meaning: str


@dataclass(frozen=True, slots=True)
class Member:
    """One of the objects of a finding that is about several; its fields are those of `Finding`.

    `role` is ``source``, or ``target`` for what the target holds already.
    """

    role: str
    source: str
    object: str
    levels: Levels
    name: str | None
    target_levels: Levels


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with one object of one source, or with several objects together.

    `object` is ``namespace``, ``table`` or ``view``; `levels` and `name` are the source's own,
    `target_levels` what the mapping made of them (None where mapping never got so far). Where it is about several,
    those are of the first, and `members` are all of them.
    """

    rule: str
    severity: Severity
    source: str
    object: str
    levels: Levels
    name: str | None
    target_levels: Levels | None
    message: str
    hint: str
    members: tuple[Member, ...] = ()

    @property
    def of_sources(self) -> tuple[Member, ...]:
        """Those members that sources hold: each of them has something wrong with it."""
        return tuple(member for member in self.members if member.role == "source")


_BLOCKING, _WARNING, _INFO = Severity.BLOCKING, Severity.WARNING, Severity.INFO

RULES: dict[str, Rule] = {
    rule.slug: rule
    for rule in (
        Rule("separator-conflict", _BLOCKING, "a level holds the separator that the target joins levels with"),
        Rule("separator-refused", _BLOCKING, "the configured separator is not allowed"),
        Rule(
            "separator-changed", _BLOCKING, "the target was enabled with another separator; this name reads differently"
        ),
        Rule("empty-level", _BLOCKING, "a level of the target identifier is empty"),
        Rule("reserved-character", _BLOCKING, "a level holds a character that the target keeps for itself"),
        Rule("round-trip-loss", _BLOCKING, "a dialect in use does not give the same levels back"),
        Rule("dangerous-name", _BLOCKING, "an engine or a server that reads the target does harm because of this name"),
        Rule("collision", _BLOCKING, "two source identifiers want one target identifier"),
        Rule("case-collision", _BLOCKING, "two target identifiers are one where the target folds case"),
        Rule("normalization-collision", _BLOCKING, "two target identifiers are one where the target normalises to NFC"),
        Rule("too-long", _BLOCKING, "a level, a name or a whole path is longer than the target holds"),
        Rule("too-deep", _BLOCKING, "the target holds fewer levels"),
        Rule("character-refused", _BLOCKING, "the target does not take a character of this name"),
        Rule("drift", _BLOCKING, "a source or the target moved between plan and apply"),
        Rule("missing-parent", _WARNING, "a parent exists in no source; it will be made"),
        Rule("owner-conflict", _WARNING, "several owners could own an implied parent; the smallest identifier decided"),
        Rule("property-conflict", _BLOCKING, "merged namespaces hold different values for one property"),
        Rule("target-difference", _WARNING, "the target holds the namespace with other properties; it was left alone"),
        Rule("ambiguous-first-part", _WARNING, "the first level is a catalog's name too, which an engine tries first"),
        Rule("unreadable-namespace", _WARNING, "a namespace was listed and could not be read"),
        Rule("unreadable-table", _WARNING, "a table was listed and could not be read"),
        Rule("unsupported-table", _INFO, "a table of a format or kind that nestsync does not move"),
        Rule("not-a-table", _INFO, "a dot or underscore folder beside the tables"),
    )
}
"""Every rule that this version raises, by slug (the design's table; severities can be raised by configuration)."""
