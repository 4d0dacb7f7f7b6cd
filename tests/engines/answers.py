"""What an engine did with a name, what nestsync says of it, and whether the two agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nestsync.core.capabilities import Capabilities, Case
from nestsync.core.dialects import Dialect
from nestsync.core.identifiers import Levels
from nestsync.core.matrix import Fate, first_loss


class Kind(StrEnum):
    """What became of a name."""

    KEPT = "kept"
    OTHER = "read as another"
    PARTLY = "half there"
    REFUSED = "refused"


@dataclass(frozen=True)
class Answer:
    """What became of a name: `back` are the levels that it is read as (OTHER), `why` says more."""

    kind: Kind
    back: Levels | None = None
    why: str = ""


@dataclass(frozen=True)
class Says:
    """What nestsync says of a name on its way through dialects into a target."""

    answer: Answer
    guarded: bool = False
    """Whether the target's capabilities do not hold it, be it turned away or half accepted."""


def says(levels: Levels, dialects: Sequence[Dialect], target: Capabilities | None = None) -> Says:
    """What the dialects on the way make of `levels`, and whether `target` holds them."""
    lacks = target.refusals(levels) if target else []
    hop = first_loss(levels, dialects)
    if hop is not None and hop.refusal is not None:
        kind = Kind.OTHER if hop.fate is Fate.LOSSY else Kind.REFUSED
        return Says(Answer(kind, hop.read_back, hop.refusal.reason), bool(lacks))
    if lacks:
        return Says(Answer(Kind.REFUSED, None, lacks[0].reason), guarded=True)
    return (target and folded(levels, target)) or Says(Answer(Kind.KEPT))


def folded(levels: Levels, target: Capabilities) -> Says | None:
    """That `target` keeps `levels` in lower case; None where it refuses them, or does no such thing."""
    key = tuple(map(target.key, levels))
    return Says(Answer(Kind.OTHER, key, target.case)) if target.case is Case.FOLDED and key != levels else None


def agree(did: Answer, said: Says) -> bool:
    """Whether what was said is what happened.

    A kept name has to be said to be kept, and nothing else may be. A name that comes back as another has to be said
    to come back as that one, unless the target's capabilities do not hold it; one that the system turns away, or keeps
    by halves, has to be refused by a dialect or by the capabilities.
    """
    kept = said.answer.kind is Kind.KEPT
    if did.kind is Kind.KEPT or kept:
        return did.kind is Kind.KEPT and kept
    if did.kind is Kind.OTHER and not said.guarded:
        return (said.answer.kind, said.answer.back) == (Kind.OTHER, did.back)
    return True
