"""Check: every name mapped, every rule asked of it, every separator ranked. `core.checking` is the oracle."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from nestsync.core.checking import CheckContext, refused_separator
from nestsync.core.checking.context import below
from nestsync.core.checking.ranking import refusal, suggestion
from nestsync.schemas import FINDING_FIELDS, MEMBER_FIELDS, contract
from nestsync.stages.check.changes import separator_changes
from nestsync.stages.check.collisions import collisions
from nestsync.stages.check.local import local_frame
from nestsync.stages.check.lowered import lowered
from nestsync.stages.check.mapping import map_objects
from nestsync.stages.check.ordinary import JUDGED_SCHEMA, judged
from nestsync.stages.check.rules import by_itself
from nestsync.stages.check.separators import ranked_separators, separators_frame


@dataclass(frozen=True)
class Checked:
    """What a check came to."""

    mapped: DataFrame
    """Every source row with its target, in `JUDGED_SCHEMA`: a row in, a row out."""
    findings: DataFrame
    """What is wrong, in `FINDING_FIELDS`, severities as configured."""
    members: DataFrame
    """The objects of the findings that are about several, in `MEMBER_FIELDS`."""
    separators: DataFrame
    """The ranking of the candidates, in `SEPARATOR_FIELDS`."""


def map_sources(objects: DataFrame, context: CheckContext) -> DataFrame:
    """The source rows of `objects` with their targets (`JUDGED_SCHEMA`): a row in, a row out."""
    return judged(map_objects(objects.where(F.col("role") == "source"), context.mapping), context)


def check(
    objects: DataFrame,
    context: CheckContext,
    mapped: DataFrame | None = None,
    *,
    keep: Callable[[str, DataFrame], DataFrame] = lambda _, frame: frame,
) -> Checked:
    """Map and check `objects`: ``SCHEMAS["all"]`` with ``role``, ``source`` or ``target``.

    Source rows are mapped and checked; target rows only take part where a wanted key meets one of theirs, and where
    the separator is another now. Runs
    a few jobs: one ranks the separators, since the messages name a free one, the others count the keys that may be
    crowded. The rest is lazy; `objects` and `mapped`, which is what `map_sources` made of them, are read several times,
    so keep what is costly to read. `keep` is given frames that others are made of, and may persist them.
    """
    mapped = map_sources(objects, context) if mapped is None else mapped
    existing = objects.where(F.col("role") == "target")

    with ThreadPoolExecutor(1) as aside:  # putting them together takes Spark seconds, on one thread each
        meeting = aside.submit(collisions, mapped, existing, context, keep=keep)
        ranked = ranked_separators(mapped, context)
        alone = by_itself(mapped, context, suggestion(ranked))
        # Not before: the few long tasks of the one would hold up the many short ones of the other.
        met = aside.submit(keep, "collisions", meeting.result())
        found, together = [keep("by-itself", alone)], met.result()
    changed = separator_changes(existing, context)
    if changed is not None:
        found.append(changed)
    refused = refusal({each.separator: each.conflicts for each in ranked}, context)
    if refused is not None:
        about = refused_separator(refused, context)
        row = {name: getattr(about, name, None) for name in contract(*FINDING_FIELDS).names}
        system = "nestsync" if context.target is None else context.target.system
        found.append(local_frame(objects.sparkSession, [row | {"system": system}], contract(*FINDING_FIELDS)))
    findings = lowered(reduce(DataFrame.unionByName, found), context)
    of_several = together.where("leads").select(*contract(*FINDING_FIELDS).names)
    members = together.select(*contract(*MEMBER_FIELDS).names)
    return Checked(mapped, findings.unionByName(of_several), members, separators_frame(ranked, objects))


def adjusted(findings: DataFrame, context: CheckContext) -> DataFrame:
    """`findings` of another stage, in `FINDING_FIELDS`, with their severities as `context` has them."""
    severity = F.col("severity")
    raised = severity
    for rule, wanted in context.severities.items():
        milder = [str(each) for each in below(wanted)]
        raised = F.when((F.col("rule") == rule) & severity.isin(milder), F.lit(str(wanted))).otherwise(raised)
    return lowered(findings.withColumn("severity", raised), context)


__all__ = ["JUDGED_SCHEMA", "CheckContext", "Checked", "adjusted", "check", "map_sources"]
