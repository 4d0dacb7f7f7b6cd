"""What nested mode does to new flat names, and what a change of the separator concerns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.core.dialects import NameRefused, UnknownKind
from nestsync.core.gravitino import Affected, read_new_name, separator_changed
from nestsync.core.identifiers import Levels
from nestsync.core.separators import Policy, SeparatorRefused
from tests.core import hostile


@pytest.mark.parametrize(
    ("name", "policy", "nested_aware", "levels"),
    [
        ("A:B:C", "restricted", True, ("A", "B", "C")),
        ("A:B:C", "unrestricted", True, ("A", "B", "C")),
        ("A:B:C", "unrestricted", False, ("A:B:C",)),
        ("A", "restricted", False, ("A",)),
        ("a.b", "restricted", False, ("a.b",)),
        ("a.b", "restricted", True, ("a.b",)),
    ],
)
def test_a_new_name_means(name: str, policy: Policy, nested_aware: bool, levels: Levels) -> None:
    assert read_new_name(name, policy=policy, nested_aware=nested_aware) == levels


@pytest.mark.parametrize(
    ("name", "policy", "nested_aware", "reason"),
    [
        ("A:B", "restricted", False, "reserved for hierarchy"),
        ("A::B", "restricted", True, "empty segment"),
        ("A:", "unrestricted", True, "empty segment"),
        ("", "restricted", False, "is empty"),
        ("", "unrestricted", False, "is empty"),
        ("", "restricted", True, "is empty"),
        ("A\ud800", "restricted", False, "lone surrogate"),
        ("A\ud800", "unrestricted", True, "lone surrogate"),
    ],
)
def test_a_new_name_is_refused(name: str, policy: Policy, nested_aware: bool, reason: str) -> None:
    with pytest.raises(NameRefused) as caught:
        read_new_name(name, policy=policy, nested_aware=nested_aware)
    assert reason in caught.value.refusal.reason
    assert caught.value.refusal.level_index in (0, None)
    assert caught.value.where == "gravitino"


def test_a_policy_that_does_not_exist_takes_nothing() -> None:
    with pytest.raises(UnknownKind, match="no policy 'option 1'"):
        read_new_name("A:B", policy="option 1", nested_aware=False)  # type: ignore[arg-type]


def test_option_1_names_the_separator_that_is_configured() -> None:
    assert read_new_name("A:B", separator=";", nested_aware=False) == ("A:B",)
    with pytest.raises(NameRefused) as caught:
        read_new_name("A;B", separator=";", nested_aware=False)
    assert caught.value.refusal.character == ";"
    assert caught.value.refusal.rule == "separator-conflict"


def test_a_changed_separator_lists_the_names_affected() -> None:
    namespaces: list[Levels] = [("a", "b"), ("flat",), ("x;y",), ("m", "n;o"), ("a", "b"), ("c:d",)]
    assert separator_changed(namespaces, before=":", after=";") == [
        Affected(("a", "b"), "a:b", "a;b"),
        Affected(("m", "n;o"), "m:n;o", None),
        Affected(("x;y",), "x;y", None),
    ]


def test_a_changed_separator_has_to_be_safe() -> None:
    with pytest.raises(SeparatorRefused):
        separator_changed([("a",)], before=":", after="/")


@given(namespaces=st.lists(hostile.levels))
def test_an_unchanged_separator_concerns_no_name(namespaces: list[Levels]) -> None:
    assert separator_changed(namespaces, before=":", after=":") == []
