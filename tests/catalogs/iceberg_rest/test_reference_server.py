"""The room against Iceberg's own reference server, with a proxy that tells what was asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import requests

from nestsync.catalogs.base import CatalogWriter
from nestsync.catalogs.iceberg_rest import ROOM, IcebergRestOptions
from nestsync.catalogs.records import CatalogObject, Status
from nestsync.embedded.proxy import CountingProxy
from nestsync.embedded.servers import IcebergRest
from nestsync.errors import AlreadyExists, CatalogUnreachable
from tests.catalogs.iceberg_rest.reading import by_identifier, read

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.servers

WriterOn = Callable[[str], CatalogWriter]

HOSTILE = [
    "a b",
    "a+b",
    "a%20b",
    "a%2Bb",
    "a/b",
    "a?b#c&d=e",
    "a.b",
    "a:b",
    "é",
    "e\u0301",
    "日本",
    "🧊",
    " ",
    "\t\n",
    "'\"`*",
    "%1F",
    "x" * 300,
]


@pytest.fixture
def writer_on() -> Iterator[WriterOn]:
    """Opens writers, and closes them."""
    opened: list[CatalogWriter] = []

    def open_on(uri: str) -> CatalogWriter:
        assert ROOM.writer is not None
        opened.append(ROOM.writer(IcebergRestOptions(uri=uri), "target"))
        return opened[-1]

    yield open_on
    for writer in opened:
        writer.close()


@pytest.fixture
def memory(iceberg_memory_server: IcebergRest) -> Iterator[CountingProxy]:
    """The server whose names are exact, behind a proxy."""
    with CountingProxy(iceberg_memory_server.uri) as proxy:
        yield proxy


def plain_client(uri: str) -> RestCatalog:
    """A client that shares no code with ours. Its own `parent` parameter is encoded twice: it must not list."""
    from pyiceberg.catalog.rest import RestCatalog

    return RestCatalog("plain", uri=uri)


def below(rows: list[CatalogObject], top: str) -> list[CatalogObject]:
    """The rows at and below one top-level namespace: the server is shared."""
    return [row for row in rows if row.levels[0] == top]


def test_hostile_names_and_properties_arrive_and_come_back(
    memory: CountingProxy, writer_on: WriterOn, unique: str
) -> None:
    writer, plain = writer_on(memory.uri), plain_client(memory.uri)
    tree = [(unique,), *((unique, name) for name in HOSTILE), *((unique, name, name) for name in HOSTILE)]
    for levels in tree:
        writer.create_namespace(levels, {"comment": "a:b|c", "of": "/".join(levels)})
    for levels in tree:
        expected = {"comment": "a:b|c", "of": "/".join(levels)}
        assert writer.namespace_properties(levels) == expected
        assert plain.load_namespace_properties(levels) == expected
    rows = by_identifier(below(read(IcebergRestOptions(uri=memory.uri), tables=False, parallelism=4), unique))
    assert sorted(levels for _, levels, _ in rows) == sorted(tree)
    assert all(row.properties["of"] == "/".join(row.levels) for row in rows.values())
    assert {(row.status, row.comment) for row in rows.values()} == {(Status.OK, "a:b|c")}


def test_a_blank_is_20_and_a_plus_is_2b_on_the_wire(memory: CountingProxy, writer_on: WriterOn, unique: str) -> None:
    writer = writer_on(memory.uri)
    for levels in [(unique,), (unique, "a b"), (unique, "a+b")]:
        writer.create_namespace(levels, {})
    memory.reset()
    rows = below(read(IcebergRestOptions(uri=memory.uri), tables=False), unique)
    assert {row.status for row in rows} == {Status.OK}
    targets = {request.target for request in memory.counts}
    for text in ("a%20b", "a%2Bb"):
        assert f"/v1/namespaces/{unique}%1F{text}" in targets
        assert f"/v1/namespaces?parent={unique}%1F{text}" in targets


def test_reading_asks_one_list_a_namespace_and_writes_nothing(
    memory: CountingProxy, writer_on: WriterOn, unique: str
) -> None:
    writer = writer_on(memory.uri)
    for levels in [(unique,), *((unique, a) for a in "abc"), *((unique, a, b) for a in "abc" for b in "xy")]:
        writer.create_namespace(levels, {})
    memory.reset()
    read(IcebergRestOptions(uri=memory.uri), parallelism=3)
    lists = {r.target: n for r, n in memory.counts.items() if r.target.split("?")[0] == "/v1/namespaces"}
    assert set(lists.values()) == {1}
    assert sum(unique in target for target in lists) == 1 + len("abc") + len("abc") * len("xy")
    assert not [request for request in memory.counts if request.is_write]


def test_pages_of_the_server_are_followed(memory: CountingProxy, writer_on: WriterOn, unique: str) -> None:
    writer = writer_on(memory.uri)
    tree = [(unique,), *((unique, f"n{i}") for i in range(7))]
    for levels in tree:
        writer.create_namespace(levels, {})
    memory.reset()
    rows = below(read(IcebergRestOptions(uri=memory.uri, page_size=3), tables=False), unique)
    assert sorted(row.levels for row in rows) == sorted(tree)
    pages = [r for r in memory.counts.elements() if r.target.startswith(f"/v1/namespaces?parent={unique}&")]
    assert len(pages) == 3


def test_what_exists_is_not_made_again_and_what_is_absent_is_none(
    memory: CountingProxy, writer_on: WriterOn, unique: str
) -> None:
    writer = writer_on(memory.uri)
    assert writer.namespace_properties((unique,)) is None
    writer.create_namespace((unique,), {"k": "v"})
    with pytest.raises(AlreadyExists, match="POST /v1/namespaces: answered 409 Conflict"):
        writer.create_namespace((unique,), {"k": "other"})
    assert writer.namespace_properties((unique,)) == {"k": "v"}


def test_properties_are_set_and_removed(memory: CountingProxy, writer_on: WriterOn, unique: str) -> None:
    writer = writer_on(memory.uri)
    writer.create_namespace((unique,), {"keep": "1", "change": "a:b|c", "drop": "x"})
    memory.reset()
    writer.update_namespace((unique,), {"change": "a|b:c", "new ü": "\t"}, ["drop", "never there"])
    assert [str(request) for request in memory.counts] == [f"POST /v1/namespaces/{unique}/properties"]
    assert writer.namespace_properties((unique,)) == {"keep": "1", "change": "a|b:c", "new ü": "\t"}


def test_the_separator_is_the_default_where_none_is_advertised(iceberg_memory_server: IcebergRest) -> None:
    assert ROOM.separator is not None
    assert ROOM.separator(IcebergRestOptions(uri=iceberg_memory_server.uri), "here") == "\x1f"


def test_tables_are_read_with_all_that_iceberg_knows_of_them(
    iceberg_server: IcebergRest, writer_on: WriterOn, unique: str
) -> None:
    from pyiceberg.schema import Schema
    from pyiceberg.types import DecimalType, ListType, LongType, NestedField, StringType, StructType

    writer_on(iceberg_server.uri).create_namespace((unique,), {})
    writer_on(iceberg_server.uri).create_namespace((unique, "a b"), {})
    schema = Schema(
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "price", DecimalType(9, 2)),
        NestedField(3, "tags", ListType(element_id=4, element_type=StringType())),
        NestedField(5, "at", StructType(NestedField(6, "x", LongType()))),
    )
    plain = plain_client(iceberg_server.uri)
    made = plain.create_table((unique, "a b", "t+1"), schema, properties={"comment": "all orders", "owner": "ann"})
    plain.create_table((unique, "gone"), schema)
    for metadata in Path(plain.load_table((unique, "gone")).location().removeprefix("file://")).rglob("*.json"):
        metadata.unlink()

    rows = by_identifier(below(read(IcebergRestOptions(uri=iceberg_server.uri)), unique))
    table = rows["table", (unique, "a b"), "t+1"]
    assert (table.status, table.format, table.version) == (Status.OK, "iceberg", 2)
    assert (table.location, table.comment, table.owner) == (made.location(), "all orders", "ann")
    assert table.properties["comment"] == "all orders"
    assert table.columns == (
        ("id", "long"),
        ("price", "decimal(9, 2)"),
        ("tags", "list<string>"),
        ("at", "struct<x:long>"),
    )
    gone = rows["table", (unique,), "gone"]
    assert gone.status is Status.UNREADABLE
    assert f"GET /v1/namespaces/{unique}/tables/gone: answered " in (gone.error or "")
    assert len(rows) == 4


def test_views_are_read(iceberg_memory_server: IcebergRest, writer_on: WriterOn, unique: str) -> None:
    writer_on(iceberg_memory_server.uri).create_namespace((unique,), {})
    view = {
        "name": "v 1",
        "location": "memory://v",
        "schema": {
            "type": "struct",
            "schema-id": 0,
            "fields": [{"id": 1, "name": "n", "required": False, "type": "int"}],
        },
        "view-version": {
            "version-id": 1,
            "schema-id": 0,
            "timestamp-ms": 1,
            "summary": {},
            "default-namespace": [unique],
            "representations": [{"type": "sql", "sql": "select 1 as n", "dialect": "spark"}],
        },
        "properties": {"comment": "one"},
    }
    made = requests.post(f"{iceberg_memory_server.uri}/v1/namespaces/{unique}/views", json=view, timeout=30)
    made.raise_for_status()
    rows = by_identifier(below(read(IcebergRestOptions(uri=iceberg_memory_server.uri)), unique))
    found = rows["view", (unique,), "v 1"]
    assert (found.status, found.format, found.comment) == (Status.OK, "view", "one")
    assert found.columns == (("n", "int"),)


@pytest.mark.proves("exit-5")
def test_a_server_that_stops_half_way_is_unreachable(tmp_path: Path, writer_on: WriterOn) -> None:
    with IcebergRest(tmp_path, backend="memory") as server:
        writer_on(server.uri).create_namespace(("a",), {})
        uri = server.uri
        reader = ROOM.reader(IcebergRestOptions(uri=uri, max_retries=1), "nightly")
        units = reader.units(tables=True, parallelism=1)
    with pytest.raises(CatalogUnreachable) as caught:
        list(reader.read(units[0], namespaces=True, tables=True))
    assert f"nightly at {uri}: GET /v1/namespaces" in str(caught.value)
    assert "; then GET /v1/config: the connection failed" in str(caught.value)


@pytest.mark.spark
def test_spark_reads_the_server(
    spark: SparkSession, iceberg_server: IcebergRest, writer_on: WriterOn, unique: str
) -> None:
    writer = writer_on(iceberg_server.uri)
    tree = [(unique,), (unique, "a b"), (unique, "a+b"), (unique, "a b", "日本")]
    for levels in tree:
        writer.create_namespace(levels, {"comment": "a:b|c"})
    with CountingProxy(iceberg_server.uri) as proxy:
        frame = (
            spark.read.format("nestsync.iceberg_rest").option("uri", proxy.uri).option("object", "namespaces").load()
        )
        rows = [row for row in frame.collect() if row["levels"][0] == unique]
        assert sorted(tuple(row["levels"]) for row in rows) == sorted(tree)
        assert {(row["status"], row["comment"]) for row in rows} == {("ok", "a:b|c")}
        lists = {r.target: n for r, n in proxy.counts.items() if r.target.split("?")[0] == "/v1/namespaces"}
        assert set(lists.values()) == {1}
        assert not [request for request in proxy.counts if request.is_write]
