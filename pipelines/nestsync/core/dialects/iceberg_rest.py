"""Iceberg REST: a namespace in a request path, and in the `parent` query parameter.

Source: the REST catalog's OpenAPI text and Iceberg's `RESTUtil`; a server may advertise another separator than
U+001F in ``/v1/config`` (1.11 advertises ``%2E``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NoReturn

from nestsync.core.dialects import percent
from nestsync.core.dialects.base import Dialect, NameRefused, Refusal, holds, reads_as_root, runs_together
from nestsync.core.identifiers import Levels
from nestsync.core.separators import ICEBERG_REST_DEFAULT, SeparatorRefused, demand_text

_TABLES = "/tables/"
_ENDS_A_SEGMENT = "/?#"
_ENDS_A_VALUE = "&#"


@dataclass(frozen=True, slots=True)
class _IcebergRest(Dialect):
    separator: str = ICEBERG_REST_DEFAULT
    """The decoded character: ``.`` where the server advertises ``%2E``."""

    def __post_init__(self) -> None:
        demand_text(self.separator, (ICEBERG_REST_DEFAULT,))
        if ICEBERG_REST_DEFAULT in self.separator != ICEBERG_REST_DEFAULT:
            reason = "every server splits on the U+001F in it"
            raise SeparatorRefused(self.separator, reason, (ICEBERG_REST_DEFAULT,))

    def lost(self, levels: Levels) -> Refusal | None:
        return (
            reads_as_root(levels)
            or holds(levels, self.separator, "the separator of the server")
            or holds(levels, ICEBERG_REST_DEFAULT, "which every server reads as a separator")
            or runs_together(levels, self.separator)
        )

    def _demand_none(self, text: str, ends: str, what: str) -> None:
        """Raise `NameRefused` where a character of `ends` stands in `text` as it is, so that it is not one `what`."""
        for character in ends:
            if character in text:
                accepted = f"a text without {' '.join(ends)}"
                raise self.unreadable(text, f"is not one {what}: {character!r} ends it", accepted, character=character)

    def _undo(self, text: str) -> str:
        try:
            return percent.decode(text)
        except percent.BrokenEncoding as error:
            raise self.unreadable(text, str(error), "percent-encoded UTF-8") from error


@dataclass(frozen=True, slots=True)
class IcebergRest(_IcebergRest):
    """The namespace in a path: each level percent-encoded once, joined by the percent-encoded separator.

    A table is written ``{namespace}/tables/{name}``, as in the path of its requests. A ``+`` in a path is a plus
    (RFC 3986); Iceberg's Java clients and servers mean a blank by it: see `java_reading`.
    """

    name: ClassVar[str] = "iceberg-rest"
    refuses: ClassVar[str] = 'a level with the separator or U+001F; `("",)`; a table in the root'

    def render(self, levels: Levels) -> str:
        return percent.encode_bytes(self.separator).join(map(percent.encode, levels))

    def read(self, text: str) -> Levels:
        self._demand_none(text, _ENDS_A_SEGMENT, "path segment")
        if not text:
            return ()
        default = percent.encode_bytes(ICEBERG_REST_DEFAULT)
        joint = default if default in text else percent.encode_bytes(self.separator)
        return tuple(map(self._undo, text.split(joint)))

    def lost_table(self, levels: Levels, name: str) -> Refusal | None:
        return None if levels else Refusal(None, None, None, "is a table in the root", "a table in a namespace")

    def render_table(self, levels: Levels, name: str) -> str:
        return f"{self.render(levels)}{_TABLES}{percent.encode(name)}"

    def read_table(self, text: str) -> tuple[Levels, str]:
        namespace, found, name = text.partition(_TABLES)
        if not found or any(character in name for character in _ENDS_A_SEGMENT):
            raise self.unreadable(text, "is no table's path", f"namespace{_TABLES}name")
        return self.read(namespace), self._undo(name)


@dataclass(frozen=True, slots=True)
class IcebergRestQuery(_IcebergRest):
    """The value of `parent`: levels joined by the raw separator, the whole percent-encoded once; ``+`` is a blank.

    It has no text for tables.
    """

    name: ClassVar[str] = "iceberg-rest-query"
    refuses: ClassVar[str] = 'a level with the separator or U+001F; `("",)`; every table'

    def render(self, levels: Levels) -> str:
        return percent.encode(self.separator.join(levels))

    def read(self, text: str) -> Levels:
        self._demand_none(text, _ENDS_A_VALUE, "parameter's value")
        value = self._undo(text.replace("+", "%20"))
        joint = ICEBERG_REST_DEFAULT if ICEBERG_REST_DEFAULT in value else self.separator
        return tuple(value.split(joint)) if value else ()

    def lost_table(self, levels: Levels, name: str) -> Refusal | None:
        return Refusal(None, None, None, "is a table, and the parent parameter names namespaces only", "a namespace")

    def render_table(self, levels: Levels, name: str) -> NoReturn:
        raise NameRefused(self.lost_table(levels, name), where=self.name)  # type: ignore[arg-type]

    def read_table(self, text: str) -> NoReturn:
        raise self.unreadable(text, "names a namespace, never a table", "the iceberg-rest dialect")


def java_reading(text: str, separator: str = ICEBERG_REST_DEFAULT) -> Levels | None:
    """What Iceberg's Java clients and servers read in a path `text` with a bare ``+``; None where there is none."""
    return IcebergRest(separator).decode(text.replace("+", "%20")) if "+" in text else None
