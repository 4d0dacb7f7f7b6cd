"""What every test can ask for: one Spark session, and (from `fixtures_servers`) the real servers."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.few_rows import FEW_ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# How long an example takes says nothing about whether it is right: machines are busy.
settings.register_profile("nestsync", deadline=None)
settings.register_profile("fast", deadline=None, max_examples=20)
settings.load_profile("nestsync")

pytest_plugins = ["tests.fixtures_servers", "tests.fixtures_metastores"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """PySpark leaves the socket of every ``collect()`` to the garbage collector, which warns about it."""
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))
    # Modules with a time of their own take minutes: begun first, no worker waits for another's at the end.
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)


@pytest.fixture(scope="module", autouse=True)
def sockets_of_spark(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collect those sockets after a module with Spark, so that they are no warning in somebody else's test."""
    yield
    if any(item.get_closest_marker("spark") for item in request.session.items if item.path == request.path):
        _collect_sockets()


def _collect_sockets() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session that all tests share: two cores, loopback only, Delta and every room registered."""
    from nestsync.session import open_session

    warehouse = tmp_path_factory.mktemp("spark")
    folders = {"spark.sql.warehouse.dir": warehouse.as_uri(), "spark.local.dir": str(warehouse)}
    session = open_session("local[2]", FEW_ROWS | folders)
    yield session
    session.stop()
    _collect_sockets()
