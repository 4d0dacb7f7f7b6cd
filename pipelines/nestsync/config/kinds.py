"""The kinds of values that several sections of the configuration hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, StringConstraints, ValidationInfo

from nestsync.configfile import anchored

_ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")


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


Text = Annotated[str, StringConstraints(min_length=1)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\-]{0,127}$")]
LocalPath = Annotated[Path, BeforeValidator(_local_path)]
SparkText = Annotated[str, BeforeValidator(_spark_text)]
Address = Annotated[str, AfterValidator(_address)]
"""Where something is on the web, without secrets in it."""


__all__ = ["Address", "LocalPath", "Name", "SparkText", "Text"]
