"""The names that every engine is asked about."""

from __future__ import annotations

from nestsync.core.identifiers import Levels
from tests.core.hostile import HOSTILE, LONE_SURROGATES

ROOT = "r"
"""Stands in what is recorded for the namespace, of another name in every case, that a name is tried in."""

_SIGNS = [chr(code) for code in (*range(0x80), 0x85, 0xA0, 0xAD, 0x200B, 0x2028, 0xFEFF, 0xFFFD, 0x1D11E)]
_IN_PLACE = [f"a{sign}b" for sign in _SIGNS if not sign.isalnum()]

NAMES: tuple[str, ...] = tuple(dict.fromkeys((*HOSTILE, *LONE_SURROGATES, *_IN_PLACE, ".a", "a.", "a..b")))
"""Hostile names, and every sign of ASCII (and some others) between two letters: tried one level below a plain one."""

ALONE: tuple[Levels, ...] = tuple(
    (name,) for name in ("", " ", ".", "..", "...", "a.b", "A", "\x1f", "system", "information_schema", "é", "default")
)
"""What is tried as a first level, too."""

DEEPER: tuple[Levels, ...] = (
    (ROOT, "", "x"),
    (ROOT, ".", "x"),
    (ROOT, "a.b", "x"),
    (ROOT, "A", "x"),
    (ROOT, "x", ""),
    (ROOT, *"abcdefghijklmnopqr"),
    (ROOT, *"abcdefghijklmnopqrstuvwxyz"),
    (ROOT, "x" * 600),
)
"""What is tried further down."""

TRIED: tuple[Levels, ...] = (*((ROOT, name) for name in NAMES), *ALONE, *DEEPER)


def under(root: str, levels: Levels) -> Levels:
    """`levels` with `root` in the place of `ROOT`."""
    return (root, *levels[1:]) if levels[:1] == (ROOT,) else levels


def shown(root: str, levels: Levels) -> Levels:
    """The inverse of `under`."""
    return (ROOT, *levels[1:]) if levels[:1] == (root,) else levels
