"""Spark maps each object as the core does, by whichever rule selects it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from nestsync.core.identifiers import Identifier
from nestsync.core.mapping import Mapping, MappingRule, map_identifier
from nestsync.stages.check.mapping import map_objects
from tests.core.check_cases import table
from tests.stages.check.frames import objects

pytestmark = pytest.mark.spark

FULL = MappingRule("full", drop=1, split="__", flatten="_", depth=2)
RULES = (
    # Each as the full one, but for one fact; and one of another source that is as that in all of them.
    replace(FULL, source="no drop", drop=0),
    replace(FULL, source="no split", split=None),
    FULL,
    replace(FULL, source="other split", split="a"),
    replace(FULL, source="a prefix", prefix=("p",)),
    replace(FULL, source="other prefix", prefix=("q", "p")),
    replace(FULL, source="other flatten", flatten="+"),
    replace(FULL, source="no flatten", flatten=None, depth=1),
    replace(FULL, source="deeper", depth=3),
    replace(FULL, source="as the full one"),
    MappingRule("by pattern", include=(("a", "**"),), drop=1),
    MappingRule("by pattern", include=(("b*",),), split="__"),
    MappingRule("by pattern", exclude=(("c", "*"),), prefix=("p",)),
)
LEVELS = [(), ("a",), ("b__c",), ("c", "d"), ("a", "b__c"), ("a", "b", "c", "d"), ("x", "a__b__c", "__", "e", "f")]


def test_every_fact_of_a_rule_counts(spark: SparkSession) -> None:
    mapping = Mapping(rules=RULES)
    sources = [*dict.fromkeys(rule.source for rule in RULES), "without a rule"]
    subjects = [table(source, "t", *levels) for source in sources for levels in LEVELS]
    found = {
        (row["source"], tuple(row["levels"])): (row["target_levels"], row["target_name"], row["mapping_rule"])
        for row in map_objects(objects(spark, subjects), mapping).collect()
    }
    expected = {}
    for subject in subjects:
        mapped = map_identifier(mapping, subject.source, Identifier(subject.levels, subject.name))
        target = (None, None) if mapped.target is None else (list(mapped.target.levels), mapped.target.name)
        expected[subject.source, subject.levels] = (*target, str(mapped.rule))
    assert found == expected
    assert len({str(target) for target in expected.values()}) > len(sources)
