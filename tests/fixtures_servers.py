"""The real servers that tests can ask for; each starts when first asked for and stops with the test session.

They are shared: a test works in databases and namespaces of its own (`unique`), and expects others beside them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from nestsync.embedded.servers import HiveMetastore, IcebergRest


@pytest.fixture
def unique() -> str:
    """A name that nothing else has, fit for any catalog."""
    return f"t{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="session")
def hms_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveMetastore]:
    """A Hive Metastore 3.1.3 on Derby."""
    with HiveMetastore(tmp_path_factory.mktemp("hms")) as server:
        yield server


@pytest.fixture(scope="session")
def iceberg_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IcebergRest]:
    """An Iceberg REST reference server on the JDBC catalog: tables work, namespaces are stored dotted."""
    with IcebergRest(tmp_path_factory.mktemp("iceberg")) as server:
        yield server


@pytest.fixture(scope="session")
def iceberg_memory_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IcebergRest]:
    """An Iceberg REST reference server on the in-memory catalog: names are exact, table files are in its memory."""
    with IcebergRest(tmp_path_factory.mktemp("iceberg-memory"), backend="memory") as server:
        yield server
