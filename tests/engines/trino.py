"""Asks Trino in SQL, over its plain HTTP protocol."""

from __future__ import annotations

import json
import re
import urllib.request
from contextlib import suppress
from typing import Any

from nestsync.core.dialects import NameRefused, dialect
from nestsync.core.identifiers import Levels
from tests.engines.answers import Answer, Kind
from tests.engines.rest import Rest

TRINO = dialect("trino")


class TrinoSaysNo(Exception):
    """Trino's own error: its name and its message."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['errorName']}: {error['message']}")
        self.name: str = error["errorName"]


def quoted(part: str, quote: str = '"') -> str:
    return quote + part.replace(quote, quote * 2) + quote


class Sql:
    """A user of one Trino server."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    def run(self, statement: str) -> list[list[Any]]:
        """The rows that `statement` gives. Raises `TrinoSaysNo`."""
        rows: list[list[Any]] = []
        answer = self._ask(f"{self.uri}/v1/statement", statement.encode())
        while True:
            if "error" in answer:
                raise TrinoSaysNo(answer["error"])
            rows += answer.get("data", ())
            if "nextUri" not in answer:
                return rows
            answer = self._ask(answer["nextUri"])

    def add_catalog(self, name: str, rest_uri: str, **properties: str) -> None:
        """An Iceberg catalog over a REST server, with nested namespaces on."""
        told = {
            "iceberg.catalog.type": "rest",
            "iceberg.rest-catalog.uri": rest_uri,
            "iceberg.rest-catalog.nested-namespace-enabled": "true",
            "fs.native-local.enabled": "true",
            "local.location": "/",
        } | properties
        settings = ", ".join(f"{quoted(key)} = {quoted(value, chr(39))}" for key, value in told.items())
        self.run(f"CREATE CATALOG {name} USING iceberg WITH ({settings})")

    @staticmethod
    def _ask(uri: str, body: bytes | None = None) -> dict[str, Any]:
        request = urllib.request.Request(uri, data=body, headers={"X-Trino-User": "me"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            found: dict[str, Any] = json.load(answer)
        return found


class World:
    """A Trino catalog over a REST catalog, both empty but for what a case makes."""

    def __init__(self, sql: Sql, catalog: str, rest: Rest) -> None:
        self.sql, self.catalog, self.rest = sql, catalog, rest
        self.made: dict[str, Levels] = {}

    def create(self, levels: Levels) -> int:
        """Make a namespace past Trino, with a location that tells it from all others."""
        place = f"file:///place/{len(self.made)}"
        status = self.rest.create(levels, location=place)
        if status == 200:
            self.made[place] = levels
        return status

    def schemas(self) -> set[str]:
        """What Trino shows. Raises `TrinoSaysNo`."""
        return {str(name) for (name,) in self.sql.run(f"SHOW SCHEMAS FROM {self.catalog}")}

    def meant_by(self, schema: str) -> Levels | None:
        """The namespace that Trino means by a schema's name; None where it means none that is there."""
        try:
            ((text,),) = self.sql.run(f"SHOW CREATE SCHEMA {self.catalog}.{quoted(schema)}")
        except TrinoSaysNo:
            return None
        found = re.search(r"location = '(file:///place/\d+)'", text)
        return self.made.get(found[1]) if found else None

    def drop(self, schema: str) -> str:
        """Drop the schema; what Trino says to it, the empty text where that is nothing."""
        try:
            self.sql.run(f"DROP SCHEMA {self.catalog}.{quoted(schema)}")
        except TrinoSaysNo as error:
            return error.name
        return ""

    def clear(self) -> bool:
        """Take away all that was made; whether that worked."""
        for levels in sorted(self.made.values(), key=len, reverse=True):
            self.rest.drop(levels)
        self.made.clear()
        return self.rest.children() == []

    def printed(self, levels: Levels) -> str | Answer:
        """Make the namespace `levels` in its parents; what Trino shows for it, or why that is nothing."""
        for depth in range(1, len(levels)):
            self.create(levels[:depth])
        before = self.schemas()
        status = self.create(levels)
        if status != 200:
            return Answer(Kind.REFUSED, why=f"{status} from its catalog")
        try:
            new = self.schemas() - before
        except TrinoSaysNo:
            return Answer(Kind.REFUSED, why="SHOW SCHEMAS fails for the whole catalog")
        return new.pop() if new else Answer(Kind.PARTLY, why="shown as another's name")

    def try_name(self, levels: Levels) -> Answer:
        """Whether Trino shows the namespace `levels`, and what it means by what it shows."""
        schema = self.printed(levels)
        if isinstance(schema, Answer):
            return schema
        meant = self.meant_by(schema)
        if meant is None:  # it means another: make that one, and see
            with suppress(NameRefused):
                self.create(TRINO.read(quoted(schema)))
            meant = self.meant_by(schema)
        if quoted(schema) != TRINO.render(levels):
            return Answer(Kind.PARTLY, why=f"shown as {schema!a}, which no dialect foretold")
        if meant is None:
            return Answer(Kind.PARTLY, why=f"shown as {schema!a}, and not found by it")
        return Answer(Kind.KEPT) if meant == levels else Answer(Kind.OTHER, meant)

    def try_drop(self, levels: Levels) -> Answer:
        """What is gone once the schema that Trino shows for `levels` is dropped."""
        schema = self.printed(levels)
        if isinstance(schema, Answer):
            return schema
        there = [found for found in self.made.values() if self.rest.read(found) == found]
        said = self.drop(schema)
        gone = [found for found in there if self.rest.read(found) != found]
        if gone and gone != [levels]:
            return Answer(Kind.OTHER, gone[0], "and drops it")
        return Answer(Kind.KEPT, why=said)

    def try_together(self, names: tuple[Levels, ...]) -> Answer:
        """Whether Trino shows every one of `names` under a name of its own."""
        alone = len(self.schemas())
        for levels in names:
            assert self.rest.create(levels) == 200
            self.made[str(levels)] = levels
        try:
            shown = len(self.schemas()) - alone
        except TrinoSaysNo:
            return Answer(Kind.REFUSED, why="SHOW SCHEMAS fails for the whole catalog")
        if shown != len(names):
            return Answer(Kind.PARTLY, why=f"{shown} of {len(names)} are shown")
        return Answer(Kind.KEPT)
