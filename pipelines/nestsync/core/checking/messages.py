"""The sentences of every finding, written once: the core fills them in as text, Spark as column expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from nestsync.core.separators import shown as shown_separator


class Slot(StrEnum):
    """What differs from object to object. Levels are shown as a JSON list, texts in double quotes."""

    LEVELS = "levels"
    """The source's levels."""
    TARGET = "target"
    """The target's levels."""
    NAME = "name"
    """The name in the target (in the source, where the source is at fault)."""
    LEVEL = "level"
    """The level at fault."""
    CHARACTER = "character"
    """The character at fault."""
    BACK = "back"
    """What a dialect reads instead, as `comes_back` says it; nothing where it reads the same, or nothing."""
    ERROR = "error"
    """What the reader of the catalog said, as it stands."""
    OTHERS = "others"
    """The other claimants, up to a few."""


Text = tuple[str | Slot, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is wrong, and what to change."""

    message: Text
    hint: Text


def fill(text: Text, values: Mapping[Slot, str]) -> str:
    """`text` with its slots filled in."""
    return "".join(values[part] if isinstance(part, Slot) else part for part in text)


_RENAME: Text = ("add a rename of ", Slot.LEVELS, " to the mapping file")
_RENAME_TABLE: Text = ("add a rename of the table ", Slot.NAME, " in ", Slot.LEVELS, " to the mapping file")
_LEVEL: Text = ("level ", Slot.LEVEL, " of ", Slot.TARGET)
_TABLE: Text = ("the table ", Slot.NAME, " in ", Slot.TARGET)


def separator_conflict(separator: str, free: str | None) -> Sentence:
    """A level holds the configured `separator`; `free` is one that no level holds."""
    choice = (
        "no candidate is free here: " if free is None else f"choose separator {shown_separator(free)} (free here) or "
    )
    message = f" holds {shown_separator(separator)}, the configured separator, and would be read as two levels"
    return Sentence((*_LEVEL, message), (choice, *_RENAME))


def separator_changed(before: str, after: str, replaces: str | None, *, holds: bool) -> Sentence:
    """A namespace of the target has another text with the separator `after`, or none where a level `holds` it.

    `replaces` is what the configuration names in the place of `before`.
    """
    old, new = shown_separator(before), shown_separator(after)
    wrong = "" if replaces in (None, before) else f" (it is {shown_separator(replaces)})"
    hint = f"keep separator {old}, or set separator.replaces to {old}{wrong} when all who write names know of {new}"
    if holds:
        return Sentence((*_LEVEL, f" would be read as two levels: the separator is {new}, and was {old}"), (hint,))
    return Sentence((Slot.TARGET, f" is written with {new} between its levels, and was written with {old}"), (hint,))


AMBIGUOUS = Sentence(
    ("the first level ", Slot.LEVEL, " of ", Slot.TARGET, " is the name of a catalog too, which Spark tries first"),
    ("write the target's catalog before it in queries, or ", *_RENAME),
)
EMPTY_LEVEL = Sentence(("a level of ", Slot.TARGET, " is empty"), (*_RENAME, ", or split on another text"))
NO_LEVEL = Sentence(
    ("the mapping leaves no level of ", Slot.LEVELS), ("drop fewer levels, add a prefix, or ", *_RENAME)
)


def dialect_refuses(dialect: str, reason: str, refuses: str, *, level: bool) -> Sentence:
    """`dialect` does not write the levels for this `reason`, of one `level` or of the whole."""
    subject = _LEVEL if level else (Slot.TARGET,)
    return Sentence((f"{dialect}: ", *subject, f" {reason}", Slot.BACK), (f"{dialect} refuses {refuses}: ", *_RENAME))


COMES_BACK = "; it comes back as "
"""What stands before the levels that a dialect reads instead."""


def dialect_refuses_table(dialect: str, reason: str, refuses: str) -> Sentence:
    """`dialect` does not write this table for this `reason`, its namespace being fine."""
    return Sentence((f"{dialect}: ", *_TABLE, f" {reason}"), (f"{dialect} refuses {refuses}: ", *_RENAME_TABLE))


def source_refuses(dialect: str, reason: str, *, table: bool) -> Sentence:
    """The source's own `dialect` has no text of its own for the levels, or for the table."""
    subject: Text = ("the table ", Slot.NAME, " in ", Slot.LEVELS) if table else (Slot.LEVELS,)
    return Sentence(
        (f"in the source's own {dialect}, ", *subject, f" {reason}"),
        ("look at what the source answers for it, or exclude it from the mapping",),
    )


def refused_because(rule: str, reason: str, *, level: bool) -> Text:
    """A capability's `reason` without what differs from name to name, which is in the slots."""
    if rule == "character-refused":
        return ("holds ", Slot.CHARACTER)
    if rule == "too-deep":
        return ("is one level too many",) if level else ("has too few levels",)
    return (reason,) if level else ("is too long in all",)


def not_taken(system: str, reason: Text, accepted: str, *, level: bool, table: bool) -> Sentence:
    """The target `system` does not take a level, the whole namespace, or the table, for this `reason`."""
    subject = _TABLE if table else _LEVEL if level else (Slot.TARGET,)
    hint = _RENAME_TABLE if table else _RENAME
    return Sentence((f"{system}: ", *subject, " ", *reason), (f"what {system} takes: {accepted}; ", *hint))


def dangerous(reason: str, accepted: str) -> Sentence:
    """A reader of the target does harm to others because of a level, for this `reason`."""
    return Sentence((*_LEVEL, f" {reason}"), (f"accepted is {accepted}; ", *_RENAME))


def kept_in_backend(refused: Sentence) -> Sentence:
    """What Gravitino has `refused`, and what it does about it all the same."""
    return Sentence((*refused.message, ", and Gravitino keeps it in the backend all the same"), refused.hint)


def collision(how: str, *, table: bool) -> Sentence:
    """Others want the same in the target; `how` says what makes it the same (``{}`` stands for the others)."""
    before, after = how.split("{}")
    who: Text = (Slot.NAME, " in ", Slot.TARGET) if table else (Slot.TARGET,)
    rename: Text = ("add a rename of one of them to the mapping file, or exclude one",)
    merge: Text = ("list ", Slot.TARGET, " under merge in the mapping if they are meant to be one, or ", *rename)
    return Sentence((*who, before, Slot.OTHERS, after), merge if how == WANTED_TOO and not table else rename)


WANTED_TOO = " is wanted by {} too"
ONE_TEXT = " is written in the target as is {}"
ONE_CASE = " is one with {} where the target folds case"
ONE_FORM = " is one with {} where the target normalises to NFC"
ONE_SCHEMA = (
    " is one schema with {} in Trino, which means one of them by that name and hides the rest; "
    "with some servers SHOW SCHEMAS then fails for the whole catalog"
)

ALREADY_THERE = " (already there)"


AND_MORE = (" and ", " more")
"""What stands around the number of the others that are not named."""


UNREADABLE = Sentence(
    ("it was listed and could not be read: ", Slot.ERROR), ("mend it in the source, or exclude it from the mapping",)
)
UNSUPPORTED = Sentence(
    ("it is of a kind that nestsync does not move: ", Slot.ERROR), ("move it by other means, or exclude it",)
)
NOT_A_TABLE = Sentence(
    ("it is beside the tables and is none: ", Slot.ERROR), ("nothing has to be done; exclude it to silence this",)
)
NO_REASON = "no reason was given"


__all__ = ["Sentence", "Slot", "Text", "fill"]
