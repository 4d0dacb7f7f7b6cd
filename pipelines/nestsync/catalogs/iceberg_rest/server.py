"""What ``/v1/config`` says about a server, and the addresses that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from nestsync.catalogs.iceberg_rest.answers import Malformed, text_map
from nestsync.catalogs.iceberg_rest.options import IcebergRestOptions, catalog_address
from nestsync.core.dialects import Dialect, dialect
from nestsync.core.errors import NestsyncError
from nestsync.core.identifiers import Levels, lone_surrogate

DEFAULT_SEPARATOR = "\x1f"
_LIST_VIEWS = "GET /v1/{prefix}/namespaces/{namespace}/views"
_USED = frozenset({"uri", "prefix", "namespace-separator", "view-endpoints-supported"})
_KEPT_IN_PREFIX = "/%!$&'()*+,;=:@~"  # a server may give a prefix of several segments, or one already encoded


@dataclass(frozen=True)
class Server:
    """One catalog of one server: where it is, how it joins levels, whether it has views.

    `views` is None where the server does not list its endpoints, so that only trying tells.
    """

    base: str
    prefix: str = ""
    separator: str = DEFAULT_SEPARATOR
    views: bool | None = None

    def refusal(self, levels: Levels) -> str | None:
        """Why no request can address exactly this namespace, or None.

        Beyond what the dialects refuse: a path segment that decodes to nothing, ``.`` or ``..`` would be
        taken for another address by servers and proxies (RFC 3986, 5.2.4).
        """
        path, query = _path(self.separator), _query(self.separator)
        refusal = path.refusal(levels) or query.refusal(levels)
        return str(refusal) if refusal else _segment_refusal(path.render(levels))

    def object_refusal(self, levels: Levels, name: str) -> str | None:
        """Why no request can address exactly this table or view, or None."""
        refusal = _path(self.separator).table_refusal(levels, name)
        return str(refusal) if refusal else _segment_refusal(self._name(levels, name))

    def namespaces(self, parent: Levels = ()) -> str:
        """The address that lists the namespaces below `parent`; the root has no ``parent`` parameter."""
        address = self._address("namespaces")
        return f"{address}?parent={_query(self.separator).encode(parent)}" if parent else address

    def namespace(self, levels: Levels) -> str:
        """The address of one namespace."""
        return self._address("namespaces", _path(self.separator).encode(levels))

    def properties(self, levels: Levels) -> str:
        """The address that changes a namespace's properties."""
        return self.namespace(levels) + "/properties"

    def objects(self, levels: Levels, kind: str) -> str:
        """The address that lists the `kind` (``tables`` or ``views``) of a namespace."""
        return f"{self.namespace(levels)}/{kind}"

    def object(self, levels: Levels, kind: str, name: str) -> str:
        """The address of one table or view. Only the references of its snapshots are asked for: all would be heavy."""
        address = f"{self.objects(levels, kind)}/{self._name(levels, name)}"
        return f"{address}?snapshots=refs" if kind == "tables" else address

    def _name(self, levels: Levels, name: str) -> str:
        # The dialect's table text is {namespace}/tables/{name}; a view's name is written the same way.
        return _path(self.separator).encode_table(levels, name).rpartition("/")[2]

    def _address(self, *segments: str) -> str:
        return "/".join((self.base, "v1", *((self.prefix,) if self.prefix else ()), *segments))


@cache
def _path(separator: str) -> Dialect:
    return dialect("iceberg-rest", separator=separator)


@cache
def _query(separator: str) -> Dialect:
    return dialect("iceberg-rest-query", separator=separator)


def config_address(options: IcebergRestOptions) -> str:
    """The address of the configuration, with the warehouse where one is named."""
    address = f"{options.uri}/v1/config"
    return f"{address}?warehouse={quote(options.warehouse, safe='')}" if options.warehouse else address


def label(method: str, address: str) -> str:
    """How messages call a request: method and path, and the ``parent`` that it lists; never a page token."""
    parts = urlsplit(address)
    asked = [part for part in parts.query.split("&") if part.startswith("parent=")]
    return f"{method} {parts.path}" + (f"?{asked[0]}" if asked else "")


def server_from(content: Any, options: IcebergRestOptions) -> Server:
    """The server that the answer of ``/v1/config`` describes: its defaults, then ours, then its overrides.

    Raises `Malformed` for anything that is not such an answer.
    """
    if not isinstance(content, dict) or not ("defaults" in content or "overrides" in content):
        raise Malformed("the answer holds neither defaults nor overrides: this is no Iceberg REST catalog")
    defaults = _settings(content.get("defaults"), "defaults")
    overrides = _settings(content.get("overrides"), "overrides")
    ours = {"uri": options.uri} | ({} if options.prefix is None else {"prefix": options.prefix})
    settings = {**defaults, **ours, **overrides}
    return Server(
        base=_base(settings["uri"]),
        prefix=quote(settings.get("prefix", "").strip("/"), safe=_KEPT_IN_PREFIX),
        separator=_separator(settings),
        views=_views(content.get("endpoints"), settings),
    )


def _settings(content: Any, what: str) -> dict[str, str]:
    """The settings that matter here, from one part of the answer; null is none, and others may hold anything."""
    if not isinstance(content, dict | None):
        raise Malformed(f"the {what} are no object")
    used = {key: value for key, value in (content or {}).items() if key in _USED and value is not None}
    for key, value in text_map(used, what).items():
        if lone_surrogate(value) is not None:
            raise Malformed(f"the {what} hold a lone surrogate under {key!r}, which no address can carry")
    return used


def _base(address: str) -> str:
    try:
        return catalog_address(address)
    except ValueError as error:
        raise Malformed(f"the server overrides its uri with {address!r}, which is no address ({error})") from error


def _separator(settings: Mapping[str, str]) -> str:
    """The advertised ``namespace-separator``, which is percent-encoded (``%1F``, ``%2E``), decoded."""
    separator = unquote(settings.get("namespace-separator", DEFAULT_SEPARATOR))
    try:
        _path(separator)
        _query(separator)
    except NestsyncError as error:
        raise Malformed(f"the server advertises the separator {separator!r}: {error}") from error
    return separator


def _views(endpoints: Any, settings: Mapping[str, str]) -> bool | None:
    if isinstance(endpoints, list):
        return _LIST_VIEWS in {" ".join(text.split()) for text in endpoints if isinstance(text, str)}
    return True if settings.get("view-endpoints-supported", "").lower() == "true" else None


def _segment_refusal(segment: str) -> str | None:
    if unquote(segment) in ("", ".", ".."):
        return f"as a path segment {unquote(segment)!r} addresses something else"
    return None
