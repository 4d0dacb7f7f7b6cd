"""What every dialect promises, and how it says no."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from nestsync.core.errors import NestsyncError
from nestsync.core.identifiers import Levels, lone_surrogate
from nestsync.core.separators import shown


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a name is not accepted.

    `level_index` counts from 0; the name of a table counts as the level after the last; it is None when the
    identifier as a whole, or a text, is refused. `level` is that level, name or text, `character` the offending
    character where there is one. `reason` goes on from "the level ...", `accepted` says what would do, and `rule` is
    the slug of the finding that it becomes.
    """

    level_index: int | None
    level: str | None
    character: str | None
    reason: str
    accepted: str
    rule: str = field(default="round-trip-loss", compare=False)

    def __str__(self) -> str:
        subject = "the identifier" if self.level is None else repr(self.level)
        return f"{subject} {self.reason}"


class NameRefused(NestsyncError):
    """A dialect does not write this name, or cannot read this text; `refusal` says exactly why."""

    code: ClassVar[str] = "name-refused"
    exit_code: ClassVar[int] = 2

    def __init__(self, refusal: Refusal, *, where: str = "") -> None:
        super().__init__(str(refusal), where=where, hint=refusal.accepted)
        self._refusal = refusal

    @property
    def refusal(self) -> Refusal:
        """The refusal; of an error read back from its text form, only the sentence is left."""
        kept = self.__dict__.get("_refusal")
        return kept if isinstance(kept, Refusal) else Refusal(None, None, None, self.what, self.hint)


class Dialect(ABC):
    """How one system or engine writes an identifier as text.

    `render` and `read` are the system's own writing and reading, unguarded. `encode` writes only what `read`
    gives back, and `decode` returns only what `encode` would write, so ``decode(encode(levels)) == levels`` and
    ``encode(decode(text))`` is the canonical text. Everything else raises `NameRefused`.
    """

    name: ClassVar[str]
    refuses: ClassVar[str]
    """What it refuses, in half a sentence, for the table in the documentation."""
    own_words: ClassVar[tuple[str, ...]] = ()
    """Whole levels that mean something of their own somewhere, in lower case, whatever their characters."""

    @abstractmethod
    def render(self, levels: Levels) -> str:
        """What the system itself would write for `levels`, whether or not it can be read back."""

    @abstractmethod
    def read(self, text: str) -> Levels:
        """The levels that the system itself reads in `text`. Raises `NameRefused` where it reads nothing."""

    def rejected(self, levels: Levels) -> Refusal | None:
        """Why the system itself turns `levels` away, if it does."""
        return None

    @abstractmethod
    def lost(self, levels: Levels) -> Refusal | None:
        """Why the system would take `levels` for other levels, if it would."""

    def refusal(self, levels: Levels) -> Refusal | None:
        """Why `encode` refuses `levels`; None when it does not. Raises `TypeError` for a text, which is no levels."""
        if isinstance(levels, str):
            raise TypeError(f"{levels!r} is one text; levels are a tuple of texts")
        levels = tuple(levels)  # a row of Spark's brings a list, which is equal to no tuple
        return unwritable(levels) or self.rejected(levels) or self.lost(levels)

    def encode(self, levels: Levels) -> str:
        """`levels` as text that `decode` turns back into exactly them. Raises `NameRefused`."""
        self.demand(self.refusal(levels))
        return self.render(levels)

    def decode(self, text: str) -> Levels:
        """The levels that `text` means; not every text is as `encode` writes it. Raises `NameRefused`."""
        levels = self.read(text)
        self.demand(self.refusal(levels))
        return levels

    @abstractmethod
    def render_table(self, levels: Levels, name: str) -> str:
        """What the system itself would write for the table `name` in `levels`."""

    @abstractmethod
    def read_table(self, text: str) -> tuple[Levels, str]:
        """The namespace and the name that the system itself reads in `text`. Raises `NameRefused`."""

    def lost_table(self, levels: Levels, name: str) -> Refusal | None:
        """Why the table's text would be refused or read as another table, its namespace being fine."""
        return None

    def table_refusal(self, levels: Levels, name: str) -> Refusal | None:
        """Why `encode_table` refuses the table `name` in `levels`; None when it does not."""
        if not name:
            return Refusal(len(levels), name, None, "is empty", "a name of one character or more", "empty-level")
        return unwritable((*levels, name)) or self._namespace_refusal(levels) or self.lost_table(levels, name)

    def _namespace_refusal(self, levels: Levels) -> Refusal | None:
        return self.refusal(levels)

    def encode_table(self, levels: Levels, name: str) -> str:
        """The table `name` in `levels` as text, as the class's docstring shows it. Raises `NameRefused`."""
        self.demand(self.table_refusal(levels, name))
        return self.render_table(levels, name)

    def decode_table(self, text: str) -> tuple[Levels, str]:
        """The inverse of `encode_table`. Raises `NameRefused`."""
        levels, name = self.read_table(text)
        self.demand(self.table_refusal(levels, name))
        return levels, name

    def demand(self, refusal: Refusal | None) -> None:
        """Raise `NameRefused` in this dialect's name unless `refusal` is None."""
        if refusal is not None:
            raise NameRefused(refusal, where=self.name)

    def unreadable(self, text: str, reason: str, accepted: str, *, character: str | None = None) -> NameRefused:
        """The error for a `text` that this dialect cannot read."""
        return NameRefused(Refusal(None, text, character, reason, accepted), where=self.name)


def unwritable(parts: Levels) -> Refusal | None:
    """The refusal of the first part with a lone surrogate, if there is one."""
    for index, part in enumerate(parts):
        at = lone_surrogate(part)
        if at is not None:
            reason = "holds a lone surrogate, which no UTF-8 text can carry"
            return Refusal(index, part, part[at], reason, "valid Unicode", "character-refused")
    return None


def empty_level(levels: Levels) -> Refusal | None:
    """The refusal of the first empty level, if there is one."""
    if "" not in levels:
        return None
    return Refusal(levels.index(""), "", None, "is an empty level", "levels of one character or more", "empty-level")


def holds(levels: Levels, text: str, role: str) -> Refusal | None:
    """The refusal of the first level that holds `text`, whose `role` in the dialect is said."""
    for index, level in enumerate(levels):
        if text in level:
            reason, accepted = f"holds {shown(text)}, {role}", f"levels without {shown(text)}"
            return Refusal(index, level, text, reason, accepted, "separator-conflict")
    return None


def runs_together(levels: Levels, separator: str) -> Refusal | None:
    """The refusal where a separator of several characters is found at another place than it was put."""
    back = separator.join(levels).split(separator)
    for index, (level, other) in enumerate(zip(levels, back, strict=False)):
        if level != other:
            reason = "runs into the separator after it"
            return Refusal(index, level, level[-1], reason, "a separator of one character")
    return None


def reads_as_root(levels: Levels) -> Refusal | None:
    """The refusal of ``("",)`` in a dialect that writes the root as the empty text."""
    if levels != ("",):
        return None
    return Refusal(0, "", None, "is written as the empty text, which is the root", "a level of one character or more")


def depth_refusal(levels: Levels, least: int, most: int, shape: str) -> Refusal | None:
    """The refusal of an identifier with fewer than `least` or more than `most` levels."""
    if least <= len(levels) <= most:
        return None
    if len(levels) > most:
        return Refusal(most, levels[most], None, f"is one level too many: this is {shape}", shape, "too-deep")
    return Refusal(None, None, None, f"has {len(levels)} level(s): this is {shape}", shape, "too-deep")
