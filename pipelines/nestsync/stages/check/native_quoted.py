"""Dialects with quotes, or with a form of their own: Spark, Flink, Trino, Hive."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F

from nestsync.core.dialects.backticks import FLINK_UNITS, JAVA_WHITESPACE, Flink, Spark
from nestsync.core.dialects.hive import Hive
from nestsync.core.dialects.trino import BLANKS, Trino
from nestsync.stages.check.native import Case, Native, Reason, first, split


def _backticked(part: Column) -> Column:
    return F.concat(F.lit("`"), F.replace(part, F.lit("`"), F.lit("``")), F.lit("`"))


class NativeSpark(Native[Spark]):
    """`Spark`: every tuple of levels but the root has its text."""

    tables_in_root = True

    def cases(self, levels: Column) -> Iterator[Case]:
        yield self.case(F.size(levels) == 0, None)

    def render(self, levels: Column) -> Column:
        word = r"^[A-Za-z_][A-Za-z0-9_]*(?![\s\S])"
        return F.array_join(
            F.transform(levels, lambda part: F.when(part.rlike(word), part).otherwise(_backticked(part))), "."
        )

    def read_back(self, levels: Column) -> Column:
        return F.when(F.size(levels) > 0, levels)


class NativeFlink(Native[Flink]):
    """`Flink`: exactly catalog and database, parts that can be seen."""

    def cases(self, levels: Column) -> Iterator[Case]:
        for depth in range(2):
            yield self.case(F.size(levels) == depth, None, *["x"] * depth)
        yield self.case(F.size(levels) > 2, F.get(levels, F.lit(2)), "x", "x", "x")
        yield self.case(F.array_contains(levels, ""), F.lit(""), "x", "")
        reasons = (Reason(self.refusal("x", witness), refuses) for refuses, witness in _FLINK_PARTS)
        yield Case(F.exists(levels, _flink_refuses), first(levels, _flink_refuses), tuple(reasons), rejected=True)

    def name_cases(self, levels: Column, name: Column) -> Iterator[Case]:
        yield from super().name_cases(levels, name)
        for refuses, witness in _FLINK_PARTS:
            yield self.table_case(refuses(name), ("x", "y"), witness)

    def render(self, levels: Column) -> Column:
        return F.array_join(F.transform(levels, _backticked), ".")

    def read_back(self, levels: Column) -> Column:
        return F.when(F.size(levels) > 0, levels)


def _flink_breaks(part: Column) -> Column:
    return part.contains("\r") | part.contains("\n")


def _flink_blank(part: Column) -> Column:
    blanks = "".join(f"\\u{ord(character):04x}" for character in sorted(JAVA_WHITESPACE))
    return part.rlike(rf"^[{blanks}]*(?![\s\S])")


def _flink_long(part: Column) -> Column:
    return F.octet_length(F.encode(part, "UTF-16LE")) > 2 * FLINK_UNITS


def _flink_refuses(part: Column) -> Column:
    return _flink_breaks(part) | _flink_blank(part) | _flink_long(part)


_FLINK_PARTS: tuple[tuple[Callable[[Column], Column], str], ...] = (
    (_flink_breaks, "\n"),
    (_flink_blank, " "),
    (_flink_long, "y" * (FLINK_UNITS + 1)),
)
"""What Flink refuses in one part, in its order, each with a witness."""


class NativeTrino(Native[Trino]):
    """`Trino`: dots between levels, lower case, blanks trimmed, nothing empty kept."""

    def cases(self, levels: Column) -> Iterator[Case]:
        top = F.get(levels, F.lit(0))
        yield self.case(F.size(levels) == 0, None)
        yield self.case((F.size(levels) == 1) & F.lower(top).isin(*Trino.own_words), top, Trino.own_words[0])
        yield self.case(F.exists(levels, has_unit), first(levels, has_unit), "\x1f")
        reasons = (Reason(self.refusal(witness), holds) for holds, witness in _TRINO_LEVELS)
        yield Case(F.exists(levels, _trino_loses), first(levels, _trino_loses), tuple(reasons))

    def name_cases(self, levels: Column, name: Column) -> Iterator[Case]:
        yield from super().name_cases(levels, name)
        for sign in "$@":
            yield self.table_case(name.contains(sign), ("x",), sign)
        yield self.table_case(_upper(name), ("x",), "A")

    def render(self, levels: Column) -> Column:
        return _double_quoted(F.lower(F.array_join(levels, ".")))

    def render_table(self, levels: Column, name: Column) -> Column:
        return F.concat(self.render(levels), F.lit("."), _double_quoted(F.lower(name)))

    def read_back(self, levels: Column) -> Column:
        text = F.lower(F.array_join(levels, "."))
        parts = F.transform(split(text, "."), lambda part: F.btrim(part, F.lit(BLANKS)))
        return F.when(text != "", F.filter(parts, lambda part: part != ""))


def has_unit(level: Column) -> Column:
    """Whether `level` holds U+001F."""
    return level.contains("\x1f")


def unseen(level: Column) -> Column:
    """Whether Trino finds nothing in `level`: blanks and dots alone."""
    return F.btrim(level, F.lit(BLANKS + ".")) == ""


def _dotted(level: Column) -> Column:
    return level.contains(".")


def _trimmed(level: Column) -> Column:
    return F.btrim(level, F.lit(BLANKS)) != level


def _upper(text: Column) -> Column:
    return F.lower(text) != text


_TRINO_LEVELS: tuple[tuple[Callable[[Column], Column], str], ...] = (
    (unseen, " "),
    (_dotted, "a.b"),
    (_trimmed, " a"),
    (_upper, "A"),
)
"""What Trino reads as another level, in the order of its dialect, each with a witness."""


def _trino_loses(level: Column) -> Column:
    return unseen(level) | _dotted(level) | _trimmed(level) | _upper(level)


def _double_quoted(text: Column) -> Column:
    return F.concat(F.lit('"'), F.replace(text, F.lit('"'), F.lit('""')), F.lit('"'))


class NativeHive(Native[Hive]):
    """`Hive`: exactly catalog and database, in a text that is looked at from its end."""

    def cases(self, levels: Column) -> Iterator[Case]:
        catalog, database = F.get(levels, F.lit(0)), F.get(levels, F.lit(1))
        for depth in range(2):
            yield self.case(F.size(levels) == depth, None, *["x"] * depth)
        yield self.case(F.size(levels) > 2, F.get(levels, F.lit(2)), "x", "x", "x")
        yield self.case(database == "", database, "x", "")
        for ending in "#!":
            yield self.case(database.endswith(ending), database, "x", f"y{ending}")
        yield self.case(catalog.contains("#"), catalog, "#", "y")

    def name_cases(self, levels: Column, name: Column) -> Iterator[Case]:
        yield from super().name_cases(levels, name)
        yield self.table_case(name.contains("."), ("x", "y"), "a.b")

    def render(self, levels: Column) -> Column:
        catalog = F.coalesce(F.get(levels, F.lit(0)), F.lit(""))
        databases = F.array_join(F.slice(levels, 2, F.size(levels)), ".")
        return F.concat(F.lit("@"), catalog, F.lit("#"), databases)

    def render_table(self, levels: Column, name: Column) -> Column:
        return F.concat(self.render(levels), F.lit("."), name)

    def read_back(self, levels: Column) -> Column:
        text = self.render(levels)
        inside, size = F.substring(text, F.lit(2), F.length(text) - 1), F.length(text)
        at = F.instr(inside, "#")
        return (
            F.when(text.endswith("#"), F.array(F.substring(text, F.lit(2), size - 2)))
            .when(text.endswith("!"), F.array(F.substring(text, F.lit(2), size - 3), F.lit("")))
            .otherwise(F.array(F.substring(inside, F.lit(1), at - 1), F.substring(inside, at + 1, size)))
        )
