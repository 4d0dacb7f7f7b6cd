"""OpenLineage events read back by the client's own classes: what they do not know, or lack, is an error."""

from __future__ import annotations

import json
import types
import typing
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import attr
from openlineage.client import facet_v2
from openlineage.client.event_v2 import RunEvent
from openlineage.client.generated.base import BaseFacet


def read(file: Path) -> list[RunEvent]:
    """The events in `file`."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [typing.cast("RunEvent", _made(RunEvent, json.loads(line))) for line in lines]


def _facet_classes() -> dict[str, type]:
    """Every facet of the client by the address of its schema."""
    modules = [module for name in facet_v2.__all__ if isinstance(module := getattr(facet_v2, name), types.ModuleType)]
    classes = [found for module in modules for found in vars(module).values() if isinstance(found, type)]
    return {found._get_schema(): found for found in classes if issubclass(found, BaseFacet) and found is not BaseFacet}


FACETS = _facet_classes()


def _made(kind: Any, value: Any) -> Any:  # noqa: PLR0911 a return for each kind of type
    """`value` as the client's class `kind`, with its own validators; `TypeError` where it does not fit."""
    origin, inner = get_origin(kind), get_args(kind)
    if value is None or kind is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        return _made_one_of([part for part in inner if part is not types.NoneType], value)
    if origin is list:
        return [_made(inner[0], each) for each in _of(list, value)]
    if origin is dict:
        return {key: _made(inner[1], each) for key, each in _of(dict, value).items()}
    if origin is typing.Literal:
        if value not in inner:
            raise TypeError(f"{value!r} is none of {inner}")
        return value
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    return _instance(kind, value) if attr.has(kind) else _of(kind, value)


def _made_one_of(kinds: list[Any], value: Any) -> Any:
    problems = []
    for kind in kinds:
        try:
            return _made(kind, value)
        except TypeError as error:
            problems.append(error)
    raise problems[0]


def _of(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _instance(kind: type, value: Any) -> Any:
    said = dict(_of(dict, value))
    if issubclass(kind, BaseFacet):  # which facet it is, its schema says
        kind = FACETS[said.pop("_schemaURL")]
    else:
        assert kind is not RunEvent or said.pop("schemaURL") == kind._get_schema()  # type: ignore[attr-defined]
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in attr.fields(kind) if field.init}
    unknown = set(said) - set(fields)
    if unknown:
        raise TypeError(f"{kind.__name__} knows no {sorted(unknown)}")
    return kind(**{fields[name].alias: _made(hints[name], each) for name, each in said.items()})
