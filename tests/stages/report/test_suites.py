"""Every expectation over Spark frames: what makes it fail, with the row named, and what it lets pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from nestsync.core.expectations import EXPECTATIONS, defaults
from nestsync.core.findings import RULES, Severity
from nestsync.history.choosing import Past
from nestsync.history.records import RunRecord
from nestsync.outcome import RunOutcome
from nestsync.reports.expectations import validate
from nestsync.reports.facts import CatalogFacts, ReportFacts
from nestsync.reports.settled import ExpectationResult
from nestsync.stages.report.digest import catalogs_of
from nestsync.stages.report.frames import Frames
from nestsync.stages.report.suites import suites_of
from tests.reports import frames

pytestmark = pytest.mark.spark

CATALOGS = (CatalogFacts("hms", "hms", "source", "thrift://127.0.0.1:9083"), CatalogFacts("t", "hms", "target", ""))
CLEAR = ReportFacts(RunOutcome("r1", "run", 0, "All is well."), frames.AT, CATALOGS)
Results = Mapping[str, ExpectationResult]


def held(facts: ReportFacts, folder: Path) -> Results:
    with ExitStack() as cleanup:
        of_run = Frames.of(facts, cleanup)
        suites = suites_of(facts, of_run, catalogs_of(facts.catalogs, of_run.objects), cleanup)
        return {result.name: result for result in validate(suites, folder)}


def past(**counts: int) -> Past:
    """A run in which ``hms`` held so much, and a later one of another catalog."""
    records = [
        RunRecord(
            "night-1", "ended", frames.AT, catalogs={"hms": {"role": "source", "system": "hms", "counts": counts}}
        ),
        RunRecord(
            "night-2", "ended", frames.AT, catalogs={"lake": {"role": "source", "system": "lance_dir", "counts": {}}}
        ),
    ]
    return Past(tuple(records))


def objects(spark: SparkSession, *, namespaces: int, tables: int, unreadable: int = 0) -> dict[str, Any]:
    """So many namespaces and tables of ``hms``, of each the first `unreadable` without an answer."""
    names = [f"n{number:03}" for number in range(namespaces)]
    held = frames.namespaces(spark, *(("source", "hms", ["hive", name]) for name in names[unreadable:]))
    unread = frames.namespaces(
        spark, *(("source", "hms", ["hive", name]) for name in names[:unreadable]), status="unreadable", error="refused"
    )
    rows = [
        ("hms", ["hive", "n"], f"t{number:03}", "torn" if number < unreadable else None) for number in range(tables)
    ]
    return {"namespaces": held.unionAll(unread), "tables": frames.tables(spark, *rows)}


# ---- what fails, and the row that is named


@pytest.fixture(scope="module")
def everything_wrong(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Results:
    blocking = [
        "separator-conflict", "separator-changed", "separator-refused", "character-refused", "reserved-character",
        "empty-level", "too-long", "too-deep", "round-trip-loss", "collision", "case-collision",
        "normalization-collision", "dangerous-name", "drift", "property-conflict", "rule-of-tomorrow",
    ]  # fmt: skip
    warnings = ["missing-parent", "ambiguous-first-part", "target-difference"]
    facts = replace(
        CLEAR,
        catalogs=(*CATALOGS, CatalogFacts("lake", "lance_dir", "source", "", error="the folder is gone")),
        **objects(spark, namespaces=40, tables=30, unreadable=1),
        findings=frames.findings(
            spark,
            *((rule, "blocking", ["hive", f"of-{rule}"]) for rule in blocking),
            *((rule, "warning", ["hive", f"of-{rule}"]) for rule in warnings),
        ),
        actions=frames.actions(
            spark,
            ("1", "create_namespace", ["a"]),
            ("2", "create_namespace", ["a", "b"]),
            ("3", "create_namespace", ["gone", "child"]),
            ("4", "blocked", ["gone"]),
            ("5", "noop", ["of-target-difference"]),
        ),
        ledger=frames.ledger(
            spark, ("1", "applied", None), ("2", "failed", "409: it is <there>"), ("3", "applied", None)
        ),
        differences=frames.differences(spark, (["a"], "the target does not hold it")),
        past=past(namespaces=100, tables=12, views=1),
    )
    return held(facts, tmp_path_factory.mktemp("wrong"))


def of(rule: str) -> str:
    return f'{rule} hms ["hive","of-{rule}"]'


@pytest.mark.parametrize(
    ("name", "rows", "named"),
    [
        pytest.param(
            "catalogs-answered",
            3,
            ["lake: the folder is gone"],
            marks=pytest.mark.proves("catalogs-answered"),
        ),
        pytest.param(
            "namespaces-readable",
            40,
            ['hms ["hive","n000"]: refused'],
            marks=pytest.mark.proves("namespaces-readable"),
        ),
        pytest.param(
            "tables-readable", 30, ['hms ["hive","n"] "t000": torn'], marks=pytest.mark.proves("tables-readable")
        ),
        pytest.param(
            "namespaces-steady",
            1,
            ["hms: 40, and 100 before: 60.0% fewer, where 20.0% is allowed (since run night-1)"],
            marks=pytest.mark.proves("namespaces-steady"),
        ),
        pytest.param(
            "tables-steady",
            1,
            ["hms: 30, and 13 before: 130.8% more, where 100.0% is allowed (since run night-1)"],
            marks=pytest.mark.proves("tables-steady"),
        ),
        pytest.param(
            "separator-free",
            19,
            [of("separator-changed"), of("separator-conflict")],
            marks=pytest.mark.proves("separator-free"),
        ),
        pytest.param(
            "names-accepted",
            19,
            [
                of("character-refused"), of("empty-level"), of("reserved-character"), of("separator-refused"),
                of("too-deep"), of("too-long"),
            ],
            marks=pytest.mark.proves("names-accepted"),
        ),
        pytest.param("names-lossless", 19, [of("round-trip-loss")], marks=pytest.mark.proves("names-lossless")),
        pytest.param(
            "keys-unique",
            19,
            [of("case-collision"), of("collision"), of("normalization-collision")],
            marks=pytest.mark.proves("keys-unique"),
        ),
        pytest.param("names-harmless", 19, [of("dangerous-name")], marks=pytest.mark.proves("names-harmless")),
        pytest.param(
            "nothing-else-blocks",
            19,
            [of("drift"), of("property-conflict"), of("rule-of-tomorrow")],
            marks=pytest.mark.proves("nothing-else-blocks"),
        ),
        pytest.param(
            "parents-planned",
            6,
            ['["gone","child"] for hms ["hive","gone__child"]: its parent ["gone"] is neither there nor planned'],
            marks=pytest.mark.proves("parents-planned"),
        ),
        pytest.param("parents-in-sources", 6, [of("missing-parent")], marks=pytest.mark.proves("parents-in-sources")),
        pytest.param(
            "first-parts-unambiguous",
            6,
            [of("ambiguous-first-part")],
            marks=pytest.mark.proves("first-parts-unambiguous"),
        ),
        pytest.param(
            "actions-succeeded",
            5,
            [r'create_namespace ["a","b"] for hms ["hive","a__b"]: failed: 409: it is \u003Cthere\u003E'],
            marks=pytest.mark.proves("actions-succeeded"),
        ),
        pytest.param(
            "target-equals-plan",
            5,
            ['["a"]: the target does not hold it'],
            marks=pytest.mark.proves("target-equals-plan"),
        ),
        pytest.param(
            "nothing-left-out",
            5,
            ['["gone"] for hms ["hive","gone"]: the target does not hold it'],
            marks=pytest.mark.proves("nothing-left-out"),
        ),
        pytest.param(
            "existing-as-wanted", 5, [of("target-difference")], marks=pytest.mark.proves("existing-as-wanted")
        ),
    ],
)  # fmt: skip
def test_what_is_unexpected_is_counted_and_named(
    everything_wrong: Results, name: str, rows: int, named: list[str]
) -> None:
    found = everything_wrong[name]
    assert (sorted(found.examples), found.unexpected, found.rows) == (named, len(named), rows)
    assert not found.success
    assert (found.suite, found.severity) == (EXPECTATIONS[name].suite, EXPECTATIONS[name].severity)


def test_every_expectation_was_held(everything_wrong: Results) -> None:
    assert list(everything_wrong) == list(EXPECTATIONS)


# ---- what passes


def test_a_run_without_trouble_meets_every_expectation(spark: SparkSession, tmp_path: Path) -> None:
    rules = [slug for slug in RULES if slug not in ("missing-parent", "ambiguous-first-part", "target-difference")]
    facts = replace(
        CLEAR,
        **objects(spark, namespaces=90, tables=30),
        # accepted, each with a reason: nothing of it blocks
        findings=frames.findings(
            spark,
            *((rule, "warning", ["hive", "x"]) for rule in rules),
            *((rule, "info", ["hive", "x"]) for rule in RULES),
        ),
        actions=frames.actions(
            spark,
            ("1", "create_namespace", ["a"]),
            ("2", "set_properties", ["a", "b"]),
            ("3", "create_namespace", ["held", "child"]),
            ("4", "noop", ["a", "b", "c"]),
        ),
        ledger=frames.ledger(spark, ("1", "applied", None), ("2", "skipped", "it is so"), ("3", "applied", None)),
        differences=frames.differences(spark),
        past=past(namespaces=100, tables=20, views=1),
    )
    there = frames.namespaces(spark, ("target", "t", ["held"]))
    assert facts.namespaces is not None
    results = held(replace(facts, namespaces=facts.namespaces.unionAll(there)), tmp_path)
    assert {name: result.examples for name, result in results.items() if not result.success} == {}
    assert list(results) == list(EXPECTATIONS)


def test_what_did_not_run_has_no_expectation(spark: SparkSession, tmp_path: Path) -> None:
    read = replace(CLEAR, **objects(spark, namespaces=1, tables=0))
    assert {result.suite for result in held(read, tmp_path).values()} == {"inventory"}
    checked = replace(read, findings=frames.findings(spark))
    assert {"parents-planned", "actions-succeeded"}.isdisjoint(held(checked, tmp_path))
    planned = held(replace(checked, actions=frames.actions(spark, ("1", "noop", ["a"]))), tmp_path)
    assert "parents-planned" in planned
    assert "actions-succeeded" not in planned
    written = replace(checked, actions=frames.actions(spark, ("1", "noop", ["a"])), ledger=frames.ledger(spark))
    assert "target-equals-plan" not in held(written, tmp_path)


# ---- thresholds, on both sides


@pytest.mark.parametrize(
    ("name", "settings", "met"),
    [
        pytest.param("namespaces-readable", {"mostly": 0.95}, True, id="mostly-met"),
        pytest.param("namespaces-readable", {"mostly": 0.96}, False, id="mostly-not-met"),
        pytest.param("tables-readable", {"mostly": 0.9}, True, id="of-tables-met"),
        pytest.param("tables-readable", {"mostly": 0.91}, False, id="of-tables-not-met"),
        pytest.param("namespaces-steady", {"max_fall": 0.6}, True, id="fall-met"),
        pytest.param("namespaces-steady", {"max_fall": 0.59}, False, id="fall-not-met"),
        pytest.param("tables-steady", {"max_rise": 1.0}, True, id="rise-met"),
        pytest.param("tables-steady", {"max_rise": 0.99}, False, id="rise-not-met"),
        pytest.param("namespaces-steady", {"min_change": 61}, True, id="change-too-small-to-count"),
        pytest.param("namespaces-steady", {"min_change": 60}, False, id="change-that-counts"),
    ],
)
def test_a_threshold_on_both_sides(
    of_thresholds: Callable[[dict[str, Any], str], ExpectationResult], name: str, settings: dict[str, Any], met: bool
) -> None:
    assert of_thresholds(settings, name).success is met


@pytest.fixture(scope="module")
def of_thresholds(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[dict[str, Any], str], ExpectationResult]:
    """40 namespaces where 100 were, 20 tables where 10 were; 2 of each cannot be read."""
    folder = tmp_path_factory.mktemp("thresholds")
    facts = replace(
        CLEAR, **objects(spark, namespaces=40, tables=20, unreadable=2), past=past(namespaces=100, tables=9, views=1)
    )

    def result(said: dict[str, Any], name: str) -> ExpectationResult:
        settings = EXPECTATIONS[name].settings(said)
        return held(replace(facts, expected=defaults() | {name: settings}), folder)[name]

    return result


@pytest.mark.parametrize(
    ("before", "compared"),
    [
        pytest.param(None, False, id="a-first-run"),
        pytest.param({"role": "target", "system": "hms", "counts": {"namespaces": 999}}, False, id="it-was-a-target"),
        pytest.param(
            {"role": "source", "system": "lance_dir", "counts": {"namespaces": 999}}, False, id="other-system"
        ),
        pytest.param({"role": "source", "system": "hms", "counts": None}, False, id="not-counted"),
        pytest.param({"role": "source", "system": "hms", "counts": {"namespaces": 999}}, True, id="comparable"),
    ],
)
def test_only_a_run_that_read_the_same_source_is_compared_with(
    spark: SparkSession, tmp_path: Path, before: dict[str, Any] | None, compared: bool
) -> None:
    runs = () if before is None else (RunRecord("night-1", "ended", frames.AT, catalogs={"hms": before}),)
    found = held(replace(CLEAR, **objects(spark, namespaces=5, tables=1), past=Past(runs)), tmp_path)
    assert found["namespaces-steady"].success is not compared
    assert found["namespaces-steady"].rows == 1


def test_a_severity_and_its_reason_come_with_the_result(spark: SparkSession, tmp_path: Path) -> None:
    said = {"severity": Severity.INFO, "reason": "known, and mended on Monday"}
    lowered = defaults() | {"namespaces-readable": EXPECTATIONS["namespaces-readable"].settings(said)}
    found = held(replace(CLEAR, **objects(spark, namespaces=1, tables=0, unreadable=1), expected=lowered), tmp_path)
    result = found["namespaces-readable"]
    assert (result.severity, result.reason, result.success) == (*said.values(), False)
    assert result.departures == ("severity info (by default warning)",)
    page = (tmp_path / "data_docs" / "validations" / "inventory.html").read_text()
    assert "every namespace could be read; held to severity info (by default warning)" in page
