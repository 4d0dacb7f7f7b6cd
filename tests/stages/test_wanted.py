"""The wanted tree in Spark is the one that `core` says, for hostile names and every mix of claims."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as budget
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from nestsync.core.claims import SourceObject
from nestsync.core.findings import Finding, Severity
from nestsync.core.wanted import WantedSettings, wanted_tree
from nestsync.schemas import FINDING_FIELDS, WANTED_FIELDS, contract
from nestsync.stages.wanted import wanted
from tests.core.claims_cases import batch, blocking, checked_catalogs, namespace, settings, table
from tests.stages.wanted_frames import about_frame, finding_records, mapped_frame, names_and_types, wanted_records

pytestmark = pytest.mark.spark


def compare(
    spark: SparkSession,
    objects: list[SourceObject],
    findings: list[Finding],
    chosen: WantedSettings,
    raised: tuple[str, ...] = (),
) -> None:
    """Spark and the core on the same input: the same tree, the same findings."""

    def raise_record(finding: Finding) -> Finding:
        return replace(finding, severity=Severity.BLOCKING) if finding.rule in raised else finding

    def raise_rows(found: DataFrame) -> DataFrame:
        severity = F.when(F.col("rule").isin(*raised), "blocking").otherwise(F.col("severity"))
        return found.withColumn("severity", severity)

    oracle = wanted_tree(objects, chosen, findings, raise_record)
    tree, found = wanted(
        mapped_frame(spark, objects),
        lambda: about_frame(spark, findings),
        chosen,
        adjust=raise_rows,
        keep=lambda _, frame: frame.persist(),
    )
    assert wanted_records(tree) == list(oracle.namespaces)
    assert sorted(finding_records(found), key=repr) == sorted(oracle.findings, key=repr)
    assert names_and_types(tree.schema) == names_and_types(contract(*WANTED_FIELDS))
    assert names_and_types(found.schema) == names_and_types(contract(*FINDING_FIELDS))


@budget(
    max_examples=2,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    cases=st.lists(checked_catalogs(), min_size=40, max_size=60),
    chosen=settings,
    raised=st.sets(st.sampled_from(("missing-parent", "owner-conflict", "property-conflict"))).map(tuple),
)
def test_spark_and_core_want_the_same(
    spark: SparkSession,
    cases: list[tuple[list[SourceObject], list[Finding]]],
    chosen: WantedSettings,
    raised: tuple[str, ...],
) -> None:
    objects, findings = batch(cases)
    compare(spark, objects, findings, chosen, raised)


def test_a_realistic_catalog(spark: SparkSession) -> None:
    objects = [
        namespace("hms", "hive/sales__emea__orders", "sales/emea/orders", owner="ann", properties={"k": "a:b|c"}),
        namespace("hms", "hive/sales__emea", "sales/emea", owner="bob", comment="all of EMEA"),
        namespace("hms", "hive/raw__events", "raw/events", status="unreadable"),
        namespace("hms", "hive/raw__events__2024", "raw/events/2024", owner="ann"),
        namespace("hms", "hive/raw__clicks", "raw/clicks", owner="eve"),
        namespace("rest", "sales/emea", "sales/emea", owner="zoe", properties={"owner": "zoe"}),
        table("hms", "hive/sales__emea", "t", "sales/emea"),
        table("rest", "lone", "t", "lone"),
        *(namespace("rest", f"n{i:02}", f"lake/n{i:02}", owner=f"o{i % 3}") for i in range(30)),
    ]
    compare(spark, objects, [blocking(objects[4])], WantedSettings(source_order=("hms",)))


def test_nothing_wants_nothing(spark: SparkSession) -> None:
    compare(spark, [], [], WantedSettings())
