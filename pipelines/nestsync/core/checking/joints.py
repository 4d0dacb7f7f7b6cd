"""What the target's text of an ordinary identifier is put together from: the same texts around its levels, always.

Not written down anywhere either: it is read off the dialect's own text of one identifier, and holds if it does for
the witnesses of `core.checking.ordinary`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nestsync.core.checking.ordinary import Ordinary, witnesses
from nestsync.core.identifiers import Levels

Write = Callable[[Levels, str | None], str]
"""The text of a namespace, or of the table of that name in it."""


@dataclass(frozen=True, slots=True)
class Joints:
    """A text is `before`, the levels with `between` between them, for a table `of_name` and its name, and `after`."""

    before: str
    between: str
    of_name: str
    after: str

    def text(self, levels: Levels, name: str | None) -> str:
        """The text of an ordinary identifier."""
        return self.before + self.between.join(levels) + ("" if name is None else self.of_name + name) + self.after


def joints(write: Write, ordinary: Ordinary, *, of_tables: bool) -> Joints | None:
    """The joints of the texts that `write` gives ordinary namespaces, or tables; None where these are not all alike."""
    depths = ordinary.tables if of_tables else ordinary.namespaces
    if not depths or len(ordinary.characters) < len(_PLACES):
        return None
    first, second, last = (character * _CLEAR for character in ordinary.characters[: len(_PLACES)])
    levels = (first, second) if max(depths) > 1 else (first,)
    parts = [*levels, last] if of_tables else [*levels]
    found = _between(write(levels, last if of_tables else None), parts)
    if found is None:
        return None
    told = Joints(found[0], found[1] if len(levels) > 1 else "", found[-2] if of_tables else "", found[-1])
    alike = (
        told.text((word,) * depth, word if of_tables else None) == write((word,) * depth, word if of_tables else None)
        for depth in depths
        for word in witnesses(ordinary.characters, at_ends=depth)
    )
    return told if all(alike) else None


_PLACES = ("level", "level", "name")
_CLEAR = 9
"""So often in a row, a character is no part of what a dialect puts around levels."""


def _between(text: str, parts: list[str]) -> list[str] | None:
    """What stands before, between and after `parts` in `text`; None where they are not all there, in this order."""
    found = []
    for part in parts:
        before, held, text = text.partition(part)
        if not held:
            return None
        found.append(before)
    return [*found, text]


__all__ = ["Joints", "joints"]
