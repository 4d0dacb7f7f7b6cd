"""Reads a metastore: the driver lists catalogs and databases, executors read them over a few connections each."""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self, TypeVar

from nestsync.catalogs.base import CatalogReader
from nestsync.catalogs.hms.options import HmsOptions, where
from nestsync.catalogs.hms.refused import Refused
from nestsync.catalogs.hms.rows import failed_row, namespace_row, table_row
from nestsync.catalogs.records import CatalogObject, ObjectKind, Status
from nestsync.core.dialects import NameRefused
from nestsync.errors import ConfigurationError

if TYPE_CHECKING:
    from nestsync.catalogs.hms.client import Connection

_PLAIN = re.compile(r"[a-z0-9_]+")
"""Names that a metastore takes as they are; any other it may trim or fold, and then it answers for another name."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Share:
    """Some databases, and the rows of catalogs that could not be listed."""

    databases: tuple[tuple[str, str], ...] = ()
    catalogs: tuple[CatalogObject, ...] = ()


@dataclass(frozen=True, slots=True)
class _Database:
    """What the first look at a database gives: its own row, and the names of its tables in batches."""

    rows: tuple[CatalogObject, ...]
    batches: tuple[_Batch, ...] = ()


@dataclass(frozen=True, slots=True)
class _Batch:
    levels: tuple[str, str]
    names: tuple[str, ...]


@dataclass(frozen=True)
class HmsReader(CatalogReader[Share]):
    """One metastore. Levels are always ``(catalog, database)``.

    A catalog is no namespace of its own here (in a target it is at best the implied parent of its databases). It
    has a row, with levels ``(catalog,)``, only when it would be lost otherwise: ``unreadable`` when its databases
    cannot be listed, ``empty`` when it has none.

    A metastore lists names that its calls do not mean: it trims and folds what it is asked for, and reads a database
    that ends in ``#`` or ``!`` as none or the empty one (tried with 3.1.3). So a name that is not plain is first
    looked up, and its tables are read only when the answer bears the same name; else it is an ``unreadable`` row.
    """

    source: str
    options: HmsOptions

    def units(self, *, tables: bool, parallelism: int) -> Sequence[Share]:
        """`parallelism` shares at most, from one call a catalog and one for their names.

        Raises `ConfigurationError` for a configured catalog that the metastore does not have.
        """
        with _Connections(self.options, self.source) as connections:
            connection = connections.mine()
            listed = [self._catalog(connection, name) for name in self._wanted(connection.catalogs())]
        databases = [(catalog, name) for catalog, names, _ in listed for name in names]
        rows = tuple(row for _, _, row in listed if row is not None)
        count = max(1, min(parallelism, len(databases)))
        return [Share(tuple(databases[i::count]), rows if i == 0 else ()) for i in range(count)]

    def read(self, unit: Share, *, namespaces: bool, tables: bool) -> Iterator[CatalogObject]:
        """The databases of one share and what is in them.

        A database whose tables cannot be listed is an ``unreadable`` namespace row, also where only tables were
        asked for: nothing else would tell that they are missing.
        """
        yield from (row for row in unit.catalogs if namespaces or row.status is Status.UNREADABLE)
        with _Connections(self.options, self.source) as connections:

            def look(levels: tuple[str, str]) -> _Database:
                return self._database(connections.mine(), levels, namespaces=namespaces, tables=tables)

            def fetch(batch: _Batch) -> list[CatalogObject]:
                return self._tables(connections.mine(), batch)

            waiting: list[CatalogObject] = []

            def batches() -> Iterator[_Batch]:
                for database in connections.map(look, unit.databases):
                    waiting.extend(database.rows)
                    yield from database.batches

            for rows in connections.map(fetch, batches()):
                yield from _drained(waiting)
                yield from rows
            yield from _drained(waiting)

    def _wanted(self, present: list[str]) -> list[str]:
        wanted = self.options.catalogs
        if wanted is None:
            return sorted(present)
        if absent := sorted(set(wanted) - set(present)):
            raise ConfigurationError(
                f"the metastore has no catalog {', '.join(map(repr, absent))}",
                where=where(self.options, self.source),
                hint=f"its catalogs are {', '.join(sorted(present))}",
            )
        return sorted(set(wanted))

    def _catalog(self, connection: Connection, name: str) -> tuple[str, list[str], CatalogObject | None]:
        """The catalog's databases, and a row where there are none to show for it."""
        try:
            if not _PLAIN.fullmatch(name) and (understood := connection.catalog(name).name) != name:
                return name, [], failed_row((name,), None, f"the metastore answers for {understood!r} instead")
            databases = connection.databases(name)
        except Refused as refused:
            return name, [], failed_row((name,), None, refused.reason)
        empty = CatalogObject(
            object=ObjectKind.NAMESPACE, levels=(name,), status=Status.EMPTY, error="the catalog holds no databases"
        )
        return name, sorted(set(databases)), None if databases else empty

    def _database(
        self, connection: Connection, levels: tuple[str, str], *, namespaces: bool, tables: bool
    ) -> _Database:
        plain = all(map(_PLAIN.fullmatch, levels))
        row = self._namespace(connection, levels) if namespaces or not plain else None
        names: Sequence[str] = ()
        if tables and (plain or row is None or row.status is Status.OK):  # else it could be another one's tables
            try:
                names = tuple(dict.fromkeys(connection.table_names(*levels)))
            except Refused as refused:
                failed = failed_row(levels, None, refused.reason)
                row = replace(row, status=failed.status, error=row.error or failed.error) if row else failed
        size = self.options.batch_size
        batches = tuple(_Batch(levels, tuple(names[i : i + size])) for i in range(0, len(names), size))
        shown = row is not None and (namespaces or row.status is not Status.OK)
        return _Database((row,) if row and shown else (), batches)

    def _namespace(self, connection: Connection, levels: tuple[str, str]) -> CatalogObject:
        try:
            found = connection.database(*levels)
        except NameRefused as refused:
            return failed_row(levels, None, f"it cannot be asked for: {refused.what}")
        except Refused as refused:
            return failed_row(levels, None, refused.reason)
        understood = (found.catalogName or levels[0], found.name)
        if understood != levels:
            return failed_row(levels, None, f"the metastore takes its name for {understood!r}; nothing was read")
        return namespace_row(levels[0], found)

    def _tables(self, connection: Connection, batch: _Batch) -> list[CatalogObject]:
        """One row a name: a batch that fails is asked for again one by one, so that one bad table is one error."""
        try:
            found = connection.tables(*batch.levels, batch.names)
        except Refused as refused:
            if len(batch.names) == 1:
                return [failed_row(batch.levels, batch.names[0], refused.reason)]
            singles = (_Batch(batch.levels, (name,)) for name in batch.names)
            return [row for single in singles for row in self._tables(connection, single)]
        by_name = {
            table.tableName: table_row(batch.levels, table)
            for table in found
            if (table.catName or batch.levels[0], table.dbName) == batch.levels
        }
        absent = "the metastore listed it and does not find it by its name"
        return [by_name.get(name) or failed_row(batch.levels, name, absent) for name in batch.names]


def _drained(rows: list[CatalogObject]) -> Iterator[CatalogObject]:
    while rows:
        yield rows.pop(0)


class _Connections:
    """A bounded pool: as many threads as connections, one connection a thread, closed together."""

    def __init__(self, options: HmsOptions, source: str) -> None:
        self._options = options
        self._source = source
        self._local = threading.local()
        self._opened: list[Connection] = []
        self._threads = ThreadPoolExecutor(options.connections, thread_name_prefix=f"nestsync-hms-{source}")

    def mine(self) -> Connection:
        """The connection of the thread that asks."""
        from nestsync.catalogs.hms.client import Connection

        if not hasattr(self._local, "connection"):
            self._local.connection = Connection(self._options, self._source)
            self._opened.append(self._local.connection)
        connection: Connection = self._local.connection
        return connection

    def map(self, call: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """The results of `call`, in order; a few wait, so that no connection is idle behind a slow one."""
        under_way: deque[Future[Result]] = deque()
        for item in items:
            under_way.append(self._threads.submit(call, item))
            if len(under_way) >= 2 * self._options.connections:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        for connection in self._opened:
            connection.close()
