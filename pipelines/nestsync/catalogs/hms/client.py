"""Speaks to a Hive Metastore 3.x, in `get_*` calls only."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from hmsclient.genthrift.hive_metastore import ttypes
from hmsclient.genthrift.hive_metastore.ThriftHiveMetastore import Client
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TTransport import TTransportException

from nestsync.catalogs.hms.options import HmsOptions, addresses, where
from nestsync.catalogs.hms.refused import Refused
from nestsync.catalogs.hms.transport import DeadlineSocket, open_transport
from nestsync.core.dialects import dialect
from nestsync.errors import CatalogUnreachable, one_line

Answer = TypeVar("Answer")

_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5.0
_LONGEST_REASON = 300
_LONGEST_LIST = 10_000_000  # garbage must not make the decoder reserve memory for 2^31 elements

_BROKEN = (
    TTransportException,
    TProtocolException,
    OSError,
    EOFError,
    struct.error,
    ValueError,
    TypeError,
    ArithmeticError,
    MemoryError,
)
"""What a call raises whose connection broke or carried no thrift: the decoder raises any of these on garbage."""

_NO_ANSWER = frozenset(
    {
        TApplicationException.INVALID_MESSAGE_TYPE,
        TApplicationException.WRONG_METHOD_NAME,
        TApplicationException.BAD_SEQUENCE_ID,
        TApplicationException.MISSING_RESULT,
    }
)
"""Thrift's own errors that are no word of the metastore: what came was no answer to what was asked."""

_ABSENT = (ttypes.NoSuchObjectException, ttypes.UnknownDBException)

_SECURED_HINT = (
    "is this a metastore? One that wants SASL (Kerberos), TLS or HTTP answers a plain client like this, "
    "and nestsync speaks none of them to a metastore yet"
)


class Connection:
    """One connection, for one thread; it opens when it is first used, and again after it broke.

    Every method raises `Refused` where this one request fails, and `CatalogUnreachable` where the metastore does
    not answer at all. In doubt `get_catalogs` decides, which only fails where nothing works.
    """

    def __init__(self, options: HmsOptions, source: str) -> None:
        self._options = options
        self._source = source
        self._addresses = list(addresses(options.uri))
        self._client: Client | None = None
        self._socket: DeadlineSocket | None = None

    def catalogs(self) -> list[str]:
        """The names of all catalogs. Raises `CatalogUnreachable` only."""
        request = "get_catalogs()"
        try:
            return self._tried(request, _catalog_names)
        except _Failed as failure:
            raise self._unreachable(request, failure.error) from failure.error

    def catalog(self, name: str) -> ttypes.Catalog:
        """One catalog, as the metastore understood the name."""
        wanted = ttypes.GetCatalogRequest(name)
        return self._call(f"get_catalog({name!r})", lambda client: client.get_catalog(wanted).catalog)

    def databases(self, catalog: str) -> list[str]:
        """The names of a catalog's databases; none for a catalog that does not exist."""
        # the request form "a catalog without a database", which is no identifier (MetaStoreUtils.parseDbName)
        text = f"@{catalog}#"
        return self._call(f"get_databases({text!r})", lambda client: list(client.get_databases(text)))

    def database(self, catalog: str, database: str) -> ttypes.Database:
        """One database, as the metastore understood the name. Raises `NameRefused` too."""
        text = dialect("hive").encode((catalog, database))
        return self._call(f"get_database({text!r})", lambda client: client.get_database(text))

    def table_names(self, catalog: str, database: str) -> list[str]:
        """The names of all tables and views of a database. Raises `NameRefused` too."""
        text = dialect("hive").encode((catalog, database))
        return self._call(f"get_all_tables({text!r})", lambda client: list(client.get_all_tables(text)))

    def tables(self, catalog: str, database: str, names: Sequence[str]) -> list[ttypes.Table]:
        """The tables of these names; the metastore leaves out, without a word, what it does not find."""
        wanted = ttypes.GetTablesRequest(database, list(names), None, catalog)
        which = repr(names[0]) if len(names) == 1 else f"{len(names)} tables"
        request = f"get_table_objects_by_name_req({catalog!r}, {database!r}, {which})"
        return self._call(request, lambda client: list(client.get_table_objects_by_name_req(wanted).tables))

    def close(self) -> None:
        """Give the connection back; it opens again when it is used again."""
        client, self._client, self._socket = self._client, None, None
        if client is not None:
            client._iprot.trans.close()

    def _call(self, request: str, send: Callable[[Client], Answer]) -> Answer:
        try:
            return self._tried(request, send)
        except _Failed as failure:
            if not isinstance(failure.error, _ABSENT):
                self._probe(request, failure.error)
            raise Refused(_sentence(request, failure.error)) from failure.error

    def _tried(self, request: str, send: Callable[[Client], Answer]) -> Answer:
        """The answer, of a new connection where the old one breaks. Raises `_Failed`."""
        for attempt in range(self._options.max_retries + 1):
            time.sleep(min(_FIRST_PAUSE_SECONDS * (2**attempt - 1), _LONGEST_PAUSE_SECONDS))
            try:
                return self._sent(send)
            except _BROKEN as error:
                self.close()
                last: Exception = error
                if _timed_out(error):  # once is long enough
                    break
            except TApplicationException as error:
                self.close()
                last = error
                if error.type not in _NO_ANSWER:
                    break
            except TException as error:  # declared in the metastore's interface: the connection is in order
                raise _Failed(error) from error
        raise _Failed(last) from last

    def _probe(self, request: str, error: Exception) -> None:
        try:
            self._sent(_catalog_names)
        except (*_BROKEN, TException) as silence:
            self.close()
            raise self._unreachable(request, error) from silence

    def _sent(self, send: Callable[[Client], Answer]) -> Answer:
        client, connected = self._opened()
        connected.allow(self._options.read_timeout)
        return send(client)

    def _opened(self) -> tuple[Client, DeadlineSocket]:
        if self._client is not None and self._socket is not None:
            return self._client, self._socket
        failures = []
        for _ in range(len(self._addresses)):
            address = self._addresses[0]
            try:
                self._socket, transport = open_transport(address, self._options)
            except (TTransportException, OSError, UnicodeError) as error:
                failures.append(said(error))
                self._addresses.append(self._addresses.pop(0))  # the next one is first now
            else:
                protocol = TBinaryProtocolAccelerated(transport, fallback=True, container_length_limit=_LONGEST_LIST)
                self._client = Client(protocol)
                return self._client, self._socket
        raise TTransportException(TTransportException.NOT_OPEN, "; ".join(failures))

    def _unreachable(self, request: str, error: Exception) -> CatalogUnreachable:
        return CatalogUnreachable(
            _sentence(request, error),
            where=where(self._options, self._source),
            hint=_hint(error),
        )


class _Failed(Exception):
    """A call that came to nothing after all its tries."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def _catalog_names(client: Client) -> list[str]:
    return list(client.get_catalogs().names)


def _sentence(request: str, error: BaseException) -> str:
    return f"{request}: {said(error)}"


def said(error: BaseException) -> str:
    """What a thrift error says, in one line: the message, and the operating system's where there is one."""
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    inner = getattr(error, "inner", None)
    if inner is not None and str(inner) not in text:
        text = f"{text} ({inner})"
    name = "" if isinstance(error, TTransportException) else f"{type(error).__name__}: "
    return one_line(f"{name}{text}")[:_LONGEST_REASON]


def _timed_out(error: BaseException) -> bool:
    return getattr(error, "type", None) == TTransportException.TIMED_OUT and isinstance(error, TTransportException)


def _hint(error: BaseException) -> str:
    if isinstance(error, TApplicationException) and error.type in _NO_ANSWER:
        return _SECURED_HINT
    if isinstance(error, TApplicationException) and error.type == TApplicationException.UNKNOWN_METHOD:
        return "a Hive Metastore of version 3 or later is needed: older ones know no catalogs"
    if isinstance(error, TTransportException):
        if error.type == TTransportException.NOT_OPEN:
            return "check the address, and that the metastore runs and can be reached from here"
        if error.type == TTransportException.TIMED_OUT:
            return "the metastore took the connection and is silent or slow; read_timeout is how long to wait"
    if isinstance(error, _BROKEN):
        return _SECURED_HINT
    return "the metastore's own log says more"
