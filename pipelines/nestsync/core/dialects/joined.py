"""Dialects that join levels with a separator and escape nothing: what holds the separator is lost."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from nestsync.core.dialects.base import (
    Dialect,
    Refusal,
    depth_refusal,
    empty_level,
    holds,
    reads_as_root,
    runs_together,
)
from nestsync.core.identifiers import Levels
from nestsync.core.separators import demand_text


class Joined(Dialect):
    """Levels joined by `joint`; the root is the empty text; a table is one more part at the end."""

    @property
    @abstractmethod
    def joint(self) -> str:
        """The text between two levels."""

    def lost(self, levels: Levels) -> Refusal | None:
        return (
            reads_as_root(levels)
            or holds(levels, self.joint, "which joins levels")
            or runs_together(levels, self.joint)
        )

    def render(self, levels: Levels) -> str:
        return self.joint.join(levels)

    def read(self, text: str) -> Levels:
        return tuple(text.split(self.joint)) if text else ()

    def lost_table(self, levels: Levels, name: str) -> Refusal | None:
        return self.lost((*levels, name))

    def render_table(self, levels: Levels, name: str) -> str:
        return self.render((*levels, name))

    def read_table(self, text: str) -> tuple[Levels, str]:
        if not text:
            raise self.unreadable(text, "is empty, and no table's text", "levels and a name")
        *levels, name = text.split(self.joint)
        return tuple(levels), name


@dataclass(frozen=True, slots=True)
class Lance(Joined):
    """Lance's string identifier: ``a$b``, and ``a$b$t`` for a table. A text equal to the separator is the root too.

    Lance calls its separator the delimiter. Source: the Lance namespace specification, "Object Identifier" and
    "Name and Identifier for Root Namespace".
    """

    separator: str = "$"

    name: ClassVar[str] = "lance"
    refuses: ClassVar[str] = 'a level or name with the separator; `("",)` and `("", "")`'

    def __post_init__(self) -> None:
        demand_text(self.separator, ("$", "."))

    @property
    def joint(self) -> str:
        return self.separator

    def lost(self, levels: Levels) -> Refusal | None:
        if levels == ("", ""):
            return Refusal(
                0, "", None, "is written as the bare separator, which is the root", "levels that are not empty"
            )
        return Joined.lost(self, levels)

    def read(self, text: str) -> Levels:
        return () if text == self.separator else Joined.read(self, text)


@dataclass(frozen=True, slots=True)
class LanceHive(Joined):
    """Lance on Hive 3: ``catalog$database``, and ``catalog$database$table``; the root is the metastore itself.

    Source: "Apache Hive 3.x Lance Namespace Implementation Spec", "Object Mapping".
    """

    name: ClassVar[str] = "lance-hive"
    refuses: ClassVar[str] = (
        "more than catalog and database; a level or name with `$`; an empty level; a table above a database"
    )

    @property
    def joint(self) -> str:
        return "$"

    def rejected(self, levels: Levels) -> Refusal | None:
        return depth_refusal(levels, 0, 2, "catalog$database") or empty_level(levels)

    def lost_table(self, levels: Levels, name: str) -> Refusal | None:
        return depth_refusal(levels, 2, 2, "catalog$database$table") or Joined.lost_table(self, levels, name)


@dataclass(frozen=True, slots=True)
class Jdbc(Joined):
    """Iceberg's JDBC catalog keeps a namespace as dotted text: ``a.b``; a table is shown as ``a.b.t``.

    So ``("a.b",)`` comes back as ``("a", "b")``. Source: Iceberg's `JdbcUtil`, and the reference server on it.
    """

    name: ClassVar[str] = "jdbc"
    refuses: ClassVar[str] = 'a level or name with a dot; `("",)`'

    @property
    def joint(self) -> str:
        return "."
