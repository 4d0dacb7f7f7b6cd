"""Separators: which character may join levels in text, why others may not, and what to use instead.

Source of the rules: Gravitino's design of nested namespaces, "Delimiter Configuration Policy" and "Delimiter
Validation and Rejection Rationale"; the refused set is nestsync's own, with a reason for each character.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import ClassVar, Literal, get_args

from nestsync.core.errors import NestsyncError, UnknownKind
from nestsync.core.identifiers import lone_surrogate

Policy = Literal["restricted", "unrestricted"]
"""Gravitino's option 1, an allow-list, and option 2, safety checks only."""

ALLOWED = (":", ";", "$")
"""What the restricted policy allows by default: the design's own examples."""

DEFAULT_CANDIDATES = (":", ";", "$", "|", "~", "^", ",", "!")
"""What the check ranks unless the configuration says otherwise: every ASCII sign that is safe, rare in names and
one keystroke away. ``+``, ``=``, ``-`` and ``_`` are safe too and left out: ``+`` is a blank in many a query string,
``=`` marks partitions in paths, and ``-`` and ``_`` are in half of all names."""

GRAVITINO_STORAGE = "\x01"
ICEBERG_REST_DEFAULT = "\x1f"

REFUSED: dict[str, str] = {
    "/": "it conflicts with path parsing",
    "\\": "it is an escape character, and a path separator on some systems",
    "?": "it begins the query of a URL",
    "#": "it begins the fragment of a URL, and Hive parts catalog and database with it",
    "&": "it joins the parameters of a query",
    "%": "it begins a percent-encoded byte",
    ".": "dotted identifiers and the catalog's own storage are split on it",
    "*": "it is a wildcard, and Gravitino reserves it",
    "@": "it marks a catalog in a Hive name, and a version in a table name",
    "'": "it quotes text in SQL",
    '"': "it quotes identifiers in SQL",
    "`": "it quotes identifiers in SQL",
    GRAVITINO_STORAGE: "Gravitino's storage joins levels with it",
    ICEBERG_REST_DEFAULT: "Iceberg REST joins levels with it",
}
"""The refused signs, each with its reason; `safety_reason` adds whole classes (letters, digits, blanks, controls)."""


class SeparatorRefused(NestsyncError):
    """A separator may not join levels: which one, why, and what would be free."""

    code: ClassVar[str] = "separator-refused"
    exit_code: ClassVar[int] = 2
    # Of an error that was read back from its text form, only the sentence is left.
    separator: str = ""
    reason: str = ""
    alternatives: tuple[str, ...] = ()

    def __init__(self, separator: str, reason: str, alternatives: tuple[str, ...] = ()) -> None:
        super().__init__(f"Delimiter {shown(separator)} is not allowed because {reason}. {_advice(alternatives)}")
        self.separator = separator
        self.reason = reason
        self.alternatives = alternatives


def check_separator(
    sep: str,
    *,
    policy: Policy = "restricted",
    allowed: Iterable[str] = ALLOWED,
    taken: Iterable[str] = (),
) -> None:
    """Accept the separator `sep`, or raise `SeparatorRefused` with the reason and the alternatives that are free.

    `allowed` binds under ``restricted`` only; the safety checks bind always, on members of `allowed` too. `taken`
    holds the level texts in use: an alternative that one of them holds is not offered. Raises `UnknownKind` for a
    policy that does not exist.
    """
    allow_list = tuple(allowed)
    reason = refusal_reason(sep, policy, allow_list)
    if reason is not None:
        raise SeparatorRefused(sep, reason, free_separators(alternatives(policy, allow_list), taken)[:3])


def refusal_reason(separator: str, policy: Policy, allowed: tuple[str, ...]) -> str | None:
    """Why `separator` is refused, as the end of "because ..."; None when it is not. Raises `UnknownKind`."""
    demand_policy(policy)
    reason = safety_reason(separator)
    if reason is None and policy == "restricted" and separator not in allowed:
        return f"the restricted policy allows {_listed(allowed, 'and')} only"
    return reason


def alternatives(policy: Policy, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """What a refusal may offer, in this order, where it is free."""
    return allowed if policy == "restricted" else (*allowed, *DEFAULT_CANDIDATES)


def demand_policy(policy: str) -> None:
    """Accept the name of a policy. Raises `UnknownKind`: a misspelt one must not lift the allow-list in silence."""
    if policy not in get_args(Policy):
        raise UnknownKind(f"there is no policy {policy!r}", hint=f"the policies are {', '.join(get_args(Policy))}")


def demand_text(separator: str, alternatives: tuple[str, ...]) -> None:
    """Accept any `separator` that a text can hold, however long. Raises `SeparatorRefused`, offering `alternatives`."""
    if not separator:
        raise SeparatorRefused(separator, "it is empty", alternatives)
    if lone_surrogate(separator) is not None:
        raise SeparatorRefused(separator, "it holds a lone surrogate, which no UTF-8 text can carry", alternatives)


def safety_reason(separator: str) -> str | None:
    """Why `separator` is unsafe under every policy, as the end of "because ..."; None when it is safe."""
    if len(separator) != 1:
        return "it is empty" if not separator else "it is not a single character"
    if separator in REFUSED:
        return REFUSED[separator]
    if separator.isspace():
        return "it is blank"
    if unicodedata.normalize("NFC", separator) != separator:
        return "Unicode normalisation turns it into another character"
    return _class_reason(unicodedata.category(separator))


def _class_reason(category: str) -> str | None:
    match category[0]:
        case "L":
            return "it is a letter, and names are made of letters"
        case "N":
            return "it is a digit, and names are made of digits"
        case "M":
            return "it is a combining mark and melts into the character before it"
        case "C":
            return "it is a control character or cannot be seen"
    return None


_CODE_POINT = re.compile(r"(?:\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|U\+([0-9A-Fa-f]{4,6}))")
_BYTES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def typed_separator(text: str) -> str:
    r"""The separator that somebody means who cannot type it.

    ``%1F`` (as a server advertises it), ``\x1f``, ``\u001f`` and ``U+001F`` are read; every other text is the
    separator itself. Raises `SeparatorRefused` for what encodes no character.
    """
    point = _CODE_POINT.fullmatch(text)
    try:
        if point is not None:
            return chr(int(point[1] or point[2] or point[3], 16))
        return bytes.fromhex(text.replace("%", "")).decode("utf-8") if _BYTES.fullmatch(text) else text
    except ValueError as error:  # not UTF-8, or beyond Unicode
        raise SeparatorRefused(text, "it encodes no character", ALLOWED) from error


def free_separators(candidates: Iterable[str], taken: Iterable[str]) -> tuple[str, ...]:
    """The safe `candidates` that no text of `taken` holds, in their order, each once."""
    used = {character for text in taken for character in text}
    return tuple(c for c in dict.fromkeys(candidates) if safety_reason(c) is None and c not in used)


def shown(separator: str) -> str:
    """`separator` as a message shows it: quoted, or as code points when it cannot be seen."""
    if separator.isprintable():
        return f"'{separator}'"
    return " ".join(f"U+{ord(character):04X}" for character in separator)


def _advice(alternatives: tuple[str, ...]) -> str:
    if not alternatives:
        return "No allowed separator is free here: rename the levels that hold one, or allow another."
    return f"Try {_listed(alternatives, 'or')}."


def _listed(separators: tuple[str, ...], conjunction: str) -> str:
    quoted = [shown(separator) for separator in separators]
    if len(quoted) > 2:
        return f"{', '.join(quoted[:-1])}, {conjunction} {quoted[-1]}"
    return f" {conjunction} ".join(quoted) or "none"


__all__ = [
    "ALLOWED",
    "DEFAULT_CANDIDATES",
    "REFUSED",
    "Policy",
    "SeparatorRefused",
    "alternatives",
    "check_separator",
    "demand_policy",
    "demand_text",
    "free_separators",
    "refusal_reason",
    "safety_reason",
    "shown",
    "typed_separator",
]
