"""The matrix: what becomes of an identifier in each dialect, and on a whole path of them.

Source: the round-trip requirement of Gravitino's design, "Connector `NestedNameIdentifier` Conversion".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from nestsync.core.dialects import DIALECTS, Dialect, NameRefused, Refusal, dialect
from nestsync.core.identifiers import Levels

DEFAULT_PATH = "spark > gravitino > gravitino-physical > iceberg-rest > trino"
"""From an engine through Gravitino into a catalog and out of another engine."""


class Fate(StrEnum):
    """What becomes of levels in one dialect."""

    LOSSLESS = "lossless"
    REFUSED = "refused"
    LOSSY = "lossy"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One cell: what became of `levels` in `dialect`."""

    dialect: str
    levels: Levels
    fate: Fate
    text: str | None
    """What the system writes; None where it refuses."""
    read_back: Levels | None
    """What the system reads in `text`: the same where lossless, others where lossy, None where refused."""
    refusal: Refusal | None

    @property
    def first_difference(self) -> int | None:
        """The index of the first level that comes back as another, or not at all."""
        if self.read_back is None or self.read_back == self.levels:
            return None
        pairs = zip(self.levels, self.read_back, strict=False)
        shorter = min(len(self.levels), len(self.read_back))
        return next((index for index, (one, other) in enumerate(pairs) if one != other), shorter)


def outcome(found: Dialect, levels: Levels) -> Outcome:
    """What becomes of the namespace `levels` in the dialect `found`.

    Lossless: `encode` takes it. Refused: the system itself turns it away. Lossy: the system takes it and reads
    other levels back.
    """
    refusal = found.refusal(levels)
    if refusal is None:
        return Outcome(found.name, levels, Fate.LOSSLESS, found.render(levels), levels, None)
    if found.rejected(levels) is None:
        text = found.render(levels)
        back = _read(found, text)
        if back is not None and back != levels:
            return Outcome(found.name, levels, Fate.LOSSY, text, back, refusal)
    return Outcome(found.name, levels, Fate.REFUSED, None, None, refusal)


def _read(found: Dialect, text: str) -> Levels | None:
    try:
        return found.read(text)
    except NameRefused:
        return None


def matrix(levels: Levels, dialects: Iterable[Dialect] | None = None) -> list[Outcome]:
    """`outcome` in every dialect, each with its defaults unless `dialects` says better."""
    every = map(dialect, DIALECTS) if dialects is None else dialects
    return [outcome(found, levels) for found in every]


def parse_path(text: str = DEFAULT_PATH, options: Mapping[str, Mapping[str, str]] | None = None) -> list[Dialect]:
    """The dialects of a path ``a > b > c``; `options` by dialect name. Raises `UnknownKind`."""
    chosen = options or {}
    return [dialect(name, **chosen.get(name, {})) for name in (part.strip() for part in text.split(">"))]


def travel(levels: Levels, path: Iterable[Dialect]) -> list[Outcome]:
    """The hops of `levels` along `path`, up to and including the first that does not give them back."""
    hops = []
    for found in path:
        hops.append(outcome(found, levels))
        if hops[-1].fate is not Fate.LOSSLESS:
            break
    return hops


def first_loss(levels: Levels, path: Iterable[Dialect]) -> Outcome | None:
    """The first hop of `path` that refuses or changes `levels`; None where they survive it all."""
    return next((hop for hop in travel(levels, path) if hop.fate is not Fate.LOSSLESS), None)


__all__ = ["DEFAULT_PATH", "Fate", "Outcome", "first_loss", "matrix", "outcome", "parse_path", "travel"]
