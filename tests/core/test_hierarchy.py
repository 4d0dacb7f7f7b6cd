"""Parents, children and scopes: whole levels, exact boundaries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.core.hierarchy import Node, ancestors, children, close_parents, scopes, subtree, tree, within
from nestsync.core.identifiers import Levels
from tests.core import hostile

ABC: Levels = ("A", "B", "C")
FLAT: list[Levels] = [("B",), ("A", "B", "C"), ("A",), ("A", "B")]


@pytest.mark.parametrize(
    ("levels", "above"),
    [((), []), (("A",), []), (("A", "B"), [("A",)]), (ABC, [("A",), ("A", "B")]), (("", ""), [("",)])],
    ids=str,
)
def test_ancestors_are_outermost_first_without_self(levels: Levels, above: list[Levels]) -> None:
    assert ancestors(levels) == above


def test_scopes_are_nearest_first_with_self() -> None:
    assert scopes(ABC) == [("A", "B", "C"), ("A", "B"), ("A",)]
    assert scopes(()) == []


@pytest.mark.parametrize(
    ("parent", "below"),
    [
        ((), [("A",), ("B",)]),
        (("A",), [("A", "B")]),
        (("A", "B"), [("A", "B", "C")]),
        (("A", "B", "C"), []),
        (("B",), []),
        (("nowhere",), []),
    ],
    ids=str,
)
def test_children_are_the_direct_ones_in_full(parent: Levels, below: list[Levels]) -> None:
    assert children(parent, FLAT) == below
    assert children(parent, [*FLAT, *FLAT]) == below


@pytest.mark.parametrize(
    ("ancestor", "levels", "inside"),
    [
        (("raw", "events"), ("raw", "events", "2024"), True),
        (("raw", "events"), ("raw", "events"), True),
        (("raw", "events"), ("raw", "events2"), False),
        (("processed", "datapile"), ("processed", "datapile_en", "common"), False),
        (("ns_1",), ("nsx1", "a"), False),
        (("ns%",), ("nsx", "a"), False),
        (("a",), ("A", "b"), False),
        (("a", "b"), ("a",), False),
        ((), ("a",), True),
    ],
    ids=str,
)
def test_boundaries_are_whole_levels(ancestor: Levels, levels: Levels, inside: bool) -> None:
    assert within(levels, ancestor) is inside
    assert (levels in subtree(ancestor, [levels])) is inside


def test_lists_of_levels_are_taken_like_tuples() -> None:
    """A row of Spark's brings lists."""
    rows: list[list[str]] = [["A", "B"], ["A"], ["A2", "B"]]
    assert children(["A"], rows) == [("A", "B")]  # type: ignore[arg-type]
    assert subtree(["A"], rows) == [("A",), ("A", "B")]  # type: ignore[arg-type]
    assert close_parents(rows[2:]) == [("A2",), ("A2", "B")]  # type: ignore[arg-type]
    assert ancestors(["A", "B"]) == [("A",)]  # type: ignore[arg-type]
    assert tree(rows[:1]) == tree([("A", "B")])  # type: ignore[arg-type]


def test_the_subtree_of_raw_events_does_not_hold_raw_events2() -> None:
    names = [("raw",), ("raw", "events2"), ("raw", "events", "2024"), ("raw", "events")]
    assert subtree(("raw", "events"), names) == [("raw", "events"), ("raw", "events", "2024")]


def test_a_lone_leaf_brings_its_parents_first() -> None:
    assert close_parents([("n1", "n2", "n3")]) == [("n1",), ("n1", "n2"), ("n1", "n2", "n3")]
    assert close_parents([()]) == []


@given(namespaces=st.lists(hostile.levels))
def test_closing_adds_parents_and_nothing_else(namespaces: list[Levels]) -> None:
    closed = close_parents(namespaces)
    assert len(closed) == len(set(closed))
    assert set(namespaces) - {()} <= set(closed)
    for position, levels in enumerate(closed):
        assert all(above in closed[:position] for above in ancestors(levels))
        assert any(within(named, levels) for named in namespaces)
    assert close_parents(closed) == closed


@given(namespaces=st.lists(hostile.levels))
def test_every_closed_namespace_is_one_child_of_one_parent(namespaces: list[Levels]) -> None:
    closed = close_parents(namespaces)
    found = [child for parent in [(), *closed] for child in children(parent, closed)]
    assert sorted(found) == closed


def test_the_view_of_flat_names_is_a_tree() -> None:
    assert tree([("B",), ("A", "B", "C"), ("A",), ("A", "B")]) == [
        Node(("A",), True, below=2),
        Node(("A", "B"), True, below=1),
        Node(("A", "B", "C"), True),
        Node(("B",), True),
    ]


def test_the_view_shows_what_is_only_implied_as_such() -> None:
    assert tree([("A", "B")]) == [Node(("A",), False, below=1), Node(("A", "B"), True)]
    assert tree([("A", "B"), ("A",), ("B", "C")], root=("A",)) == [Node(("A", "B"), True)]


def test_no_depth_is_too_deep_for_the_view() -> None:
    assert len(tree([("a",) * 3000])) == 3000
