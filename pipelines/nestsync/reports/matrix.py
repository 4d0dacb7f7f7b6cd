"""The round-trip matrix as the page shows it: a line for each way and source, with what does not come back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nestsync.core.matrix import Fate
from nestsync.reports.facts import MatrixRow


@dataclass(frozen=True, slots=True)
class MatrixLine:
    """What becomes of the namespaces of one source on one way."""

    way: str
    side: str
    """Whose levels are taken: ``source``, its own, or ``target``, what they are wanted as."""
    source: str
    rows: tuple[MatrixRow, ...]

    def count(self, fate: str) -> int:
        """How many end so, at whatever hop."""
        return sum(row.count for row in self.rows if row.fate == fate)

    @property
    def lost(self) -> tuple[MatrixRow, ...]:
        """Those that do not come back, with an example each."""
        return tuple(row for row in self.rows if row.fate != Fate.LOSSLESS)


def lines(rows: Iterable[MatrixRow]) -> list[MatrixLine]:
    """`rows` by way and source, in the order in which they come."""
    found: dict[tuple[str, str, str], list[MatrixRow]] = {}
    for row in rows:
        found.setdefault((row.way, row.side, row.source), []).append(row)
    return [MatrixLine(*key, tuple(of_line)) for key, of_line in found.items()]


__all__ = ["MatrixLine", "lines"]
