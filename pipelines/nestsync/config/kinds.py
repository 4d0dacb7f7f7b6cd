"""The kinds of values that several sections of the configuration hold."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, TypeGuard

from pydantic import AfterValidator, BeforeValidator, StringConstraints, ValidationInfo

from nestsync.configfile import anchored, described
from nestsync.core.patterns import Pattern, pattern_problem

_ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")


_MASTER = re.compile(
    r"local|local\[([1-9]\d*|\*)(\s*,\s*\d+)?\]"
    r"|local-cluster\[\s*[1-9]\d*\s*,\s*[1-9]\d*\s*,\s*[1-9]\d*\s*\]"
    r"|spark://[^\s/,@]+:\d+(,[^\s/,@]+:\d+)*|yarn|k8s://\S+"
)
"""What Spark 4 takes (`SparkMasterRegex`, `Utils.extractHostPortFromSparkUrl`); the rest ends in a stack trace."""


def _local_path(text: object, info: ValidationInfo) -> object:
    folder = (info.context or {}).get("folder")
    return anchored(str(text), folder) if isinstance(text, str | Path) and folder else text


def _spark_text(value: object) -> object:
    """YAML's own numbers and truth values as Spark's configuration writes them."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise ValueError("it must be an address, http:// or https://, without a user, a question mark or a hash")
    return text


def _part(value: object) -> object:
    if not _is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"must be a part between 0 and 1, such as 0.95 for 95 %, not {described(value)}")
    return value


def _least(value: float) -> float:
    if value == 0:
        raise ValueError("0 expects nothing of any row: name the least part to be right, such as 0.95 for 95 %")
    return value


def _multiple(value: object) -> object:
    if not _is_number(value) or not 0 <= value < math.inf:
        raise ValueError(f"must be a part, 0 or more, such as 0.5 for half as much again, not {described(value)}")
    return value


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must say why, in words: it is blank")
    return text


def _master(text: str) -> str:
    """`text`. Raises ValueError where it is no master of Spark."""
    if not _MASTER.fullmatch(text):
        raise ValueError(
            f"{text!r} is no master that Spark takes: write local[2] (two cores), local[*] (all of them), "
            "spark://host:port, yarn or k8s://host; leave it out under spark-submit, which has the last word"
        )
    return text


def _pattern(pattern: Pattern) -> Pattern:
    problem = pattern_problem(pattern)
    if problem is not None:
        raise ValueError(problem)
    return pattern


def _is_number(value: object) -> TypeGuard[float]:
    """YAML's yes and no are numbers to Python, and not to whoever wrote them."""
    return isinstance(value, int | float) and not isinstance(value, bool)


Text = Annotated[str, StringConstraints(min_length=1)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\-]{0,127}$")]
NamedLevels = tuple[Text, ...]
"""Levels that can be in a target: none of them is empty."""
SelectingPattern = Annotated[Pattern, AfterValidator(_pattern)]
"""A pattern that means what it looks like."""
LocalPath = Annotated[Path, BeforeValidator(_local_path)]
Master = Annotated[str, AfterValidator(_master)]
"""A master of Spark."""
SparkText = Annotated[str, BeforeValidator(_spark_text)]
Address = Annotated[str, AfterValidator(_address)]
"""Where something is on the web, without secrets in it."""
Part = Annotated[float, BeforeValidator(_part)]
"""A part of a whole."""
LeastPart = Annotated[Part, AfterValidator(_least)]
"""A part of a whole that is more than nothing."""
Multiple = Annotated[float, BeforeValidator(_multiple)]
"""A part, or more than once, of what there was."""
Reason = Annotated[str, AfterValidator(_not_blank)]
"""Why somebody accepts what is refused by default."""


__all__ = [
    "Address",
    "LeastPart",
    "LocalPath",
    "Master",
    "Multiple",
    "Name",
    "NamedLevels",
    "Part",
    "Reason",
    "SelectingPattern",
    "SparkText",
    "Text",
]
