"""Servers on loopback that misbehave on purpose, which no real one can be told to."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from nestsync.embedded.proxy import CountingProxy, Request

Serve = Callable[[socket.socket], None]


@contextmanager
def listening(serve: Serve) -> Iterator[int]:
    """A port on which every connection is handed to `serve`, in a thread of its own, and closed after it."""
    listener = socket.create_server(("127.0.0.1", 0))
    connections: list[socket.socket] = []

    def handle(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            serve(connection)

    def accept() -> None:
        with suppress(OSError):  # the listener was closed
            while True:
                connection, _ = listener.accept()
                connections.append(connection)
                threading.Thread(target=handle, args=(connection,), daemon=True).start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield listener.getsockname()[1]
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        acceptor.join()
        for connection in connections:
            _close(connection)


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port: int = unused.getsockname()[1]
        return port


def answering(content: bytes) -> Serve:
    """Whatever is asked, `content` is the answer, and the connection is closed."""

    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(content)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
            connection.recv(65536)

    return serve


def hanging_up(connection: socket.socket) -> None:
    """Closes as soon as something is asked, as a SASL server does after a plain request."""
    connection.recv(65536)


def silent(connection: socket.socket) -> None:
    """Reads and never answers."""
    while connection.recv(65536):
        pass


def dripping(connection: socket.socket) -> None:
    """Answers one byte a tenth of a second: never silent, never done."""
    connection.recv(65536)
    for byte in b"\x80\x01\x00\x02\x00\x00\x00\x0cget_catalogs" + b"\x00" * 200:
        connection.sendall(bytes([byte]))
        time.sleep(0.1)


class FaultyProxy:
    """Stands before the server at `upstream`; what it does with a request, `decide` says from the request's bytes.

    ``pass`` forwards it, ``cut`` closes the connection, ``hang`` swallows the request. `seen` holds every request.
    """

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self._upstream = (parts.hostname or "", parts.port or 0)
        self.decide: Callable[[bytes], str] = lambda request: "pass"
        self.seen: list[bytes] = []
        self.connections = 0
        self.port = 0

    @property
    def uri(self) -> str:
        return f"thrift://127.0.0.1:{self.port}"

    def serve(self, client: socket.socket) -> None:
        """Forward requests and answers until either side closes; the protocol takes turns."""
        self.connections += 1
        with socket.create_connection(self._upstream) as server:
            answers = threading.Thread(target=_copy, args=(server, client), daemon=True)
            answers.start()
            while request := client.recv(1 << 20):
                self.seen.append(request)
                match self.decide(request):
                    case "cut":
                        break
                    case "hang":
                        continue
                    case _:
                        server.sendall(request)
            _close(client)
        answers.join()


@contextmanager
def faulty_proxy(upstream: str) -> Iterator[FaultyProxy]:
    """A proxy that listens while the block runs."""
    proxy = FaultyProxy(upstream)
    with listening(proxy.serve) as proxy.port:
        yield proxy


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while content := source.recv(1 << 20):
            target.sendall(content)


def _close(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


class HoldingProxy(CountingProxy):
    """Holds everything at the write request number `at`, which then waits at the server's door until `release`."""

    def __init__(self, upstream: str, at: int) -> None:
        super().__init__(upstream)
        self.held = threading.Event()
        self._at = at
        self._released = threading.Event()

    def release(self) -> None:
        self._released.set()

    def _count(self, request: Request) -> None:
        super()._count(request)
        if request.is_write and len(self.writes) == self._at:
            self.held.set()
            self._released.wait()
