"""The tree: a flat list whose folders open and close in pairs, whatever the depth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.core.identifiers import Levels
from nestsync.reports.facts import TreeRow
from nestsync.reports.tree import TreeNode, nodes, state

LEVELS = st.lists(st.sampled_from(["a", "b", "a:b", "", "z"]), max_size=4).map(tuple)


def rows(*levels: Levels) -> list[TreeRow]:
    return [TreeRow(found, "created") for found in levels]


def drawn(found: list[TreeNode]) -> list[str]:
    indented = [f"{'  ' * (node.depth - 1)}{node.level}" for node in found]
    marks = [("/" if node.folder else "") + ("" if node.row else " ?") for node in found]
    return [line + mark for line, mark in zip(indented, marks, strict=True)]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([()], [], id="root-alone"),
        pytest.param([("a",), ("b",)], ["a", "b"], id="flat"),
        pytest.param([("a",), ("a", "b"), ("c",)], ["a/", "  b", "c"], id="nested"),
        pytest.param([("a", "b", "c")], ["a/ ?", "  b/ ?", "    c"], id="parents-closed"),
        pytest.param([("a", "b"), ("a", "c")], ["a/ ?", "  b", "  c"], id="one-parent-for-siblings"),
        pytest.param([("raw:events",), ("raw:events2",)], ["raw:events", "raw:events2"], id="no-text-prefix"),
        pytest.param([("a",), ("a",)], ["a", "a"], id="twice"),
    ],
)
def test_lines(levels: list[Levels], expected: list[str]) -> None:
    assert drawn(nodes(rows(*levels))) == expected


@given(st.lists(LEVELS, max_size=30))
def test_folders_open_and_close_in_pairs(levels: list[Levels]) -> None:
    path: list[str] = []
    seen = []
    for node in nodes(rows(*sorted(set(levels)))):
        assert node.depth == len(path) + 1
        if node.row is not None:
            assert node.row.levels == (*path, node.level)
            seen.append(node.row.levels)
        if node.folder:
            path.append(node.level)
        else:
            del path[len(path) - node.closes :]
    assert path == []
    assert seen == sorted(set(levels) - {()})


def test_depth_costs_no_recursion() -> None:
    deep = tuple(map(str, range(5_000)))
    found = nodes(rows(deep))
    assert (found[-1].depth, found[-1].closes) == (5_000, 4_999)


def test_a_closed_folder_shows_what_blocks_below_it() -> None:
    found = nodes([TreeRow(("a",), "created", blocking=1), TreeRow(("a", "b"), "blocked", blocking=2), *rows(("c",))])
    assert [node.blocking for node in found] == [3, 2, 0]


@pytest.mark.parametrize(
    ("kind", "outcome", "word"),
    [
        ("create_namespace", "applied", "created"),
        ("create_namespace", "pending", "to create"),
        ("create_namespace", "skipped", "there already"),
        ("create_namespace", "failed", "failed"),
        ("set_properties", "applied", "updated"),
        ("set_properties", "pending", "to update"),
        ("set_properties", "unknown", "unknown"),
        ("noop", "none", "unchanged"),
        ("blocked", "none", "blocked"),
        ("target", "existing", "existing"),
    ],
)
def test_an_action_in_a_word(kind: str, outcome: str, word: str) -> None:
    assert state(kind, outcome) == word
