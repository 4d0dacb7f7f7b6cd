"""The engines and servers, each started when first asked for, and the note of what they did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nestsync.core.identifiers import Levels
from nestsync.embedded.servers import IcebergRest
from nestsync.jars import SPARK_DELTA, fetch
from tests.engines.answers import Answer
from tests.engines.jars import SPARK_ICEBERG
from tests.engines.rest import Rest
from tests.engines.seen import Seen, save
from tests.engines.servers import HiveMetastore4, IcebergRest11, Nessie

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Record = Callable[[str, str, tuple[Levels, ...], Answer], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-seen", action="store_true", help="write down what the engines did: seen.json")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/engines/" in item.nodeid:
            item.add_marker(pytest.mark.engines)


@pytest.fixture(scope="session")
def record(pytestconfig: pytest.Config) -> Iterator[Record]:
    """Notes what an engine did; written down at the end where that is asked for."""
    seen: dict[object, Seen] = {}

    def note(engine: str, question: str, names: tuple[Levels, ...], answer: Answer) -> None:
        one = Seen(engine, question, names, answer)
        seen[one.key] = one

    yield note
    if pytestconfig.getoption("--write-seen", default=False):
        save(seen.values())


@pytest.fixture(scope="session")
def rest_memory(iceberg_memory_server: IcebergRest) -> Iterator[Rest]:
    yield from _catalog(iceberg_memory_server.uri)


@pytest.fixture(scope="session")
def rest_jdbc(iceberg_server: IcebergRest) -> Iterator[Rest]:
    yield from _catalog(iceberg_server.uri)


@pytest.fixture(scope="session")
def rest_11(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    """The reference server 1.11.0 on the in-memory catalog."""
    with IcebergRest11(tmp_path_factory.mktemp("iceberg-1.11")) as server:
        yield from _catalog(server.uri)


@pytest.fixture
def empty_rest_11(tmp_path: Path) -> Iterator[Rest]:
    """The same with nothing in it: one odd name that another test left there, and Trino lists none at all."""
    with IcebergRest11(tmp_path / "iceberg-1.11") as server:
        yield from _catalog(server.uri)


@pytest.fixture(scope="session")
def nessie(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    with Nessie(tmp_path_factory.mktemp("nessie")) as server:
        yield from _catalog(server.uri)


@pytest.fixture(scope="session")
def hms_4_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveMetastore4]:
    """A Hive Metastore 4.0.1 on Derby."""
    with HiveMetastore4(tmp_path_factory.mktemp("hms-4")) as server:
        yield server


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with Iceberg's catalogs."""
    from nestsync.session import open_session

    warehouse = tmp_path_factory.mktemp("spark")
    jars = ",".join(map(str, (*fetch(SPARK_DELTA), *fetch(SPARK_ICEBERG))))
    folders = {"spark.sql.warehouse.dir": warehouse.as_uri(), "spark.local.dir": str(warehouse)}
    session = open_session("local[2]", {"spark.jars": jars} | folders)
    yield session
    session.stop()


def _catalog(uri: str) -> Iterator[Rest]:
    catalog = Rest(uri)
    yield catalog
    catalog.close()
