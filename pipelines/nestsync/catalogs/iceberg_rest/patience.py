"""Answers whose heads come within a limit: a server that sends a byte now and then never trips the read time-out."""

from __future__ import annotations

import http.client
import socket
from time import monotonic
from typing import Any, BinaryIO

import urllib3.connection
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool

HEADS = 10
"""How many read time-outs the head of an answer may take."""


class HeadTooSlow(OSError):
    """The head of an answer was not complete in time."""


class _Lines:
    """The lines of `file`, as far as they come before `deadline` (`time.monotonic`)."""

    def __init__(self, file: Any, deadline: float) -> None:
        self._file = file
        self._deadline = deadline

    def readline(self, limit: int) -> bytes:
        """At most `limit` bytes of the next line. Raises `HeadTooSlow`."""
        line = b""
        while len(line) < limit and not line.endswith(b"\n"):
            if monotonic() > self._deadline:
                raise HeadTooSlow("the head of the answer was not complete in time")
            there = self._file.peek(1)  # waits for the read time-out at most, and takes nothing
            if not there:
                break
            end = there.find(b"\n") + 1 or len(there)
            line += self._file.read(min(end, limit - len(line)))
        return line

    def close(self) -> None:
        self._file.close()


class _Response(http.client.HTTPResponse):
    fp: BinaryIO | _Lines | None  # type: ignore[assignment]

    def __init__(self, sock: socket.socket, *arguments: Any, **settings: Any) -> None:
        super().__init__(sock, *arguments, **settings)
        timeout = sock.gettimeout()
        self._deadline = monotonic() + HEADS * timeout if timeout else float("inf")

    def begin(self) -> None:
        """Read the head; the body is read as ever."""
        file = self.fp
        lines = self.fp = _Lines(file, self._deadline)
        try:
            super().begin()
        finally:
            if self.fp is lines:  # else it was closed, for what came is no answer
                self.fp = file


class _Connection(urllib3.connection.HTTPConnection):
    response_class = _Response


class _TlsConnection(urllib3.connection.HTTPSConnection):
    response_class = _Response


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


class PatientAdapter(HTTPAdapter):
    """requests' own adapter, over connections whose answers' heads are waited for `HEADS` read time-outs."""

    def init_poolmanager(self, *arguments: Any, **settings: Any) -> None:
        """As in `HTTPAdapter`."""
        super().init_poolmanager(*arguments, **settings)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}

    def proxy_manager_for(self, *arguments: Any, **settings: Any) -> Any:
        """As in `HTTPAdapter`."""
        manager = super().proxy_manager_for(*arguments, **settings)
        manager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}
        return manager


__all__ = ["HEADS", "HeadTooSlow", "PatientAdapter"]
