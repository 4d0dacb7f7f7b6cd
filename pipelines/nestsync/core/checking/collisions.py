"""Where two identifiers would be one in the target: the same text, or the same once folded or normalised.

What decides is the rendered key. Every target identifier speaks with the voice of those who claim it: source
objects (explicit), else the smallest object that implies it as a parent, else what the target already holds.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from nestsync.core.casing import lower
from nestsync.core.checking import messages
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.messages import Slot, fill
from nestsync.core.checking.rules import NAMESPACE, Placed, Subject
from nestsync.core.findings import Finding, Member
from nestsync.core.hierarchy import ancestors
from nestsync.core.identifiers import Identifier, Levels, json_text, quoted, shown

SHOWN_OTHERS = 3
"""How many of the others a finding's message names."""
EXPLICIT, IMPLIED, EXISTING = 0, 1, 2


@dataclass(frozen=True, slots=True, order=True)
class Voice:
    """Who claims a target identifier; ordered by source, levels and name. `tier`: see the module."""

    source: str
    levels: Levels
    name: str
    object: str
    tier: int

    def __str__(self) -> str:
        named = f" {quoted(self.name)}" if self.name else ""
        return f"{self.source} {shown(self.levels)}{named}{messages.ALREADY_THERE if self.tier == EXISTING else ''}"


@dataclass(frozen=True, slots=True, order=True)
class Claim:
    """A voice and the target identifier that it claims, in the order in which others are named.

    `exact` is the text that the target writes, `folded` that of what it makes of the case, `final` that of
    what it makes of case and normalisation (of `stored`): equal ones are one object.
    """

    final: str
    folded: str
    exact: str
    is_table: bool
    levels: Levels
    name: str
    voice: Voice
    stored: Levels

    @property
    def identifier(self) -> tuple[bool, Levels, str]:
        """The target identifier: whether it is a table, or view; levels; and the name, empty for a namespace."""
        return self.is_table, self.levels, self.name


@dataclass(frozen=True, slots=True)
class _Keys:
    context: CheckContext

    def claim(self, target: Identifier, voice: Voice) -> Claim:
        folded = _each(target, lower) if self.context.folds else target
        final = _each(folded, _nfc) if self.context.normalizes else folded
        return Claim(
            final=self.text(final),
            folded=self.text(folded),
            exact=self.text(target),
            is_table=target.name is not None,
            levels=target.levels,
            name=target.name or "",
            voice=voice,
            stored=final.levels,
        )

    def text(self, target: Identifier) -> str:
        return target_text(target.levels, target.name, self.context)


def target_text(levels: Levels, name: str | None, context: CheckContext) -> str:
    """What the target writes for a namespace, or the table `name` in it, once it was read as its users read it."""
    for joint in context.unescaped:
        levels = tuple(part for level in levels for part in level.split(joint))
    if context.target is None:
        return json_text([json_text(levels), name or ""])
    dialect = context.target.dialect.open()
    return dialect.render(levels) if name is None else dialect.render_table(levels, name)


def _each(identifier: Identifier, change: Callable[[str], str]) -> Identifier:
    name = None if identifier.name is None else change(identifier.name)
    return Identifier(tuple(map(change, identifier.levels)), name)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def collisions(placed: Iterable[Placed], existing: Iterable[Subject], context: CheckContext) -> Iterator[Finding]:
    """One finding for all that come to one, for each way in which they do; the closest way first.

    Two claims on one namespace are none where the mapping merges them. What exists under the wanted name is
    none either: that is the object itself.
    """
    groups: dict[tuple[bool, str], set[Claim]] = defaultdict(set)
    differ = context.folds or context.normalizes  # elsewhere, parents that differ are different parents
    for claim in claims(placed, existing, context, parents=differ):
        groups[claim.is_table, claim.final].add(claim)
    for group in groups.values():
        yield from _told(heard(group), context)


def claims(
    placed: Iterable[Placed], existing: Iterable[Subject], context: CheckContext, *, parents: bool
) -> Iterator[Claim]:
    """What is wanted in the target, with the `parents` that it implies where they matter, and what is there."""
    keys = _Keys(context)
    for subject, target in ((each.subject, each.moved) for each in placed):
        if target is None:
            continue
        yield keys.claim(target, _voice(subject, EXPLICIT))
        if parents:
            implied = [
                *ancestors(target.levels),
                *([target.levels] if target.name is not None and target.levels else []),
            ]
            yield from (keys.claim(Identifier(parent), _voice(subject, IMPLIED)) for parent in implied)
    for subject in existing:
        yield keys.claim(subject.identifier, _voice(subject, EXISTING))


def _voice(subject: Subject, tier: int) -> Voice:
    if tier == IMPLIED:  # a parent is implied by a namespace, whatever of it came into the inventory
        return Voice(subject.source, subject.levels, "", NAMESPACE, tier)
    return Voice(subject.source, subject.levels, subject.name or "", subject.object, tier)


def heard(group: set[Claim]) -> list[Claim]:
    """Of each target identifier, the explicit claims; without any, the smallest that implies it; else what exists.

    In the order in which they are named.
    """
    return sorted(_loudest(group))


def _loudest(group: set[Claim]) -> Iterator[Claim]:
    by_identifier: dict[tuple[bool, Levels, str], list[Claim]] = defaultdict(list)
    for claim in group:
        by_identifier[claim.identifier].append(claim)
    for claims in by_identifier.values():
        tier = min(claim.voice.tier for claim in claims)
        loudest = sorted(claim for claim in claims if claim.voice.tier == tier)
        yield from loudest if tier == EXPLICIT else loudest[:1]


_LADDER: tuple[tuple[str, str, Callable[[Claim], Hashable]], ...] = (
    ("collision", messages.WANTED_TOO, lambda claim: (claim.folded, claim.exact, claim.identifier)),
    ("collision", messages.ONE_TEXT, lambda claim: (claim.folded, claim.exact)),
    ("case-collision", messages.ONE_CASE, lambda claim: claim.folded),
    ("normalization-collision", messages.ONE_FORM, lambda claim: claim.final),
)
"""From the closest to the widest: every group of one is a part of a group of the next."""


def _told(among: Sequence[Claim], context: CheckContext) -> Iterator[Finding]:
    closer: Callable[[Claim], Hashable] = _itself
    for rule, how, within in _LADDER:
        for _, members in groupby(among, within):
            group = list(members)
            apart = len(set(map(closer, group))) > 1
            if apart and not (how == messages.WANTED_TOO and _merged(group[0], context)):
                yield from finding(group, rule, how, context)
        closer = within


def _itself(claim: Claim) -> Claim:
    return claim


def _merged(claim: Claim, context: CheckContext) -> bool:
    return not claim.is_table and claim.levels in context.mapping.merge


def finding(group: Sequence[Claim], rule: str, how: str, context: CheckContext) -> Iterator[Finding]:
    """What `rule` tells of the claims of `group`: in the target they are one, as `how` says.

    It is told of the first that a source makes; of what is only there already there is nothing to tell.
    """
    first = next((claim for claim in group if claim.voice.tier != EXISTING), None)
    if first is None:
        return
    others = [claim for claim in group if claim is not first]
    named = ", ".join(str(other.voice) for other in others[:SHOWN_OTHERS])
    more = len(others) - SHOWN_OTHERS
    values = {
        Slot.TARGET: shown(first.levels),
        Slot.NAME: quoted(first.name),
        Slot.OTHERS: named + (str(more).join(messages.AND_MORE) if more > 0 else ""),
    }
    sentence = messages.collision(how, table=first.is_table)
    members = tuple(map(_member, (first, *others)))
    subject = members[0]
    yield Finding(
        rule=rule,
        severity=context.severity(rule),
        source=subject.source,
        object=subject.object,
        levels=subject.levels,
        name=subject.name,
        target_levels=subject.target_levels,
        message=fill(sentence.message, values),
        hint=fill(sentence.hint, values),
        members=members,
    )


def _member(claim: Claim) -> Member:
    voice = claim.voice
    return Member(
        role="target" if voice.tier == EXISTING else "source",
        source=voice.source,
        object=voice.object,
        levels=voice.levels,
        name=None if voice.object == NAMESPACE else voice.name,
        target_levels=claim.levels,
    )


__all__ = [
    "EXISTING",
    "EXPLICIT",
    "IMPLIED",
    "SHOWN_OTHERS",
    "Claim",
    "claims",
    "collisions",
    "finding",
    "heard",
    "target_text",
]
