"""What a real metastore holds, read."""

from __future__ import annotations

import pytest

from nestsync.catalogs.hms import ROOM, HmsOptions
from nestsync.catalogs.hms.reader import HmsReader
from nestsync.catalogs.records import CatalogObject, ObjectKind, Status
from nestsync.embedded.proxy import CountingProxy
from nestsync.errors import CatalogUnreachable, ConfigurationError
from tests.catalogs.hms.content import FORMATS, HOSTILE_PROPERTIES, READABLE, UNREADABLE, Metastore, TableCase
from tests.catalogs.hms.reading import Key, keyed, read

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def rows(metastore: Metastore) -> dict[Key, CatalogObject]:
    """Everything, read once."""
    return read(metastore.uri)


def test_a_database_is_read_to_the_byte(metastore: Metastore, rows: dict[Key, CatalogObject]) -> None:
    assert rows[("lake", "sales__emea"), None] == CatalogObject(
        object=ObjectKind.NAMESPACE,
        levels=("lake", "sales__emea"),
        properties=HOSTILE_PROPERTIES,
        owner="Zoë",
        comment="naïve: a|b",
        location=f"file:{metastore.server.warehouse}/elsewhere/sales",
    )


def test_every_catalog_is_there_with_its_default_database(rows: dict[Key, CatalogObject]) -> None:
    for catalog in ("hive", "lake", "odd", "broken"):
        assert rows[(catalog, "default"), None].status is Status.OK
    assert rows[("hive", "default"), None].comment == "Default Hive database"


def test_what_was_never_said_is_null(rows: dict[Key, CatalogObject]) -> None:
    bare = rows[("lake", "formats"), None]
    assert (bare.owner, bare.comment, bare.properties) == (None, None, {})
    assert rows[("lake", "nothing"), None].comment == ""


@pytest.mark.parametrize("case", FORMATS, ids=[case.name for case in FORMATS])
def test_a_table_has_its_format(metastore: Metastore, rows: dict[Key, CatalogObject], case: TableCase) -> None:
    row = rows[("lake", "formats"), case.name]
    assert (row.format, row.version, row.status) == (case.format, case.version, Status.OK)
    assert row.object is (ObjectKind.VIEW if case.format == "view" else ObjectKind.TABLE)
    assert (row.owner, row.comment, row.row_count) == ("Zoë", "all of it: é|ü", None)
    columns = [("id", "bigint"), ("größe", "array<string>"), ("day", "date")]
    assert list(row.columns or ()) == columns[: 2 if case.format == "view" else 3]
    assert (row.properties.items() & (case.parameters or {}).items()) == (case.parameters or {}).items()
    if case.format != "view":
        home = f"file:{metastore.server.warehouse}/lake/formats"
        assert row.location == f"{home}/{case.name.replace('/', '_')}"


@pytest.mark.parametrize("name", READABLE)
def test_an_odd_name_is_its_own_database(rows: dict[Key, CatalogObject], name: str) -> None:
    assert rows[("odd", name), None].properties == {"k": name}
    (table,) = [found for levels, found in rows if levels == ("odd", name) and found is not None]
    assert table == f"in_made{READABLE.index(name)}"


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_name_that_means_another_database_is_an_error_row(rows: dict[Key, CatalogObject], name: str) -> None:
    row = rows[("odd", name), None]
    assert row.status is Status.UNREADABLE
    assert UNREADABLE[name] in (row.error or "")
    assert row.properties == {}
    assert [found for levels, found in rows if levels == ("odd", name) and found is not None] == []


def test_a_table_whose_name_means_another_is_an_error_row(rows: dict[Key, CatalogObject]) -> None:
    found = {name: row.status for (levels, name), row in rows.items() if levels == ("odd", "tables") and name}
    assert found == {"Upper": Status.UNREADABLE, "with.dot": Status.OK, "日本": Status.OK}


def test_odd_catalogs_are_read_or_said(rows: dict[Key, CatalogObject]) -> None:
    assert rows[("c:y", "default"), None].status is Status.OK
    folded, hashed = rows[("Lake",), None], rows[("c#x", "default"), None]
    assert (folded.status, folded.error) == (Status.UNREADABLE, "the metastore answers for 'lake' instead")
    assert hashed.status is Status.UNREADABLE
    assert "it cannot be asked for" in (hashed.error or "")


def test_a_catalog_without_databases_is_not_lost(rows: dict[Key, CatalogObject]) -> None:
    row = rows[("hollow",), None]
    assert (row.object, row.status, row.error) == (
        ObjectKind.NAMESPACE,
        Status.EMPTY,
        "the catalog holds no databases",
    )


def test_one_bad_table_is_one_error_row(rows: dict[Key, CatalogObject]) -> None:
    found = {name: row for (levels, name), row in rows.items() if levels == ("broken", "bad_tables") and name}
    assert {name: row.status for name, row in found.items()} == {
        "bad": Status.UNREADABLE,
        "bad_too": Status.UNREADABLE,
        "good": Status.OK,
        "good_too": Status.OK,
    }
    request = "get_table_objects_by_name_req('broken', 'bad_tables', 'bad')"
    assert found["bad"].error == f"{request}: MetaException: Invalid SerDeInfo object"


def test_the_tables_of_a_database_that_cannot_be_read_are_read(rows: dict[Key, CatalogObject]) -> None:
    assert rows[("broken", "bad_owner"), None].status is Status.UNREADABLE
    assert "get_database('@broken#bad_owner'): " in (rows[("broken", "bad_owner"), None].error or "")
    assert rows[("broken", "bad_owner"), "inside"].status is Status.OK


@pytest.mark.parametrize("batch_size", [1, 2, 3, 5000])
@pytest.mark.parametrize("connections", [1, 5])
def test_batches_and_connections_change_nothing(
    metastore: Metastore, rows: dict[Key, CatalogObject], batch_size: int, connections: int
) -> None:
    assert read(metastore.uri, batch_size=batch_size, connections=connections, parallelism=3) == rows


def test_tables_alone_show_the_namespaces_whose_tables_are_missing(
    metastore: Metastore, rows: dict[Key, CatalogObject]
) -> None:
    alone = read(metastore.uri, namespaces=False)
    assert {key: row for key, row in alone.items() if key[1] is not None} == {
        key: row for key, row in rows.items() if key[1] is not None
    }
    assert {levels for levels, name in alone if name is None} == {
        ("Lake",),
        ("c#x", "default"),
        *(("odd", name) for name in UNREADABLE),
    }


def test_only_the_catalogs_asked_for_are_read(metastore: Metastore, rows: dict[Key, CatalogObject]) -> None:
    found = read(metastore.uri, catalogs=("lake", "hollow"))
    assert found == {key: row for key, row in rows.items() if key[0][0] in ("lake", "hollow")}


def test_a_catalog_that_is_not_there_is_a_configuration_error(metastore: Metastore) -> None:
    with pytest.raises(ConfigurationError, match=f"lake at {metastore.uri}: the metastore has no catalog 'LAKE', 'no'"):
        read(metastore.uri, catalogs=("lake", "no", "LAKE"))


def test_reading_sends_nothing_but_reads(metastore: Metastore) -> None:
    with CountingProxy(metastore.uri) as proxy:
        read(proxy.uri)
        assert proxy.writes == ()
        assert {request.method for request in proxy.counts} == {
            "get_catalogs",
            "get_catalog",
            "get_databases",
            "get_database",
            "get_all_tables",
            "get_table_objects_by_name_req",
        }


def test_the_driver_asks_for_names_alone(metastore: Metastore) -> None:
    with CountingProxy(metastore.uri) as proxy:
        options = HmsOptions(uri=proxy.uri, catalogs=("hive", "lake", "odd"))
        ROOM.reader(options, "lake").units(tables=True, parallelism=4)
        counts = {request.method: number for request, number in proxy.counts.items()}
    assert counts == {"get_catalogs": 1, "get_databases": 3}


@pytest.mark.parametrize("parallelism", [1, 2, 7, 1000])
def test_shares_hold_every_database_once(metastore: Metastore, parallelism: int) -> None:
    reader = ROOM.reader(HmsOptions(uri=metastore.uri), "lake")
    assert isinstance(reader, HmsReader)
    units = reader.units(tables=True, parallelism=parallelism)
    databases = [database for unit in units for database in unit.databases]
    assert len(set(databases)) == len(databases)
    assert len(units) == min(parallelism, len(databases))
    sizes = {len(unit.databases) for unit in units}
    assert max(sizes) - min(sizes) <= 1


def test_a_metastore_next_in_line_is_tried(metastore: Metastore, rows: dict[Key, CatalogObject]) -> None:
    from tests.faults import free_port

    assert read(f"thrift://127.0.0.1:{free_port()},{metastore.uri}", catalogs=("lake",)).keys() == {
        key for key in rows if key[0][0] == "lake"
    }
    with pytest.raises(CatalogUnreachable) as caught:
        read(uri := f"thrift://127.0.0.1:{free_port()},thrift://127.0.0.1:{free_port()}", max_retries=0)
    assert f"lake at {uri.replace(',', ', ')}: get_catalogs(): " in str(caught.value)
    assert str(caught.value).count("Connection refused") == 2


def test_a_reader_may_stop_early(metastore: Metastore) -> None:
    reader = ROOM.reader(HmsOptions(uri=metastore.uri, batch_size=1), "lake")
    (unit,) = reader.units(tables=True, parallelism=1)
    rows = reader.read(unit, namespaces=True, tables=True)
    first = [next(rows) for _ in range(3)]
    rows.close()  # type: ignore[attr-defined]
    assert len(keyed(first)) == 3
