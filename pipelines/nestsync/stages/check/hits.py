"""What the expressions over rows are made of: of several things that can be wrong, the first that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from nestsync.core.dialects import Dialect, Refusal
from nestsync.stages.check.columns import native
from nestsync.stages.check.native import Case, let
from nestsync.stages.check.sentences import HIT

Codes = Callable[[Refusal, bool], int | None]
"""The code for a refusal, by whether the levels are at fault (else the name is); None where it is said elsewhere."""


@dataclass(slots=True)
class Chain:
    """Things that can be wrong, in order: the first that is, is told. Codes are those of a `Codebook`."""

    _conditions: list[tuple[Column, Column]] = field(default_factory=list)
    _levels: list[tuple[list[int], Column]] = field(default_factory=list)
    _characters: list[tuple[list[int], Column]] = field(default_factory=list)
    _backs: list[tuple[list[int], Column]] = field(default_factory=list)
    _guard: Column | None = None

    def add(self, condition: Column, code: int | None) -> None:
        """Where `condition` holds, it is `code`; None ends the search with nothing to tell."""
        self._conditions.append((condition, _lit(code)))

    def add_level(
        self,
        condition: Column,
        level: Column,
        reasons: Iterable[tuple[Callable[[Column], Column] | None, int | None]],
        character: Callable[[int, Column], Column | None] = lambda _code, _level: None,
    ) -> None:
        """Where `condition` holds, `level` is at fault, and its code is that of the first reason that holds of it.

        What is left for the last reason needs no test. `character` gives the character at fault for some codes.
        """
        cases = list(reasons)
        code = _lit(cases[0][1]) if len(cases) == 1 else let(level, lambda part: _first_code(cases, part))
        self._conditions.append((condition, code))
        codes = [code for _, code in cases if code is not None]
        self._levels.append((codes, level))
        for code_of_one in codes:
            found = character(code_of_one, level)
            if found is not None:
                self._characters.append(([code_of_one], found))

    def add_back(self, codes: Iterable[int], back: Column) -> None:
        """With any of `codes`, tell what is read back."""
        self._backs.append((list(codes), back))

    def only_where(self, guard: Column) -> Chain:
        """The same chain, asked only where `guard` holds."""
        return replace(self, _guard=guard if self._guard is None else guard & self._guard)

    def code(self) -> Column:
        """The code of what is wrong with a row, or null: all that has to be known of most rows."""
        found = _when(self._conditions)
        return (found if self._guard is None else F.when(self._guard, found)).cast("int")

    def hit(self, code: Column) -> Column:
        """A `HIT` for a row whose `code` is known, with what was at fault."""
        facts = {
            "level": _of_code(code, self._levels),
            "character": _of_code(code, self._characters),
            "back": _of_code(code, self._backs),
        }
        return F.struct(
            *(facts.get(part.name, code).cast(part.dataType.simpleString()).alias(part.name) for part in HIT)
        )


def _lit(code: int | None) -> Column:
    return F.lit(code).cast("int")


def _first_code(cases: list[tuple[Callable[[Column], Column] | None, int | None]], part: Column) -> Column:
    *others, (_, last) = cases
    return _when((holds(part), _lit(code)) for holds, code in others if holds is not None).otherwise(_lit(last))


def _when(cases: Iterable[tuple[Column, Column]]) -> Column:
    """The value of the first case that holds, or null."""
    found: Column | None = None
    for condition, value in cases:
        found = F.when(condition, value) if found is None else found.when(condition, value)
    return F.lit(None) if found is None else found


def _of_code(code: Column, cases: list[tuple[list[int], Column]]) -> Column:
    """The value that belongs to `code`: of equal codes in several places, the first place with a value was at fault."""
    values = [F.when(code.isin(*codes), value) for codes, value in cases if codes]
    return F.coalesce(*values) if values else F.lit(None)


def fault(dialect: Dialect, levels: Column, name: Column, code: Codes) -> Chain:
    """Why `dialect` does not write the namespace `levels`, or (where `name` is not null) the table in it.

    The levels' fault goes before the name's.
    """
    own, chain = native(dialect), Chain()
    for case in own.cases(levels):
        # A table in the root can be fine although the root itself has no text.
        condition = (
            case.condition & ~(name.isNotNull() & (F.size(levels) == 0)) if own.tables_in_root else case.condition
        )
        _add(chain, case, condition, code)
    for case in own.name_cases(levels, name):
        chain.add(name.isNotNull() & case.condition, code(case.reasons[0].refusal, False))
    return chain


def _add(chain: Chain, case: Case, condition: Column, code: Codes) -> None:
    if case.level is None:
        chain.add(condition, code(case.reasons[0].refusal, True))
    else:
        reasons = [(reason.holds, code(reason.refusal, True)) for reason in case.reasons]
        chain.add_level(condition, case.level, reasons)


def read_back(dialect: Dialect, levels: Column) -> Column:
    """The levels that `dialect` reads instead of `levels`; null where it reads the same, or nothing."""
    return let(native(dialect).read_back(levels), lambda other: F.when(other != levels, other))


__all__ = ["Chain", "Codes", "fault", "read_back"]
