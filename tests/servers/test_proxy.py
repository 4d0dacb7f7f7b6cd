from __future__ import annotations

import contextlib
import http.client
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hmsclient import HMSClient
from hmsclient.genthrift.hive_metastore.ttypes import Database
from pyiceberg.catalog.rest import RestCatalog
from thrift.transport.TTransport import TTransportException

from nestsync.embedded.proxy import CountingProxy, Request, _http_head, _thrift_head
from nestsync.embedded.servers import HiveMetastore, IcebergRest


@pytest.mark.parametrize(
    ("request_", "write"),
    [
        (Request("GET", "/v1/namespaces?parent=a"), False),
        (Request("HEAD", "/v1/namespaces/a"), False),
        (Request("POST", "/v1/namespaces"), True),
        (Request("DELETE", "/v1/namespaces/a"), True),
        (Request("PUT", "/x"), True),
        (Request("POST", "/v1/oauth/tokens"), False),
        (Request("POST", "/iceberg/v1/oauth/tokens?scope=x"), False),
        (Request("POST", "/v1/namespaces?x=/oauth/tokens"), True),
        (Request("DELETE", "/v1/oauth/tokens"), True),
        (Request("get_database"), False),
        (Request("get_table_objects_by_name_req"), False),
        (Request("create_database"), True),
        (Request("getName"), True),
        (Request("set_ugi"), True),
        (Request("unread"), True),
    ],
    ids=str,
)
def test_what_is_a_write(request_: Request, write: bool) -> None:
    assert request_.is_write is write


@pytest.mark.parametrize(
    ("begin", "request_"),
    [
        (b"GET /v1/config HTTP/1.1\r\nHost: x\r\n", Request("GET", "/v1/config")),
        (b"POST /v1/a%1Fb HTTP/1.0\n", Request("POST", "/v1/a%1Fb")),
        (b"POST /v1/a", None),
        (b"", None),
        (b'{"a": 1}\n', Request("unread")),
        (b"get /x HTTP/1.1\r\n", Request("unread")),
        (b"x" * 70000, Request("unread")),
    ],
)
def test_http_heads(begin: bytes, request_: Request | None) -> None:
    assert _http_head(begin) == request_


def wait_for(true: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def call(name: bytes, version: int = 0x8001, kind: int = 1) -> bytes:
    return struct.pack(">HBBI", version, 0, kind, len(name)) + name + b"\0\0\0\0\0"


@pytest.mark.parametrize(
    ("begin", "request_"),
    [
        (call(b"get_all_databases"), Request("get_all_databases")),
        (call(b"drop_table", kind=4), Request("drop_table")),
        (call(b"get_catalogs")[:12], None),
        (b"\x80\x01", None),
        (call(b"x", version=0x8002), Request("unread")),
        (call(b"x", kind=2), Request("unread")),
        (b"GET / HTTP/1.1\r\n\r\n", Request("unread")),
        (struct.pack(">HBBI", 0x8001, 0, 1, 2**31), Request("unread")),
    ],
)
def test_thrift_heads(begin: bytes, request_: Request | None) -> None:
    assert _thrift_head(begin) == request_


class TestInFrontOfASocket:
    """A server that says what it is told to say, byte by byte, which no real one does."""

    @pytest.fixture
    def listener(self) -> Iterator[socket.socket]:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.settimeout(10)
            yield listening

    @staticmethod
    def proxy(listener: socket.socket, scheme: str = "http") -> CountingProxy:
        return CountingProxy(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}")

    @staticmethod
    def connect(proxy: CountingProxy) -> socket.socket:
        return socket.create_connection(("127.0.0.1", int(proxy.uri.rpartition(":")[2])), timeout=10)

    def test_a_head_in_pieces_and_a_body_that_looks_like_one(self, listener: socket.socket) -> None:
        with self.proxy(listener) as proxy, self.connect(proxy) as client:
            for piece in (b"PO", b"ST /v1/x HT", b"TP/1.1\r\n", b"Content-Length: 9\r\n\r\n", b"DELETE /y"):
                client.sendall(piece)
            upstream, _ = listener.accept()
            with upstream:
                received = b""
                while not received.endswith(b"DELETE /y"):
                    received += upstream.recv(65536)
                upstream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                assert client.recv(65536).startswith(b"HTTP/1.1 200")
                client.sendall(b"HEAD /z HTTP/1.1\r\n\r\n")
                assert upstream.recv(65536).startswith(b"HEAD /z")
                assert proxy.counts == Counter({Request("POST", "/v1/x"): 1, Request("HEAD", "/z"): 1})
                assert proxy.writes == (Request("POST", "/v1/x"),)

    def test_a_body_after_continue_is_no_request(self, listener: socket.socket) -> None:
        with self.proxy(listener) as proxy, self.connect(proxy) as client:
            client.sendall(b"POST /v1/x HTTP/1.1\r\nExpect: 100-continue\r\n\r\n")
            upstream, _ = listener.accept()
            with upstream:
                upstream.recv(65536)
                upstream.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                client.recv(65536)
                client.sendall(b"a body\r\n")
                upstream.recv(65536)
                assert proxy.counts == Counter({Request("POST", "/v1/x"): 1})

    @pytest.mark.parametrize("scheme", ["http", "thrift"])
    def test_what_cannot_be_read_counts_as_a_write(self, scheme: str, listener: socket.socket) -> None:
        with self.proxy(listener, scheme) as proxy, self.connect(proxy) as client:
            client.sendall(b"\x00\x01\x02 nonsense\n")
            upstream, _ = listener.accept()
            with upstream:
                assert upstream.recv(65536) == b"\x00\x01\x02 nonsense\n"
                assert proxy.writes == (Request("unread"),)

    def test_a_client_that_leaves_within_a_head_is_counted(self, listener: socket.socket) -> None:
        with self.proxy(listener) as proxy:
            with self.connect(proxy) as client:
                client.sendall(b"DELE")
            upstream, _ = listener.accept()
            with upstream:
                assert upstream.recv(65536) == b"DELE"
                assert upstream.recv(65536) == b""
            wait_for(lambda: proxy.writes == (Request("unread"),))

    def test_much_data_arrives_whole_both_ways(self, listener: socket.socket) -> None:
        body = bytes(range(256)) * 40000  # 10 MB: more than any buffer on the way

        def serve() -> None:
            upstream, _ = listener.accept()
            with upstream:
                received = 0
                while received < len(body):
                    received += len(upstream.recv(1 << 20))
                upstream.sendall(body)

        server = threading.Thread(target=serve)
        server.start()
        with self.proxy(listener) as proxy, self.connect(proxy) as client:
            client.sendall(body)
            echoed = b""
            while len(echoed) < len(body):
                echoed += client.recv(1 << 20)
            server.join()
            assert echoed == body
            assert client.recv(1) == b""  # the server's close came through

    def test_stopping_closes_connections_and_frees_the_port(self, listener: socket.socket) -> None:
        threads = threading.active_count()
        proxy = self.proxy(listener).start()
        with self.connect(proxy) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            upstream, _ = listener.accept()
            with upstream:
                proxy.stop()
                with contextlib.suppress(ConnectionResetError):
                    assert client.recv(1) == b""
        proxy.stop()
        assert threading.active_count() == threads
        port = int(proxy.uri.rpartition(":")[2])
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), timeout=5)
        with CountingProxy(f"http://127.0.0.1:{listener.getsockname()[1]}", port=port) as again:
            assert again.uri == proxy.uri

    def test_a_taken_port_is_an_error(self, listener: socket.socket) -> None:
        with pytest.raises(OSError, match="address already in use"):
            CountingProxy("http://127.0.0.1:1", port=listener.getsockname()[1]).start()

    def test_without_a_server_the_connection_breaks(self) -> None:
        with CountingProxy("http://127.0.0.1:1") as proxy:
            connection = http.client.HTTPConnection("127.0.0.1", int(proxy.uri.rpartition(":")[2]), timeout=10)
            with contextlib.closing(connection), pytest.raises((ConnectionError, http.client.HTTPException)):
                connection.request("GET", "/") or connection.getresponse()


@pytest.mark.servers
class TestInFrontOfRealServers:
    def test_iceberg_rest(self, iceberg_server: IcebergRest, unique: str) -> None:
        with CountingProxy(iceberg_server.uri) as proxy:
            catalog = RestCatalog("proxied", uri=proxy.uri)
            catalog.create_namespace((unique,), {"owner": "ops"})
            catalog.update_namespace_properties((unique,), updates={"a": "b"})
            catalog.load_namespace_properties((unique,))
            catalog.list_namespaces()
            assert [write.method for write in proxy.writes] == ["POST", "POST"]
            assert proxy.writes[1].target == f"/v1/namespaces/{unique}/properties"
            assert proxy.counts[Request("GET", "/v1/config")] == 1
            proxy.reset()
            assert (unique,) in catalog.list_namespaces()
            assert proxy.writes == ()
            assert proxy.counts.total() == 1

    def test_hive_metastore(self, hms_server: HiveMetastore, unique: str) -> None:
        with CountingProxy(hms_server.uri) as proxy:
            with HMSClient(host="127.0.0.1", port=int(proxy.uri.rpartition(":")[2])) as client:
                client.create_database(Database(name=unique, locationUri=f"file://{hms_server.warehouse}/{unique}"))
                assert unique in client.get_all_databases()
                client.get_database(unique)
                client.drop_database(unique, deleteData=True, cascade=True)
            assert proxy.writes == (Request("create_database"), Request("drop_database"))
            assert proxy.counts[Request("get_all_databases")] == 1
            assert proxy.counts.total() == 4

    def test_many_threads_lose_no_count(self, hms_server: HiveMetastore, iceberg_server: IcebergRest) -> None:
        def thrift(proxy: CountingProxy) -> None:
            with HMSClient(host="127.0.0.1", port=int(proxy.uri.rpartition(":")[2])) as client:
                for _ in range(50):
                    client.get_all_databases()

        def rest(proxy: CountingProxy) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", int(proxy.uri.rpartition(":")[2]), timeout=30)
            for _ in range(50):
                connection.request("GET", "/v1/namespaces")
                json.load(connection.getresponse())
            connection.close()

        with CountingProxy(hms_server.uri) as hms, CountingProxy(iceberg_server.uri) as iceberg:
            with ThreadPoolExecutor(8) as pool:
                tasks = [pool.submit(thrift, hms) for _ in range(4)] + [pool.submit(rest, iceberg) for _ in range(4)]
                for task in tasks:
                    task.result()
            assert hms.counts == Counter({Request("get_all_databases"): 200})
            assert iceberg.counts == Counter({Request("GET", "/v1/namespaces"): 200})

    def test_a_server_that_stops_breaks_the_connection(self, hms_server: HiveMetastore) -> None:
        with CountingProxy(hms_server.uri) as proxy:
            client = HMSClient(host="127.0.0.1", port=int(proxy.uri.rpartition(":")[2]))
            client.open()
            client.get_catalogs()
            proxy.stop()
            with pytest.raises((TTransportException, OSError)):
                client.get_catalogs()
            client.close()
