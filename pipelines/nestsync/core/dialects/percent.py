"""Percent-encoding (RFC 3986, section 2.1), strict on the way in."""

from __future__ import annotations

import re

UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

_BROKEN = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ENCODED = re.compile(rb"%([0-9A-Fa-f]{2})")


class BrokenEncoding(ValueError):
    """The text is not percent-encoded UTF-8; the message goes on from "the text ..."."""


def encode(text: str, *, bare: frozenset[str] = UNRESERVED) -> str:
    """`text` with every character outside `bare` written as the percent-encoded bytes of its UTF-8 form.

    A lone surrogate has no such form and becomes ``?``, as in Java.
    """
    return "".join(c if c in bare else encode_bytes(c) for c in text)


def encode_bytes(text: str) -> str:
    """Every byte of the UTF-8 form of `text`, percent-encoded."""
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))


def decode(text: str) -> str:
    """The inverse of `encode`, whatever `bare` was. Raises `BrokenEncoding`."""
    broken = _BROKEN.search(text)
    if broken is not None:
        raise BrokenEncoding("holds a % that two hexadecimal digits do not follow")
    try:
        raw = text.encode("utf-8")
        return _ENCODED.sub(lambda found: bytes([int(found[1], 16)]), raw).decode("utf-8")
    except UnicodeError as error:
        raise BrokenEncoding("is not UTF-8 once its percent-encoding is undone") from error
