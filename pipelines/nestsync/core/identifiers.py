"""Levels and identifiers: the only shape that a name has inside nestsync."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

Levels = tuple[str, ...]
"""A namespace, outermost level first; ``()`` is the root. Text exists only in `core.dialects`."""


@dataclass(frozen=True, slots=True, order=True)
class Identifier:
    """An object in a catalog: the levels of its namespace and, unless it is itself a namespace, its name."""

    levels: Levels
    name: str | None = None


def lone_surrogate(text: str) -> int | None:
    r"""The index of the first lone surrogate in `text`, or None.

    JSON can carry one (``"\ud800"``); UTF-8, and so Arrow and Spark, cannot, and Spark would make
    U+FFFD of it: another name. Readers refuse such a name before Spark sees it.
    """
    return next((i for i, c in enumerate(text) if 0xD800 <= ord(c) <= 0xDFFF), None)


def escape_surrogates(text: str) -> str:
    r"""`text` with each lone surrogate written as ``\udXXX``, fit for a message or an error row."""
    return "".join(f"\\u{ord(c):04x}" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)


HIDDEN = (
    "\\u007f-\\u00a0\\u00ad\\u0300-\\u036f\\u061c\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f"
    "\\u3000\\u3099\\u309a\\ufe00-\\ufe0f\\ufeff\\uffa0"
)
"""What a reader of a message cannot see or tell apart, as the inside of a regular expression's character class:
controls, odd blanks, combining marks (é written as two characters), direction marks, joiners."""

_HIDDEN = re.compile(f"[{HIDDEN}]")
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)")


def json_text(value: object) -> str:
    """`value` (texts, lists, maps with text keys) as JSON, byte for byte as Spark's ``to_json`` writes it.

    No blanks, nothing but quotes, backslashes and controls escaped, escapes in upper case, keys in their order.
    """
    return _ESCAPE.sub(_upper, json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def shown(levels: Levels) -> str:
    """`levels` as a JSON list for people and files: ``["sales","emea"]``, with all that is `HIDDEN` escaped.

    JSON reads it back as the same levels. Escapes are in upper case, as Spark's ``to_json`` writes them.
    """
    return shown_json(levels)


def shown_json(value: object) -> str:
    """Any `value` that `json_text` takes, with the texts in it escaped as `shown` escapes levels."""
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04X}", json_text(value))


def quoted(text: str) -> str:
    """One text (a key, an owner) in double quotes, escaped as `shown` escapes a level."""
    return shown((text,))[1:-1]


def _upper(found: re.Match[str]) -> str:
    escape = found[0]  # an escaped backslash is a match of its own, so that a level's own "\u00ab" stays as it is
    return f"\\u{escape[2:].upper()}" if escape[1] == "u" else escape
