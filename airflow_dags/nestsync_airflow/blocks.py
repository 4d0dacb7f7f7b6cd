"""Where a configuration has its key ``airflow``, and what that holds; the rest is read only where it must be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from airflow.utils import yaml

KEY = "airflow"
_BEGINS = re.compile(rf"""(["']?){KEY}\1[ \t]*:(?=\s|$)""")
_BELONGS = ("", " ", "\t", "#", "}", "]")
"""What a line of a block begins with; a list may stand below its key without being indented."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Refused(Exception):
    """What a DAG cannot be made of; the message says what is wrong, and what was meant."""


def block_of(file: Path) -> object:
    """What the key ``airflow`` of the configuration `file` holds; an empty group of keys where there is none.

    As a rule it is a line of its own, and what belongs to it is cut out and read alone: a mistake elsewhere in the
    file is nestsync's to tell. Written in another way (in braces, with anchors of other keys, indented with all other
    keys), it is looked for in the whole document.

    Raises `Refused` where the file cannot be read, the key is there twice, or its place cannot be made out.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"it cannot be read: {error}") from error
    lines = text.splitlines()
    begins = [number for number, line in enumerate(lines) if _BEGINS.match(line)]
    if len(begins) > 1:
        raise _twice(number + 1 for number in begins)
    if not begins and KEY not in text:
        return {}
    with suppress(Exception):  # of the YAML library, which is Airflow's own to choose
        if begins:
            return yaml.safe_load(_cut(lines[begins[0] :]))[KEY]
    try:
        return _of_document(text)
    except Refused:
        raise
    except Exception as error:
        raise Refused(
            f"the key {KEY} cannot be read: this is not YAML{_where(error)}\n"
            f"hint: write it as a line of its own, {KEY}:, and its keys indented below it"
        ) from error


def _cut(lines: Sequence[str]) -> str:
    """The lines that belong to the first one."""
    ends = (number for number, line in enumerate(lines) if number and not _belongs(line))
    return "\n".join(lines[: next(ends, len(lines))])


def _belongs(line: str) -> bool:
    return line[:1] in _BELONGS or line.startswith("- ")


def _of_document(text: str) -> object:
    loader: Any = _LOADER(text)
    try:
        root = loader.get_single_node()
        if not isinstance(root, yaml.MappingNode):
            return {}
        keys = [key for key, _ in root.value if key.value == KEY]
        if len(keys) > 1:
            raise _twice(key.start_mark.line + 1 for key in keys)
        loader.flatten_mapping(root)  # what is merged in from elsewhere comes first
        values = [value for key, value in root.value if key.value == KEY]
        return loader.construct_document(values[-1]) if values else {}
    finally:
        loader.dispose()


def _twice(lines: Any) -> Refused:
    return Refused(f"the key {KEY} is there more than once (lines {', '.join(map(str, lines))}); keep one of them")


def _where(error: Exception) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    return f" (line {mark.line + 1}: {problem})" if mark is not None and problem else f" ({type(error).__name__})"


__all__ = ["KEY", "Refused", "block_of"]
