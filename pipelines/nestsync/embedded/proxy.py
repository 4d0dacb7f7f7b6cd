"""A proxy on loopback that counts what clients ask of a server, so that "0 writes" is not our own word for it.

It copies bytes and looks only at how a request begins. Both protocols take turns on a connection (a client sends
its next request after the answer to the last one), so a request begins with the first bytes after an answer.
"""

from __future__ import annotations

import asyncio
import re
import struct
import threading
from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, cast
from urllib.parse import urlsplit

_UNREAD: Final = "unread"
_LONGEST_HEAD = 65536
_START_SECONDS = 10.0
_READS = frozenset({"GET", "HEAD"})
_REQUEST_LINE = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.[01]\r?\n")
_STRICT_THRIFT = 0x8001
_CALL, _ONEWAY = 1, 4


@dataclass(frozen=True, slots=True, order=True)
class Request:
    """What was asked: an HTTP method and its target (path and query), or a thrift call's name and no target.

    What could not be read as a request has the method ``unread``, and counts as a write: a count of 0 writes
    must never come from not understanding.
    """

    method: str
    target: str = ""

    @property
    def is_write(self) -> bool:
        """Any HTTP method but GET and HEAD, token endpoints apart; any thrift call that is no ``get_*``."""
        if self.method.startswith("get_") or self.method in _READS:
            return False
        return not (self.method == "POST" and urlsplit(self.target).path.endswith("/oauth/tokens"))

    def __str__(self) -> str:
        return f"{self.method} {self.target}".rstrip()


class CountingProxy:
    """A proxy in front of the server at `upstream` (``http://HOST:PORT`` or ``thrift://HOST:PORT``).

    `uri` is what clients take instead. Runs in a thread of its own; every method may be called from any thread.
    """

    def __init__(self, upstream: str, *, port: int = 0) -> None:
        address = urlsplit(upstream)
        self._scheme = address.scheme
        self._read_head = _thrift_head if address.scheme == "thrift" else _http_head
        self._upstream = (address.hostname or "127.0.0.1", address.port or 80)
        self._port = port
        self._lock = threading.Lock()
        self._counts: Counter[Request] = Counter()
        self._writes: list[Request] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._open: set[asyncio.Transport] = set()

    @property
    def uri(self) -> str:
        """The address to give to clients."""
        return f"{self._scheme}://127.0.0.1:{self._port}"

    @property
    def counts(self) -> Counter[Request]:
        """How often each request was seen since the last `reset`."""
        with self._lock:
            return Counter(self._counts)

    @property
    def writes(self) -> tuple[Request, ...]:
        """The write requests since the last `reset`, in order."""
        with self._lock:
            return tuple(self._writes)

    def reset(self) -> None:
        """Begin to count anew."""
        with self._lock:
            self._counts.clear()
            self._writes.clear()

    def start(self) -> Self:
        """Listen. Raises `OSError` when the port is taken."""
        started: Future[int] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="counting-proxy", daemon=True)
        self._thread.start()
        self._port = started.result(_START_SECONDS)
        return self

    def stop(self) -> None:
        """Close every connection and stop listening. Harmless when it is not running."""
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop and thread:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _run(self, started: Future[int]) -> None:
        loop = asyncio.new_event_loop()
        try:
            listening = loop.create_server(lambda: _ClientSide(self, loop), "127.0.0.1", self._port)
            server = loop.run_until_complete(listening)
        except OSError as error:
            loop.close()
            started.set_exception(error)
            return
        self._loop = loop
        started.set_result(server.sockets[0].getsockname()[1])
        loop.run_forever()
        server.close()
        loop.run_until_complete(self._hang_up())
        loop.close()

    async def _hang_up(self) -> None:
        connecting = asyncio.all_tasks() - {asyncio.current_task()}
        for task in connecting:
            task.cancel()
        await asyncio.gather(*connecting, return_exceptions=True)
        for transport in tuple(self._open):
            transport.abort()
        while self._open:  # an aborted connection closes its socket in the loop's next rounds
            await asyncio.sleep(0)
        await asyncio.sleep(0)

    def _count(self, request: Request) -> None:
        with self._lock:
            self._counts[request] += 1
            if request.is_write:
                self._writes.append(request)


class _Side(asyncio.Protocol):
    """One end of a connection: what arrives here goes out at the other side, no faster than it takes it."""

    other: _Side | None = None
    transport: asyncio.Transport | None = None
    ended = False  # whether this end has said its last word

    def __init__(self, proxy: CountingProxy) -> None:
        self.proxy = proxy

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.proxy._open.add(self.transport)

    def connection_lost(self, error: Exception | None) -> None:
        if self.transport:
            self.proxy._open.discard(self.transport)
        if self.other and self.other.transport:
            self.other.transport.close()

    def eof_received(self) -> bool:
        self.ended = True
        if not self.other or not self.other.transport or self.other.ended:
            return False  # nothing can come from either side any more: closes this one, and with it the other
        self.other.transport.write_eof()
        return True

    def pause_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.resume_reading()


class _ClientSide(_Side):
    def __init__(self, proxy: CountingProxy, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(proxy)
        self.loop = loop
        self.head: bytes | None = b""  # what has come of a request's beginning; None once that is read
        self.early = b""  # what came before the server was connected: some Pythons' `pause_reading` is late

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self.transport:
            self.transport.pause_reading()  # until the server is connected
        self.connecting = self.loop.create_task(self._connect())

    async def _connect(self) -> None:
        host, port = self.proxy._upstream
        try:
            _, other = await self.loop.create_connection(lambda: _ServerSide(self.proxy, self), host, port)
        except OSError:
            if self.transport:
                self.transport.abort()  # as if the server itself were not there
            return
        self.other = other
        if other.transport:
            other.transport.write(self.early)
            if self.ended:
                other.transport.write_eof()
        if self.transport:
            self.transport.resume_reading()

    def eof_received(self) -> bool:
        if self.other is None:
            self.ended = True
            return True
        return super().eof_received()

    def data_received(self, data: bytes) -> None:
        if self.head is not None:
            self.head += data
            request = self.proxy._read_head(self.head)
            if request is not None:
                self.head = None
                self.proxy._count(request)
        if self.other is None:
            self.early += data
        elif self.other.transport:
            self.other.transport.write(data)

    def connection_lost(self, error: Exception | None) -> None:
        if self.head:  # the client went away in the middle of a head
            self.proxy._count(Request(_UNREAD))
        super().connection_lost(error)


class _ServerSide(_Side):
    def __init__(self, proxy: CountingProxy, client: _ClientSide) -> None:
        super().__init__(proxy)
        self.client = client
        self.other = client

    def data_received(self, data: bytes) -> None:
        if not data.startswith(b"HTTP/1.1 100 "):  # "go on": the request's body is still to come
            self.client.head = b""
        if self.client.transport:
            self.client.transport.write(data)


def _http_head(begin: bytes) -> Request | None:
    """The request that `begin` begins with; None while more is needed to tell."""
    found = _REQUEST_LINE.match(begin)
    if found:
        return Request(found[1].decode("ascii"), found[2].decode("latin-1"))
    return Request(_UNREAD) if b"\n" in begin or len(begin) > _LONGEST_HEAD else None


def _thrift_head(begin: bytes) -> Request | None:
    """The call that `begin` begins with, in the strict binary protocol; None while more is needed to tell."""
    if len(begin) < 8:
        return None
    version, _, kind, length = struct.unpack(">HBBI", begin[:8])
    if version != _STRICT_THRIFT or kind not in (_CALL, _ONEWAY) or not 0 < length < _LONGEST_HEAD:
        return Request(_UNREAD)
    return Request(begin[8 : 8 + length].decode("utf-8", "replace")) if len(begin) >= 8 + length else None
