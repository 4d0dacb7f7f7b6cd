"""Hive: the one text in which the metastore's calls carry a catalog and a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nestsync.core.dialects.base import Dialect, Refusal, depth_refusal, holds
from nestsync.core.identifiers import Levels


@dataclass(frozen=True, slots=True)
class Hive(Dialect):
    """``@catalog#database``, always two levels; bare text is a database of the default catalog.

    A table is written ``@catalog#database.table``, so its name holds no dot. Source: Hive 3's
    `MetaStoreUtils.parseDbName`, which looks at the end of the text before anything else.
    """

    default_catalog: str = "hive"

    name: ClassVar[str] = "hive"
    refuses: ClassVar[str] = (
        "other than two levels; `#` in a catalog; a database that is empty or ends in `#` or `!`; a dot in a table"
    )

    def rejected(self, levels: Levels) -> Refusal | None:
        return depth_refusal(levels, 2, 2, "catalog and database")

    def lost(self, levels: Levels) -> Refusal | None:
        database = levels[1]
        if not database:
            reason = "is an empty database, and @catalog# names the catalog"
            return Refusal(1, "", None, reason, "a database name", "empty-level")
        if database[-1] in "#!":
            reason = f"ends in {database[-1]!r}, which makes the whole a request for no database or an empty one"
            accepted = "a database that ends in neither '#' nor '!'"
            return Refusal(1, database, database[-1], reason, accepted, "reserved-character")
        return holds(levels[:1], "#", "which ends the catalog")

    def render(self, levels: Levels) -> str:
        catalog, *databases = levels or ("",)
        return f"@{catalog}#{'.'.join(databases)}"

    def read(self, text: str) -> Levels:
        if not text.startswith("@"):
            return (self.default_catalog, text)
        if "#" not in text:
            raise self.unreadable(text, "begins with @ and names no catalog", "@catalog#database", character="@")
        if text.endswith("#"):
            return (text[1:-1],)
        if text.endswith("!"):
            return (text[1:-2], "")
        catalog, _, database = text[1:].partition("#")
        return catalog, database

    def decode(self, text: str) -> Levels:
        if text.startswith("@") and text.endswith("#"):
            raise self.unreadable(
                text, "is the request form @catalog#, a catalog without a database", "@catalog#database"
            )
        if text.startswith("@") and "#" in text and text.endswith("!"):
            raise self.unreadable(text, "is the request form @catalog#!, an empty database", "@catalog#database")
        return Dialect.decode(self, text)

    def lost_table(self, levels: Levels, name: str) -> Refusal | None:
        if "." in name:
            return Refusal(len(levels), name, ".", "holds '.', which parts database and table", "names without '.'")
        return None

    def render_table(self, levels: Levels, name: str) -> str:
        return f"{self.render(levels)}.{name}"

    def read_table(self, text: str) -> tuple[Levels, str]:
        namespace, found, name = text.rpartition(".")
        if not found:
            raise self.unreadable(text, "names no table", "@catalog#database.table")
        return self.decode(namespace), name
