"""What runs go from and to: two real Iceberg REST servers, empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nestsync.embedded.servers import IcebergRest


@pytest.fixture
def source(tmp_path: Path) -> Iterator[IcebergRest]:
    with IcebergRest(tmp_path / "source", backend="memory") as server:
        yield server


@pytest.fixture
def target(tmp_path: Path) -> Iterator[IcebergRest]:
    with IcebergRest(tmp_path / "target", backend="memory") as server:
        yield server
