"""Drift: everything that moved between plan and apply, but for what this run did itself."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from nestsync.catalogs.records import NAMESPACE_FIELDS
from nestsync.errors import PlanOutdated
from nestsync.schemas import FINDING_FIELDS, LEDGER_FIELDS, ROLE, contract
from nestsync.stages.check.local import local_frame
from nestsync.stages.drift import drift, refuse_drift
from tests.core.claims_cases import path
from tests.stages.wanted_frames import as_stored, names_and_types

pytestmark = pytest.mark.spark


def row(name: str, role: str = "target", source: str = "t", **fields: Any) -> dict[str, Any]:
    properties = fields.pop("properties", {})
    return {
        "role": role,
        "source": source,
        "system": "iceberg_rest",
        "object": "namespace",
        "levels": list(path(name)),
        "properties": list(properties.items()),
        "status": "ok",
        **fields,
    }


def intent(name: str, kind: str = "create_namespace", event: str = "intent", **properties: str) -> dict[str, Any]:
    return {
        "action_id": name,
        "kind": kind,
        "levels": list(path(name)),
        "event": event,
        "properties": list(properties.items()),
        "at": datetime.now(UTC),
    }


def moved(
    spark: SparkSession,
    before: Iterable[dict[str, Any]],
    now: Iterable[dict[str, Any]],
    ledger: Iterable[dict[str, Any]] = (),
) -> DataFrame:
    schema = contract(ROLE, *NAMESPACE_FIELDS)
    frames = [local_frame(spark, list(before), as_stored(schema)), local_frame(spark, list(now), schema)]
    return drift(*frames, local_frame(spark, list(ledger), contract(*LEDGER_FIELDS)))


CASES: dict[str, tuple[dict[str, Any] | None, dict[str, Any] | None, dict[str, Any] | None, str | None]] = {
    "the-same": (row("x", properties={"k": "v"}), row("x", properties={"k": "v"}), None, None),
    "appeared": (None, row("x"), None, "appeared"),
    "vanished": (row("x"), None, None, "vanished"),
    "a-value": (row("x", properties={"k": "v"}), row("x", properties={"k": "w"}), None, 'changed: properties ["k"]'),
    "a-key-more": (row("x"), row("x", properties={"k": ""}), None, 'changed: properties ["k"]'),
    "a-key-less": (row("x", properties={"k": ""}), row("x"), None, 'changed: properties ["k"]'),
    "an-owner": (row("x", owner="ann"), row("x", owner="bob"), None, "changed: owner"),
    "a-comment-gone": (row("x", comment="c"), row("x"), None, "changed: comment"),
    "no-longer-readable": (row("x"), row("x", status="unreadable"), None, "changed: status"),
    "all-at-once": (
        row("x", owner="ann", location="l"),
        row("x", properties={"b": "1", "a": "1"}, owner="bob"),
        None,
        'changed: owner, location, properties ["a","b"]',
    ),
    "made-by-us": (None, row("x", properties={"k": "v", "location": "added"}), intent("x", k="v"), None),
    "meant-by-us-and-not-done": (None, None, intent("x", k="v"), None),
    "made-by-us-and-altered": (None, row("x", properties={"k": "w"}), intent("x", k="v"), "appeared"),
    "set-by-us": (
        row("x", properties={"k": "v"}, owner="ann"),
        row("x", properties={"k": "w", "owner": "bob"}, owner="bob"),
        intent("x", "set_properties", k="w", owner="bob"),
        None,
    ),
    "meant-by-us-and-set-otherwise": (
        row("x", properties={"k": "v"}),
        row("x", properties={"k": "u"}),
        intent("x", "set_properties", k="w"),
        'changed: properties ["k"]',
    ),
    "another-key-than-ours": (
        row("x", properties={"k": "v"}),
        row("x", properties={"k": "w", "other": "w"}),
        intent("x", "set_properties", k="w"),
        'changed: properties ["other"]',
    ),
    "an-update-of-ours-makes-nothing": (None, row("x"), intent("x", "set_properties", k="w"), "appeared"),
    "we-never-remove": (row("x"), None, intent("x", "set_properties", k="w"), "vanished"),
    "our-ledger-is-about-the-target": (
        None,
        row("x", role="source", properties={"k": "v"}),
        intent("x", k="v"),
        "appeared",
    ),
}


@pytest.mark.proves("drift")
def test_what_is_drift(spark: SparkSession) -> None:
    def below(case: str, found: dict[str, Any] | None) -> list[dict[str, Any]]:
        return [] if found is None else [{**found, "levels": [case, *found["levels"]]}]

    before = [each for case, (then, _, _, _) in CASES.items() for each in below(case, then)]
    now = [each for case, (_, here, _, _) in CASES.items() for each in below(case, here)]
    ledger = [each for case, (_, _, ours, _) in CASES.items() for each in below(case, ours)]
    found = moved(spark, before, now, ledger)
    assert {each["levels"][0]: each["message"] for each in found.collect()} == {
        case: how for case, (_, _, _, how) in CASES.items() if how is not None
    }
    assert {(each["rule"], each["severity"]) for each in found.collect()} == {("drift", "blocking")}
    assert names_and_types(found.schema) == names_and_types(contract(*FINDING_FIELDS))


def test_tables_and_namespaces_of_one_name_in_two_sources_are_told_apart(spark: SparkSession) -> None:
    before = [row("x", "source", "s1", properties={"k": "1"}), row("x", "source", "s2", properties={"k": "2"})]
    table = row("x", "source", "s1", properties={"k": "9"}) | {"object": "table", "name": "t"}
    assert moved(spark, before, [*before, table]).collect() == []


def test_a_name_that_a_catalog_tells_of_twice_has_not_moved(spark: SparkSession) -> None:
    twice = [row("x", properties={"k": "1"}), row("x", status="unreadable", error="listed twice")]
    assert moved(spark, twice, reversed(twice)).collect() == []
    assert [each["message"] for each in moved(spark, twice, twice[:1]).collect()] == ["vanished"]


@pytest.mark.proves("drift", "exit-6")
def test_drift_is_refused_by_name(spark: SparkSession) -> None:
    found = moved(spark, [], [row(f"n{i}/x", "source", f"s{i % 2}") for i in range(7)])
    with pytest.raises(PlanOutdated) as refused:
        refuse_drift(found)
    assert refused.value.exit_code == 6
    assert refused.value.what == (
        'moved since the plan was made: s0 ["n0","x"] appeared; s0 ["n2","x"] appeared; s0 ["n4","x"] appeared; '
        's0 ["n6","x"] appeared; s1 ["n1","x"] appeared and more'
    )
    refuse_drift(found.limit(0))
