from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import lance
import pytest
from hmsclient import HMSClient
from hmsclient.genthrift.hive_metastore.ttypes import Database, Table
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table import StaticTable

from nestsync.embedded.process import ServerFailed
from nestsync.embedded.sample import content, datasets
from nestsync.embedded.sample.estate import Estate

pytestmark = pytest.mark.servers

Warehouse = dict[tuple[str, str], tuple[Database, list[Table]]]


@pytest.fixture(scope="module")
def estate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with Estate(tmp_path_factory.mktemp("estate")) as running:
        yield running


def read_warehouse(estate: Estate) -> Warehouse:
    """Every database and table, through a client that shares no code with nestsync."""
    found: Warehouse = {}
    with HMSClient(host="127.0.0.1", port=estate.warehouse.port) as client:
        for catalog in client.get_catalogs().names:
            for name in client.get_databases(f"@{catalog}#"):
                address = f"@{catalog}#{name}"
                tables = [client.get_table(address, table) for table in client.get_all_tables(address)]
                found[catalog, name] = (client.get_database(address), tables)
    return found


@pytest.fixture(scope="module")
def warehouse(estate: Estate) -> Warehouse:
    return read_warehouse(estate)


def tree(catalog: RestCatalog, parent: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    children = catalog.list_namespaces(parent)
    return [levels for child in children for levels in (child, *tree(catalog, child))]


def a_format(table: Table) -> str:
    parameters = table.parameters
    if table.tableType == "VIRTUAL_VIEW":
        return "view"
    return parameters.get("table_type", parameters.get("spark.sql.sources.provider", "hive")).lower()


class TestWarehouse:
    def test_it_has_two_catalogs_that_share_names(self, warehouse: Warehouse) -> None:
        names = {catalog: {name for c, name in warehouse if c == catalog} for catalog in ("hive", "archive")}
        assert len(warehouse) >= 50
        assert len([name for name in names["hive"] if name.count("__") == 2]) >= 40
        assert len(names["hive"] & names["archive"] - {"default"}) >= 6

    def test_one_name_holds_the_default_separator(self, warehouse: Warehouse) -> None:
        database, tables = warehouse["hive", "team:sales"]
        assert database.parameters == content.TEAM_SALES.properties
        assert (database.ownerName, database.description) == (content.TEAM_SALES.owner, content.TEAM_SALES.comment)
        assert sorted(table.tableName for table in tables) == ["pipeline", "quotas"]

    def test_databases_keep_what_the_content_says(self, warehouse: Warehouse) -> None:
        for wanted in content.warehouse():
            database, tables = warehouse[wanted.levels[0], wanted.levels[1]]
            assert database.parameters == wanted.properties
            assert (database.ownerName, database.description) == (wanted.owner, wanted.comment)
            assert database.locationUri.startswith("file:/")
            assert {(t.tableName, a_format(t)) for t in tables} == {(t.name, t.format) for t in wanted.tables}

    def test_there_are_tables_of_every_format(self, warehouse: Warehouse) -> None:
        formats = Counter(a_format(table) for _, tables in warehouse.values() for table in tables)
        assert set(formats) == {"hive", "iceberg", "delta", "lance", "view"}
        assert formats.total() >= 150
        assert min(formats.values()) >= 10

    def test_the_tables_are_on_disk(self, warehouse: Warehouse) -> None:
        tables = [table for _, tables in warehouse.values() for table in tables]
        for table in tables:
            columns = [column.name for column in table.sd.cols]
            match a_format(table):
                case "iceberg":
                    loaded = StaticTable.from_metadata(table.parameters["metadata_location"])
                    assert [field.name for field in loaded.schema().fields] == columns
                case "lance":
                    dataset = lance.dataset(table.sd.location.removeprefix("file:"))
                    assert dataset.schema.names == [*columns, "vector"]
                case "delta":
                    folder = Path(table.sd.location.removeprefix("file:"))
                    assert (folder / "_delta_log" / "00000000000000000000.json").is_file()


class TestLakehouse:
    def test_namespaces_nest_and_keep_their_properties(self, estate: Estate) -> None:
        catalog = RestCatalog("plain", uri=estate.lakehouse.uri)
        wanted = {namespace.levels: namespace for namespace in content.lakehouse()}
        assert set(tree(catalog)) == set(wanted)
        assert max(map(len, wanted)) == 4
        for levels, namespace in wanted.items():
            found = catalog.load_namespace_properties(levels)
            expected = {"owner": namespace.owner, "comment": namespace.comment, **namespace.properties}
            assert {key: found.get(key, "") for key in expected} == expected
        assert catalog.load_namespace_properties(("sales", "amer", "forecast"))["codes"] == "a:b|c"

    def test_tables_hold_rows(self, estate: Estate) -> None:
        catalog = RestCatalog("plain", uri=estate.lakehouse.uri)
        tables = [identifier for levels in tree(catalog) for identifier in catalog.list_tables(levels)]
        assert len(tables) >= 20
        for identifier in tables[::5]:
            assert catalog.load_table(identifier).scan().to_arrow().num_rows == 100

    def test_a_namespace_meets_a_database_after_the_split(self, warehouse: Warehouse, estate: Estate) -> None:
        nested = {tuple(name.split("__")) for _, name in warehouse}
        assert nested & set(tree(RestCatalog("plain", uri=estate.lakehouse.uri))) >= {("sales", "emea", "orders")}


class TestDatasets:
    def test_datasets_open_and_the_corrupt_one_does_not(self, estate: Estate) -> None:
        assert len(datasets.DATASETS) >= 12
        assert {name.endswith(".lance") for name in datasets.DATASETS} == {True, False}
        for name, (count, versions) in datasets.DATASETS.items():
            dataset = lance.dataset(str(estate.datasets / name))
            assert (dataset.count_rows(), dataset.version) == (count * versions, versions)
        with pytest.raises(Exception, match="too small"):
            lance.dataset(str(estate.datasets / datasets.CORRUPT))

    def test_beside_them_lies_what_lies_in_real_folders(self, estate: Estate) -> None:
        found = {path.name for path in estate.datasets.iterdir()}
        others = {datasets.CORRUPT, datasets.EMPTY, datasets.HIDDEN, datasets.PLAIN_FILE}
        assert found == set(datasets.DATASETS) | others
        assert not list((estate.datasets / datasets.EMPTY).iterdir())
        assert (estate.datasets / datasets.PLAIN_FILE).is_file()


def test_the_target_is_empty(estate: Estate) -> None:
    assert RestCatalog("plain", uri=estate.target.uri).list_namespaces() == []


def test_a_second_estate_is_kept_off_the_folder(estate: Estate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nestsync.embedded.process._LOCK_SECONDS", 0.2)
    with pytest.raises(ServerFailed, match="another sample estate runs on this folder"):
        Estate(estate.home).start()
    assert estate.warehouse.pid


def test_what_was_left_half_made_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(folder: Path) -> None:
        (folder / "half.lance").mkdir()
        raise OSError("the disk is full")

    estate = Estate(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(datasets, "fill", breaks)
        with pytest.raises(OSError, match="the disk is full"):
            estate._fill_datasets()
    estate._fill_datasets()
    assert not (estate.datasets / "half.lance").exists()
    assert lance.dataset(str(estate.datasets / "search_queries")).count_rows() == 70


def test_a_restart_keeps_everything(estate: Estate, warehouse: Warehouse) -> None:
    """Last in this module: the addresses are others afterwards."""
    made = {path: path.stat().st_mtime_ns for path in estate.home.glob("*.made")}
    RestCatalog("plain", uri=estate.target.uri).create_namespace(("kept",))
    estate.stop()
    with estate:
        assert {path: path.stat().st_mtime_ns for path in estate.home.glob("*.made")} == made
        again = read_warehouse(estate)
        assert {levels: found[0] for levels, found in again.items()} == {k: v[0] for k, v in warehouse.items()}
        assert sum(len(tables) for _, tables in again.values()) == sum(len(tables) for _, tables in warehouse.values())
        assert RestCatalog("plain", uri=estate.target.uri).list_namespaces() == [("kept",)]
