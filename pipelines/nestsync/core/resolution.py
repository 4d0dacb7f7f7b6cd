"""Resolution: which catalog, namespace and name a multi-part identifier means.

Source: "SPIP: Identifiers for multi-catalog Spark", whose rules and examples are followed to the letter. (Spark as
released differs in one place: there ``USE foo`` selects the catalog of that name.)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from nestsync.core.dialects.base import NameRefused, Refusal
from nestsync.core.errors import NestsyncError
from nestsync.core.hierarchy import within
from nestsync.core.identifiers import Levels

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_NO_DIRECTORY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:/)?/*")


class NotAPath(NestsyncError):
    """The identifier names a table in a catalog, and its path was asked for."""

    code: ClassVar[str] = "not-a-path"
    exit_code: ClassVar[int] = 2


class NotSupported(NestsyncError):
    """The catalog takes no namespaces, or no paths, and the identifier has one."""

    code: ClassVar[str] = "not-supported"
    exit_code: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class Resolved:
    """What an identifier means; `catalog` is None where none was named and none is current."""

    catalog: str | None
    levels: Levels
    name: str
    is_path: bool = False

    @property
    def path(self) -> str:
        """The path of a path identifier. Raises `NotAPath` for every other one."""
        if not self.is_path:
            raise NotAPath(f"{self.name!r} in {self.levels!r} is no path identifier", hint="ask is_path first")
        return self.levels[0]


def resolve(
    parts: Levels,
    *,
    catalogs: Collection[str],
    current_catalog: str | None = None,
    current_levels: Levels = (),
) -> Resolved:
    """The table that `parts` mean, by the five rules. Raises `NameRefused` for no parts at all.

    1. The last part is the name. 2. Of several parts, a first one that is a known catalog is the catalog. 3. What
    remains is the namespace. 4. Without a catalog and a namespace, the current namespace is used. 5. Without a
    catalog, the current catalog is used. ``catalog.`scheme://...` `` is a path identifier, to which no rule applies.
    """
    if not parts:
        raise NameRefused(Refusal(None, None, None, "has no parts", "one part or more"), where="resolution")
    *before, name = parts
    if before and before[0] in catalogs:
        if len(parts) == 2 and _SCHEME.match(name):
            return path_identifier(name, catalog=before[0])
        return Resolved(before[0], tuple(before[1:]), name)
    return Resolved(current_catalog, tuple(before) or tuple(current_levels), name)


def resolve_namespace(
    parts: Levels, *, catalogs: Collection[str], current_catalog: str | None = None
) -> tuple[str | None, Levels]:
    """The catalog and the levels that `parts` mean as a namespace: a first part that is a catalog is the catalog."""
    if parts and parts[0] in catalogs:
        return parts[0], tuple(parts[1:])
    return current_catalog, tuple(parts)


def path_identifier(path: str, *, catalog: str | None = None) -> Resolved:
    """A table by its path: the namespace is the path, the name its last directory that is not empty.

    Raises `NameRefused` where there is no such directory.
    """
    if _NO_DIRECTORY.fullmatch(path):
        raise NameRefused(Refusal(None, path, None, "names no directory", "scheme://bucket/name"), where="resolution")
    name = next(part for part in reversed(path.split("/")) if part)
    return Resolved(catalog, (path,), name, is_path=True)


def demand_support(identifier: Resolved, *, namespaces: bool = True, paths: bool = True) -> Resolved:
    """`identifier`, for a catalog that takes `namespaces` and `paths` or not. Raises `NotSupported`."""
    where = identifier.catalog or ""
    if identifier.is_path and not paths:
        raise NotSupported(f"{identifier.path!r} is a path, and this catalog takes none", where=where)
    if identifier.levels and not identifier.is_path and not namespaces:
        raise NotSupported(f"{identifier.levels!r} is a namespace, and this catalog takes none", where=where)
    return identifier


def ambiguity(parts: Levels, *, catalogs: Collection[str], namespaces: Iterable[Levels]) -> str | None:
    """A warning where the first part is a catalog and, in the current one, a namespace too: the catalog wins."""
    if len(parts) < 2 or parts[0] not in catalogs or not any(within(levels, parts[:1]) for levels in namespaces):
        return None
    return f"{parts[0]!r} is a catalog and a namespace: the catalog is meant, and the namespace is hidden by it"


@dataclass(frozen=True, slots=True)
class Listing:
    """One call to a catalog's listing; Spark never walks down by itself."""

    catalog: str | None
    levels: Levels = ()
    prefix: str | None = None


@dataclass(frozen=True, slots=True)
class Current:
    """The current catalog and, for each catalog, its current namespace: what ``USE`` sets and ``SHOW`` asks."""

    catalogs: frozenset[str]
    catalog: str | None = None
    namespaces: tuple[tuple[str | None, Levels], ...] = ()

    def levels(self, catalog: str | None = None) -> Levels:
        """The current namespace of `catalog`, or of the current one."""
        return dict(self.namespaces).get(self._catalog(catalog), ())

    def use_catalog(self, catalog: str) -> Current:
        """``USE CATALOG catalog``. Raises `NameRefused` for an unknown one."""
        return replace(self, catalog=self._catalog(catalog))

    def use(self, levels: Levels, *, catalog: str | None = None) -> Current:
        """``USE a.b``, ``USE a.b IN catalog``: sets the namespace, and never the catalog, whatever the parts are."""
        namespaces = dict(self.namespaces) | {self._catalog(catalog): levels}
        return replace(self, namespaces=tuple(namespaces.items()))

    def resolve(self, parts: Levels) -> Resolved:
        """`resolve` in this context."""
        return resolve(parts, catalogs=self.catalogs, current_catalog=self.catalog, current_levels=self.levels())

    def show_namespaces(self, *, catalog: str | None = None, like: str | None = None) -> Listing:
        """``SHOW NAMESPACES [IN catalog] [LIKE 'a%']``: what is at the root of the catalog."""
        return Listing(self._catalog(catalog), (), None if like is None else like_prefix(like))

    def show_tables(self, *, catalog: str | None = None) -> Listing:
        """``SHOW TABLES [IN catalog]``: what is in that catalog's current namespace."""
        return Listing(self._catalog(catalog), self.levels(catalog))

    def _catalog(self, catalog: str | None) -> str | None:
        if catalog is None:
            return self.catalog
        if catalog not in self.catalogs:
            raise NameRefused(Refusal(None, catalog, None, "is no catalog", ", ".join(sorted(self.catalogs))))
        return catalog


def like_prefix(pattern: str) -> str:
    """The prefix that ``LIKE 'a%'`` asks for. Raises `NameRefused` for a pattern that is no prefix.

    ``_`` stands for itself: it is in half of all names.
    """
    prefix, wildcard, rest = pattern.partition("%")
    if not wildcard or rest:
        raise NameRefused(Refusal(None, pattern, "%", "is no prefix pattern", "a prefix and one % at its end"))
    return prefix


__all__ = [
    "Current",
    "Listing",
    "NotAPath",
    "NotSupported",
    "Resolved",
    "ambiguity",
    "demand_support",
    "like_prefix",
    "path_identifier",
    "resolve",
    "resolve_namespace",
]
