"""Dialects that put a text between levels: Iceberg REST, Gravitino, Lance, dotted storage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from pyspark.sql import Column
from pyspark.sql import functions as F

from nestsync.core.dialects import Dialect, percent
from nestsync.core.dialects.gravitino import Gravitino, GravitinoPhysical
from nestsync.core.dialects.iceberg_rest import IcebergRest
from nestsync.core.dialects.joined import Joined
from nestsync.core.separators import GRAVITINO_STORAGE, ICEBERG_REST_DEFAULT
from nestsync.stages.check.native import (
    Case,
    Native,
    append,
    first,
    is_exactly,
    root,
    split,
    split_or_root,
    unless_empty,
)

D = TypeVar("D", bound=Dialect)


def percent_encode(text: Column) -> Column:
    """`core.dialects.percent.encode`: Java's form encoding leaves ``*`` bare, and writes ``+`` for a blank."""
    form = F.replace(F.url_encode(text), F.lit("+"), F.lit("%20"))
    return F.replace(F.replace(form, F.lit("*"), F.lit("%2A")), F.lit("%7E"), F.lit("~"))


def percent_encode_all(levels: Column) -> Column:
    """Each of `levels` percent-encoded. One look at all their characters tells that most have nothing to encode."""
    has_reserved = F.array_join(levels, "").rlike(r"[^A-Za-z0-9_.~-]")
    return F.when(has_reserved, F.transform(levels, percent_encode)).otherwise(levels)


def percent_decode(text: Column) -> Column:
    """`core.dialects.percent.decode` of what is percent-encoded UTF-8."""
    return F.url_decode(F.replace(text, F.lit("+"), F.lit("%2B")))


class _Separated(Native[D]):
    """Dialects with a text between levels that no level may hold."""

    def depth_cases(self, levels: Column, least: int, most: int) -> Iterator[Case]:
        for depth in range(least):
            yield self.case(F.size(levels) == depth, None, *["x"] * depth)
        yield self.case(F.size(levels) > most, F.get(levels, F.lit(most)), *["x"] * (most + 1))

    def empty_case(self, levels: Column) -> Case:
        return self.case(F.array_contains(levels, ""), F.lit(""), "")

    def root_case(self, levels: Column) -> Case:
        return self.case(is_exactly(levels, ""), F.lit(""), "")

    def holds_case(self, levels: Column, text: str) -> Case:
        level = first(levels, lambda level: level.contains(text))
        return self.case(F.exists(levels, lambda level: level.contains(text)), level, text)

    def runs_together_cases(self, levels: Column, separator: str) -> Iterator[Case]:
        """Where a separator of several characters is found before the place where it was put."""
        overlap = _overlap(separator)
        if not overlap:
            return
        back = split(F.array_join(levels, separator), separator)
        moved = F.transform(levels, lambda level, i: F.when(F.get(back, i) != level, level))
        level = first(moved, lambda found: found.isNotNull())
        yield self.case((F.size(levels) > 0) & level.isNotNull(), level, overlap, "x")


def _overlap(separator: str) -> str:
    """The shortest beginning of `separator` that, before it, makes it appear too early; empty where none does."""
    beginnings = (separator[:size] for size in range(1, len(separator)))
    return next((text for text in beginnings if (text + separator).startswith(separator)), "")


class NativeIcebergRest(_Separated[IcebergRest]):
    """`IcebergRest`: each level percent-encoded, the server's separator between them."""

    def cases(self, levels: Column) -> Iterator[Case]:
        separator = self.dialect.separator
        yield self.root_case(levels)
        yield self.holds_case(levels, separator)
        if separator != ICEBERG_REST_DEFAULT:
            yield self.holds_case(levels, ICEBERG_REST_DEFAULT)
        yield from self.runs_together_cases(levels, separator)

    def name_cases(self, levels: Column, name: Column) -> Iterator[Case]:
        yield from super().name_cases(levels, name)
        yield self.table_case(F.size(levels) == 0, (), "t")

    @property
    def _joint(self) -> str:
        return percent.encode_bytes(self.dialect.separator)

    def render(self, levels: Column) -> Column:
        return F.array_join(percent_encode_all(levels), self._joint)

    def render_table(self, levels: Column, name: Column) -> Column:
        return F.concat(self.render(levels), F.lit("/tables/"), percent_encode(name))

    def read_back(self, levels: Column) -> Column:
        text, default = self.render(levels), percent.encode_bytes(ICEBERG_REST_DEFAULT)
        parts = F.when(text.contains(default), split(text, default)).otherwise(split(text, self._joint))
        return F.when(text == "", root()).otherwise(F.transform(parts, percent_decode))


class NativeIcebergRestQuery(NativeIcebergRest):
    """`IcebergRestQuery`: the whole percent-encoded."""

    def name_cases(self, levels: Column, name: Column) -> Iterator[Case]:
        yield from Native.name_cases(self, levels, name)
        yield self.table_case(F.lit(True), ("x",), "t")

    def render(self, levels: Column) -> Column:
        return percent_encode(F.array_join(levels, self.dialect.separator))

    def read_back(self, levels: Column) -> Column:
        text = F.array_join(levels, self.dialect.separator)
        default = split(text, ICEBERG_REST_DEFAULT)
        parts = F.when(text.contains(ICEBERG_REST_DEFAULT), default).otherwise(split(text, self.dialect.separator))
        return F.when(text == "", root()).otherwise(parts)


class NativeGravitino(_Separated[Gravitino]):
    """`Gravitino`: the logical path, in which nothing is encoded."""

    def cases(self, levels: Column) -> Iterator[Case]:
        yield self.empty_case(levels)
        yield self.holds_case(levels, self.dialect.separator)

    def name_cases(self, levels: Column, name: Column) -> Iterator[Case]:
        yield from super().name_cases(levels, name)
        yield self.table_case(name.contains("."), ("x",), "a.b")
        yield self.table_case(F.size(levels) == 0, (), "t")

    def render(self, levels: Column) -> Column:
        return F.array_join(levels, self.dialect.separator)

    def render_table(self, levels: Column, name: Column) -> Column:
        return F.concat(self.render(levels), F.lit("."), name)

    def read_back(self, levels: Column) -> Column:
        return unless_empty(split_or_root(self.render(levels), self.dialect.separator))


class NativeGravitinoShipped(NativeGravitino):
    """`GravitinoShipped`: the logical path with its separator replaced."""

    def cases(self, levels: Column) -> Iterator[Case]:
        yield self.empty_case(levels)
        yield self.holds_case(levels, GRAVITINO_STORAGE)
        yield self.holds_case(levels, self.dialect.separator)
        yield from self.runs_together_cases(levels, self.dialect.separator)

    def render(self, levels: Column) -> Column:
        return F.replace(super().render(levels), F.lit(self.dialect.separator), F.lit(GRAVITINO_STORAGE))

    def read_back(self, levels: Column) -> Column:
        path = F.replace(self.render(levels), F.lit(GRAVITINO_STORAGE), F.lit(self.dialect.separator))
        return unless_empty(split_or_root(path, self.dialect.separator))


class NativeGravitinoPhysical(_Separated[GravitinoPhysical]):
    """`GravitinoPhysical`: each level encoded as little as can be."""

    def cases(self, levels: Column) -> Iterator[Case]:
        yield self.empty_case(levels)

    def name_cases(self, levels: Column, name: Column) -> Iterator[Case]:
        yield from super().name_cases(levels, name)
        yield self.table_case(F.size(levels) == 0, (), "t")

    def render(self, levels: Column) -> Column:
        return F.array_join(F.transform(levels, _encode_minimally), GRAVITINO_STORAGE)

    def render_table(self, levels: Column, name: Column) -> Column:
        return F.concat(self.render(levels), F.lit("."), _encode_minimally(name))

    def read_back(self, levels: Column) -> Column:
        # Every level is encoded, so that nothing but an empty one can be read as anything else.
        return F.when(is_exactly(levels, ""), root()).otherwise(unless_empty(levels))


def _encode_minimally(text: Column) -> Column:
    encoded = F.replace(text, F.lit("%"), F.lit("%25"))
    for bare in (".", GRAVITINO_STORAGE):
        encoded = F.replace(encoded, F.lit(bare), F.lit(f"%{ord(bare):02X}"))
    return encoded


class NativeJoined(_Separated[Joined]):
    """`Joined`, as it is in `Jdbc`: nothing is encoded."""

    def cases(self, levels: Column) -> Iterator[Case]:
        yield self.root_case(levels)
        yield from self._text_cases(levels)

    def _text_cases(self, levels: Column) -> Iterator[Case]:
        yield self.holds_case(levels, self.dialect.joint)
        yield from self.runs_together_cases(levels, self.dialect.joint)

    def name_cases(self, levels: Column, name: Column) -> Iterator[Case]:
        yield from super().name_cases(levels, name)
        for case in self._text_cases(append(levels, name)):
            yield Case(case.condition, None, case.reasons)

    def render(self, levels: Column) -> Column:
        return F.array_join(levels, self.dialect.joint)

    def read_back(self, levels: Column) -> Column:
        return split_or_root(self.render(levels), self.dialect.joint)


class NativeLance(NativeJoined):
    """`Lance`: the bare separator is the root too."""

    def cases(self, levels: Column) -> Iterator[Case]:
        yield self.case(is_exactly(levels, "", ""), F.lit(""), "", "")
        yield from super().cases(levels)

    def read_back(self, levels: Column) -> Column:
        return F.when(self.render(levels) == self.dialect.joint, root()).otherwise(super().read_back(levels))


class NativeLanceHive(NativeJoined):
    """`LanceHive`: at most catalog and database."""

    def cases(self, levels: Column) -> Iterator[Case]:
        yield from self.depth_cases(levels, 0, 2)
        yield self.empty_case(levels)
        yield from self._text_cases(levels)

    def name_cases(self, levels: Column, name: Column) -> Iterator[Case]:
        yield from Native.name_cases(self, levels, name)
        for depth in range(2):
            yield self.table_case(F.size(levels) == depth, ("x",) * depth, "t")
        for case in self._text_cases(append(levels, name)):
            yield Case(case.condition, None, case.reasons)
