"""The namespace tree as the page shows it: a flat list in the order of reading, so that depth costs no recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nestsync.core.identifiers import Levels
from nestsync.reports.facts import TreeRow


@dataclass(frozen=True, slots=True)
class TreeNode:
    """One line of the tree. After it `closes` folders end; `row` is None for a parent that has no row itself."""

    level: str
    depth: int
    row: TreeRow | None
    folder: bool
    closes: int
    blocking: int
    """Blocking findings on it and below it, so that a closed folder still shows them."""


def nodes(rows: Iterable[TreeRow]) -> list[TreeNode]:
    """`rows`, in the order of their levels, as lines with parents closed; the root namespace has no line."""
    lines = list(_with_parents(rows))
    found: list[TreeNode] = []
    below: dict[Levels, int] = {}
    for index in range(len(lines) - 1, -1, -1):
        levels, row = lines[index]
        following = lines[index + 1][0] if index + 1 < len(lines) else ()
        folder = len(following) > len(levels) and following[: len(levels)] == levels
        blocking = below.pop(levels, 0) + (row.blocking if row else 0)
        if len(levels) > 1:
            below[levels[:-1]] = below.get(levels[:-1], 0) + blocking
        # A folder that is followed by its own child ends later; a leaf ends every folder that it is the last of.
        closes = 0 if folder else len(levels) - 1 - min(_shared(levels, following), len(levels) - 1)
        found.append(TreeNode(levels[-1], len(levels), row, folder, closes, blocking))
    found.reverse()
    return found


def _with_parents(rows: Iterable[TreeRow]) -> Iterator[tuple[Levels, TreeRow | None]]:
    previous: Levels = ()
    for row in rows:
        if not row.levels:
            continue
        for length in range(_shared(previous, row.levels) + 1, len(row.levels)):
            yield row.levels[:length], None
        yield row.levels, row
        previous = row.levels


def _shared(one: Levels, other: Levels) -> int:
    """How many outermost levels the two have in common."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))


_STATES = {
    ("create_namespace", "applied"): "created",
    ("create_namespace", "pending"): "to create",
    ("create_namespace", "skipped"): "there already",
    ("set_properties", "applied"): "updated",
    ("set_properties", "pending"): "to update",
    ("set_properties", "skipped"): "there already",
    ("noop", "none"): "unchanged",
    ("blocked", "none"): "blocked",
}


def state(kind: str, outcome: str) -> str:
    """An action and what became of it in one word or two; the outcome itself where that says it (``failed``)."""
    return _STATES.get((kind, outcome), outcome)


__all__ = ["TreeNode", "nodes", "state"]
