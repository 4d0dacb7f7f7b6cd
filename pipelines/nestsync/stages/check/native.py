"""A dialect as native column expressions: what it refuses and why, what it writes, what it reads back.

The reasons are not written again here: each case names a witness, the smallest identifier that the dialect of
`core` refuses for the same reason, and takes rule and reason from that refusal. A property test holds each
expression to its dialect.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from pyspark.sql import Column
from pyspark.sql import functions as F

from nestsync.core.dialects import Dialect, Refusal
from nestsync.core.identifiers import Levels

D = TypeVar("D", bound=Dialect)


@dataclass(frozen=True)
class Case:
    """One way to be refused: when, which level is at fault (None: all of them, or the table's name), and why.

    Several reasons are told apart by what the level at fault is like: the first that holds counts, the last always.
    """

    condition: Column
    level: Column | None
    reasons: tuple[Reason, ...]
    rejected: bool = False
    """Whether the system itself turns it away, as in `Dialect.rejected`; else it would take it for another."""


@dataclass(frozen=True)
class Reason:
    """The refusal, and what a level is like that is refused so; None where nothing else is left."""

    refusal: Refusal
    holds: Callable[[Column], Column] | None = None


class Native(ABC, Generic[D]):
    """One dialect of `core` as expressions over ``array<string>`` and ``string``."""

    tables_in_root: ClassVar[bool] = False
    """Whether a table in the root is fine although the root itself has no text."""

    def __init__(self, dialect: D) -> None:
        self.dialect = dialect

    @abstractmethod
    def cases(self, levels: Column) -> Iterator[Case]:
        """What `Dialect.refusal` refuses, in its order: the first that holds is the reason."""

    def name_cases(self, levels: Column, name: Column) -> Iterator[Case]:
        """What `Dialect.table_refusal` refuses where `levels` are fine, in its order."""
        yield self.table_case(name == "", ("x", "y"), "")

    @abstractmethod
    def render(self, levels: Column) -> Column:
        """`Dialect.render`."""

    def render_table(self, levels: Column, name: Column) -> Column:
        """`Dialect.render_table`."""
        return self.render(append(levels, name))

    @abstractmethod
    def read_back(self, levels: Column) -> Column:
        """The levels that `Dialect.read` gives for what `render` writes; null where it reads nothing."""

    def case(self, condition: Column, level: Column | None, *witness: str) -> Case:
        """A case of `cases`, with the reason for which the dialect refuses `witness`."""
        refusal = self.refusal(*witness)
        at_fault = level if refusal.level is not None else None
        return Case(condition, at_fault, (Reason(refusal),), self.dialect.rejected(witness) is not None)

    def refusal(self, *witness: str) -> Refusal:
        """Why the dialect refuses the levels `witness`."""
        return _expected(self.dialect.refusal(witness), self.dialect, witness)

    def table_case(self, condition: Column, levels: Levels, name: str) -> Case:
        """A case of `name_cases`, with the reason for which the dialect refuses the table `name` in `levels`."""
        refusal = _expected(self.dialect.table_refusal(levels, name), self.dialect, (*levels, name))
        return Case(condition, None, (Reason(refusal),))


def _expected(refusal: Refusal | None, dialect: Dialect, witness: Levels) -> Refusal:
    if refusal is None:
        message = f"{dialect.name} takes {witness!r}, which was to show why it refuses"
        raise LookupError(message)
    return refusal


def append(levels: Column, name: Column) -> Column:
    """`levels` and one more."""
    return F.concat(levels, F.array(name))


def first(levels: Column, bad: Callable[[Column], Column]) -> Column:
    """The first level that is `bad`, or null."""
    return F.get(F.filter(levels, bad), F.lit(0))


def let(value: Column, body: Callable[[Column], Column]) -> Column:
    """`body` of `value`, which is computed once however often `body` names it."""
    return F.get(F.transform(F.array(value), body), F.lit(0))


_JOINT = "\x00"
"""Stands for a text to split on: Java splits on one character several times faster than on a pattern."""
_EDGE = "\x01"
"""Around several joints in a row, where levels hold some."""


def split(text: Column, separator: str) -> Column:
    """`text` split on a text that is no pattern; the empty text is one empty part."""
    by_pattern = F.split(text, quoted_pattern(separator), -1)
    if len(separator) == 1:
        return by_pattern
    by_joint = F.split(F.replace(text, F.lit(separator), F.lit(_JOINT)), _JOINT, -1)
    return F.when(text.contains(_JOINT), by_pattern).otherwise(by_joint)


def split_each(levels: Column, separator: str) -> Column:
    """The parts of all `levels`, in order, each split on a text that is no pattern.

    All at once: going through an array level by level is what Spark generates no code for.
    """
    if _JOINT in separator or _EDGE in separator:
        return F.flatten(F.transform(levels, lambda level: split(level, separator)))
    in_one = F.array_join(levels, "")
    # No level holds so many of them in a row.
    joint = F.concat(F.lit(_EDGE), F.repeat(F.lit(_JOINT), F.length(in_one) + 1), F.lit(_EDGE))
    rarely = F.split(F.replace(F.call_function("array_join", levels, joint), F.lit(separator), joint), joint, -1)
    joined = F.array_join(levels, _JOINT)
    mostly = F.split(F.replace(joined, F.lit(separator), F.lit(_JOINT)), _JOINT, -1)
    return F.when(~joined.contains(separator), levels).when(in_one.contains(_JOINT), rarely).otherwise(mostly)


def quoted_pattern(text: str) -> str:
    """The regular expression that matches `text` and nothing else, also as a part of a class of characters."""
    if len(text) > 1:
        return r"\Q" + text.replace(r"\E", r"\E\\E\Q") + r"\E"
    # Java looks for these without a pattern: one character, or one after a backslash.
    return text if text.isalnum() or not text.isascii() else "\\" + text


def is_exactly(levels: Column, *wanted: str) -> Column:
    """Whether `levels` are those."""
    return levels == F.array(*map(F.lit, wanted))


def split_or_root(text: Column, separator: str) -> Column:
    """`split`, where the empty text is the root."""
    return F.when(text == "", root()).otherwise(split(text, separator))


def root() -> Column:
    """No levels."""
    return F.array().cast("array<string>")


def unless_empty(levels: Column) -> Column:
    """`levels`, or null where one is empty: what a path with an empty segment is read as."""
    return F.when(~F.array_contains(levels, ""), levels)
