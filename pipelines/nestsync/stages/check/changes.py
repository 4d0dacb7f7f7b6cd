"""Names of the target that a changed separator concerns; `core.checking.changes` is the oracle."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from nestsync.core.checking import messages
from nestsync.core.checking.changes import RULE, severity
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.messages import Slot
from nestsync.core.checking.rules import NAMESPACE
from nestsync.schemas import FINDING_FIELDS
from nestsync.stages.check.native import first
from nestsync.stages.check.sentences import Codebook, Entry, explained
from nestsync.stages.columns import quoted, shown


def separator_changes(existing: DataFrame, context: CheckContext) -> DataFrame | None:
    """The findings about `existing`, the target's own objects, in `FINDING_FIELDS`; None where nothing changed."""
    before, after = context.separator_before, context.separator
    if before is None or after is None:
        return None

    def holds(level: Column) -> Column:
        return level.contains(after)

    codebook = Codebook()
    holding, nested = (
        codebook.code(
            Entry(
                RULE,
                str(severity(context)),
                True,
                messages.separator_changed(before, after, context.replaces, holds=held),
            )
        )
        for held in (True, False)
    )
    level = first(F.col("levels"), holds)
    code = F.when(level.isNotNull(), holding).when(F.size("levels") > 1, nested)
    hits = existing.where(F.col("object") == NAMESPACE).withColumns({"level": level, "code": code})
    slots = {Slot.TARGET: shown(F.col("levels")), Slot.LEVEL: F.coalesce(quoted(F.col("level")), F.lit(""))}
    told = explained(hits.where(F.col("code").isNotNull()), codebook, slots)
    return told.withColumns({"target_levels": F.col("levels"), "name": F.lit(None).cast("string")}).select(
        *(field.name for field in FINDING_FIELDS)
    )


__all__ = ["separator_changes"]
