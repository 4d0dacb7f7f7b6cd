"""Reads a server's JSON and believes nothing: what has another shape than the protocol's is `Malformed`.

The shapes are those of the Iceberg REST specification (``rest-catalog-open-api.yaml``) and of the table and view
metadata in the Iceberg specification.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from nestsync.core.identifiers import Levels, lone_surrogate


class Malformed(ValueError):
    """The answer is JSON, but not what the protocol promises; the message says where it differs."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list holds: each name once, those listed again, and the entries that do not belong there."""

    names: tuple[str, ...]
    repeated: tuple[str, ...]
    strange: tuple[Any, ...]


def page(content: Any, key: str) -> tuple[list[Any], str | None]:
    """The entries of one page under `key`, and the token of the next page."""
    entries = content.get(key) if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise Malformed(f"the answer holds no list of {key}")
    token = content.get("next-page-token")
    if token is not None and (not isinstance(token, str) or lone_surrogate(token) is not None):
        raise Malformed("the next-page-token is no text")
    return entries, token or None


def children(parent: Levels, entries: Iterable[Any]) -> Listed:
    """The direct children of `parent`, by their last level. A parent listed as its own child is left out."""
    belonging = (entry for entry in entries if entry != list(parent))
    return _listed((_child_name(parent, entry), entry) for entry in belonging)


def members(levels: Levels, entries: Iterable[Any]) -> Listed:
    """The tables or views of the namespace `levels`, by name."""
    return _listed((_member_name(levels, entry), entry) for entry in entries)


def _listed(named: Iterable[tuple[str | None, Any]]) -> Listed:
    names: dict[str, None] = {}
    repeated: list[str] = []
    strange: list[Any] = []
    for name, entry in named:
        if name is None:
            strange.append(entry)
        elif name in names:
            repeated.append(name)
        else:
            names[name] = None
    return Listed(tuple(names), tuple(repeated), tuple(strange))


def _child_name(parent: Levels, entry: Any) -> str | None:
    if not is_levels(entry) or not entry or tuple(entry[:-1]) != parent:
        return None
    return entry[-1]


def _member_name(levels: Levels, entry: Any) -> str | None:
    if not isinstance(entry, dict) or entry.get("namespace") != list(levels):
        return None
    name = entry.get("name")
    return name if isinstance(name, str) else None


def is_levels(entry: Any) -> TypeGuard[list[str]]:
    """Whether `entry` is a list of strings."""
    return isinstance(entry, list) and all(isinstance(level, str) for level in entry)


def text_map(content: Any, what: str) -> dict[str, str]:
    """An object of strings; null is the empty one."""
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise Malformed(f"the {what} are no object")
    odd = next((key for key, value in content.items() if not isinstance(value, str)), None)
    if odd is not None:
        raise Malformed(f"the {what} hold a value that is no text, under {odd!r}")
    return content


def namespace_properties(levels: Levels, content: Any) -> dict[str, str]:
    """The properties in the answer that describes the namespace `levels`, and no other one."""
    named = content.get("namespace") if isinstance(content, dict) else None
    if not is_levels(named):
        raise Malformed("the answer names no namespace")
    if tuple(named) != levels:
        raise Malformed(f"the answer is about another namespace, {shown(named)}")
    return text_map(content.get("properties"), "properties")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a load-table or load-view answer tells about its object; columns are (name, type)."""

    format_version: int
    location: str | None
    properties: Mapping[str, str]
    columns: tuple[tuple[str, str], ...]


def table_metadata(content: Any) -> Metadata:
    """From a load-table answer; format version 1 may hold its one schema outside the list."""
    metadata = _metadata(content)
    return _described(metadata, metadata.get("current-schema-id"))


def view_metadata(content: Any) -> Metadata:
    """From a load-view answer: the schema is that of the view's current version."""
    metadata = _metadata(content)
    version = _chosen(metadata.get("versions"), "version-id", metadata.get("current-version-id"), "version")
    return _described(metadata, version.get("schema-id"))


_MANY_VERSIONS = 1000


def _metadata(content: Any) -> dict[str, Any]:
    metadata = content.get("metadata") if isinstance(content, dict) else None
    if not isinstance(metadata, dict):
        raise Malformed("the answer holds no metadata")
    return metadata


def _described(metadata: Mapping[str, Any], schema_id: Any) -> Metadata:
    version, location = metadata.get("format-version"), metadata.get("location")
    if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < _MANY_VERSIONS:
        raise Malformed("the metadata holds no format-version")
    if location is not None and not isinstance(location, str):
        raise Malformed("the location is no text")
    if metadata.get("schemas") is None and "schema" in metadata:
        schema = metadata["schema"]
    else:
        schema = _chosen(metadata.get("schemas"), "schema-id", schema_id, "schema")
    return Metadata(version, location, text_map(metadata.get("properties"), "properties"), _columns(schema))


def _chosen(candidates: Any, key: str, wanted: Any, what: str) -> dict[str, Any]:
    for candidate in candidates if isinstance(candidates, list) else ():
        if isinstance(candidate, dict) and candidate.get(key) == wanted:
            return candidate
    raise Malformed(f"the metadata holds no current {what}")


def _columns(schema: Any) -> tuple[tuple[str, str], ...]:
    fields = schema.get("fields") if isinstance(schema, dict) else None
    if not isinstance(fields, list):
        raise Malformed("the schema holds no fields")
    return tuple(_column(field) for field in fields)


def _column(field: Any) -> tuple[str, str]:
    name = field.get("name") if isinstance(field, dict) else None
    if not isinstance(name, str):
        raise Malformed("a field of the schema has no name")
    return name, type_text(field.get("type"))


def type_text(kind: Any) -> str:
    """An Iceberg type as text: ``long``, ``decimal(9,2)``, ``list<string>``, ``struct<a:int,b:map<string,long>>``."""
    if isinstance(kind, str):
        return kind
    if isinstance(kind, dict):
        match kind.get("type"):
            case "struct":
                return "struct<" + ",".join(":".join(pair) for pair in _columns(kind)) + ">"
            case "list":
                return f"list<{type_text(kind.get('element'))}>"
            case "map":
                return f"map<{type_text(kind.get('key'))},{type_text(kind.get('value'))}>"
    raise Malformed("a field of the schema has no type")


def error_message(body: bytes) -> str | None:
    """What the error model in `body` says (``{"error": {"message": ...}}``), or None where there is none."""
    error = _error(body)
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) and message else None


def error_type(body: bytes) -> str | None:
    """The type that the error model in `body` gives the error, or None where there is none."""
    error = _error(body)
    kind = error.get("type") if isinstance(error, dict) else None
    return kind if isinstance(kind, str) else None


def _error(body: bytes) -> Any:
    try:
        return json.loads(body).get("error")
    except (ValueError, AttributeError, RecursionError):
        return None


def shown(entry: Any) -> str:
    """An entry of a list for a message: its JSON, cut where it is long."""
    text = json.dumps(entry, ensure_ascii=True)
    return text if len(text) <= 80 else text[:80] + "…"
