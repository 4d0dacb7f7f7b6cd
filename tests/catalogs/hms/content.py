"""What the metastore of these tests holds: made by its own API, and, where that refuses, by hands in its database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nestsync.embedded.servers import HiveMetastore

HOSTILE_PROPERTIES = {
    "a:b|c": "a:b|c",
    "equals": "x=y;z",
    "empty": "",
    "é 日本": "naïve\u0301 🧊",
    "json": '{"a": ["b", "\\\\"]}',
    "blanks": "  two  ",
    "lines": "one\ntwo\tthree\r",
    "percent": "100%20 + $1",
}

READABLE = (
    "a:b",
    "a.b",
    "a$b",
    "a#b",
    "a b",
    "a%b",
    "a*b",
    "a|b",
    "a@b",
    "#x",
    "@at",
    "@c#d",
    "it's",
    "日本",
    "é",
    "e\u0301",
    "🧊",
    "lead",
    "upper",
    "end",
    "c",
    "d",
)
"""Databases that a metastore serves under exactly these names; the plain ones are the decoys of `UNREADABLE`."""

UNREADABLE = {
    "": "'' is an empty database",
    "!": "ends in '!'",
    "end!": "ends in '!'",
    "end#": "ends in '#'",
    "Upper": "takes its name for ('odd', 'upper')",
    " lead": "takes its name for ('odd', 'lead')",
}
"""Databases that it lists and cannot be asked for, and why: it would answer for another one."""


@dataclass(frozen=True)
class TableCase:
    """A table of the database ``lake.formats``, and how it must be read."""

    name: str
    format: str
    kind: str = "EXTERNAL_TABLE"
    parameters: Mapping[str, str] | None = None
    input_format: str = "org.apache.hadoop.mapred.TextInputFormat"
    serde: str = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
    version: int | None = None


_PARQUET = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"

FORMATS = (
    TableCase("text", "hive", "MANAGED_TABLE"),
    TableCase("parquet", "hive", input_format=_PARQUET),
    TableCase("orc", "hive", input_format="org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"),
    TableCase("iceberg", "iceberg", parameters={"table_type": "ICEBERG", "format-version": "2"}, version=2),
    TableCase("iceberg_lower", "iceberg", parameters={"table_type": "iceberg"}),
    TableCase("iceberg_managed", "iceberg", "MANAGED_TABLE", {"table_type": "ICEBERG", "format-version": "x"}),
    TableCase("iceberg_odd", "iceberg", parameters={"table_type": "ICEBERG", "format-version": "9" * 20}),
    TableCase("lance", "lance", parameters={"table_type": "lance"}),
    TableCase("lance_upper", "lance", parameters={"table_type": "LANCE", "managed_by": "storage"}),
    TableCase("lance_managed", "hive", "MANAGED_TABLE", {"table_type": "lance"}),
    TableCase("delta", "delta", parameters={"spark.sql.sources.provider": "delta"}, input_format=_PARQUET),
    TableCase("delta_upper", "delta", parameters={"spark.sql.sources.provider": "DELTA"}),
    TableCase("spark_hive", "hive", parameters={"spark.sql.sources.provider": "hive"}),
    TableCase("spark_csv", "csv", parameters={"spark.sql.sources.provider": "csv"}),
    TableCase("both", "iceberg", parameters={"table_type": "ICEBERG", "spark.sql.sources.provider": "delta"}),
    TableCase("hudi", "hudi", input_format="org.apache.hudi.hadoop.HoodieParquetInputFormat"),
    TableCase("hudi_old", "hudi", input_format="com.uber.hoodie.hadoop.HoodieInputFormat"),
    TableCase("delta_hive", "delta", input_format="io.delta.hive.HiveInputFormat"),
    TableCase("kudu", "kudu", parameters={"storage_handler": "org.apache.hadoop.hive.kudu.KuduStorageHandler"}),
    TableCase("view", "view", "VIRTUAL_VIEW"),
    TableCase("materialized", "view", "MATERIALIZED_VIEW"),
    TableCase("iceberg_view", "view", "VIRTUAL_VIEW", {"table_type": "iceberg-view"}),
    TableCase("with/slash", "hive"),
)


@dataclass(frozen=True)
class Metastore:
    """The server, and where it keeps its files."""

    server: HiveMetastore

    @property
    def uri(self) -> str:
        return self.server.uri


def make(server: HiveMetastore) -> Metastore:
    """Fill `server`, which is running, and start it anew over what was changed below it."""
    from hmsclient import HMSClient

    with HMSClient(host="127.0.0.1", port=server.port) as client:
        filler = _Filler(client, server.warehouse)
        filler.lake()
        filler.broken()
        statements = [*filler.odd(), *filler.odd_catalogs(), *_BREAKAGE]
    server.stop()
    server.run_sql(statements)
    return Metastore(server.start())


_BREAKAGE = (
    """UPDATE "SDS" SET "SERDE_ID" = NULL
       WHERE "SD_ID" IN (SELECT "SD_ID" FROM "TBLS" WHERE "TBL_NAME" IN ('bad', 'bad_too'))""",
    """UPDATE "DBS" SET "OWNER_TYPE" = 'NONSENSE' WHERE "NAME" = 'bad_owner'""",
    """DELETE FROM "DBS" WHERE "CTLG_NAME" = 'hollow'""",
)


class _Filler:
    """Writes through one connection of the metastore's own client."""

    def __init__(self, client: Any, warehouse: Path) -> None:
        self._client = client
        self._warehouse = warehouse

    def catalog(self, name: str) -> None:
        from hmsclient.genthrift.hive_metastore.ttypes import Catalog, CreateCatalogRequest

        catalog = Catalog(name, f"the catalog {name}", (self._warehouse / name).as_uri())
        self._client.create_catalog(CreateCatalogRequest(catalog))

    def database(self, catalog: str, name: str, properties: Mapping[str, str], **fields: Any) -> None:
        from hmsclient.genthrift.hive_metastore.ttypes import Database

        self._client.create_database(Database(name, parameters=dict(properties), catalogName=catalog, **fields))

    def table(self, catalog: str, database: str, case: TableCase) -> None:
        from hmsclient.genthrift.hive_metastore.ttypes import FieldSchema, SerDeInfo, StorageDescriptor, Table

        is_view = case.format == "view"
        location = None if is_view else f"file:{self._warehouse}/{catalog}/{database}/{case.name.replace('/', '_')}"
        # without the parameter the metastore stores an external table as a managed one
        external = {"EXTERNAL": "TRUE"} if case.kind == "EXTERNAL_TABLE" else {}
        storage = StorageDescriptor(
            cols=[FieldSchema("id", "bigint", ""), FieldSchema("größe", "array<string>", "size")],
            location=location,
            inputFormat=None if is_view else case.input_format,
            serdeInfo=SerDeInfo(serializationLib=None if is_view else case.serde, parameters={}),
        )
        table = Table(
            tableName=case.name,
            dbName=database,
            catName=catalog,
            owner="Zoë",
            sd=storage,
            partitionKeys=[] if is_view else [FieldSchema("day", "date", "")],
            parameters={"comment": "all of it: é|ü"} | external | dict(case.parameters or {}),
            viewOriginalText="SELECT 1" if is_view else None,
            viewExpandedText="SELECT 1" if is_view else None,
            tableType=case.kind,
        )
        self._client.create_table(table)

    def lake(self) -> None:
        """A well-kept catalog: one database with all there is to say of it, one of every table format, one empty."""
        self.catalog("lake")
        location = f"file:{self._warehouse}/elsewhere/sales"
        described = {"description": "naïve: a|b", "locationUri": location, "ownerName": "Zoë", "ownerType": 1}
        self.database("lake", "sales__emea", HOSTILE_PROPERTIES, **described)
        self.database("lake", "formats", {})
        self.database("lake", "nothing", {}, description="")
        for case in FORMATS:
            self.table("lake", "formats", case)

    def broken(self) -> None:
        """A catalog in which two tables cannot be read, and a database whose tables can."""
        self.catalog("broken")
        self.catalog("hollow")
        for database in ("bad_tables", "bad_owner"):
            self.database("broken", database, {"k": "v"})
        for name in ("bad", "bad_too", "good", "good_too"):
            self.table("broken", "bad_tables", TableCase(name, "hive"))
        self.table("broken", "bad_owner", TableCase("inside", "hive"))

    def odd(self) -> Sequence[str]:
        """A catalog of databases with odd names, each with its name as property ``k`` and a table of its own."""
        self.catalog("odd")
        statements = []
        for number, name in enumerate((*READABLE, *UNREADABLE)):
            made = f"made{number}"
            self.database("odd", made, {"k": name})
            self.table("odd", made, TableCase(f"in_{made}", "hive"))
            statements.append(f"""UPDATE "DBS" SET "NAME" = {_quoted(name)} WHERE "NAME" = '{made}'""")
        self.database("odd", "tables", {})
        for made, name in (("t1", "Upper"), ("t2", "with.dot"), ("t3", "日本")):
            self.table("odd", "tables", TableCase(made, "hive"))
            statements.append(f"""UPDATE "TBLS" SET "TBL_NAME" = {_quoted(name)} WHERE "TBL_NAME" = '{made}'""")
        return statements

    def odd_catalogs(self) -> Sequence[str]:
        """Three catalogs whose names are no plain ones, each with one database."""
        statements = []
        for number, name in enumerate(("Lake", "c#x", "c:y")):
            made = f"made{number}"
            self.catalog(made)
            statements += [
                f"""INSERT INTO "CTLGS" ("CTLG_ID", "NAME", "LOCATION_URI")
                    VALUES ({9000 + number}, {_quoted(name)}, 'file:/{made}')""",
                f"""UPDATE "DBS" SET "CTLG_NAME" = {_quoted(name)} WHERE "CTLG_NAME" = '{made}'""",
                f"""DELETE FROM "CTLGS" WHERE "NAME" = '{made}'""",
            ]
        return statements


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
