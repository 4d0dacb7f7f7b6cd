"""Spark and Flink: parts between dots, in backticks where they must be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from nestsync.core.dialects.base import Dialect, Refusal, depth_refusal, empty_level
from nestsync.core.identifiers import Levels

_QUOTED = r"`((?:[^`]|``)*)`"


def quote(part: str) -> str:
    """`part` in backticks, its own backticks doubled."""
    return f"`{part.replace('`', '``')}`"


class _Backticked(Dialect):
    blanks: ClassVar[str]
    """What may stand around the dots, as the inside of a character class."""
    bare: ClassVar[str]
    """A part that needs no backticks, as a regular expression."""

    def render_table(self, levels: Levels, name: str) -> str:
        return self.render((*levels, name))

    def read_table(self, text: str) -> tuple[Levels, str]:
        *levels, name = self._parts(text)
        return tuple(levels), name

    def _parts(self, text: str) -> Levels:
        blank = f"[{self.blanks}]*"
        part = re.compile(f"{blank}(?:{_QUOTED}|({self.bare})){blank}(\\.|\\Z)")
        parts: list[str] = []
        at, more = 0, "."
        while more:
            found = part.match(text, at)
            if found is None:
                raise self.unreadable(text, f"is no multi-part name from character {at} on", "`a`.`b`")
            quoted, bare, more = found.groups()
            parts.append(bare if quoted is None else quoted.replace("``", "`"))
            at = found.end()
        return tuple(parts)


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Spark(_Backticked):
    """A multi-part name as ``SHOW NAMESPACES`` prints it and Spark's parser takes it: ``a.`b c```.

    A table is one part more. The root has no text; every other tuple has one, empty levels included.
    Blanks around dots are read; comments and ``IDENTIFIER(...)`` are SQL and not names.
    Source: Spark 4.1's `quoteIfNeeded` and `parseMultipartIdentifier`.
    """

    name: ClassVar[str] = "spark"
    refuses: ClassVar[str] = "the root"
    blanks: ClassVar[str] = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u202f\u205f\u3000"
    # A word that Spark's lexer does not take for a number: 12b is a name, 12L, 1e5 and 1bd are numbers.
    bare: ClassVar[str] = r"(?!(?:[0-9]+(?:[eE][0-9]+)?(?:[fFdD]|[bB][dD])?|[0-9]+[lLsSyY])(?!\w))[A-Za-z0-9_]+"

    def rejected(self, levels: Levels) -> Refusal | None:
        return None if levels else Refusal(None, None, None, "is the root, which has no text", "one level or more")

    def lost(self, levels: Levels) -> Refusal | None:
        return None

    def render(self, levels: Levels) -> str:
        return ".".join(level if _WORD.match(level) else quote(level) for level in levels)

    def read(self, text: str) -> Levels:
        return self._parts(text)

    def _namespace_refusal(self, levels: Levels) -> Refusal | None:
        return self.refusal(levels) if levels else None


JAVA_WHITESPACE = frozenset(
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a"
    "\u2028\u2029\u205f\u3000"
)
FLINK_UNITS = 256


@dataclass(frozen=True, slots=True)
class Flink(_Backticked):
    """``catalog.database``, each in backticks, and ``catalog.database.table``: exactly that, no nested database.

    Bare words are read and never written, because DDL refuses words that the parser takes. Source: Flink 2.3's
    parser and `EncodingUtils.escapeIdentifier`.
    """

    name: ClassVar[str] = "flink"
    refuses: ClassVar[str] = (
        "other than two levels; a part that is empty or whitespace, holds a line break, or has over 256 UTF-16 units"
    )
    blanks: ClassVar[str] = r"\t\n\r "
    bare: ClassVar[str] = r"[A-Za-z_][A-Za-z0-9_]*"

    def rejected(self, levels: Levels) -> Refusal | None:
        return depth_refusal(levels, 2, 2, "catalog and database") or _flink_parts(levels)

    def lost(self, levels: Levels) -> Refusal | None:
        return None

    def render(self, levels: Levels) -> str:
        return ".".join(map(quote, levels))

    def read(self, text: str) -> Levels:
        return self._parts(text)

    def lost_table(self, levels: Levels, name: str) -> Refusal | None:
        return _flink_parts((*levels, name))


def _flink_parts(parts: Levels) -> Refusal | None:
    refusal = empty_level(parts)
    for index, part in enumerate(parts):
        if refusal is not None:
            break
        breaks = next((c for c in part if c in "\r\n"), None)
        if breaks is not None:
            refusal = Refusal(index, part, breaks, "holds a line break", "parts of one line")
        elif JAVA_WHITESPACE.issuperset(part):
            refusal = Refusal(index, part, part[0], "is nothing but whitespace", "a part that can be seen")
        elif len(part.encode("utf-16-le", "replace")) // 2 > FLINK_UNITS:
            reason = f"has over {FLINK_UNITS} UTF-16 units"
            refusal = Refusal(index, part, None, reason, "a shorter part", "too-long")
    return refusal
