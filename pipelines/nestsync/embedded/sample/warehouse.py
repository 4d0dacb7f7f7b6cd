"""Fills a Hive Metastore with the sample warehouse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nestsync.embedded.sample.content import TEAM_SALES, Namespace, Table, columns_of, warehouse
from nestsync.embedded.sample.tables import iceberg_writer, write_delta, write_iceberg, write_lance
from nestsync.embedded.servers import HiveMetastore

if TYPE_CHECKING:
    from hmsclient import HMSClient
    from hmsclient.genthrift.hive_metastore import ttypes
    from pyiceberg.catalog import Catalog

_LANCE_ROWS = 20
_PARQUET = "org.apache.hadoop.hive.ql.io.parquet"
_ICEBERG = "org.apache.iceberg.mr.hive.HiveIceberg"
_HIVE_FORMAT = (
    f"{_PARQUET}.MapredParquetInputFormat",
    f"{_PARQUET}.MapredParquetOutputFormat",
    f"{_PARQUET}.serde.ParquetHiveSerDe",
)
_ICEBERG_FORMAT = (f"{_ICEBERG}InputFormat", f"{_ICEBERG}OutputFormat", f"{_ICEBERG}SerDe")
_PLAIN_FORMAT = (
    "org.apache.hadoop.mapred.SequenceFileInputFormat",
    "org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat",
    "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
)
_CLASSES = {"hive": _HIVE_FORMAT, "iceberg": _ICEBERG_FORMAT}


def before_the_first_start(server: HiveMetastore) -> None:
    """Put the database in that Hive 3.1.3 does not accept: by SQL, as such names got in over the years.

    Its id is far above those that the metastore counts up from 1.
    """
    database, number = TEAM_SALES, 1_000_000
    values = (number, database.comment, _location(server, database), database.levels[1], database.owner, "USER", "hive")
    insert = 'INSERT INTO "APP"."DBS" ("DB_ID","DESC","DB_LOCATION_URI","NAME","OWNER_NAME","OWNER_TYPE","CTLG_NAME")'
    statements = [f"{insert} VALUES ({_literals(values)})"]
    statements += [
        f'INSERT INTO "APP"."DATABASE_PARAMS" VALUES ({_literals((number, key, value))})'  # noqa: S608 (literals)
        for key, value in database.properties.items()
    ]
    server.run_sql(statements)


def fill(server: HiveMetastore) -> None:
    """Create both catalogs, their databases and tables, in a running metastore that holds none of them yet."""
    from hmsclient import HMSClient
    from hmsclient.genthrift.hive_metastore import ttypes

    with HMSClient(host="127.0.0.1", port=server.port) as client, iceberg_writer(server.warehouse) as writer:
        archive = ttypes.Catalog("archive", "What is kept for the auditors", f"file://{_lake(server)}/archive")
        client.create_catalog(ttypes.CreateCatalogRequest(archive))
        made = _Filling(server, client, writer)
        for database in warehouse():
            made.create_database(database)
            made.create_tables(database)
        made.create_tables(TEAM_SALES)


def _lake(server: HiveMetastore) -> Path:
    return server.home / "lake"


def _location(server: HiveMetastore, database: Namespace) -> str:
    catalog, name = database.levels
    return f"file://{_lake(server)}/{catalog}/{name.replace('__', '/').replace(':', '-')}.db"


def _literals(values: Sequence[str | int]) -> str:
    return ", ".join(str(v) if isinstance(v, int) else "'" + v.replace("'", "''") + "'" for v in values)


@dataclass(frozen=True)
class _Filling:
    server: HiveMetastore
    client: HMSClient
    writer: Catalog

    def create_database(self, database: Namespace) -> None:
        from hmsclient.genthrift.hive_metastore import ttypes

        catalog, name = database.levels
        self.client.create_database(
            ttypes.Database(
                name=name,
                description=database.comment,
                locationUri=_location(self.server, database),
                parameters=dict(database.properties),
                ownerName=database.owner,
                ownerType=ttypes.PrincipalType.USER,
                catalogName=catalog,
            )
        )

    def create_tables(self, database: Namespace) -> None:
        for table in database.tables:
            self.client.create_table(self._table(database, table))

    def _table(self, database: Namespace, table: Table) -> ttypes.Table:
        from hmsclient.genthrift.hive_metastore import ttypes

        location = f"{_location(self.server, database)}/{table.name}"
        is_view = table.format == "view"
        reader, writer, serde = _CLASSES.get(table.format, _PLAIN_FORMAT)
        catalog, name = database.levels
        query = f"SELECT * FROM {name}.{database.tables[0].name} WHERE valid_to IS NULL" if is_view else None  # noqa: S608
        return ttypes.Table(
            tableName=table.name,
            dbName=name,
            catName=catalog,
            owner=database.owner,
            sd=ttypes.StorageDescriptor(
                cols=[ttypes.FieldSchema(column, kind, None) for column, kind in columns_of(table.name)],
                location=None if is_view else location,
                inputFormat=reader,
                outputFormat=writer,
                serdeInfo=ttypes.SerDeInfo(serializationLib=serde, parameters={"serialization.format": "1"}),
                numBuckets=-1,
                bucketCols=[],
                sortCols=[],
                parameters={},
            ),
            partitionKeys=[],
            parameters=self._parameters(table, location),
            tableType="VIRTUAL_VIEW" if is_view else "EXTERNAL_TABLE",
            viewOriginalText=query,
            viewExpandedText=query,
        )

    def _parameters(self, table: Table, location: str) -> dict[str, str]:
        """What engines write into the metastore for a table of this format, once its files are on disk."""
        columns = columns_of(table.name)
        folder = Path(location.removeprefix("file://"))
        if table.format == "view":
            return {"comment": f"What is current in {table.name}"}
        parameters = {"EXTERNAL": "TRUE", "external.table.purge": "false"}
        if table.format == "iceberg":
            metadata = write_iceberg(self.writer, location, columns)
            parameters |= {"table_type": "ICEBERG", "metadata_location": metadata, "format-version": "2"}
        elif table.format == "delta":
            write_delta(folder, columns)
            parameters |= {"spark.sql.sources.provider": "delta", "spark.sql.partitionProvider": "catalog"}
        elif table.format == "lance":
            write_lance(folder, columns, _LANCE_ROWS)
            parameters |= {"table_type": "lance", "managed_by": "storage"}
        return parameters
