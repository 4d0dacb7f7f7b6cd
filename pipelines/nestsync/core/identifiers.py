"""Levels and identifiers: the only shape that a name has inside nestsync."""

from __future__ import annotations

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
