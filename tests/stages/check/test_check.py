"""Spark finds what the core finds, to the last word, whatever the names are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from nestsync.core.checking import CheckContext, DialectUse, Lowered, Subject, Target, rank_separators
from nestsync.core.checking import check as check_core
from nestsync.core.findings import Severity
from nestsync.core.identifiers import Identifier
from nestsync.core.mapping import Mapping, MappingRule, Rename
from nestsync.schemas import FINDING_FIELDS, MEMBER_FIELDS, SEPARATOR_FIELDS
from nestsync.stages.check import JUDGED_SCHEMA, Checked, adjusted, check, map_sources, parents
from tests.core.check_cases import CASES, context, namespace, table, there
from tests.core.hostile import HOSTILE, names
from tests.stages.check.frames import Told, objects, ranking, told

pytestmark = pytest.mark.spark


def checked(spark: SparkSession, subjects: Sequence[Subject], of: CheckContext) -> Checked:
    """`subjects` checked as the stage does it, which keeps what is read more than once."""
    inventory = objects(spark, subjects)
    mapped = map_sources(inventory, of).localCheckpoint()
    return check(inventory, of, mapped, keep=lambda _, frame: frame.localCheckpoint())


@pytest.mark.proves(
    "ambiguous-first-part",
    "case-collision",
    "character-refused",
    "collision",
    "dangerous-name",
    "empty-level",
    "normalization-collision",
    "not-a-table",
    "reserved-character",
    "round-trip-loss",
    "separator-changed",
    "separator-conflict",
    "separator-refused",
    "too-deep",
    "too-long",
    "unreadable-namespace",
    "unreadable-table",
    "unsupported-table",
)
def test_spark_tells_what_the_core_tells_of_every_case(spark: SparkSession) -> None:
    """Cases of one context are checked together, and two contexts at once: most of the time is Spark's planning."""
    together: dict[int, list[Subject]] = defaultdict(list)
    contexts: list[CheckContext] = []
    for case in CASES:
        if case.context not in contexts:
            contexts.append(case.context)
        together[contexts.index(case.context)] += case.subjects

    def found(number: int) -> Told:
        return Told.by_spark(checked(spark, together[number], contexts[number]))

    with ThreadPoolExecutor(2) as pool:
        for (number, subjects), told_by_spark in zip(together.items(), pool.map(found, together), strict=True):
            assert told_by_spark == Told.by_the_core(check_core(subjects, contexts[number]))


LISTED = st.sampled_from(
    ["a", "A", "b", "a:b", "a.b", "Sales", "sales", "é", "e\u0301", "É", "x__y", "x____y", *HOSTILE]
)
LEVELS = st.lists(LISTED | names, max_size=3).map(tuple)
STATUS = st.sampled_from(["ok", "ok", "ok", "unreadable", "empty", "unsupported", "not-a-table"])
SUBJECTS = st.lists(
    st.builds(Subject, st.sampled_from(["hms", "rest"]), st.just("namespace"), LEVELS)
    | st.builds(Subject, st.just("hms"), st.just("namespace"), st.tuples(st.just("hive"), LISTED))
    | st.builds(
        Subject,
        st.sampled_from(["hms", "lance"]),
        st.sampled_from(["table", "view"]),
        LEVELS,
        (LISTED | names).filter(bool),
        STATUS,
        st.none() | names,
    )
    | st.builds(Subject, st.just("lake"), st.just("namespace"), LEVELS, role=st.just("target")),
    min_size=60,
    max_size=120,
)


def _mapping(subjects: list[Subject]) -> Mapping:
    """Rules of every kind, and renames of some of the very objects."""
    named = {(s.source, s.identifier): s for s in subjects if s.role == "source" and s.levels}
    renames = tuple(
        Rename(source, identifier, Identifier(("Renamed", "a"), None if identifier.name is None else "t"))
        for number, (source, identifier) in enumerate(named)
        if number % 7 == 0
    )
    return Mapping(
        rules=(
            MappingRule("hms", include=(("hive", "*"),), exclude=(("hive", "?b*"),), drop=1, split="__"),
            MappingRule("hms", exclude=(("a", "**"), ("*", "b")), prefix=("p",), flatten="_", depth=2),
        ),
        renames=renames,
        merge=frozenset({("a",), ("Sales",)}),
    )


SOURCES = {"hms": DialectUse("hive"), "lance": DialectUse("lance"), "rest": DialectUse("iceberg-rest", ".")}
LOWERED = (
    Lowered("case-collision", "rest", ("Sales",), Severity.WARNING, "known"),
    Lowered("case-collision", "rest", ("sales",), Severity.INFO, "known too"),
    Lowered("empty-level", "rest", (), Severity.INFO, "the root"),
)
CONTEXTS = {
    "everything": CheckContext(
        target=Target("lake", "iceberg_rest", DialectUse("iceberg-rest", "."), "lakekeeper"),
        separator=":",
        engines=("trino", "spark", "flink", "gravitino-shipped", "jdbc", "lance-hive"),
        sources=SOURCES,
        severities={"unsupported-table": Severity.WARNING},
        lowered=LOWERED,
    ),
    "a metastore": context("hive", "hms-4", sources=SOURCES, engines=("lance",)),
    "gravitino": context("gravitino", "gravitino", ";", separator=";", engines=("gravitino-physical", "hive")),
    "nessie": context(capabilities="nessie", separator="%", policy="unrestricted", engines=("trino",)),
    "a strict server": context(capabilities="iceberg-rest-1.11"),
    "a JDBC catalog": context(capabilities="jdbc"),
    "an assessment": CheckContext(separator="a", candidates=("a", ":", "|"), policy="unrestricted"),
}


@pytest.mark.parametrize("name", CONTEXTS)
@settings(
    max_examples=1,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(SUBJECTS)
def test_spark_and_core_find_the_same(spark: SparkSession, name: str, subjects: list[Subject]) -> None:
    of_these = replace(CONTEXTS[name], mapping=_mapping(subjects))
    result = checked(spark, subjects, of_these)
    assert Told.by_spark(result) == Told.by_the_core(check_core(subjects, of_these))
    assert ranking(result.separators) == list(rank_separators(subjects, of_these))


def test_collisions_are_the_same_where_the_keys_are_too_many_to_hand_around(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parents, "FEW_KEYS", 0)
    of = context(capabilities="lakekeeper", engines=("trino",))
    alike = (context(capabilities="lakekeeper"), context(engines=("trino",)))
    subjects = [subject for case in CASES if case.context in alike for subject in case.subjects]
    expected = Told.by_the_core(check_core(subjects, of))
    assert {finding.rule for finding in expected.findings} >= {"case-collision", "normalization-collision"}
    assert any("is one schema with" in finding.message for finding in expected.findings)
    assert Told.by_spark(checked(spark, subjects, of)) == expected


def test_the_schemas_are_as_declared(spark: SparkSession) -> None:
    result = check(objects(spark, [namespace("rest", "a:b")]), context(separator=":"))
    assert result.mapped.schema.names == JUDGED_SCHEMA.names
    assert [field.dataType for field in result.mapped.schema] == [field.dataType for field in JUDGED_SCHEMA]
    assert result.findings.schema.names == [field.name for field in FINDING_FIELDS]
    assert result.members.schema.names == [field.name for field in MEMBER_FIELDS]
    assert result.separators.schema.names == [field.name for field in SEPARATOR_FIELDS]


def test_what_is_about_several_is_lowered_once_it_is_for_all(spark: SparkSession) -> None:
    """Pairs of their own: lowered for none, for one, for both, and for both where one more is there already."""
    pairs = [namespace("rest", name) for number in range(4) for name in (f"Sales{number}", f"sales{number}")]
    words = (("Sales1", "warning"), ("Sales2", "info"), ("sales2", "warning"), ("Sales3", "info"), ("sales3", "info"))
    lowered = tuple(
        Lowered("case-collision", "rest", (level,), Severity(severity), f"{level} is known")
        for level, severity in words
    )
    of, subjects = context(capabilities="lakekeeper", lowered=lowered), [*pairs, there("SALES3")]
    expected = Told.by_the_core(check_core(subjects, of))
    assert {(each.levels, str(each.severity), each.message.endswith(")")) for each in expected.findings} == {
        (("Sales0",), "blocking", False),
        (("Sales1",), "blocking", True),
        (("Sales2",), "warning", True),
        (("Sales3",), "info", True),
    }
    assert Told.by_spark(checked(spark, subjects, of)) == expected


def test_nothing_is_lost(spark: SparkSession) -> None:
    subjects = [
        namespace("hms", "hive", "kept"),
        namespace("hms", "spark", "left_out"),
        table("hms", "t", "hive", "kept", status="unreadable", error="no manifest"),
        there("already"),
    ]
    mapping = Mapping(rules=(MappingRule("hms", include=(("hive", "*"),), drop=1),))
    rows = check(objects(spark, subjects), context(mapping=mapping)).mapped.collect()
    assert {
        (tuple(r["levels"]), r["name"], r["target_levels"] and tuple(r["target_levels"]), r["mapping_rule"])
        for r in rows
    } == {
        (("hive", "kept"), None, ("kept",), "drop"),
        (("spark", "left_out"), None, None, "excluded"),
        (("hive", "kept"), "t", ("kept",), "drop"),
    }
    assert {r["target_name"] for r in rows if r["name"]} == {"t"}
    assert {tuple(r["properties"].items()) for r in rows} == {(("owner team", "hms"),)}


def test_findings_of_other_stages_are_adjusted(spark: SparkSession) -> None:
    found = check(objects(spark, [table("lance", "t", status="unreadable", error="no manifest")]), CheckContext())
    raised = adjusted(found.findings, CheckContext(severities={"unreadable-table": Severity.BLOCKING}))
    lowered = Lowered("unreadable-table", "lance", (), Severity.INFO, "known", "t")
    excused = adjusted(found.findings, CheckContext(lowered=(lowered,)))
    assert [f.severity for f in told(raised)] == ["blocking"]
    assert [(f.severity, f.message.endswith("(lowered from warning: known)")) for f in told(excused)] == [
        ("info", True)
    ]


def test_an_object_that_is_listed_twice_does_not_collide_with_itself(spark: SparkSession) -> None:
    subjects = [namespace("rest", "a"), namespace("rest", "a"), namespace("rest", "b")]
    assert not told(check(objects(spark, subjects), context()).findings)


def test_of_many_that_come_to_one_a_few_are_named_and_all_are_kept(spark: SparkSession) -> None:
    subjects = [namespace(f"s{number:03}", "x") for number in range(200)]
    found = Told.by_spark(check(objects(spark, subjects), context()))
    assert found == Told.by_the_core(check_core(subjects, context()))
    assert [each.message[-16:] for each in found.findings] == ["and 196 more too"]
    assert found.members.total() == 200
