"""Walks the tree: the driver finds shares, executors read them, and each namespace is listed once overall."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from nestsync.catalogs.base import CatalogReader
from nestsync.catalogs.iceberg_rest.answers import namespace_properties, table_metadata, view_metadata
from nestsync.catalogs.iceberg_rest.auth import Token
from nestsync.catalogs.iceberg_rest.client import IcebergRestClient
from nestsync.catalogs.iceberg_rest.listing import Found, Lister
from nestsync.catalogs.iceberg_rest.rows import error_row, namespace_row, object_row
from nestsync.catalogs.iceberg_rest.server import Server
from nestsync.catalogs.iceberg_rest.transport import RequestFailed
from nestsync.catalogs.records import CatalogObject, ObjectKind
from nestsync.core.identifiers import Levels

_LOADS = {ObjectKind.TABLE: ("tables", table_metadata), ObjectKind.VIEW: ("views", view_metadata)}

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Visit:
    """One namespace to read. `listed`: the driver has listed its children, and `problems` says what went wrong."""

    levels: Levels
    listed: bool = False
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """What one task reads: namespaces, with all below them unless listed, and rows that the driver has found.

    It carries what the driver learned about the server, because Spark pickles a reader before it asks for shares.
    """

    server: Server
    visits: tuple[Visit, ...]
    rows: tuple[CatalogObject, ...] = ()
    token: Token | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class _Seen:
    rows: list[CatalogObject]
    children: list[Visit]
    objects: list[tuple[ObjectKind, Levels, str]]


class IcebergRestReader(CatalogReader[Share]):
    """Reads one Iceberg REST catalog.

    A namespace costs one list request a page, one GET for its properties (where namespaces are wanted) and, where
    tables are wanted, one list of tables and one of views; each table and view costs one load.
    """

    def __init__(self, client: IcebergRestClient, connections: int) -> None:
        self._client = client
        self._connections = connections

    def __repr__(self) -> str:
        return f"IcebergRestReader({self._client.where!r})"

    def units(self, *, tables: bool, parallelism: int) -> Sequence[Share]:
        """At most `parallelism` shares: the tree is listed from the root, in breadth, until it has that many branches.

        Raises `CatalogUnreachable` where the configuration or the top level cannot be had.
        """
        lister = Lister(self._client)
        roots = lister.roots()
        rows = roots.rows
        listed: list[Visit] = []
        branches: list[Levels] = [(name,) for name in roots.names]
        with _InFlight(self._connections) as in_flight:
            while branches and len(branches) < parallelism:
                below: list[Levels] = []
                for parent, found in zip(branches, in_flight.each(lister.children, branches), strict=True):
                    listed.append(Visit(parent, listed=True, problems=tuple(found.problems)))
                    rows += found.rows
                    below += [(*parent, name) for name in found.names]
                branches = below
        return self._shares([*listed, *map(Visit, branches)], rows, parallelism)

    def _shares(self, visits: list[Visit], rows: list[CatalogObject], parallelism: int) -> list[Share]:
        server, token = self._client.server(), self._client.token()
        count = min(parallelism, max(len(visits), 1 if rows else 0))
        # Dealt like cards: neighbours tend to be alike in size.
        return [
            Share(server, tuple(visits[i::count]), rows=tuple(rows) if i == 0 else (), token=token)
            for i in range(count)
        ]

    def read(self, unit: Share, *, namespaces: bool, tables: bool) -> Iterator[CatalogObject]:
        """The rows of one share, level by level. A namespace that is not `ok` has its row even among tables alone."""
        self._client.adopt(unit.server, unit.token)
        lister = Lister(self._client)
        yield from unit.rows
        visit = partial(self._visit, lister, namespaces=namespaces, tables=tables)
        with _InFlight(self._connections) as in_flight:
            level: Sequence[Visit] = unit.visits
            while level:
                below: list[Visit] = []
                for seen in in_flight.each(visit, level):
                    yield from seen.rows
                    yield from in_flight.each(self._load, seen.objects)
                    below += seen.children
                level = below

    def _visit(self, lister: Lister, visit: Visit, *, namespaces: bool, tables: bool) -> _Seen:
        levels = visit.levels
        children = Found(problems=list(visit.problems)) if visit.listed else lister.children(levels)
        members = {ObjectKind.TABLE: lister.tables(levels), ObjectKind.VIEW: lister.views(levels)} if tables else {}
        problems = [*children.problems, *(text for found in members.values() for text in found.problems)]
        rows = [*children.rows, *(row for found in members.values() for row in found.rows)]
        if namespaces:
            rows.insert(0, self._namespace(levels, problems))
        elif problems:
            rows.insert(0, namespace_row(levels, {}, problems))
        return _Seen(
            rows=rows,
            children=[Visit((*levels, name)) for name in children.names],
            objects=[(kind, levels, name) for kind, found in members.items() for name in found.names],
        )

    def _namespace(self, levels: Levels, problems: list[str]) -> CatalogObject:
        try:
            properties = self._client.fetch(
                self._client.server().namespace(levels), partial(namespace_properties, levels)
            )
        except RequestFailed as failure:
            self._client.confirm(failure)
            return namespace_row(levels, {}, [f"its properties could not be read: {failure.what}", *problems])
        return namespace_row(levels, properties, problems)

    def _load(self, listed: tuple[ObjectKind, Levels, str]) -> CatalogObject:
        kind, levels, name = listed
        path, read = _LOADS[kind]
        try:
            metadata = self._client.fetch(self._client.server().object(levels, path, name), read)
        except RequestFailed as failure:
            self._client.confirm(failure)
            return error_row(kind, levels, name, failure.what)
        return object_row(kind, levels, name, metadata)


class _InFlight:
    """Runs a function over items on a few threads: at most so many at once, results in order, none piled up."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="iceberg-rest")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def each(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """`function` of each item, in their order."""
        running: deque[Future[R]] = deque()
        for item in items:
            running.append(self._pool.submit(function, item))
            if len(running) == self._at_once:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
