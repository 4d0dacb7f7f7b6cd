"""What the expressions over rows are made of: hits, and the first that holds of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

from nestsync.core.dialects import Dialect, Refusal
from nestsync.stages.check.columns import native
from nestsync.stages.check.native import Case, let
from nestsync.stages.check.sentences import HIT

Codes = Callable[[Refusal, bool], int | None]
"""The code for a refusal, by whether the levels are at fault (else the name is); None where it is said elsewhere."""


def hit(code: int | None, level: Column | None = None, character: Column | None = None) -> Column:
    """A `HIT`: what the code means is wrong here, with this level and character at fault. Null without a code."""
    if code is None:
        return F.lit(None).cast(HIT)
    values = {"code": F.lit(code), "level": level, "character": character, "back": None}
    return F.struct(
        *(
            (F.lit(None) if (value := values[part.name]) is None else value).cast(part.dataType).alias(part.name)
            for part in HIT
        )
    )


def first_of(cases: Iterable[tuple[Column, Column]]) -> Column:
    """The hit of the first case that holds, or null."""
    found: Column | None = None
    for condition, value in cases:
        found = F.when(condition, value) if found is None else found.when(condition, value)
    return F.lit(None).cast(HIT) if found is None else found


def fault(dialect: Dialect, levels: Column, name: Column, code: Codes) -> Column:
    """Why `dialect` does not write the namespace `levels`, or (where `name` is not null) the table in it.

    The levels' fault goes before the name's. Of a fault of the levels, the hit says what is read back.
    """
    own = native(dialect)
    is_table, root = name.isNotNull(), F.size(levels) == 0
    writable = is_table & root if own.tables_in_root else F.lit(False)
    of_levels = [(case.condition & ~writable, _reasons(case, code)) for case in own.cases(levels)]
    of_names = [
        (is_table & case.condition, hit(code(case.reasons[0].refusal, False))) for case in own.name_cases(levels, name)
    ]
    return first_of([*of_levels, *of_names])


def _reasons(case: Case, code: Codes) -> Column:
    def first_reason(level: Column) -> Column:
        return first_of(
            (F.lit(True) if reason.holds is None else reason.holds(level), hit(code(reason.refusal, True), level))
            for reason in case.reasons
        )

    return let(F.lit(None).cast("string") if case.level is None else case.level, first_reason)


def with_back(found: Column, dialect: Dialect, levels: Column, codes: Iterable[int]) -> Column:
    """`found` with the levels that `dialect` reads instead of `levels`, where its code is one of `codes`."""

    def back(hit_found: Column) -> Column:
        read = let(native(dialect).read_back(levels), lambda other: F.when(other != levels, other))
        return hit_found.withField("back", F.when(hit_found["code"].isin(*codes), read))

    return let(found, lambda hit_found: F.when(hit_found.isNotNull(), back(hit_found)))


__all__ = ["Codes", "fault", "first_of", "hit", "with_back"]
