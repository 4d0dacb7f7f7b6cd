"""The configuration file before validation: YAML, read strictly, with the line of every key.

Needs neither pydantic nor Spark, so that shell completion and the commands that look at names only start at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nestsync.core.identifiers import lone_surrogate
from nestsync.errors import ConfigurationError

Loc = Sequence[str | int]
"""Where a value stands: keys and list indices, outermost first (``("sources", 0, "uri")``)."""

DEFAULT_WORKSPACE = "workspace"
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


@dataclass(frozen=True)
class Document:
    """What a configuration file says, and where."""

    path: Path
    data: dict[str, Any]
    root: yaml.Node

    def line(self, loc: Loc) -> int:
        """The line (from 1) of the key or list item at `loc`, or of the nearest one above it."""
        node, line = self.root, 1
        for step in loc:
            entry = _entry(node, step)
            if entry is None:
                break
            line, node = entry
        return line


def _entry(node: yaml.Node, step: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step].start_mark.line + 1, node.value[step]
    return None


class _Loader(yaml.SafeLoader):
    """YAML's plain data types, minus what would lose something without a word."""

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        if isinstance(node.value, str) and lone_surrogate(node.value) is not None:
            line = node.start_mark.line + 1
            raise _Refused(f"line {line}: a text holds a lone surrogate, which UTF-8 cannot carry", "write another")
        return super().construct_scalar(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: dict[Any, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue
            key, line = self.construct_object(key_node, deep=True), key_node.start_mark.line + 1
            if not isinstance(key, str):
                said = isinstance(key_node, yaml.ScalarNode) and key_node.value
                raise _Refused(
                    f"line {line}: the key {said or described(key)} is no text", "write keys that look so in quotes"
                )
            if key in seen:
                raise _Refused(
                    f"line {line}: the key {key!r} stands twice, first in line {seen[key]}", "keep one of the two"
                )
            seen[key] = line
        return super().construct_mapping(node, deep)


_MERGE = "tag:yaml.org,2002:merge"
# A lone "=" is a text to everybody but YAML 1.1, and a separator that somebody may want to name.
_Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: loader.construct_scalar(node))  # type: ignore[arg-type]


class _Refused(Exception):
    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what, hint)
        self.what, self.hint = what, hint


def read(path: Path) -> Document:
    """The document in `path`. Raises `ConfigurationError` for whatever is no YAML mapping, and says where."""
    loader: _Loader | None = None
    try:
        loader = _Loader(_text(path))
        loader.deep_construct = True  # refuses an alias inside what it stands for
        root = loader.get_single_node()
        data = None if root is None else loader.construct_document(root)
    except _Refused as error:
        raise ConfigurationError(error.what, where=str(path), hint=error.hint) from error
    except yaml.MarkedYAMLError as error:
        raise ConfigurationError(_yaml_problem(error), where=str(path), hint=_YAML_HINT) from error
    except yaml.YAMLError as error:
        raise ConfigurationError(f"this is not YAML: {error}", where=str(path), hint=_YAML_HINT) from error
    except RecursionError as error:
        raise ConfigurationError(
            "it is nested too deeply", where=str(path), hint="see docs/configuration.md"
        ) from error
    finally:
        if loader is not None:
            loader.dispose()
    if root is None or data is None:
        raise ConfigurationError("the file is empty", where=str(path), hint=_EXAMPLE_HINT)
    if not isinstance(data, dict):
        raise ConfigurationError(
            f"the file holds {described(data)} where keys and values are expected", where=str(path), hint=_EXAMPLE_HINT
        )
    return Document(path, data, root)


_YAML_HINT = "quote texts that hold a colon, a hash, a bracket or a star, and indent with blanks"
_EXAMPLE_HINT = "it needs `sources:` at least; see docs/configuration.md and the examples in conf/"


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigurationError("there is no such file", where=str(path), hint="name it with -c FILE") from error
    except IsADirectoryError as error:
        raise ConfigurationError(
            "this is a folder", where=str(path), hint="name the file in it with -c FILE"
        ) from error
    except OSError as error:
        raise ConfigurationError(f"the file cannot be read: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"the file is not UTF-8 (byte {error.start})", where=str(path), hint="save it as UTF-8"
        ) from error


def _yaml_problem(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
    return f"{place}this is not YAML: {error.problem or error.context}"


def described(value: object) -> str:
    """`value` as a message names it: its kind, and itself where it is short."""
    if value is None:
        return "nothing"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a group of keys"
    if isinstance(value, bool):
        return f"the yes/no value {str(value).lower()}"
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) <= 60 else f"the text {value[:57]!r}..."
    return f"the {'number' if isinstance(value, int | float) else type(value).__name__} {value}"


def anchored(text: str, folder: Path) -> Path:
    """The local path `text`, with ``~`` expanded, relative to `folder`. Raises ValueError for a URI and for a blank."""
    if not text.strip():
        msg = "is blank: name a path; a relative one starts from the configuration file's folder ('.' is that folder)"
        raise ValueError(msg)
    if _URI.match(text):
        msg = f"{text!r} is an address, and this has to be a path on a local file system"
        raise ValueError(msg)
    return (folder / Path(text).expanduser()).resolve()


def workspace_of(path: Path) -> Path:
    """The workspace that the configuration file names; nothing else of it is looked at.

    Raises `ConfigurationError` as `read` does, and for a workspace that is no local path.
    """
    named = read(path).data.get("workspace", DEFAULT_WORKSPACE)
    if not isinstance(named, str):
        raise ConfigurationError(f"workspace: must be a path, not {described(named)}", where=str(path))
    try:
        return anchored(named, path.absolute().parent)
    except ValueError as error:
        raise ConfigurationError(f"workspace: {error}", where=str(path), hint="use a local folder") from error


def source_names(path: Path) -> tuple[str, ...]:
    """The names of the sources as they stand in the file, valid or not. Raises as `read` does."""
    sources = read(path).data.get("sources")
    entries = sources if isinstance(sources, list) else []
    names = (entry.get("name") for entry in entries if isinstance(entry, dict))
    return tuple(name for name in names if isinstance(name, str))


__all__ = ["DEFAULT_WORKSPACE", "Document", "Loc", "anchored", "described", "read", "source_names", "workspace_of"]
