"""Patterns: which namespaces a rule of the mapping is about, level by level."""

from __future__ import annotations

import re

from nestsync.core.identifiers import Levels

Pattern = tuple[str, ...]
"""One glob a level (``*`` any run of characters, ``?`` one character); a last ``**`` takes further levels, or none."""

ANY_FURTHER = "**"

_CLASS_OR_CHOICE = re.compile(r"\[[^\]]+\]|\{[^}]*,[^}]*\}")
"""What other globs read as one character of several, or as one text of several."""


def glob_regex(glob: str) -> str:
    """The whole-text regular expression of one glob, the same in Python's `re` and in Java.

    Both lack a common end-of-text anchor (``$`` admits a last line break), hence ``(?!.)`` in dot-all mode.
    """
    parts = re.split(r"(\*+|\?)", glob)
    body = "".join(".*" if part[:1] == "*" else "." if part == "?" else re.escape(part) for part in parts)
    return f"(?s)^{body}(?!.)"


def is_glob(text: str) -> bool:
    """Whether `text` selects by wildcards rather than by being equal."""
    return "*" in text or "?" in text


def matches(pattern: Pattern, levels: Levels) -> bool:
    """Whether `pattern` selects the namespace `levels`: level by level, so that no boundary is ever crossed.

    ``("raw", "events", "**")`` selects ``("raw", "events")`` and everything below it, and not
    ``("raw", "events2")``.
    """
    open_ended = pattern[-1:] == (ANY_FURTHER,)
    fixed = pattern[:-1] if open_ended else pattern
    if len(levels) < len(fixed) or (len(levels) > len(fixed) and not open_ended):
        return False
    return all(re.search(glob_regex(glob), level) for glob, level in zip(fixed, levels, strict=False))


def reaches_below(pattern: Pattern, levels: Levels) -> bool:
    """Whether `pattern` selects the namespace `levels`, or could select one below it."""
    open_ended = pattern[-1:] == (ANY_FURTHER,)
    fixed = pattern[:-1] if open_ended else pattern
    deep_enough = open_ended or len(fixed) >= len(levels)
    return deep_enough and matches(fixed[: len(levels)], levels[: len(fixed)])


def takes_all_below(pattern: Pattern, levels: Levels) -> bool:
    """Whether `pattern` selects the namespace `levels` and every one below it."""
    return pattern[-1:] == (ANY_FURTHER,) and matches(pattern, levels)


def pattern_problem(pattern: Pattern) -> str | None:
    """Why `pattern` cannot mean what it looks like, and what to write instead; None where it can.

    `matches` takes every pattern as it stands; this is for the ones that people write.
    """
    if not pattern:
        return 'is empty and selects no namespace but the root; name a glob a level, or ["**"] for everything'
    inside = pattern[:-1] if pattern[-1] == ANY_FURTHER else pattern
    for glob in inside:
        if ANY_FURTHER in glob:
            return (
                f"{glob!r} takes further levels only where it is '**' and the last level; write '*' for any one level"
            )
        if found := _CLASS_OR_CHOICE.search(glob):
            return (
                f"{found[0]!r} in {glob!r} would be taken as it stands: the wildcards are '*', '?' and a last '**'; "
                "write a pattern for each choice, and '?' for a bracket that is in a name"
            )
    return None


__all__ = [
    "ANY_FURTHER",
    "Pattern",
    "glob_regex",
    "is_glob",
    "matches",
    "pattern_problem",
    "reaches_below",
    "takes_all_below",
]
