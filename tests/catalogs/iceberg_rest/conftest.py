"""Fixtures of this room: a server that answers as told, and clients of it that do not wait long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nestsync.catalogs.iceberg_rest import IcebergRestOptions
from tests.catalogs.iceberg_rest.faulty_server import FaultyServer, config, faulty_server

QUICK: dict[str, Any] = {"connect_timeout": 2.0, "read_timeout": 2.0, "max_retries": 2}
"""Options under which nothing waits for long."""


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A server that knows its configuration and nothing else yet."""
    with faulty_server() as running:
        running.get("/v1/config", config())
        yield running


@pytest.fixture(autouse=True)
def short_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries follow at once: what is tested is that and when they come, not how long they wait."""
    monkeypatch.setattr("nestsync.catalogs.iceberg_rest.transport.FIRST_BACK_OFF", 0.01)


@pytest.fixture
def options(server: FaultyServer) -> Callable[..., IcebergRestOptions]:
    """Makes options that reach `server`."""

    def make(**more: Any) -> IcebergRestOptions:
        return IcebergRestOptions(**{"uri": server.uri, **QUICK, **more})

    return make
