"""The plan: what is done about each wanted namespace, in which order, under which id."""

from __future__ import annotations

import hashlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.core.claims import SourceObject
from nestsync.core.findings import Finding, Severity
from nestsync.core.hierarchy import ancestors
from nestsync.core.identifiers import Levels
from nestsync.core.plan import (
    Action,
    ActionKind,
    Plan,
    Strategy,
    TargetNamespace,
    action_id,
    changed_keys,
    plan_actions,
    plan_hash,
)
from nestsync.core.wanted import WantedNamespace, WantedSettings, wanted_tree
from tests.core.claims_cases import checked_catalogs, namespace, path

CREATE, SET, NOOP, BLOCKED = ActionKind
properties = st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=3)
levels = st.lists(st.text(max_size=3), min_size=1, max_size=3).map(tuple)


def want(text: str, held: dict[str, str] | None = None, *, blocked: bool = False) -> WantedNamespace:
    return WantedNamespace(path(text), True, held or {}, (), blocked)


def target(text: str, held: dict[str, str] | None = None, status: str = "ok") -> TargetNamespace:
    return TargetNamespace("t", path(text), held or {}, status)


def folded(found: Levels) -> Levels:
    return tuple(level.lower() for level in found)


@pytest.mark.proves("target-difference")
@pytest.mark.parametrize(
    ("wanted", "held", "strategy", "kind", "changed", "warned"),
    [
        pytest.param(want("a", {"k": "v"}), None, "create-only", CREATE, {"k": "v"}, False, id="absent"),
        pytest.param(want("a", {"k": "v"}), target("a", {"k": "v"}), "create-only", NOOP, {}, False, id="equal"),
        pytest.param(
            want("a", {"k": "v"}),
            target("a", {"k": "v", "location": "file:/made/by/the/server"}),
            "upsert",
            NOOP,
            {},
            False,
            id="a-key-that-the-server-adds-is-no-difference",
        ),
        pytest.param(want("a", {"k": "v"}), target("a", {"k": "w"}), "create-only", NOOP, {}, True, id="left-alone"),
        pytest.param(
            want("a", {"k": "v", "same": "1"}),
            target("a", {"same": "1"}),
            "upsert",
            SET,
            {"k": "v"},
            False,
            id="missing",
        ),
        pytest.param(
            want("a", {"k": "é"}),
            target("a", {"k": "e\u0301"}),
            "upsert",
            SET,
            {"k": "é"},
            False,
            id="equal-means-bytes",
        ),
        pytest.param(want("a"), target("a", status="unreadable"), "upsert", NOOP, {}, True, id="unreadable-in-target"),
        pytest.param(want("a", blocked=True), None, "upsert", BLOCKED, {}, False, id="blocked-and-absent"),
        pytest.param(
            want("a", {"k": "v"}, blocked=True), target("a"), "upsert", BLOCKED, {}, False, id="blocked-and-held"
        ),
        pytest.param(want("a"), target("A"), "create-only", CREATE, {}, False, id="another-case-is-another-name"),
    ],
)
def test_what_is_done(
    wanted: WantedNamespace,
    held: TargetNamespace | None,
    strategy: str,
    kind: ActionKind,
    changed: dict[str, str],
    warned: bool,
) -> None:
    plan = plan_actions([wanted], [held] if held else [], Strategy(strategy))
    (action,) = plan.actions
    assert (action.kind, action.properties) == (kind, changed)
    assert [(finding.rule, finding.severity) for finding in plan.findings] == (
        [("target-difference", Severity.WARNING)] if warned else []
    )


def test_a_target_that_folds_holds_the_other_spelling() -> None:
    plan = plan_actions([want("Sales", {"k": "v"})], [target("sales", {"k": "v"})], Strategy.CREATE_ONLY, folded)
    assert [action.kind for action in plan.actions] == [NOOP]
    assert plan.actions[0].reason == 'the target holds it with equal properties, spelled ["sales"]'


def test_a_difference_lists_the_keys_and_says_what_happens() -> None:
    plan = plan_actions([want("a", {"b": "1", "a": "1", "c": "1"})], [target("a", {"c": "1"})], Strategy.CREATE_ONLY)
    assert plan.actions[0].reason == 'the target holds it, and it differs in ["a","b"]; create-only leaves it as it is'
    (finding,) = plan.findings
    assert (finding.source, finding.levels, finding.target_levels) == ("t", ("a",), ("a",))
    assert finding.hint == "configure the strategy upsert to make them equal"


def planned(*objects: SourceObject, held: tuple[TargetNamespace, ...] = ()) -> Plan:
    return plan_actions(wanted_tree(objects, WantedSettings()).namespaces, held, Strategy.CREATE_ONLY)


def test_a_namespace_alone_plans_its_parents_first() -> None:
    actions = planned(namespace("s", "n1/n2/n3")).actions
    assert [(action.kind, action.levels) for action in actions] == [
        (CREATE, ("n1",)),
        (CREATE, ("n1", "n2")),
        (CREATE, ("n1", "n2", "n3")),
    ]


def test_a_dry_run_of_a_child_whose_parent_is_absent_plans_both() -> None:
    assert [action.levels for action in planned(namespace("s", "dev/inner")).actions] == [("dev",), ("dev", "inner")]


def test_a_parent_that_the_target_holds_is_not_planned_again() -> None:
    actions = planned(namespace("s", "dev/inner"), held=(target("dev"),)).actions
    assert [action.kind for action in actions] == [NOOP, CREATE]


def test_the_order_is_depth_first_and_then_the_levels() -> None:
    names = ["b", "a/z", "a", "a/b/c", "a/b", "B"]
    actions = planned(*(namespace("s", name) for name in names)).actions
    assert ["/".join(action.levels) for action in actions] == ["B", "a", "b", "a/b", "a/z", "a/b/c"]


@given(case=checked_catalogs(), strategy=st.sampled_from(Strategy), seed=st.randoms(use_true_random=False))
def test_a_plan_is_one_action_a_namespace_in_one_order(
    case: tuple[list[SourceObject], list[Finding]], strategy: Strategy, seed: random.Random
) -> None:
    objects, findings = case
    wanted = list(wanted_tree(objects, WantedSettings(), findings).namespaces)
    held = [TargetNamespace("t", one.levels, {"k": "1"}) for one in wanted[::2]]
    actions = plan_actions(wanted, held, strategy).actions
    assert [action.levels for action in actions] == [one.levels for one in wanted]
    seen: set[Levels] = set()
    for action in actions:
        assert set(ancestors(action.levels)) <= seen
        seen.add(action.levels)
    shuffled = seed.sample(wanted, len(wanted))
    assert plan_actions(shuffled, held, strategy).actions == actions
    ids = [action.action_id for action in actions]
    assert len(set(ids)) == len(ids)
    assert plan_hash(seed.sample(ids, len(ids))) == plan_hash(ids)


@given(wanted=properties, held=properties)
def test_setting_the_changed_keys_makes_the_wanted_ones_equal(wanted: dict[str, str], held: dict[str, str]) -> None:
    changed = changed_keys(wanted, held)
    after = held | {key: wanted[key] for key in changed}
    assert changed_keys(wanted, after) == ()
    assert {key: after[key] for key in held if key not in wanted} == {k: v for k, v in held.items() if k not in wanted}


@given(one=levels, other=levels, of_one=properties, of_other=properties)
def test_an_id_stands_for_what_is_done_and_for_nothing_else(
    one: Levels, other: Levels, of_one: dict[str, str], of_other: dict[str, str]
) -> None:
    same = (one, of_one) == (other, of_other)
    assert (action_id("noop", one, of_one) == action_id("noop", other, of_other)) is same
    assert action_id("noop", one, of_one) == action_id("noop", one, dict(reversed(of_one.items())))
    assert action_id("noop", one, of_one) != action_id("blocked", one, of_one)


def test_an_id_is_the_hash_of_readable_json() -> None:
    text = '{"kind":"create_namespace","levels":["a\\u001F","é"],"properties":[["K","v"],["k","a:b|c"]]}'
    action = Action(CREATE, ("a\x1f", "é"), {"k": "a:b|c", "K": "v"}, "why")
    assert action.action_id == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(["a"], [], id="taken-away"),
        pytest.param(["a"], ["a", "a"], id="twice"),
        pytest.param(["a", "a"], ["b", "b"], id="another-pair"),
        pytest.param(["a"], ["b"], id="another"),
    ],
)
def test_a_hash_tells_sets_of_actions_apart(one: list[str], other: list[str]) -> None:
    hashes = [plan_hash(hashlib.sha256(text.encode()).hexdigest() for text in texts) for texts in (one, other)]
    assert hashes[0] != hashes[1]
