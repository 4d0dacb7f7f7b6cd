"""Lower case, as of one version of Unicode, whatever Python runs this.

Systems and engines fold names with what their own language knows, Spark's `lower` as of Unicode 16. Python 3.11 knows
Unicode 14, so that what came since is told here. Source: UnicodeData.txt and DerivedCoreProperties.txt of Unicode 16.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_PAIRS = {
    "\u1c89": "\u1c8a",
    "\ua7cb": "\u0264",
    "\ua7cc": "\ua7cd",
    "\ua7da": "\ua7db",
    "\ua7dc": "\u019b",
    **{chr(upper): chr(upper + 0x20) for upper in range(0x10D50, 0x10D66)},
}
"""The capital letters that have a small one."""


def _range(first: int, last: int) -> Iterator[str]:
    return map(chr, range(first, last + 1))


_CASED = frozenset({*_PAIRS, *_PAIRS.values(), *_range(0x1DF25, 0x1DF2A)})
"""The letters that have a case: beside one of them, a capital sigma may be within a word, or at its end."""
_IGNORED = frozenset(
    character
    for first, last in (
        *((0x0897, 0x0897), (0x0ECE, 0x0ECE), (0x10D4E, 0x10D4E), (0x10D69, 0x10D6D), (0x10D6F, 0x10D6F)),
        *((0x10EFC, 0x10EFF), (0x11241, 0x11241), (0x113BB, 0x113C0), (0x113CE, 0x113CE), (0x113D0, 0x113D0)),
        *((0x113D2, 0x113D2), (0x113E1, 0x113E2), (0x11F00, 0x11F01), (0x11F36, 0x11F3A), (0x11F40, 0x11F40)),
        *((0x11F42, 0x11F42), (0x11F5A, 0x11F5A), (0x13439, 0x13440), (0x13447, 0x13455), (0x1611E, 0x16129)),
        *((0x1612D, 0x1612F), (0x16D40, 0x16D42), (0x16D6B, 0x16D6C), (0x1E030, 0x1E06D), (0x1E08F, 0x1E08F)),
        *((0x1E4EB, 0x1E4EF), (0x1E5EE, 0x1E5EF)),
    )
    for character in _range(first, last)
)
"""The marks that are looked past where a sigma's neighbours are looked for."""
_NEITHER = frozenset({"\U0001171e"})
"""What had been such a mark, and is none any more."""
_NEWER = re.compile(f"[{''.join(sorted(_CASED | _IGNORED | _NEITHER))}]")
_LETTERS = "".join(c for c in _range(0x1D41A, 0x1D6A3) if c.isalpha())
"""Letters of mathematics: they have a case, and stay as they are."""
_MARKS = "".join(_range(0xE0100, 0xE01EF))
"""Variation selectors: they are looked past, and stay as they are."""
_SIGNS = "".join(_range(0x4E00, 0x4E7F))
"""Chinese signs: they have no case, and nobody looks past them."""


def lower(text: str) -> str:
    """`text` in lower case."""
    newer = set(_NEWER.findall(text))
    if not newer:
        return text.lower()
    # Python lowers a text of the same shape, in which others that it knows stand for what it does not know.
    others: dict[str, str] = {}
    for kind, pool in ((_CASED, _LETTERS), (_IGNORED, _MARKS), (_NEITHER, _SIGNS)):
        others.update(zip(sorted(newer & kind), (other for other in pool if other not in text), strict=False))
    back = {ord(other): _PAIRS.get(character, character) for character, other in others.items()}
    shape = text.translate({ord(character): other for character, other in others.items()})
    return shape.lower().translate(back)


__all__ = ["lower"]
