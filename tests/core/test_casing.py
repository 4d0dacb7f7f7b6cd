"""Lower case is the same whatever Unicode Python knows."""

from __future__ import annotations

import pytest
from hypothesis import given

from nestsync.core.casing import lower
from tests.core.hostile import names


@pytest.mark.parametrize(
    ("text", "lowered"),
    [
        ("Sales", "sales"),
        ("İ", "i̇"),
        ("\u1c89A", "\u1c8aa"),
        ("\ua7cb\ua7dc", "\u0264\u019b"),
        ("\U00010d50", "\U00010d70"),
        # A capital sigma at the end of a word is another letter than within one.
        ("AΣ", "aς"),
        ("AΣB", "aσb"),
        ("AΣ\u1c89", "aσ\u1c8a"),
        ("\u1c89Σ", "\u1c8aς"),
        ("AΣ\U0001df25", "aσ\U0001df25"),
        # What is looked past, and what is not any more.
        ("AΣ\u0897B", "aσ\u0897b"),
        ("AΣ\u0897", "aς\u0897"),
        ("AΣ\U0001171eB", "aς\U0001171eb"),
        # Whatever else is in the text: also what stands for a newer letter, otherwise.
        ("AΣ\u1c89\U0001d41a\U000e0100\u4e00\u0897", "aσ\u1c8a\U0001d41a\U000e0100\u4e00\u0897"),
    ],
    ids=ascii,
)
def test_lower_case(text: str, lowered: str) -> None:
    assert lower(text) == lowered
    assert lower(lowered) == lowered


@given(names)
def test_lower_case_is_lower_case(text: str) -> None:
    assert lower(lower(text)) == lower(text)
    assert not text.isascii() or lower(text) == text.lower()
