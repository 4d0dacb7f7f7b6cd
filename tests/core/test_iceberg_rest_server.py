"""The Iceberg REST dialects against the reference server itself, asked byte for byte what a text means."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from nestsync.core.dialects import dialect
from nestsync.core.identifiers import Levels
from tests.core.hostile import HOSTILE

if TYPE_CHECKING:
    from nestsync.embedded.servers import IcebergRest

pytestmark = pytest.mark.servers

PATH, QUERY = dialect("iceberg-rest"), dialect("iceberg-rest-query")
NAMES = [name for name in HOSTILE if "\x00" not in name]
"""Iceberg's classes refuse the null character, whatever its text is."""


class Server:
    """Sends a request target as it is: the usual clients resolve dots and undo percent-encodings first."""

    def __init__(self, uri: str) -> None:
        address = urlsplit(uri)
        self.connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)

    def ask(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
        self.connection.request(method, target, json.dumps(body), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def create(self, levels: Levels) -> int:
        return self.ask("POST", "/v1/namespaces", {"namespace": levels, "properties": {}})[0]

    def read(self, text: str) -> Levels:
        status, answer = self.ask("GET", f"/v1/namespaces/{text}")
        assert status == 200, answer
        return tuple(answer["namespace"])


@pytest.fixture
def server(iceberg_memory_server: IcebergRest) -> Iterator[Server]:
    found = Server(iceberg_memory_server.uri)
    yield found
    found.connection.close()


@pytest.mark.parametrize("name", [name for name in NAMES if PATH.refusal((name,)) is None], ids=ascii)
def test_what_is_written_is_what_the_server_reads(server: Server, unique: str, name: str) -> None:
    for levels in ((unique,), (unique, name), (unique, name, "child")):
        assert server.create(levels) == 200
        assert server.read(PATH.encode(levels)) == levels
    status, answer = server.ask("GET", f"/v1/namespaces?parent={QUERY.encode((unique, name))}")
    assert (status, answer["namespaces"]) == (200, [[unique, name, "child"]])


def test_a_refused_level_is_read_as_two(server: Server, unique: str) -> None:
    two, refused = (unique, "a", "b"), (unique, "a\x1fb")
    assert server.create(two) == 200
    assert server.read(PATH.render(refused)) == PATH.read(PATH.render(refused)) == two


def test_the_separator_is_looked_for_before_anything_is_decoded(server: Server, unique: str) -> None:
    assert server.create((f"{unique}\x1fb",)) == 200
    assert server.read(f"{unique}%1fb") == PATH.read(f"{unique}%1fb") == (f"{unique}\x1fb",)


def test_a_bare_plus_is_a_blank_to_the_server(server: Server, unique: str) -> None:
    assert server.create((f"{unique} b",)) == 200
    assert server.read(f"{unique}+b") == (f"{unique} b",)
    assert PATH.decode(f"{unique}+b") == (f"{unique}+b",)
