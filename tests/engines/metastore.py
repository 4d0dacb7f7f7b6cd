"""Asks a Hive Metastore to make catalogs, databases and tables of any name, and looks for them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hmsclient import HMSClient
from hmsclient.genthrift.hive_metastore.ttypes import (
    Catalog,
    CreateCatalogRequest,
    Database,
    DropCatalogRequest,
    FieldSchema,
    GetCatalogRequest,
    GetTableRequest,
    NoSuchObjectException,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from thrift.Thrift import TException

from nestsync.core.dialects import dialect
from nestsync.core.identifiers import Levels, lone_surrogate
from tests.engines.answers import Answer, Kind

HIVE = dialect("hive")
TABLES = "holds_tables"


class Metastore:
    """One connection to a metastore; everything that it makes lies below `folder`, whatever its name."""

    def __init__(self, port: int, folder: Path) -> None:
        self.client = HMSClient(host="127.0.0.1", port=port).open()
        self.folder = folder
        self.made = 0
        self.make_database("hive", TABLES)

    def close(self) -> None:
        self.client.close()

    def place(self) -> str:
        self.made += 1
        return f"file://{self.folder}/{self.made}"

    def make_database(self, catalog: str, name: str) -> None:
        self.client.create_database(Database(name=name, catalogName=catalog, locationUri=self.place(), parameters={}))

    def try_database(self, levels: Levels) -> Answer:
        catalog, name = levels
        return self._try(
            levels,
            make=lambda: self.make_database(catalog, name),
            listed=lambda: self.client.get_databases(f"@{catalog}#"),
            found=lambda: self._database(levels),
            drop=lambda kept: self.client.drop_database(HIVE.render((catalog, kept)), False, True),
        )

    def _database(self, levels: Levels) -> str:
        catalog, name = levels
        found = str(self.client.get_database(HIVE.render(levels)).name)
        if name.strip(" ") not in ("", name):
            assert self._is_missing(f"@{catalog}#{name.strip(' ')}"), "its name without blanks finds it, too"
        return found

    def _is_missing(self, database: str) -> bool:
        try:
            self.client.get_database(database)
        except NoSuchObjectException:
            return True
        return False

    def try_catalog(self, levels: Levels) -> Answer:
        (name,) = levels
        catalog = Catalog(name=name, locationUri=self.place())

        def found() -> str:
            self.make_database(name, "inside")
            assert "inside" in self.client.get_databases(f"@{name}#"), "its databases are not listed"
            return str(self.client.get_catalog(GetCatalogRequest(name)).catalog.name)

        def drop(kept: str) -> None:
            self.client.drop_database(f"@{kept}#inside", False, True)
            self.client.drop_database(f"@{kept}#default", False, True)
            self.client.drop_catalog(DropCatalogRequest(kept))

        return self._try(
            levels,
            make=lambda: self.client.create_catalog(CreateCatalogRequest(catalog)),
            listed=lambda: self.client.get_catalogs().names,
            found=found,
            drop=drop,
        )

    def try_table(self, levels: Levels) -> Answer:
        *_, name = levels
        shape = StorageDescriptor(
            cols=[FieldSchema("a", "string", "")],
            location=self.place(),
            inputFormat="org.apache.hadoop.mapred.TextInputFormat",
            outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
            serdeInfo=SerDeInfo(name="", serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"),
        )
        table = Table(name, TABLES, "me", sd=shape, partitionKeys=[], parameters={}, tableType="EXTERNAL_TABLE")
        return self._try(
            levels,
            make=lambda: self.client.create_table(table),
            listed=lambda: self.client.get_all_tables(TABLES),
            found=lambda: str(self.client.get_table_req(GetTableRequest(TABLES, name, None, "hive")).table.tableName),
            drop=lambda kept: self.client.drop_table(TABLES, kept, False),
        )

    def _try(
        self,
        levels: Levels,
        *,
        make: Callable[[], object],
        listed: Callable[[], list[str]],
        found: Callable[[], str],
        drop: Callable[[str], object],
    ) -> Answer:
        if any(lone_surrogate(level) is not None for level in levels):
            return Answer(Kind.REFUSED, why="thrift carries UTF-8 alone")
        before = set(listed())
        try:
            make()
        except TException as error:
            return Answer(Kind.REFUSED, why=_reason(error))
        kept = sorted(set(listed()) - before)
        try:
            answer = self._look(levels, kept, found)
        finally:
            for name in kept:
                _quietly(drop, name)
        return answer

    def _look(self, levels: Levels, kept: list[str], found: Callable[[], str]) -> Answer:
        try:
            name = found()
        except TException as error:
            return Answer(Kind.PARTLY, why=f"missing: by its name: {_reason(error)}")
        except AssertionError as error:
            return Answer(Kind.PARTLY, why=str(error).splitlines()[0])
        if len(kept) != 1:
            return Answer(Kind.PARTLY, why="missing: in the listing")
        if kept[0] != name:
            return Answer(Kind.PARTLY, why="the listing has another name")
        return Answer(Kind.KEPT) if name == levels[-1] else Answer(Kind.OTHER, (*levels[:-1], name))


def _reason(error: BaseException) -> str:
    return type(error).__name__


def _quietly(drop: Callable[[str], object], name: str) -> None:
    with suppress(TException):  # what cannot be asked for cannot be dropped; the server goes with the tests
        drop(name)
