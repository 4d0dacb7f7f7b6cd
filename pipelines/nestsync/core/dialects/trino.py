"""Trino: a nested namespace is one quoted schema name with dots in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from nestsync.core.casing import lower
from nestsync.core.dialects.base import Dialect, Refusal
from nestsync.core.identifiers import Levels

BLANKS = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What Trino's splitter trims from the edges of a level."""

_QUOTED = r'"((?:[^"]|"")+)"'
_SCHEMA = re.compile(rf"{_QUOTED}\Z|([A-Za-z_][A-Za-z0-9_]*)\Z")
_TABLE = re.compile(rf"(?:{_QUOTED}|([A-Za-z_][A-Za-z0-9_]*))\.(?:{_QUOTED}|([A-Za-z_][A-Za-z0-9_]*))\Z")


@dataclass(frozen=True, slots=True)
class Trino(Dialect):
    """``"a.b"``, and ``"a.b"."t"`` for a table: levels joined by dots, unescaped, in lower case.

    What it reads is split on dots; empty parts are dropped and blanks at the edges trimmed, so that a level of
    nothing but blanks and dots addresses its parent. Source: Trino 476's `TrinoRestCatalog`, with nested
    namespaces on.
    """

    name: ClassVar[str] = "trino"
    refuses: ClassVar[str] = (
        "a level that is empty, not in lower case, with a dot, with a blank at an edge or with U+001F; "
        "the root; `information_schema` and `system` at the root; `$` or `@` in a table"
    )

    own_words: ClassVar[tuple[str, ...]] = ("information_schema", "system")

    def rejected(self, levels: Levels) -> Refusal | None:
        if not levels:
            return Refusal(None, None, None, "is the root, which has no text", "one level or more")
        if len(levels) == 1 and lower(levels[0]) in self.own_words:
            return Refusal(0, levels[0], None, "is shadowed by Trino's own schema", "another name")
        for index, level in enumerate(levels):
            if "\x1f" in level:
                reason = "holds U+001F, which makes the whole catalog fail to list"
                return Refusal(index, level, "\x1f", reason, "levels without U+001F", "reserved-character")
        return None

    def lost(self, levels: Levels) -> Refusal | None:
        return next((r for i, level in enumerate(levels) if (r := _lost_level(i, level)) is not None), None)

    def render(self, levels: Levels) -> str:
        return _quote(lower(".".join(levels)))

    def read(self, text: str) -> Levels:
        found = _SCHEMA.match(text)
        if found is None:
            raise self.unreadable(text, "is no schema name", '"a.b"')
        return _split(found[1], found[2])

    def lost_table(self, levels: Levels, name: str) -> Refusal | None:
        at = len(levels)
        for character in "$@":
            if character in name:
                return Refusal(
                    at, name, character, f"holds {character!r}: it is listed and cannot be opened", "a plain name"
                )
        if name != lower(name):
            return Refusal(at, name, _upper(name), "is not in lower case", lower(name))
        return None

    def render_table(self, levels: Levels, name: str) -> str:
        return f"{self.render(levels)}.{_quote(lower(name))}"

    def read_table(self, text: str) -> tuple[Levels, str]:
        found = _TABLE.match(text)
        if found is None:
            raise self.unreadable(text, "is no table name", '"a.b"."t"')
        quoted, bare = found[3], found[4]
        return _split(found[1], found[2]), lower(bare if quoted is None else quoted.replace('""', '"'))


def _quote(part: str) -> str:
    return '"' + part.replace('"', '""') + '"'


def _split(quoted: str | None, bare: str | None) -> Levels:
    schema = (bare or "") if quoted is None else quoted.replace('""', '"')
    return tuple(level for part in lower(schema).split(".") if (level := part.strip(BLANKS)))


def _lost_level(index: int, level: str) -> Refusal | None:
    if not level.strip(BLANKS + "."):
        reason = "is nothing but blanks and dots and addresses its parent"
        return Refusal(index, level, None, reason, "a level that can be seen")
    if "." in level:
        return Refusal(index, level, ".", "holds '.', which joins levels", "levels without '.'")
    if level != level.strip(BLANKS):
        edge = level[0] if level[0] in BLANKS else level[-1]
        return Refusal(index, level, edge, "has a blank at its edge, which is trimmed", level.strip(BLANKS))
    if level != lower(level):
        return Refusal(index, level, _upper(level), "is not in lower case", lower(level))
    return None


def _upper(text: str) -> str | None:
    return next((c for c in text if c != lower(c)), None)
