"""How a connection to a metastore is opened: the one place that Kerberos and TLS would change."""

from __future__ import annotations

import logging
import time

from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from nestsync.catalogs.hms.options import Address, HmsOptions

# thrift logs every refused connection as an error; ours carries the same words, once
logging.getLogger("thrift").addHandler(logging.NullHandler())


class DeadlineSocket(TSocket):  # type: ignore[misc]
    """A socket whose time-out is for the whole of an answer: thrift's own starts anew with every byte."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port, socket_keepalive=True)
        self._deadline: float | None = None

    def allow(self, seconds: float) -> None:
        """Let the next call take `seconds`."""
        self._deadline = time.monotonic() + seconds
        self.setTimeout(seconds * 1000)

    def read(self, sz: int) -> bytes:
        if self._deadline is not None:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TTransportException(TTransportException.TIMED_OUT, "read timeout")
            self.setTimeout(left * 1000)
        received: bytes = super().read(sz)
        return received


def open_transport(address: Address, options: HmsOptions) -> tuple[DeadlineSocket, TBufferedTransport]:
    """A plain, open connection to `address`: its socket, and the transport to speak over.

    Raises `TTransportException`. A secured connection wraps the socket here (TLS) or the transport (SASL).
    """
    socket = DeadlineSocket(*address)
    socket.setTimeout(options.connect_timeout * 1000)
    transport = TBufferedTransport(socket, rbuf_size=1 << 16)
    transport.open()
    return socket, transport
