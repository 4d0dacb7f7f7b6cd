"""Lists what is in a namespace, checks every name before anything is asked about it, and loses nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from nestsync.catalogs.iceberg_rest.answers import Listed, children, is_levels, members, shown
from nestsync.catalogs.iceberg_rest.client import IcebergRestClient, Pages
from nestsync.catalogs.iceberg_rest.rows import error_row
from nestsync.catalogs.iceberg_rest.server import label
from nestsync.catalogs.iceberg_rest.transport import RequestFailed, request_failed
from nestsync.catalogs.records import CatalogObject, ObjectKind
from nestsync.core.identifiers import Levels

_NO_VIEWS = frozenset({405, 406, 501})
"""What servers say whose catalog has no views, also where they list the endpoint."""
_NO_ROUTE = frozenset({400, 404})
"""What servers say to a request that they do not know; 400 the Iceberg reference server, before it listed endpoints."""
_GONE = "NoSuchNamespaceException"
DEEPEST = 200
"""How many levels a namespace can have here: a server that lists a child below every child would never be done."""
_TOO_DEEP = f"it has more than {DEEPEST} levels, and what is below it was not read"
_TWICE = "listed twice in one namespace"
_EXAMPLES = 3


@dataclass(slots=True)
class Found:
    """What a list brought: names that can be asked about, rows for those that cannot, and what is wrong with it."""

    names: tuple[str, ...] = ()
    rows: list[CatalogObject] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Lister:
    """The lists of one catalog."""

    def __init__(self, client: IcebergRestClient) -> None:
        self._client = client
        self._views_unknown_here = False
        self._views_known_here = False

    def roots(self) -> Found:
        """The top level. Raises `CatalogUnreachable` where it cannot be listed: then there is nothing to read."""
        pages = self._client.namespaces(())
        if pages.failure is not None:
            self._client.unreachable(pages.failure)
        listed = children((), pages.entries)
        garbage = [entry for entry in listed.strange if not is_levels(entry)]
        if garbage:
            address = self._client.server().namespaces()
            reason = f"lists {shown(garbage[0])} where a namespace, a list of strings, belongs"
            self._client.unreachable(request_failed(label("GET", address), reason))
        found = self._children((), listed)
        for levels in map(tuple, listed.strange):
            reason = "listed at the top, although it is not a namespace of one level"
            found.rows.append(error_row(ObjectKind.NAMESPACE, levels, None, reason))
        return found

    def children(self, parent: Levels) -> Found:
        """The direct children of `parent`; a list that fails is a problem of `parent`, not of the catalog."""
        pages = self._client.namespaces(parent)
        listed = children(parent, pages.entries)
        found = self._children(parent, listed)
        found.problems += self._problems("children", pages, listed)
        return found

    def tables(self, levels: Levels) -> Found:
        """The tables in a namespace."""
        pages = self._client.pages(self._client.server().objects(levels, "tables"), "identifiers")
        return self._members(ObjectKind.TABLE, levels, pages)

    def views(self, levels: Levels) -> Found:
        """The views in a namespace; none where the server does not know views."""
        known = self._client.server().views
        if known is False or self._views_unknown_here:
            return Found()
        pages = self._client.pages(self._client.server().objects(levels, "views"), "identifiers")
        if pages.failure is None:
            self._views_known_here = True
        elif not pages.entries and not self._views_known_here and self._without_views(pages.failure, known):
            self._views_unknown_here = known is None
            return Found()
        return self._members(ObjectKind.VIEW, levels, pages)

    def _without_views(self, failure: RequestFailed, known: bool | None) -> bool:
        """Whether a server that `known` says lists its endpoints, or not, says by `failure` that it has no views."""
        excused = _NO_VIEWS if known else _NO_VIEWS | _NO_ROUTE
        return failure.status in excused and failure.kind != _GONE

    def _children(self, parent: Levels, listed: Listed) -> Found:
        found = Found()
        names = []
        for name in listed.names:
            levels = (*parent, name)
            refusal = _TOO_DEEP if len(levels) > DEEPEST else self._client.server().refusal(levels)
            if refusal is None:
                names.append(name)
            else:
                found.rows.append(error_row(ObjectKind.NAMESPACE, levels, None, f"not asked about: {refusal}"))
        for name in listed.repeated:
            found.rows.append(error_row(ObjectKind.NAMESPACE, (*parent, name), None, _TWICE))
        found.names = tuple(names)
        return found

    def _members(self, kind: ObjectKind, levels: Levels, pages: Pages) -> Found:
        listed = members(levels, pages.entries)
        found = Found(problems=self._problems(f"{kind}s", pages, listed))
        names = []
        for name in listed.names:
            refusal = self._client.server().object_refusal(levels, name)
            if refusal is None:
                names.append(name)
            else:
                found.rows.append(error_row(kind, levels, name, f"not asked about: {refusal}"))
        for name in listed.repeated:
            found.rows.append(error_row(kind, levels, name, _TWICE))
        found.names = tuple(names)
        return found

    def _problems(self, what: str, pages: Pages, listed: Listed) -> list[str]:
        problems = []
        if pages.failure is not None:
            self._client.confirm(pages.failure)
            extent = "all be" if pages.entries else "be"
            problems.append(f"its {what} could not {extent} listed: {pages.failure.what}")
        if listed.strange:
            examples = ", ".join(map(shown, listed.strange[:_EXAMPLES]))
            problems.append(f"the list of its {what} holds {len(listed.strange)} that do not belong there: {examples}")
        return problems
