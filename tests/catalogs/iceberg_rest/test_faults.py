"""What goes wrong: with the catalog as a whole, and with one object in it."""

from __future__ import annotations

import json
import pickle
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from nestsync.catalogs.iceberg_rest import ROOM, IcebergRestOptions
from nestsync.catalogs.iceberg_rest.transport import MAX_RETRY_AFTER, _retry_after
from nestsync.catalogs.records import Status
from nestsync.errors import CatalogUnreachable, NestsyncError
from tests.catalogs.iceberg_rest.faulty_server import (
    FaultyServer,
    Reply,
    Tree,
    config,
    empty,
    error,
    namespace,
    namespaces,
    reply,
    table,
)
from tests.catalogs.iceberg_rest.reading import by_identifier, levels_of, read
from tests.faults import free_port

pytestmark = pytest.mark.servers

Options = Callable[..., IcebergRestOptions]

HTML = Reply(200, b"<html><body>Welcome</body></html>", {"Content-Type": "text/html"})
CUT = Reply(200, json.dumps({"defaults": {}, "overrides": {}, "namespaces": []}).encode(), cut=10)
SLOW = Reply(200, b"{}", delay=2.5)
DRIPPING = Reply(200, b"{" + b" " * 100, drip=0.05)
TOO_DEEP = Reply(200, b"[" * 200_000)


def patience(fault: Reply) -> float:
    """The read time-out to meet `fault` with: short only where it is about time, for the machine may be busy."""
    if fault is SLOW:
        return 1.0
    return 10.0 if fault.drip is None and fault.drip_head is None else 0.1


def redirect(location: str, status: int = 302) -> Reply:
    return Reply(status, b"", {"Location": location})


FAULTS = [
    pytest.param(error(401, "who are you"), "answered 401 Unauthorized: who are you", id="401"),
    pytest.param(error(403, "not you"), "answered 403 Forbidden: not you", id="403"),
    pytest.param(error(404, "no such warehouse"), "answered 404 Not Found: no such warehouse", id="404"),
    pytest.param(Reply(404, b"<html>"), "answered 404 Not Found", id="404 without a message"),
    pytest.param(error(429), "answered 429 Too Many Requests", id="429"),
    pytest.param(error(500, "boom"), "answered 500 Internal Server Error: boom", id="500"),
    pytest.param(error(503), "answered 503 Service Unavailable", id="503"),
    pytest.param(reply({"error": 5}, 599), "answered 599", id="599"),
    pytest.param(HTML, "answered 200 with text/html, which is no JSON", id="HTML"),
    pytest.param(Reply(200, b""), "which is no JSON", id="nothing"),
    pytest.param(Reply(200, b'"\xff\xfe"'), "which is no JSON", id="no UTF-8"),
    pytest.param(TOO_DEEP, "which is no JSON", id="nested too deeply"),
    pytest.param(Reply(200, b"{}", {"Content-Encoding": "gzip"}), "the connection failed", id="broken gzip"),
    pytest.param(reply([1, 2]), "answer holds n", id="a list"),
    pytest.param(reply(None), "answer holds n", id="null"),
    pytest.param(reply({"status": "ok"}), "answer holds n", id="another service's JSON"),
    pytest.param(CUT, "the connection failed", id="dies half way"),
    pytest.param(SLOW, "no answer within 1 s, in 2 attempts", id="slow"),
    pytest.param(DRIPPING, "the answer was not complete within ", id="a byte now and then"),
    pytest.param(Reply(drip_head=0.05), "the answer was not complete within ", id="a byte of a header now and then"),
    pytest.param(redirect("http://h:99999/x"), "which is no address (Port out of range", id="redirect to no port"),
    pytest.param(redirect("http://[::1/x"), "the answer cannot be used", id="redirect to no address"),
    pytest.param(redirect("/elsewhere"), "answered 404", id="redirect to nothing"),
    pytest.param(redirect(""), "is redirected in a loop", id="redirect to itself"),
    pytest.param(
        redirect("https://login.example.com/x?token=abc"),
        "a redirect to another address, https://login.example.com, where no credentials are sent",
        id="redirect to a login page",
    ),
]


@pytest.mark.parametrize("target", ["/v1/config", "/v1/namespaces"], ids=["config", "root"])
@pytest.mark.parametrize(("fault", "said"), FAULTS)
@pytest.mark.proves("exit-5")
def test_a_catalog_that_does_not_answer_is_unreachable(
    server: FaultyServer, options: Options, target: str, fault: Reply, said: str
) -> None:
    server.get(target, fault)
    reader = ROOM.reader(options(read_timeout=patience(fault), max_retries=1), "nightly")
    with pytest.raises(CatalogUnreachable) as caught:
        reader.units(tables=True, parallelism=2)
    message = str(caught.value)
    assert caught.value.exit_code == 5
    assert said in message
    assert f"nightly at {server.uri}: GET {target}: " in message
    assert "token=abc" not in message
    assert "\n" not in message
    assert caught.value.hint
    assert str(pickle.loads(pickle.dumps(caught.value))) == message
    assert isinstance(NestsyncError.from_text(f"Traceback\n{message}\n"), CatalogUnreachable)


def test_a_redirect_loop_over_several_addresses_ends(server: FaultyServer, options: Options) -> None:
    server.get("/v1/config", redirect("/one")).get("/one", redirect("/two")).get("/two", redirect("/one"))
    with pytest.raises(CatalogUnreachable, match="is redirected in a loop"):
        read(options())
    assert len(server.seen) == 3


def test_redirects_that_go_on_and_on_end(server: FaultyServer, options: Options) -> None:
    server.fallback = lambda seen: redirect(seen.target + "x")
    server.get("/v1/config", redirect("/x"))
    with pytest.raises(CatalogUnreachable, match="is redirected in a loop"):
        read(options())
    assert len(server.seen) < 10


def test_a_redirect_on_the_same_host_is_followed_to_the_byte(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a",): {}})
    server.get("/v1/config", redirect("/moved/v1%2Fconfig%2E", 307)).get("/moved/v1%2Fconfig%2E", config())
    assert levels_of(read(options(), tables=False)) == [("a",)]


@pytest.mark.proves("exit-5")
def test_a_server_that_is_down_is_unreachable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(CatalogUnreachable) as caught:
        read(IcebergRestOptions(uri=f"http://127.0.0.1:{port}", max_retries=2))
    assert f"here at http://127.0.0.1:{port}: GET /v1/config: the connection failed (Failed" in str(caught.value)
    assert "refused), in 3 attempts" in str(caught.value)


def test_something_that_speaks_no_http_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        import threading

        def serve() -> None:
            for _ in range(2):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(1000)
                    connection.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        options = IcebergRestOptions(uri=f"http://127.0.0.1:{listener.getsockname()[1]}", max_retries=1)
        with pytest.raises(CatalogUnreachable, match="GET /v1/config: the connection failed"):
            read(options)
        thread.join()


@pytest.mark.proves("exit-5")
def test_a_server_that_dies_half_way_is_unreachable(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree(empty([("a",), ("b",)]), {("a",): ["t"], ("b",): ["u"]})
    reader = ROOM.reader(options(), "here")
    units = reader.units(tables=True, parallelism=1)
    rows = reader.read(units[0], namespaces=True, tables=True)
    assert next(rows).levels == ("a",)
    server.stop()
    # Connections that are kept alive are served on by their threads: close them, as a dead process would.
    server.fallback = lambda seen: Reply(200, b"{", cut=0, headers={"Connection": "close"})
    server.answers.clear()
    with pytest.raises(CatalogUnreachable, match=r"; then GET /v1/config: the connection failed"):
        list(rows)


@pytest.mark.proves("exit-5")
def test_a_server_that_says_what_it_is_and_nothing_else_is_unreachable(server: FaultyServer, options: Options) -> None:
    tree = Tree(empty([(f"n{number:02}",) for number in range(40)]))
    answered = ("/v1/config", "/v1/namespaces")
    server.fallback = lambda seen: tree(seen) if seen.target in answered else Reply(200, b"{}", delay=0.5)
    with pytest.raises(CatalogUnreachable, match=r"no answer within 0.2 s; \d+ requests in a row got no answer"):
        read(options(read_timeout=0.2, max_retries=0))
    asked = [seen.target for seen in server.seen if seen.target not in answered]
    assert len(asked) < 40


OBJECT_FAULTS = [
    pytest.param(error(404, "gone"), "answered 404 Not Found: gone", id="404"),
    pytest.param(error(403, "not this one"), "answered 403 Forbidden: not this one", id="403"),
    pytest.param(error(500, "corrupt\nmetadata"), "answered 500 Internal Server Error: corrupt\\x0ametadata", id="500"),
    pytest.param(error(503), "answered 503 Service Unavailable", id="503"),
    pytest.param(HTML, "answered 200 with text/html, which is no JSON", id="HTML"),
    pytest.param(reply({}), "the answer ", id="wrong shape"),
    pytest.param(reply([]), "the answer ", id="a list"),
    pytest.param(CUT, "the connection failed", id="cut off"),
    pytest.param(SLOW, "no answer within 1 s", id="slow"),
]


@pytest.mark.parametrize(
    ("target", "kind", "said"),
    [
        ("/v1/namespaces/bad", "namespace", "its properties could not be read: GET /v1/namespaces/bad: "),
        ("/v1/namespaces?parent=bad", "namespace", "its children could not be listed: GET /v1/namespaces?parent=bad: "),
        ("/v1/namespaces/bad/tables", "namespace", "its tables could not be listed: GET /v1/namespaces/bad/tables: "),
        ("/v1/namespaces/bad/tables/t?snapshots=refs", "table", "GET /v1/namespaces/bad/tables/t: "),
    ],
    ids=["properties", "children", "tables", "table"],
)
@pytest.mark.parametrize(("fault", "why"), OBJECT_FAULTS)
def test_an_object_that_fails_is_a_row_and_the_rest_goes_on(
    server: FaultyServer, options: Options, target: str, kind: str, said: str, fault: Reply, why: str
) -> None:
    tree = [("bad",), ("good",), ("good", "below")]
    server.fallback = Tree({levels: {"k": "v"} for levels in tree}, {("bad",): ["t", "u"], ("good",): ["w"]})
    server.get(target, fault)
    rows = by_identifier(read(options(read_timeout=patience(fault), max_retries=1)))
    name = "t" if kind == "table" else None
    bad = rows.pop((kind, ("bad",), name))
    assert bad.status is Status.UNREADABLE
    assert said in (bad.error or "")
    assert why in (bad.error or "")
    assert {row.status for row in rows.values()} == {Status.OK}
    lost: set[tuple[str, tuple[str, ...], str | None]] = (
        {("table", ("bad",), "t"), ("table", ("bad",), "u")} if "tables could" in said else set()
    )
    everything: set[tuple[str, tuple[str, ...], str | None]] = {("namespace", levels, None) for levels in tree}
    everything |= {("table", ("bad",), "t"), ("table", ("bad",), "u"), ("table", ("good",), "w")}
    assert set(rows) == everything - {(kind, ("bad",), name)} - lost


def test_an_answer_about_another_namespace_is_not_believed(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a:b",): {}})
    server.get("/v1/namespaces/a%3Ab", namespace("a", "b", owner="the nested one"))
    (row,) = read(options(), tables=False)
    assert row.properties == {}
    assert 'the answer is about another namespace, ["a", "b"]' in (row.error or "")


def test_properties_that_were_read_are_kept_where_the_children_fail(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a",): {"owner": "ann", "comment": "c", "location": "file:///a"}})
    server.get("/v1/namespaces?parent=a", error(403))
    (row,) = read(options(), tables=False)
    assert (row.owner, row.comment, row.location) == ("ann", "c", "file:///a")
    assert row.status is Status.UNREADABLE


def test_all_that_is_wrong_with_a_namespace_is_in_one_row(server: FaultyServer, options: Options) -> None:
    server.fallback = lambda seen: error(403, seen.target)
    server.get("/v1/namespaces", namespaces(["a"]))
    (row,) = read(options())
    for what in ("properties", "children", "tables", "views"):
        assert f"its {what} could not be" in (row.error or "")


def test_a_namespace_that_fails_is_said_among_tables_alone(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a",): {}})
    server.get("/v1/namespaces?parent=a", error(403))
    (row,) = read(options(), namespaces=False)
    assert (row.levels, row.status) == (("a",), Status.UNREADABLE)


def test_a_second_page_that_fails_keeps_the_first(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree(empty([("a",), ("a", "x")]))
    server.get("/v1/namespaces?parent=a", namespaces(["a", "x"], token="2"))
    server.get("/v1/namespaces?parent=a&pageToken=2", error(500))
    rows = by_identifier(read(options(), tables=False))
    assert "its children could not all be listed" in (rows["namespace", ("a",), None].error or "")
    assert "pageToken" not in (rows["namespace", ("a",), None].error or "")
    assert rows["namespace", ("a", "x"), None].status is Status.OK


@pytest.mark.proves("exit-5")
def test_a_root_whose_second_page_fails_is_unreachable(server: FaultyServer, options: Options) -> None:
    server.get("/v1/namespaces", namespaces(["a"], token="2")).get("/v1/namespaces?pageToken=2", error(500))
    with pytest.raises(CatalogUnreachable, match="GET /v1/namespaces: answered 500"):
        read(options())


@pytest.mark.parametrize("entry", ["a", 7, None, [1], ["a", None], {"name": "a"}], ids=repr)
def test_a_root_that_lists_garbage_is_unreachable(server: FaultyServer, options: Options, entry: object) -> None:
    server.get("/v1/namespaces", reply({"namespaces": [["ok"], entry]}))
    with pytest.raises(CatalogUnreachable, match="where a namespace, a list of strings, belongs"):
        read(options())


@pytest.mark.proves("exit-5")
def test_where_the_probe_fails_too_both_requests_are_named(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a",): {}})
    server.get("/v1/namespaces/a", error(500, "boom"))
    server.get("/v1/config", config(), error(503, "going down"))
    with pytest.raises(CatalogUnreachable) as caught:
        read(options(), tables=False)
    assert "GET /v1/namespaces/a: answered 500 Internal Server Error: boom; then GET /v1/config: answered 503" in str(
        caught.value
    )


@pytest.mark.proves("exit-5")
def test_a_token_that_is_refused_half_way_is_unreachable(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a",): {}}, {("a",): ["t"]})
    server.get("/v1/namespaces/a/tables/t?snapshots=refs", error(401))
    with pytest.raises(CatalogUnreachable, match="GET /v1/namespaces/a/tables/t: answered 401"):
        read(options())


# -- retries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [error(429), error(502), error(503), error(504), CUT, SLOW], ids=lambda f: f.status)
def test_a_fault_that_passes_is_retried(server: FaultyServer, options: Options, fault: Reply) -> None:
    server.fallback = Tree({("a",): {}}, {("a",): ["t"]})
    server.get("/v1/config", fault, config())
    server.get("/v1/namespaces", fault, fault, namespaces(["a"]))
    server.get("/v1/namespaces/a/tables/t?snapshots=refs", fault, table())
    rows = read(options(read_timeout=patience(fault)))
    assert {row.status for row in rows} == {Status.OK}
    assert server.targets().count("/v1/namespaces") == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 500, 501])
def test_an_answer_that_is_final_is_not_retried(server: FaultyServer, options: Options, status: int) -> None:
    server.get("/v1/config", error(status))
    with pytest.raises(CatalogUnreachable):
        read(options())
    assert len(server.seen) == 1


@pytest.mark.parametrize("retries", [0, 1, 4])
def test_retries_are_bounded(server: FaultyServer, options: Options, retries: int) -> None:
    server.get("/v1/config", error(503))
    with pytest.raises(CatalogUnreachable):
        read(options(max_retries=retries))
    assert len(server.seen) == retries + 1


def test_by_default_a_restart_is_waited_for_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the back-off of users
    slept: list[float] = []
    monkeypatch.setattr("nestsync.catalogs.iceberg_rest.transport.sleep", slept.append)
    with pytest.raises(CatalogUnreachable, match="in 5 attempts"):
        read(IcebergRestOptions(uri=f"http://127.0.0.1:{free_port()}"))
    assert slept == sorted(slept)
    assert slept[0] <= 0.25  # a connection that was merely stale costs next to nothing
    assert 7 <= sum(slept) <= 15.5


def test_retry_after_is_honoured(server: FaultyServer, options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("nestsync.catalogs.iceberg_rest.transport.sleep", slept.append)
    server.get("/v1/config", reply({}, 429, Retry_After="7"), reply({}, 503, Retry_After="9999"), config())
    server.get("/v1/namespaces", namespaces())
    read(options())
    assert slept == [7.0, MAX_RETRY_AFTER]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("0", 0, 0),
        ("12", 12, 12),
        ("31", 30, 30),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("Wed, 21 Oct 2015 07:28:00", 0, 0),
    ],
)
def test_retry_after_is_a_number_or_a_date(text: str, least: float, most: float) -> None:
    seconds = _retry_after({"Retry-After": text})
    assert seconds is not None
    assert least <= seconds <= most


def test_a_retry_after_that_is_a_date_to_come_is_the_time_until_then() -> None:
    seconds = _retry_after({"Retry-After": format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)})
    assert seconds is not None
    assert 10 <= seconds <= 20


@pytest.mark.parametrize("text", ["", "soon", "-1", "1.5", "²"])
def test_a_retry_after_that_says_nothing_is_no_wait(text: str) -> None:
    assert _retry_after({"Retry-After": text}) is None
