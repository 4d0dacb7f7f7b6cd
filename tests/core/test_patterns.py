"""Patterns select level by level; one that cannot mean what it looks like says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.core.patterns import matches, pattern_problem, reaches_below, takes_all_below
from tests.core.test_mapping import LEVELS


@pytest.mark.parametrize(
    ("pattern", "levels", "selected"),
    [
        pytest.param(("raw", "events"), ("raw", "events"), True, id="equal"),
        pytest.param(("raw", "events"), ("raw", "events2"), False, id="no prefix of a level"),
        pytest.param(("raw", "events"), ("raw",), False, id="shorter"),
        pytest.param(("raw", "events"), ("raw", "events", "x"), False, id="longer"),
        pytest.param(("raw", "*"), ("raw", "events"), True, id="star takes a level"),
        pytest.param(("raw", "*"), ("raw", "a", "b"), False, id="star crosses no boundary"),
        pytest.param(("*",), ("line\nbreak\n",), True, id="star takes line breaks"),
        pytest.param(("a*",), ("ba",), False, id="anchored at the start"),
        pytest.param(("*a",), ("a\n",), False, id="anchored at the very end"),
        pytest.param(("t?m",), ("tim",), True, id="question mark takes one"),
        pytest.param(("t?m",), ("t\U0001f600m",), True, id="an emoji is one character"),
        pytest.param(("t?m",), ("tm",), False, id="question mark takes no nothing"),
        pytest.param(("a.b",), ("axb",), False, id="a dot is a dot"),
        pytest.param(("a[bc]",), ("ab",), False, id="brackets are brackets"),
        pytest.param(("ns_1",), ("nsx1",), False, id="an underscore is no wildcard"),
        pytest.param(("Sales",), ("sales",), False, id="case counts"),
        pytest.param(("**",), (), True, id="everything, the root too"),
        pytest.param(("raw", "**"), ("raw",), True, id="none further"),
        pytest.param(("raw", "**"), ("raw", "a", "b"), True, id="two further"),
        pytest.param(("raw", "**"), ("raw2",), False, id="no sibling"),
        pytest.param(("**", "b"), ("a", "b"), True, id="inside, two stars are one level"),
        pytest.param(("**", "b"), ("a", "a", "b"), False, id="inside, two stars are no more than one level"),
        pytest.param((), (), True, id="the root"),
        pytest.param((), ("a",), False, id="only the root"),
    ],
)
def test_patterns_select_level_by_level(pattern: tuple[str, ...], levels: tuple[str, ...], selected: bool) -> None:
    assert matches(pattern, levels) is selected


def test_a_subtree_holds_its_children_and_no_namespace_that_only_starts_alike() -> None:
    namespaces = [("raw", "events"), ("raw", "events", "2024"), ("raw", "events2")]
    assert [levels for levels in namespaces if matches(("raw", "events", "**"), levels)] == namespaces[:2]


@given(LEVELS)
def test_every_namespace_is_selected_by_stars_of_its_depth(levels: tuple[str, ...]) -> None:
    assert matches(("*",) * len(levels), levels)
    assert matches((*("*",) * len(levels), "**"), levels)
    assert not matches(("*",) * (len(levels) + 1), levels)


@pytest.mark.parametrize(
    ("pattern", "levels", "reaches", "takes_all"),
    [
        pytest.param(("lake", "**"), ("lake",), True, True, id="the subtree"),
        pytest.param(("l*", "**"), ("lake", "raw"), True, True, id="above it"),
        pytest.param(("**",), ("lake",), True, True, id="everything"),
        pytest.param(("lake", "raw", "**"), ("lake",), True, False, id="a part of it"),
        pytest.param(("lake", "raw"), ("lake",), True, False, id="one below it"),
        pytest.param(("lake",), ("lake",), True, False, id="itself alone"),
        pytest.param(("*", "raw"), ("lake",), True, False, id="one below anything"),
        pytest.param(("*",), ("lake", "raw"), False, False, id="too high"),
        pytest.param(("other", "**"), ("lake",), False, False, id="elsewhere"),
        pytest.param(("lake", "raw", "**"), ("lake", "gold"), False, False, id="beside it"),
    ],
)
def test_what_a_pattern_is_about_below_a_namespace(
    pattern: tuple[str, ...], levels: tuple[str, ...], reaches: bool, takes_all: bool
) -> None:
    assert (reaches_below(pattern, levels), takes_all_below(pattern, levels)) == (reaches, takes_all)


PATTERNS = st.lists(st.sampled_from(["a", "b", "*", "?b"]), max_size=3).flatmap(
    lambda globs: st.sampled_from([tuple(globs), (*globs, "**")])
)
SHALLOW = st.lists(st.sampled_from(["a", "b", "bb"]), max_size=3).map(tuple)


@given(PATTERNS, SHALLOW, SHALLOW)
def test_what_is_said_of_all_below_holds_for_each(
    pattern: tuple[str, ...], levels: tuple[str, ...], further: tuple[str, ...]
) -> None:
    if matches(pattern, levels + further):
        assert reaches_below(pattern, levels)
    else:
        assert not takes_all_below(pattern, levels)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        pytest.param(("hive", "sales_*"), None, id="a glob a level"),
        pytest.param(("hive", "**"), None, id="two stars at the end"),
        pytest.param(("**",), None, id="two stars alone"),
        pytest.param(("raw", ""), None, id="a level that is empty"),
        pytest.param(("a[", "{b}", "[]"), None, id="brackets that choose nothing"),
        pytest.param((), 'is empty and selects no namespace but the root; name a glob a level, or ["**"]', id="empty"),
        pytest.param(("**", "tmp"), "'**' takes further levels only where it is '**' and the last level", id="inside"),
        pytest.param(("sales**",), "'sales**' takes further levels only where", id="at the end of a level"),
        pytest.param(("a", "***"), "'***' takes further levels only where", id="three stars"),
        pytest.param(("**", "**"), "'**' takes further levels only where", id="twice"),
        pytest.param(
            ("[ab]x",), "'[ab]' in '[ab]x' would be taken as it stands: the wildcards are '*', '?'", id="class"
        ),
        pytest.param(("s_{eu,us}", "**"), "'{eu,us}' in 's_{eu,us}' would be taken as it stands", id="choice"),
    ],
)
def test_a_pattern_that_cannot_mean_what_it_looks_like_says_what_to_write(
    pattern: tuple[str, ...], says: str | None
) -> None:
    problem = pattern_problem(pattern)
    assert (problem is None) if says is None else (problem is not None and problem.startswith(says))
