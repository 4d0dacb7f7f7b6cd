"""Hierarchy: parents, children and scopes, decided on whole levels and never on text.

``("raw", "events")`` is no ancestor of ``("raw", "events2")``, and ``ns_1`` is no wildcard, because nothing here
looks inside a level. Levels may be lists too, as a row of Spark's brings them. Source: Gravitino's design, "Gravitino
Side Behavior" and "Privileges and Authorization".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nestsync.core.identifiers import Levels


def ancestors(levels: Levels) -> list[Levels]:
    """Every namespace above `levels`, outermost first, without itself and without the root."""
    return [tuple(levels[:depth]) for depth in range(1, len(levels))]


def scopes(levels: Levels) -> list[Levels]:
    """`levels` and every namespace above it, nearest first: the order in which a privilege is looked for."""
    return [tuple(levels[:depth]) for depth in range(len(levels), 0, -1)]


def within(levels: Levels, ancestor: Levels) -> bool:
    """Whether `levels` is `ancestor` itself or lies below it."""
    return tuple(levels[: len(ancestor)]) == tuple(ancestor)


def children(parent: Levels, namespaces: Iterable[Levels]) -> list[Levels]:
    """The direct children of `parent` among `namespaces`, in full, sorted; those of the root for ``()``.

    Only what is listed is found: close the parents first where some are implied.
    """
    depth = len(parent) + 1
    return sorted({tuple(levels) for levels in namespaces if len(levels) == depth and within(levels, parent)})


def subtree(ancestor: Levels, namespaces: Iterable[Levels]) -> list[Levels]:
    """`ancestor` and everything below it among `namespaces`, parents first."""
    return sorted({tuple(levels) for levels in namespaces if within(levels, ancestor)})


def close_parents(namespaces: Iterable[Levels]) -> list[Levels]:
    """`namespaces` with every missing parent, each once, parents first; the root is nobody's to make."""
    return sorted({scope for levels in namespaces for scope in scopes(levels)})


@dataclass(frozen=True, slots=True)
class Node:
    """One line of the hierarchical view; not `listed` where only something below it implies it."""

    levels: Levels
    listed: bool
    below: int = 0
    """How many listed namespaces lie below it."""


def tree(namespaces: Iterable[Levels], root: Levels = ()) -> list[Node]:
    """The hierarchical view of flat `namespaces` below `root`: parents first, siblings sorted.

    A flat list, so that no depth is too deep: a node's place is told by the length of its levels.
    """
    listed = {tuple(levels) for levels in namespaces if within(levels, root)}
    below: dict[Levels, int] = {}
    for levels in listed:
        for above in ancestors(levels):
            below[above] = below.get(above, 0) + 1
    every = (levels for levels in close_parents(listed) if len(levels) > len(root))
    return [Node(levels, levels in listed, below.get(levels, 0)) for levels in every]


__all__ = ["Node", "ancestors", "children", "close_parents", "scopes", "subtree", "tree", "within"]
