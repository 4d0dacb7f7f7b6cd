"""What is wrong with a configuration, in words: one sentence a problem, that names the key and what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from operator import itemgetter
from typing import Any, ClassVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from nestsync.configfile import Document, Loc, described
from nestsync.errors import ConfigurationError


class ConfigurationInvalid(ConfigurationError):
    """The configuration file is read and wrong; `problems` holds one sentence for each thing to change."""

    code: ClassVar[str] = "configuration-invalid"

    def __init__(self, problems: tuple[str, ...], *, where: str, hint: str = "see docs/configuration.md") -> None:
        super().__init__("; ".join(problems), where=where, hint=hint)
        self.problems = problems


def invalid(document: Document, problems: Mapping[Loc, str]) -> ConfigurationInvalid:
    """The error for `problems`, in the order in which they stand in the file."""
    located = sorted(((document.line(loc), loc, text) for loc, text in problems.items()), key=itemgetter(0))
    return ConfigurationInvalid(
        tuple(f"line {line}: {place(document.data, loc)}: {text}" for line, loc, text in located),
        where=str(document.path),
    )


def place(data: object, loc: Loc) -> str:
    """`loc` as a person writes it, with the name of the catalog that it leads into: ``sources[0].uri (hms_prod)``."""
    text, name = "", None
    for step in loc:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        data = _inside(data, step)
        if isinstance(data, dict) and isinstance(data.get("name"), str):
            name = data["name"]
    return f"{text} ({name})" if name else text


def _inside(data: object, step: str | int) -> object:
    if isinstance(data, dict):
        return data.get(step)
    if isinstance(data, list) and isinstance(step, int) and step < len(data):
        return data[step]
    return None


def choices(word: str, known: tuple[str, ...]) -> str:
    """A did-you-mean for `word`, or what there is to choose from."""
    close = get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"use one of {', '.join(known)}"


# ---- secrets


_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[.\-]")
_SECRET = re.compile(
    r"(^|_)(token|password|passwd|pass|pwd|secret|credentials?|authorization|cookie|connection_string|sas|"
    r"(api|access|private|account|secret|service_account)_?key(_id)?)$"
)
_USERINFO = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/@\s]*:[^/@\s]+@")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def secrets_in_clear(data: Mapping[str, Any]) -> dict[Loc, str]:
    """A problem for each value that looks like a secret; the value itself is in none of them."""
    return dict(_secrets(data, ()))


def _secrets(value: object, loc: tuple[str | int, ...]) -> Iterator[tuple[Loc, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _secrets_at(key, inner, (*loc, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _secrets(inner, (*loc, index))
    elif isinstance(value, str) and _USERINFO.match(value):
        yield loc, "an address must not hold a password: name an environment variable with a key that ends in _env"


def _secrets_at(key: str, value: object, loc: tuple[str | int, ...]) -> Iterator[tuple[Loc, str]]:
    if key.endswith("_env"):
        named = list(value.values()) if isinstance(value, dict) else [value]
        if any(isinstance(name, str) and not _VARIABLE.fullmatch(name) for name in named):
            yield loc, "must be the name of an environment variable, not what it holds"
    elif _SECRET.search(_WORDS.sub("_", key).lower()) and isinstance(value, str | int | float):
        yield loc, f"a secret must not stand in the file: {_secret_advice(key, loc)}"
    else:
        yield from _secrets(value, loc)


def _secret_advice(key: str, loc: tuple[str | int, ...]) -> str:
    if loc[0] == "spark":
        return "leave it to spark-submit (--conf) or to Spark's own spark-defaults.conf"
    if len(loc) > (3 if loc[0] == "sources" else 2):
        return f"name the environment variable that holds it, {loc[-2]}_env: {{{key}: NAME_OF_THE_VARIABLE}}"
    return f"name the environment variable that holds it, {key}_env: NAME_OF_THE_VARIABLE"


# ---- pydantic's errors


class Section(BaseModel):
    """A group of keys in the configuration file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @classmethod
    def fields_for(cls, data: object) -> Mapping[str, FieldInfo]:
        """The keys that this section takes, where `data` is what stands in it."""
        return cls.model_fields


def explained(error: ValidationError, model: type[Section], data: object) -> dict[Loc, str]:
    """A sentence for each problem in `error`, by its place in the file. `data` was validated with `model`."""
    problems: dict[Loc, str] = {}
    for details in error.errors(include_url=False):
        loc = _in_file(details["loc"])
        hint = " (${...} is not replaced here)" if "${" in str(details["input"]) else ""
        problems.setdefault(loc, _sentence(details, _fields_beside(loc, model, data)) + hint)
    return problems


def _in_file(loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Without the step into a catalog's options: in the file they stand flat beside its name."""
    depth = 2 if loc[:1] == ("sources",) else 1
    return loc[:depth] + loc[depth + 1 :] if loc[depth : depth + 1] == ("options",) else loc


def _fields_beside(loc: Loc, model: type[BaseModel] | None, data: object) -> Mapping[str, FieldInfo]:
    """The keys that could stand where the last step of `loc` does."""
    fields = _fields_of(model, data)
    in_map = False
    for step in loc[:-1]:
        data = _inside(data, step)
        if in_map:  # the step is a name, and what stands under it is what the map is declared to hold
            in_map = False
        elif isinstance(step, str):
            annotation = fields[step].annotation if step in fields else None
            model, in_map = _model_in(annotation), get_origin(annotation) is dict
        fields = _fields_of(model, data)
    return fields


def _fields_of(model: type[BaseModel] | None, data: object) -> Mapping[str, FieldInfo]:
    if model is None:
        return {}
    return model.fields_for(data) if issubclass(model, Section) else model.model_fields


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def _meaning(field: FieldInfo) -> str:
    """The first sentence of a field's description, without its full stop."""
    return " ".join((field.description or "").split()).partition(". ")[0].rstrip(".")


_MEANT = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "a group of keys (key: value)",
    "model_type": "a group of keys (key: value)",
    "model_attributes_type": "a group of keys (key: value)",
    "path_type": "a path",
}


def _sentence(details: ErrorDetails, fields: Mapping[str, FieldInfo]) -> str:
    kind, given = details["type"], details["input"]
    key = str(details["loc"][-1]) if details["loc"] else ""
    meaning = f" ({_meaning(fields[key])})" if key in fields and fields[key].description else ""
    match kind:
        case "extra_forbidden":
            sentence = f"unknown key; {choices(key, tuple(sorted(fields)))}"
        case "missing":
            sentence = f"is missing{meaning}"
        case "string_pattern_mismatch":
            sentence = f"{given!r} does not fit{meaning}"
        case "literal_error" | "enum":
            sentence = f"must be {details['ctx']['expected']}, not {described(given)}"
        case "string_too_short" | "too_short":
            sentence = "must not be empty"
        case _ if kind in _MEANT:
            quote = "; write it in quotes" if kind == "string_type" and isinstance(given, int | float) else ""
            sentence = f"must be {_MEANT[kind]}, not {described(given)}{quote}"
        case _:
            sentence = details["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return sentence[:1].lower() + sentence[1:]
