"""What the writer sends, and what it makes of the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from nestsync.catalogs.base import CatalogWriter
from nestsync.catalogs.iceberg_rest import ROOM, IcebergRestOptions
from nestsync.embedded.proxy import CountingProxy
from nestsync.errors import AlreadyExists, CatalogUnreachable, ObjectError, WriteUnheard
from tests.catalogs.iceberg_rest.faulty_server import FaultyServer, Reply, config, error, namespace, reply

pytestmark = pytest.mark.servers

Options = Callable[..., IcebergRestOptions]

UPDATED: dict[str, list[str]] = {"updated": [], "removed": [], "missing": []}


@pytest.fixture
def writer(server: FaultyServer, options: Options) -> Iterator[CatalogWriter]:
    assert ROOM.writer is not None
    opened = ROOM.writer(options(read_timeout=1.0), "target")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("levels", "properties"),
    [
        (("a",), {}),
        (("a b", "c/d", "é", "日本"), {"comment": "a:b|c", "": "", "k\n": "v\t\x00", "emoji": "🧊"}),
    ],
    ids=["plain", "hostile"],
)
def test_a_namespace_is_created_with_one_request(
    server: FaultyServer, writer: CatalogWriter, levels: tuple[str, ...], properties: dict[str, str]
) -> None:
    server.on("POST", "/v1/namespaces", lambda seen: reply(seen.json()))
    writer.create_namespace(levels, properties)
    (sent,) = [seen for seen in server.seen if seen.method == "POST"]
    assert sent.json() == {"namespace": list(levels), "properties": properties}
    assert sent.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("empty", [Reply(204), Reply(200)], ids=["204", "200"])
def test_an_empty_answer_to_a_write_is_a_success(server: FaultyServer, writer: CatalogWriter, empty: Reply) -> None:
    server.on("POST", "/v1/namespaces", empty).on("POST", "/v1/namespaces/a/properties", empty)
    writer.create_namespace(("a",), {})
    writer.update_namespace(("a",), {"k": "v"})


def test_a_namespace_that_exists_is_said_to(server: FaultyServer, writer: CatalogWriter) -> None:
    server.on("POST", "/v1/namespaces", error(409, "Namespace already exists: a"))
    told = "POST /v1/namespaces: answered 409 Conflict: Namespace already exists: a"
    with pytest.raises(AlreadyExists, match=told) as known:
        writer.create_namespace(("a",), {})
    assert not known.value.repeated


def test_a_create_whose_answer_was_lost_ends_in_already_exists(server: FaultyServer, writer: CatalogWriter) -> None:
    lost = Reply(200, b'{"namespace": ["a"]}', cut=3)
    server.on("POST", "/v1/namespaces", lost, error(409))
    with pytest.raises(AlreadyExists) as known:
        writer.create_namespace(("a",), {})
    assert len(server.targets("POST")) == 2
    assert known.value.repeated


def test_a_create_that_was_put_off_is_sent_again(server: FaultyServer, writer: CatalogWriter) -> None:
    server.on("POST", "/v1/namespaces", error(429), error(503), namespace("a"), error(429), error(409))
    writer.create_namespace(("a",), {})
    assert len(server.targets("POST")) == 3
    with pytest.raises(AlreadyExists) as known:
        writer.create_namespace(("a",), {})
    assert not known.value.repeated


REFUSALS = [
    pytest.param(error(400, "malformed"), "answered 400 Bad Request: malformed", id="400"),
    pytest.param(error(403, "no"), "answered 403 Forbidden: no", id="403"),
    pytest.param(error(404, "no parent"), "answered 404 Not Found: no parent", id="404"),
    pytest.param(error(422), "answered 422", id="422"),
    pytest.param(error(500, "boom"), "answered 500 Internal Server Error: boom", id="500"),
    pytest.param(error(503), "answered 503", id="503"),
    pytest.param(Reply(200, b"<html>"), "which is no JSON", id="HTML"),
    pytest.param(reply([]), "holds no list of texts", id="wrong shape"),
    pytest.param(Reply(307, b"", {"Location": "/v1/other"}), "answered 307", id="redirect"),
    pytest.param(Reply(200, b"{}", delay=2.5), "no answer within 1 s", id="slow"),
]


@pytest.mark.parametrize(("answer", "said"), REFUSALS)
@pytest.mark.parametrize("what", ["create", "update"])
def test_a_write_that_fails_is_the_objects_while_the_catalog_answers(
    server: FaultyServer, writer: CatalogWriter, what: str, answer: Reply, said: str
) -> None:
    target = "/v1/namespaces" if what == "create" else "/v1/namespaces/a/properties"
    server.on("POST", target, answer)
    with pytest.raises(ObjectError) as caught:
        writer.create_namespace(("a",), {}) if what == "create" else writer.update_namespace(("a",), {"k": "v"})
    assert not isinstance(caught.value, AlreadyExists)
    assert caught.value.code == "object-failed"
    assert f"target at {server.uri}: POST {target}: " in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize("what", ["create", "update", "read"])
@pytest.mark.parametrize(
    ("answer", "unheard"),
    [
        pytest.param(error(500), True, id="500"),
        pytest.param(error(504), True, id="504"),
        pytest.param(Reply(200, b"<html>"), True, id="garbage"),
        pytest.param(Reply(200, b"{}", delay=2.5), True, id="slow"),
        pytest.param(Reply(200, b"{}", cut=1), True, id="cut"),
        pytest.param(error(503), False, id="503"),
        pytest.param(error(403), False, id="403"),
        pytest.param(error(401), False, id="401"),
    ],
)
@pytest.mark.proves("exit-4")
@pytest.mark.proves("exit-5")
def test_a_request_that_fails_with_the_catalog_is_unreachable(
    server: FaultyServer, writer: CatalogWriter, what: str, answer: Reply, unheard: bool
) -> None:
    server.get("/v1/config", config(), error(500, "down"))
    server.on("POST", "/v1/namespaces", answer).on("POST", "/v1/namespaces/a/properties", answer)
    server.get("/v1/namespaces/a", answer)
    acts = {
        "create": lambda: writer.create_namespace(("a",), {}),
        "update": lambda: writer.update_namespace(("a",), {"k": "v"}),
        "read": lambda: writer.namespace_properties(("a",)),
    }
    with pytest.raises(CatalogUnreachable, match=r"then GET /v1/config: answered 500|answered 401") as gone:
        acts[what]()
    # a read is asked again some other time; of a write, nobody knows whether it was carried out
    assert isinstance(gone.value, WriteUnheard) is (unheard and what != "read")


@pytest.mark.parametrize("what", ["create", "update"])
@pytest.mark.proves("exit-5")
def test_a_write_that_never_arrived_is_known_not_to_be_done(options: Options, server: FaultyServer, what: str) -> None:
    assert ROOM.writer is not None
    with CountingProxy(server.uri) as between:
        writer = ROOM.writer(options(uri=between.uri), "target")
        assert writer.namespace_properties(("there",)) is None
    with pytest.raises(CatalogUnreachable) as gone:
        writer.create_namespace(("a",), {}) if what == "create" else writer.update_namespace(("a",), {"k": "v"})
    writer.close()
    assert not isinstance(gone.value, WriteUnheard)


def test_a_namespace_that_became_another_is_said(server: FaultyServer, writer: CatalogWriter) -> None:
    server.on("POST", "/v1/namespaces", namespace("sales"))
    with pytest.raises(ObjectError, match=r"asked for the namespace \['Sales'\] and made \['sales'\]"):
        writer.create_namespace(("Sales",), {})


def test_properties_are_read_exactly(server: FaultyServer, writer: CatalogWriter) -> None:
    server.get("/v1/namespaces/a%1Fb%20c", namespace("a", "b c", k="a:b|c"))
    assert writer.namespace_properties(("a", "b c")) == {"k": "a:b|c"}


def test_a_namespace_that_is_not_there_has_no_properties(server: FaultyServer, writer: CatalogWriter) -> None:
    assert writer.namespace_properties(("a",)) is None


@pytest.mark.parametrize(
    ("updates", "removals", "answer", "left"),
    [
        ({"k": "v"}, [], {"updated": ["k"]}, None),
        ({"k": "v"}, ["old"], {"updated": ["k"], "removed": ["old"]}, None),
        ({}, ["old"], {"missing": ["old"]}, None),
        ({"k": "v"}, [], {}, "'k'"),
        ({"k": "v"}, [], {"missing": ["k"]}, "'k'"),
        ({}, ["old"], {}, "'old'"),
        ({"k": "v", "l": "w"}, ["old"], {"updated": ["l"]}, "'k', 'old'"),
    ],
    ids=["set", "set and removed", "missing before", "ignored", "not set", "not removed", "half"],
)
def test_an_update_is_believed_key_by_key(
    server: FaultyServer,
    writer: CatalogWriter,
    updates: dict[str, str],
    removals: list[str],
    answer: dict[str, list[str]],
    left: str | None,
) -> None:
    server.on("POST", "/v1/namespaces/a/properties", reply(UPDATED | answer))
    if left is None:
        writer.update_namespace(("a",), updates, removals)
    else:
        with pytest.raises(ObjectError, match=f"the server did not change {left} of the namespace"):
            writer.update_namespace(("a",), updates, removals)
    (sent,) = [seen for seen in server.seen if seen.method == "POST"]
    assert sent.json() == {"updates": updates, "removals": removals}


def test_an_update_of_nothing_sends_nothing(server: FaultyServer, writer: CatalogWriter) -> None:
    writer.update_namespace(("a",), {})
    assert server.targets("POST") == []


@pytest.mark.parametrize(
    "levels", [(), ("",), ("a\x1fb",), ("..",), ("\ud800",)], ids=["root", "empty", "separator", "dots", "surrogate"]
)
def test_a_name_that_cannot_be_addressed_is_not_sent(
    server: FaultyServer, writer: CatalogWriter, levels: tuple[str, ...]
) -> None:
    for act in (
        lambda: writer.create_namespace(levels, {}),
        lambda: writer.update_namespace(levels, {"k": "v"}),
        lambda: writer.namespace_properties(levels),
    ):
        with pytest.raises(ObjectError, match="was not asked for: "):
            act()
    assert server.targets() == ["/v1/config"]
    assert server.targets("POST") == []


@pytest.mark.parametrize("properties", [{"k": "\ud800"}, {"\udfff": "v"}], ids=["value", "key"])
def test_a_property_with_a_lone_surrogate_is_not_sent(
    server: FaultyServer, writer: CatalogWriter, properties: dict[str, str]
) -> None:
    with pytest.raises(ObjectError, match="lone surrogate"):
        writer.create_namespace(("a",), properties)
    assert server.targets("POST") == []


def test_many_threads_use_one_writer_over_few_connections(server: FaultyServer, options: Options) -> None:
    assert ROOM.writer is not None
    writer = ROOM.writer(options(connections=2), "target")
    server.on("POST", "/v1/namespaces", lambda seen: reply(seen.json()))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: writer.create_namespace((f"n{i}",), {"i": str(i)}), range(64)))
    sent = [tuple(seen.json()["namespace"]) for seen in server.seen if seen.method == "POST"]
    assert sorted(sent) == sorted((f"n{i}",) for i in range(64))
    assert server.targets() == ["/v1/config"]
    writer.close()
