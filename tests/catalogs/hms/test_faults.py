"""What goes wrong: with the metastore as a whole, and with one object in it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

from nestsync.catalogs.hms import ROOM, HmsOptions
from nestsync.catalogs.records import Status
from nestsync.errors import CatalogUnreachable, NestsyncError
from tests.catalogs.hms.content import FORMATS, Metastore
from tests.catalogs.hms.reading import read
from tests.faults import (
    FaultyProxy,
    Serve,
    answering,
    dripping,
    faulty_proxy,
    free_port,
    hanging_up,
    listening,
    silent,
)

pytestmark = pytest.mark.system

SECURED = "is this a metastore? One that wants SASL (Kerberos), TLS or HTTP"
SLOW = "the metastore took the connection and is silent or slow; read_timeout"


def thrift(kind: int, name: bytes, content: bytes) -> bytes:
    """A message of the strict binary protocol, sequence id 0."""
    head = b"\x80\x01\x00" + bytes([kind]) + len(name).to_bytes(4, "big") + name + b"\x00" * 4
    return head + content


def failure(kind: int, message: bytes) -> bytes:
    """Thrift's own error: a struct with a text and a number."""
    text = b"\x0b\x00\x01" + len(message).to_bytes(4, "big") + message
    return thrift(3, b"get_catalogs", text + b"\x08\x00\x02" + kind.to_bytes(4, "big") + b"\x00")


HUGE_LIST = thrift(2, b"get_catalogs", b"\x0c\x00\x00\x0f\x00\x01\x0b\x7f\xff\xff\xff")
NO_RESULT = thrift(2, b"get_catalogs", b"\x00")
NO_NAMES = thrift(2, b"get_catalogs", b"\x0c\x00\x00\x00\x00")
META_EXCEPTION = thrift(2, b"get_catalogs", b"\x0c\x00\x01\x0b\x00\x01\x00\x00\x00\x07no disk\x00\x00")

SERVERS: list[tuple[str, Serve, str, str]] = [
    ("HTTP", answering(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "Length exceeded max allowed", SECURED),
    ("TLS alert", answering(b"\x15\x03\x03\x00\x02\x02\x46"), "get_catalogs(): ", SECURED),
    ("SASL that hangs up", hanging_up, "TSocket read 0 bytes", SECURED),
    ("SASL that explains", answering(b"\x04\x00\x00\x00\x11Invalid status -128"), "get_catalogs(): ", SECURED),
    ("SSH", answering(b"SSH-2.0-OpenSSH_9.9\r\n"), "get_catalogs(): ", SECURED),
    ("zeros", answering(b"\x00" * 100), "get_catalogs(): ", SECURED),
    ("a list of 2^31 texts", answering(HUGE_LIST), "get_catalogs(): ", SECURED),
    ("an answer cut short", answering(NO_NAMES[:-3]), "TSocket read 0 bytes", SECURED),
    ("no result", answering(NO_RESULT), "get_catalogs failed: unknown result", SECURED),
    ("a result without names", answering(NO_NAMES), "get_catalogs(): ", SECURED),
    ("an error of its own", answering(META_EXCEPTION), "MetaException: no disk", "the metastore's own log says more"),
    ("too old", answering(failure(1, b"Invalid method name")), "Invalid method name", "version 3 or later is needed"),
    ("an internal error", answering(failure(6, b"Internal error")), "Internal error", "own log says more"),
    ("silent", silent, "read timeout", SLOW),
    ("a byte now and then", dripping, "read timeout", SLOW),
]


@pytest.mark.parametrize(("what", "serve", "said", "hint"), SERVERS, ids=[case[0] for case in SERVERS])
@pytest.mark.proves("exit-5")
def test_what_does_not_answer_as_a_metastore_is_unreachable(what: str, serve: Serve, said: str, hint: str) -> None:
    with listening(serve) as port, pytest.raises(CatalogUnreachable) as caught:
        read(f"thrift://127.0.0.1:{port}", read_timeout=0.5, max_retries=1)
    message = str(caught.value)
    assert message.startswith(f"[catalog-unreachable] lake at thrift://127.0.0.1:{port}: get_catalogs(): ")
    assert said in message
    assert hint in caught.value.hint
    assert "\n" not in message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message
    assert isinstance(NestsyncError.from_text(f"Traceback\n{message}\n"), CatalogUnreachable)


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid", "a" * 70])
@pytest.mark.proves("exit-5")
def test_a_metastore_that_is_down_is_unreachable(host: str) -> None:
    uri = f"thrift://{host}:{free_port()}"
    with pytest.raises(CatalogUnreachable, match=f"lake at {uri}: get_catalogs.*the metastore runs"):
        read(uri, max_retries=0)


@pytest.fixture
def proxy(metastore: Metastore) -> Iterator[FaultyProxy]:
    with faulty_proxy(metastore.uri) as running:
        yield running


ONE_OBJECT = [
    ("cut", b"in_made0", (("odd", "a:b"), "in_made0"), "TSocket read 0 bytes"),
    ("hang", b"in_made0", (("odd", "a:b"), "in_made0"), "read timeout"),
    ("cut", b"@odd#a:b", (("odd", "a:b"), None), "TSocket read 0 bytes"),
    ("hang", b"@odd#a:b", (("odd", "a:b"), None), "read timeout"),
]


@pytest.mark.servers
@pytest.mark.parametrize(("how", "poison", "key", "said"), ONE_OBJECT, ids=["cut", "hang", "cut db", "hang db"])
def test_an_object_that_breaks_connections_is_one_error_row(
    metastore: Metastore,
    proxy: FaultyProxy,
    how: str,
    poison: bytes,
    key: tuple[tuple[str, ...], str | None],
    said: str,
) -> None:
    proxy.decide = lambda request: how if poison in request else "pass"
    whole = read(metastore.uri, catalogs=("odd",))
    found = read(proxy.uri, catalogs=("odd",), read_timeout=1.0, max_retries=1)
    assert found[key].status is Status.UNREADABLE
    assert said in (found[key].error or "")
    lost = {other for other in whole if other[0] == key[0]} if key[1] is None else {key}
    assert found.keys() == whole.keys() - (lost - {key})
    assert {other: row for other, row in found.items() if other not in lost} == {
        other: row for other, row in whole.items() if other not in lost
    }


@pytest.mark.servers
def test_a_catalog_that_cannot_be_listed_is_an_error_row(proxy: FaultyProxy) -> None:
    proxy.decide = lambda request: "cut" if b"get_databases" in request and b"@lake#" in request else "pass"
    found = read(proxy.uri, catalogs=("hive", "lake"), max_retries=0)
    assert {levels for levels, _ in found} == {("hive", "default"), ("lake",)}
    row = found[("lake",), None]
    assert (row.status, row.error) == (Status.UNREADABLE, "get_databases('@lake#'): TSocket read 0 bytes")


@pytest.mark.servers
@pytest.mark.parametrize("namespaces", [True, False])
def test_tables_that_cannot_be_listed_show_on_their_database(proxy: FaultyProxy, *, namespaces: bool) -> None:
    proxy.decide = lambda request: "cut" if b"get_all_tables" in request and b"@lake#formats" in request else "pass"
    found = read(proxy.uri, catalogs=("lake",), max_retries=0, namespaces=namespaces)
    row = found[("lake", "formats"), None]
    assert (row.status, row.error) == (Status.UNREADABLE, "get_all_tables('@lake#formats'): TSocket read 0 bytes")
    assert [key for key in found if key[1] is not None] == []


@pytest.mark.servers
def test_a_connection_that_breaks_now_and_then_costs_nothing(metastore: Metastore, proxy: FaultyProxy) -> None:
    proxy.decide = lambda request: "cut" if len(proxy.seen) % 5 == 0 else "pass"
    assert read(proxy.uri, catalogs=("lake",), batch_size=4, connections=1) == read(metastore.uri, catalogs=("lake",))
    assert proxy.connections > 2


@pytest.mark.servers
@pytest.mark.parametrize("how", ["cut", "hang"])
@pytest.mark.proves("exit-5")
def test_a_metastore_that_dies_half_way_is_unreachable(proxy: FaultyProxy, how: str) -> None:
    options = HmsOptions(
        uri=proxy.uri, catalogs=("lake",), connections=1, batch_size=1, read_timeout=1.0, max_retries=1
    )
    reader = ROOM.reader(options, "lake")
    (unit,) = reader.units(tables=True, parallelism=1)
    rows = reader.read(unit, namespaces=True, tables=True)
    assert next(rows).levels == ("lake", "default")
    proxy.decide = lambda request: how
    with pytest.raises(CatalogUnreachable, match=rf"lake at {proxy.uri}: get_\w+\(.*'lake'|@lake#") as caught:
        list(rows)
    assert caught.value.hint
    assert len(FORMATS) > 10  # enough that some were still to come


@pytest.mark.servers
@pytest.mark.proves("exit-5")
def test_a_metastore_whose_database_died_is_unreachable(proxy: FaultyProxy, metastore: Metastore) -> None:
    """Everything fails with the metastore's own error, the probe too: then it is no single object's fault."""
    with listening(answering(META_EXCEPTION)) as port:
        options = HmsOptions(uri=f"{proxy.uri},thrift://127.0.0.1:{port}", catalogs=("lake",), max_retries=0)
        reader = ROOM.reader(options, "lake")
        (unit,) = reader.units(tables=True, parallelism=1)
        proxy.decide = lambda request: "cut"
        with pytest.raises(CatalogUnreachable, match=r"lake at .*: get_database\('@lake#default'\): "):
            list(reader.read(unit, namespaces=True, tables=True))
