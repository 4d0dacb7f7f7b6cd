"""The mapping: the rules that give each source identifier its target identifier.

Order, per the design: a rule's patterns select on source levels, renames from the mapping file are final,
then levels are dropped, split on a text, flattened and prefixed. The first rule that selects an object decides.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from nestsync.core.errors import NestsyncError
from nestsync.core.identifiers import Identifier, Levels, lone_surrogate, shown
from nestsync.core.patterns import Pattern, matches, reaches_below, takes_all_below

COLUMNS = ("source", "levels", "name", "target_levels", "target_name")
"""The columns of the mapping file; both levels are JSON arrays, an empty name is a namespace."""


class MappingInvalid(NestsyncError):
    """The mapping, or the file that holds its renames, cannot be used as it is."""

    code: ClassVar[str] = "mapping-invalid"
    exit_code: ClassVar[int] = 2


class MappedBy(StrEnum):
    """What decided a target identifier: the last word, where several steps of a rule changed it."""

    IDENTITY = "identity"
    DROP = "drop"
    PREFIX = "prefix"
    SPLIT = "split"
    FLATTEN = "flatten"
    RENAME = "rename"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class MappingRule:
    """What happens to the objects of one source whose namespace levels the patterns select.

    `include` empty selects everything; `exclude` takes away from it. An object that no rule of its source
    selects is excluded, and says so; a source without any rule is mapped to itself.
    Raises `MappingInvalid` for an empty `split` or `flatten`, a negative `drop` and a `depth` that is below 1 or alone.
    """

    source: str
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()
    drop: int = 0
    """Outermost levels to leave out (1 for the catalog level of a Hive Metastore)."""
    split: str | None = None
    """Any non-empty text; every remaining level is split on it. Empty segments stay, and are findings."""
    prefix: Levels = ()
    flatten: str | None = None
    """Any non-empty text: levels deeper than `depth` become one with the level there, joined by it."""
    depth: int = 1
    """How many levels `flatten` leaves, those of `prefix` not counted."""

    def __post_init__(self) -> None:
        for key, text in (("split", self.split), ("flatten", self.flatten)):
            if text == "":
                raise MappingInvalid(f"{key!r} is the empty text", where=self.source, hint="leave it out, or name one")
        for key, number, least in (("drop", self.drop, 0), ("depth", self.depth, 1)):
            if number < least:
                raise MappingInvalid(f"{key!r} is {number}", where=self.source, hint=f"use a whole number from {least}")
        if self.flatten is None and self.depth != 1:
            raise MappingInvalid("'depth' without 'flatten'", where=self.source, hint="name the text to join with")

    def selects(self, levels: Levels) -> bool:
        """Whether this rule is about the objects of its source in the namespace `levels`."""
        included = not self.include or any(matches(pattern, levels) for pattern in self.include)
        return included and not any(matches(pattern, levels) for pattern in self.exclude)

    def reaches_below(self, levels: Levels) -> bool:
        """Whether this rule could be about the namespace `levels`, or about one below it."""
        included = not self.include or any(reaches_below(pattern, levels) for pattern in self.include)
        return included and not any(takes_all_below(pattern, levels) for pattern in self.exclude)

    def takes_all_below(self, levels: Levels) -> bool:
        """Whether this rule is about the namespace `levels` and every one below it."""
        included = not self.include or any(takes_all_below(pattern, levels) for pattern in self.include)
        return included and not any(reaches_below(pattern, levels) for pattern in self.exclude)

    @property
    def deepens(self) -> bool:
        """Whether this rule puts more levels in front than it leaves out."""
        return len(self.prefix) > self.drop

    def apply(self, levels: Levels) -> tuple[Levels, MappedBy]:
        """`levels` dropped, split, flattened and prefixed, and what decided: flatten, else split, prefix or drop."""
        kept = levels[self.drop :]
        segments = kept if self.split is None else tuple(part for level in kept for part in level.split(self.split))
        decided = MappedBy.IDENTITY
        if self.flatten is not None and len(segments) > self.depth:
            above, deep = segments[: self.depth - 1], segments[self.depth - 1 :]
            segments, decided = (*above, self.flatten.join(deep)), MappedBy.FLATTEN
        elif len(segments) != len(kept):
            decided = MappedBy.SPLIT
        elif self.prefix:
            decided = MappedBy.PREFIX
        elif self.drop and levels:
            decided = MappedBy.DROP
        return (*self.prefix, *segments), decided


@dataclass(frozen=True, slots=True)
class Rename:
    """One line of the mapping file: this source identifier becomes that target identifier, finally.

    A rename of a namespace moves the tables in it too (they keep their names); it does not move the
    namespaces below it. Raises `MappingInvalid` where a namespace would become a table or the root, or a
    table a namespace.
    """

    source: str
    identifier: Identifier
    target: Identifier

    def __post_init__(self) -> None:
        problem = _rename_problem(self.identifier, self.target)
        if problem:
            raise MappingInvalid(
                f"the rename of {_object(self)} {problem}",
                where=self.source,
                hint="a namespace becomes a namespace (no names), a table becomes a table (both names)",
            )


def _rename_problem(identifier: Identifier, target: Identifier) -> str | None:
    if "" in (identifier.name, target.name):
        return "has an empty name"
    if identifier.name is None and target.name is not None:
        return "makes a table of a namespace"
    if identifier.name is not None and target.name is None:
        return "leaves the table without a name"
    if target.name is None and not target.levels:
        return "makes the root of a namespace"
    return None


@dataclass(frozen=True, slots=True)
class Mapping:
    """All rules of a configuration, in order. Raises `MappingInvalid` where two renames disagree."""

    rules: tuple[MappingRule, ...] = ()
    renames: tuple[Rename, ...] = ()
    merge: frozenset[Levels] = field(default_factory=frozenset)
    """Target namespaces that several sources may claim explicitly."""

    def __post_init__(self) -> None:
        seen: set[tuple[str, Identifier]] = set()
        for rename in self.renames:
            key = (rename.source, rename.identifier)
            if key in seen:
                raise MappingInvalid(
                    f"two renames of {_object(rename)}", where=rename.source, hint="keep one of the two"
                )
            seen.add(key)


@dataclass(frozen=True, slots=True)
class Mapped:
    """What the mapping made of one identifier; no target where it is excluded."""

    target: Identifier | None
    rule: MappedBy


def map_identifier(mapping: Mapping, source: str, identifier: Identifier) -> Mapped:
    """The target of `identifier`, an object of `source`, and what decided it."""
    rules = [rule for rule in mapping.rules if rule.source == source]
    rule = next((rule for rule in rules if rule.selects(identifier.levels)), None)
    if rules and rule is None:
        return Mapped(None, MappedBy.EXCLUDED)
    renamed = _renamed(mapping, source, identifier)
    if renamed is not None:
        return Mapped(renamed, MappedBy.RENAME)
    if rule is None:
        return Mapped(identifier, MappedBy.IDENTITY)
    levels, decided = rule.apply(identifier.levels)
    return Mapped(Identifier(levels, identifier.name), decided)


def deepened_again(rules: Sequence[MappingRule], levels: Levels) -> MappingRule | None:
    """Which of one source's `rules` may put further levels in front of what is below `levels` already, if any does."""
    for rule in rules:
        if rule.deepens and rule.reaches_below(levels):
            return rule
        if rule.takes_all_below(levels):
            return None
    return None


def _renamed(mapping: Mapping, source: str, identifier: Identifier) -> Identifier | None:
    """The rename of the object itself, else that of the namespace it is in."""
    of_source = {rename.identifier: rename.target for rename in mapping.renames if rename.source == source}
    own = of_source.get(identifier)
    if own is not None or identifier.name is None:
        return own
    namespace = of_source.get(Identifier(identifier.levels))
    return None if namespace is None else Identifier(namespace.levels, identifier.name)


def read_renames(text: str) -> tuple[Rename, ...]:
    """The renames in the text of a mapping file (CSV with the columns `COLUMNS`).

    Raises `MappingInvalid` that names the line, also of a second rename of one object; `where` is for the caller to
    add.
    """
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        header = tuple(next(rows, ()))
        if header != COLUMNS:
            raise MappingInvalid(
                f"the first line is {','.join(header)!r}", hint=f"the columns are {','.join(COLUMNS)}, split by commas"
            )
        return tuple(_distinct((rows.line_num, _read_rename(row, line=rows.line_num)) for row in rows if row))
    except csv.Error as error:
        raise MappingInvalid(
            f"line {rows.line_num}: {error}", hint="quote a cell that holds quotes or commas"
        ) from error


def _distinct(read: Iterable[tuple[int, Rename]]) -> Iterator[Rename]:
    lines: dict[tuple[str, Identifier], int] = {}
    for line, rename in read:
        first = lines.setdefault((rename.source, rename.identifier), line)
        if first != line:
            raise MappingInvalid(
                f"line {line}: a second rename of {_object(rename)}, after that in line {first}",
                where=rename.source,
                hint="keep one of the two lines",
            )
        yield rename


def _object(rename: Rename) -> str:
    """What `rename` is about, as messages name it."""
    name = rename.identifier.name
    return shown(rename.identifier.levels) + ("" if name is None else f" {name!r}")


def _read_rename(row: list[str], *, line: int) -> Rename:
    if len(row) != len(COLUMNS):
        raise MappingInvalid(
            f"line {line} has {len(row)} cells", hint=f"the {len(COLUMNS)} columns are {','.join(COLUMNS)}"
        )
    source, levels, name, target_levels, target_name = row
    if not source:
        raise MappingInvalid(f"line {line} names no source", hint="the first cell is the source's configured name")
    try:
        return Rename(
            source,
            Identifier(_read_levels(levels), name or None),
            Identifier(_read_levels(target_levels), target_name or None),
        )
    except MappingInvalid as error:
        raise MappingInvalid(f"line {line}: {error.what}", where=error.where, hint=error.hint) from error


def _read_levels(cell: str) -> Levels:
    try:
        levels = json.loads(cell)
    except (json.JSONDecodeError, RecursionError):
        levels = None
    if not isinstance(levels, list) or not all(isinstance(level, str) for level in levels):
        raise MappingInvalid(f"{cell[:200]!r} is no JSON list of texts", hint='write levels as ["sales", "emea"]')
    if any(lone_surrogate(level) is not None for level in levels):
        raise MappingInvalid(f"{cell[:200]!r} holds a lone surrogate, which no catalog can hold", hint="write another")
    return tuple(levels)


def write_renames(renames: Iterable[Rename]) -> str:
    """The text of a mapping file that `read_renames` reads back as `renames`."""
    text = io.StringIO(newline="")
    # All cells are quoted: the writer would leave a name that holds a carriage return bare, and end a line there.
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    writer.writerows(_cells(renames))
    return text.getvalue()


def _cells(renames: Iterable[Rename]) -> Iterator[tuple[str, ...]]:
    for rename in renames:
        source, target = rename.identifier, rename.target
        yield rename.source, shown(source.levels), source.name or "", shown(target.levels), target.name or ""


__all__ = [
    "COLUMNS",
    "Mapped",
    "MappedBy",
    "Mapping",
    "MappingInvalid",
    "MappingRule",
    "Rename",
    "deepened_again",
    "map_identifier",
    "read_renames",
    "write_renames",
]
