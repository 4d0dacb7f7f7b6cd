"""What becomes of the namespaces of a run in every dialect that it has to do with, and on whole paths of them.

The matrix of `core.matrix`, counted by source. The oracle of the stage's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nestsync.core.checking.context import CheckContext, Reader
from nestsync.core.checking.rules import NAMESPACE, Placed
from nestsync.core.identifiers import Identifier, Levels
from nestsync.core.matrix import Fate, Outcome, outcome, parse_path


@dataclass(frozen=True, slots=True)
class Way:
    """One dialect, or several one after the other, and whose levels are taken through them."""

    name: str
    """The dialect's, or the path as it is configured."""
    hops: tuple[Reader, ...]
    sources: frozenset[str] | None = None
    """Sources whose own levels are taken; None for every source, with the levels that are wanted in the target."""

    @property
    def side(self) -> str:
        """Whose levels: ``source`` or ``target``."""
        return "target" if self.sources is None else "source"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a way ends: at which hop, and how. Lossless only at the last."""

    hop: int
    fate: Fate


@dataclass(frozen=True, slots=True)
class FateRow:
    """How many namespaces of one source a way ends so for, with one of them."""

    source: str
    way: Way
    ending: Ending
    count: int
    example: tuple[Levels, Outcome] | None
    """The source's levels, and what became of them at the hop; None where all is well."""


def ways(context: CheckContext) -> tuple[Way, ...]:
    """Every source's own dialect, the target's, those of the engines, and the configured paths."""
    of_dialect: dict[Reader, set[str]] = {}
    for source, use in sorted(context.sources.items()):
        of_dialect.setdefault(Reader(use.open()), set()).add(source)
    found = [Way(reader.dialect.name, (reader,), frozenset(names)) for reader, names in of_dialect.items()]
    if context.target is not None:
        own = Reader(context.target.dialect.open())
        found.append(Way(own.dialect.name, (own,)))
    found += [Way(reader.dialect.name, (reader,)) for reader in context.readers()]
    for path in context.paths:
        hops = tuple(map(context.reader, parse_path(path, context.path_options)))
        found.append(Way(" > ".join(hop.dialect.name for hop in hops), hops))
    return tuple(found)


def ending(way: Way, levels: Levels) -> Ending:
    """How `way` ends for `levels`."""
    for number, hop in enumerate(way.hops):
        fate = at_hop(hop, levels).fate
        if fate is not Fate.LOSSLESS:
            return Ending(number, fate)
    return Ending(len(way.hops) - 1, Fate.LOSSLESS)


def at_hop(hop: Reader, levels: Levels) -> Outcome:
    """What becomes of `levels` of the target at `hop`."""
    return outcome(hop.dialect, hop.sees(Identifier(levels)).levels)


def fates(placed: Iterable[Placed], context: CheckContext) -> Counter[tuple[str, Way, Ending]]:
    """How many namespaces of each source each way ends how for."""
    return Counter(_endings(placed, ways(context)))


def _endings(placed: Iterable[Placed], every: tuple[Way, ...]) -> Iterator[tuple[str, Way, Ending]]:
    for each in placed:
        subject, target = each.subject, each.moved
        if target is None or subject.object != NAMESPACE:
            continue
        for way in every:
            if way.sources is None:
                yield subject.source, way, ending(way, target.levels)
            elif subject.source in way.sources:
                yield subject.source, way, ending(way, subject.levels)


__all__ = ["Ending", "FateRow", "Way", "at_hop", "ending", "fates", "ways"]
