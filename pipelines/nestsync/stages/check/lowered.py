"""Severities that the configuration lowers, for one object at a time; `core.checking.check` is the oracle."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from nestsync.core.checking import CheckContext, Lowered
from nestsync.core.findings import Severity
from nestsync.schemas import LEVELS

_SEVERITIES = [str(each) for each in Severity]
"""The most severe first."""


def lowered(findings: DataFrame, context: CheckContext) -> DataFrame:
    """`findings`, each about one object, with lowered severities, and the reasons in their messages."""
    severity, reason = _word(context)
    message = F.when(reason.isNotNull(), _with_reason(reason)).otherwise(F.col("message"))
    return findings.withColumns({"severity": F.coalesce(severity, "severity"), "message": message})


def lowered_together(members: DataFrame, finding: Sequence[str], context: CheckContext) -> DataFrame:
    """`members`, a row for each object of findings about several; rows of one finding share the columns `finding`.

    A finding is lowered once it is for all objects of sources, which ``role`` tells, to the most severe of what those
    are lowered to.
    """
    if not context.lowered:
        return members
    severity, reason = _word(context)
    is_source, of_finding = F.col("role") == "source", Window.partitionBy(*finding)
    rank = F.array_position(F.array(*map(F.lit, _SEVERITIES)), severity)
    counted = members.withColumns(
        {
            "objects": F.count_if(is_source).over(of_finding),
            "accepted": F.count_if(is_source & reason.isNotNull()).over(of_finding),
            "rank": F.min(F.when(is_source, rank)).over(of_finding),
        }
    )
    of_some = F.concat(
        F.col("message"), F.lit(" (lowered for "), F.col("accepted").cast("string"), F.lit(" of "),
        F.col("objects").cast("string"), F.lit(" objects, not for all)"),
    )  # fmt: skip
    for_all = F.col("accepted") == F.col("objects")
    told = F.when(for_all, _with_reason(reason)).when(F.col("accepted") > 0, of_some).otherwise(F.col("message"))
    now = F.when(for_all, F.get(F.array(*map(F.lit, _SEVERITIES)), F.col("rank") - 1)).otherwise(F.col("severity"))
    return counted.withColumns({"severity": now, "message": told}).drop("objects", "accepted", "rank")


def _word(context: CheckContext) -> tuple[Column, Column]:
    """What the configuration lowers the severity of a row to, and why; null where it does not."""
    severity, reason = F.lit(None).cast("string"), F.lit(None).cast("string")
    for each in reversed(context.lowered):  # the first that is about a finding decides
        severity = F.when(_about(each), F.lit(str(each.severity))).otherwise(severity)
        reason = F.when(_about(each), F.lit(each.reason)).otherwise(reason)
    return severity, reason


def _with_reason(reason: Column) -> Column:
    return F.concat(F.col("message"), F.lit(" (lowered from "), F.col("severity"), F.lit(": "), reason, F.lit(")"))


def _about(lowered: Lowered) -> Column:
    return (
        (F.col("rule") == lowered.rule)
        & (F.col("source") == lowered.source)
        & (F.col("levels") == F.array(*map(F.lit, lowered.levels)).cast(LEVELS))
        & F.col("name").eqNullSafe(F.lit(lowered.name))
    )


__all__ = ["lowered", "lowered_together"]
