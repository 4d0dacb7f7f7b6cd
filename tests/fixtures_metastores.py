"""A metastore with content of every kind, odd and broken names included: for all tests that read one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nestsync.embedded.servers import HiveMetastore
from tests.catalogs.hms.content import Metastore, make


@pytest.fixture(scope="session")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """A Hive Metastore 3.1.3 that nobody writes to any more."""
    with HiveMetastore(tmp_path_factory.mktemp("metastore")) as server:
        yield make(server)
