"""Gravitino: the logical path that users see, and the physical name that its store keeps, in two profiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nestsync.core.dialects import percent
from nestsync.core.dialects.base import (
    Dialect,
    NameRefused,
    Refusal,
    empty_level,
    holds,
    runs_together,
    unwritable,
)
from nestsync.core.identifiers import Levels
from nestsync.core.separators import (
    ALLOWED,
    GRAVITINO_STORAGE,
    SeparatorRefused,
    check_separator,
    demand_text,
    shown,
)


class _Gravitino(Dialect):
    """A schema's text, then ``.table``; no level is empty, the root is the empty text."""

    def rejected(self, levels: Levels) -> Refusal | None:
        return empty_level(levels)

    def lost_table(self, levels: Levels, name: str) -> Refusal | None:
        if not levels:
            return Refusal(None, None, None, "is a table in the root", "a table in a schema")
        return None

    def render_table(self, levels: Levels, name: str) -> str:
        return f"{self.render(levels)}.{name}"

    def read_table(self, text: str) -> tuple[Levels, str]:
        schema, found, name = text.rpartition(".")
        if not found:
            raise self.unreadable(text, "names no table", "schema.table")
        return self.read(schema), name

    def _split(self, path: str, separator: str) -> Levels:
        levels = tuple(path.split(separator)) if path else ()
        if "" in levels:
            raise self.unreadable(
                path, f"contains an empty segment after splitting by {shown(separator)}", "levels that are not empty"
            )
        return levels


class _PlainTable(_Gravitino):
    def lost_table(self, levels: Levels, name: str) -> Refusal | None:
        if "." in name:
            return Refusal(len(levels), name, ".", "holds '.', which parts schema and table", "names without '.'")
        return _Gravitino.lost_table(self, levels, name)


@dataclass(frozen=True, slots=True)
class Gravitino(_PlainTable):
    """The logical path ``A:B``, and ``A:B.t`` for a table (levels may hold dots, the table's name may not).

    The separator has to pass the safety checks. Raises `SeparatorRefused`. Source: the design, "Identifier Rules".
    """

    separator: str = ":"

    name: ClassVar[str] = "gravitino"
    refuses: ClassVar[str] = "a level with the separator; an empty level; a dot in a table's name; a table in the root"

    def __post_init__(self) -> None:
        check_separator(self.separator, policy="unrestricted")

    def lost(self, levels: Levels) -> Refusal | None:
        return holds(levels, self.separator, "the separator of the hierarchy")

    def render(self, levels: Levels) -> str:
        return self.separator.join(levels)

    def read(self, text: str) -> Levels:
        return self._split(text, self.separator)

    def qualify(self, metalake: str, catalog: str, levels: Levels, name: str | None = None) -> str:
        """The full name, ``metalake.catalog.A:B`` or ``metalake.catalog.A:B.t``. Raises `NameRefused`.

        The root has none: what it would be called is the catalog.
        """
        if not levels and name is None:
            raise NameRefused(
                Refusal(None, None, None, "is the root, which has no full name", "one level or more"), where=self.name
            )
        for part in (metalake, catalog):
            self.demand(unwritable((part,)))
            if not part or "." in part:
                reason = "is empty" if not part else "holds '.', which parts the names"
                raise NameRefused(
                    Refusal(None, part, "." if part else None, reason, "a name without dots"), where=self.name
                )
        tail = self.encode(levels) if name is None else self.encode_table(levels, name)
        return f"{metalake}.{catalog}.{tail}"


@dataclass(frozen=True, slots=True)
class GravitinoPhysical(_Gravitino):
    """The design's stored name: each level percent-encoded as little as can be, joined by U+0001.

    ``my.schema`` is stored as ``my%2Eschema``. A table is written ``schema.table``, its name encoded likewise, so
    that the one bare dot parts them. Source: the design, "Physical Name Mapping and Reversibility".
    """

    name: ClassVar[str] = "gravitino-physical"
    refuses: ClassVar[str] = "an empty level; a table in the root"

    def lost(self, levels: Levels) -> Refusal | None:
        return None

    def render(self, levels: Levels) -> str:
        return GRAVITINO_STORAGE.join(map(_encode_minimally, levels))

    def read(self, text: str) -> Levels:
        return tuple(map(self._undo, self._split(text, GRAVITINO_STORAGE)))

    def render_table(self, levels: Levels, name: str) -> str:
        return f"{self.render(levels)}.{_encode_minimally(name)}"

    def read_table(self, text: str) -> tuple[Levels, str]:
        if text.count(".") != 1:
            raise self.unreadable(text, "has not the one bare dot that parts schema and table", "schema.table")
        schema, _, name = text.partition(".")
        return self.read(schema), self._undo(name)

    def _undo(self, text: str) -> str:
        try:
            return percent.decode(text)
        except percent.BrokenEncoding as error:
            raise self.unreadable(text, str(error), "percent-encoded UTF-8") from error


@dataclass(frozen=True, slots=True)
class GravitinoShipped(_PlainTable):
    """What Gravitino 1.3 stores: the logical path with its separator, of any length, replaced by U+0001.

    Nothing is encoded, so a level that holds the separator or U+0001 becomes two. A table is written
    ``schema.table``. Source: the real 1.3 server; it refuses to start with a blank separator or a dot in it.
    """

    separator: str = ":"

    name: ClassVar[str] = "gravitino-shipped"
    refuses: ClassVar[str] = (
        "a level with the separator or U+0001; an empty level; a dot in a table's name; a table in the root"
    )

    def __post_init__(self) -> None:
        demand_text(self.separator, ALLOWED)
        if not self.separator.strip():
            raise SeparatorRefused(self.separator, "it is blank", ALLOWED)
        if "." in self.separator or GRAVITINO_STORAGE in self.separator:
            raise SeparatorRefused(self.separator, "the server's storage reserves '.' and U+0001", ALLOWED)

    def lost(self, levels: Levels) -> Refusal | None:
        return (
            holds(levels, GRAVITINO_STORAGE, "which joins levels in the store")
            or holds(levels, self.separator, "the separator of the hierarchy")
            or runs_together(levels, self.separator)
        )

    def render(self, levels: Levels) -> str:
        return self.separator.join(levels).replace(self.separator, GRAVITINO_STORAGE)

    def read(self, text: str) -> Levels:
        return self._split(text.replace(GRAVITINO_STORAGE, self.separator), self.separator)


_ENCODED_IN_STORAGE = frozenset({".", "%", GRAVITINO_STORAGE})


def _encode_minimally(level: str) -> str:
    return "".join(percent.encode_bytes(c) if c in _ENCODED_IN_STORAGE else c for c in level)
