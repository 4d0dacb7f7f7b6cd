"""Writes namespaces: one write request a method, and an answer that is checked before it is believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from nestsync.catalogs.base import CatalogWriter
from nestsync.catalogs.iceberg_rest.answers import Malformed, is_levels, namespace_properties
from nestsync.catalogs.iceberg_rest.client import IcebergRestClient
from nestsync.catalogs.iceberg_rest.transport import RequestFailed
from nestsync.core.identifiers import Levels, lone_surrogate
from nestsync.errors import AlreadyExists, ObjectError

_NOT_FOUND, _CONFLICT = 404, 409


class IcebergRestWriter(CatalogWriter):
    """Writes one Iceberg REST catalog, from any number of threads.

    A request that failed on its way (broken connection, 429, 502, 503, 504) is sent again: the caller compares
    after `AlreadyExists`, and an update of properties is idempotent.
    """

    def __init__(self, client: IcebergRestClient) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"IcebergRestWriter({self._client.where!r})"

    def namespace_properties(self, levels: Levels) -> Mapping[str, str] | None:
        """As in `CatalogWriter`; one GET."""
        self._check(levels)
        try:
            return self._client.fetch(self._client.server().namespace(levels), partial(namespace_properties, levels))
        except RequestFailed as failure:
            if failure.status == _NOT_FOUND:
                return None
            self._refuse(failure)

    def create_namespace(self, levels: Levels, properties: Mapping[str, str]) -> None:
        """As in `CatalogWriter`; one POST. Also an `ObjectError` where the server says that it made another one."""
        self._check(levels, properties)
        content = {"namespace": list(levels), "properties": dict(properties)}
        try:
            made = self._client.post(self._client.server().namespaces(), content, _created)
        except RequestFailed as failure:
            if failure.status == _CONFLICT:
                raise _already_exists(failure, self._client.where) from failure
            self._refuse(failure)
        if made is not None and made != levels:
            raise ObjectError(
                f"the server was asked for the namespace {list(levels)!r} and made {list(made)!r}",
                where=self._client.where,
                hint="look at both, and rename the source namespace in the mapping file",
            )

    def update_namespace(self, levels: Levels, updates: Mapping[str, str], removals: Sequence[str] = ()) -> None:
        """As in `CatalogWriter`; one POST, or none where there is nothing to change.

        A key to remove that is ``missing`` is as wanted: an earlier attempt may have removed it. An `ObjectError`
        where the answer leaves out a key.
        """
        self._check(levels, updates)
        if not updates and not removals:
            return
        content = {"removals": list(removals), "updates": dict(updates)}
        try:
            done = self._client.post(self._client.server().properties(levels), content, _updated)
        except RequestFailed as failure:
            self._refuse(failure)
        if done is None:
            return
        changed, gone = done
        left = sorted((updates.keys() - changed) | (set(removals) - gone))
        if left:
            raise ObjectError(
                f"the server did not change {', '.join(map(repr, left))} of the namespace {list(levels)!r}",
                where=self._client.where,
            )

    def close(self) -> None:
        """Give back connections."""
        self._client.close()

    def _check(self, levels: Levels, properties: Mapping[str, str] | None = None) -> None:
        refusal = self._client.server().refusal(levels)
        texts = [text for pair in (properties or {}).items() for text in pair]
        if refusal is None and any(lone_surrogate(text) is not None for text in texts):
            refusal = "a property holds a lone surrogate, which no UTF-8 text can carry"
        if refusal is not None:
            raise ObjectError(
                f"the namespace {list(levels)!r} was not asked for: {refusal}",
                where=self._client.where,
                hint="rename it in the mapping file",
            )

    def _refuse(self, failure: RequestFailed) -> NoReturn:
        self._client.confirm(failure)
        raise ObjectError(failure.what, where=self._client.where) from failure


def _already_exists(failure: RequestFailed, where: str) -> AlreadyExists:
    error = AlreadyExists(failure.what, where=where)
    error.repeated = failure.unheard
    return error


def _created(content: Any) -> Levels | None:
    """The namespace that the answer says was made; None where it is empty, as a 204 is."""
    if content is None:
        return None
    return tuple(_texts(content, "namespace"))


def _updated(content: Any) -> tuple[set[str], set[str]] | None:
    """The keys that the answer says were updated, and those that are gone: removed, or missing before."""
    if content is None:
        return None
    gone = {*_texts(content, "removed"), *_texts(content, "missing")}
    return set(_texts(content, "updated")), gone


def _texts(content: Any, key: str) -> list[str]:
    texts: Any = content.get(key) if isinstance(content, dict) else None
    if not is_levels(texts):
        raise Malformed(f"the answer holds no list of texts under {key}")
    return texts
