"""What a target system does not take, as hits; `core.checking.rules` on `core.capabilities` is the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from nestsync.core.capabilities import Capabilities
from nestsync.core.checking import messages
from nestsync.core.checking.messages import Sentence
from nestsync.stages.check import capabilities as native
from nestsync.stages.check.capabilities import Limit, Test
from nestsync.stages.check.hits import first_of, hit
from nestsync.stages.check.native import first, let

_TOO_LONG = "too-long"


@dataclass(frozen=True, slots=True)
class SystemRules:
    """The hits of one system: of each rule the first, of the levels and of the table's name."""

    system: Capabilities
    code: Callable[[str, bool, Sentence], int]
    """The code for a rule, whether the levels are at fault, and a sentence."""

    def hits(self, levels: Column, name: Column) -> Iterator[Column]:
        """One column a rule and part; `name` is null for a namespace."""
        yield self._depth(levels)
        yield from self._levels(levels)
        yield from (F.when(name.isNotNull(), found) for found in self._name(levels, name))

    def _depth(self, levels: Column) -> Column:
        most = self.system.most_depth
        cases = [(F.size(levels) < self.system.least_depth, hit(self._code("too-deep", "", self.system.shape)))]
        if most is not None:
            too_many = self._code("too-deep", "", self.system.shape, level=True)
            cases.append((F.size(levels) > most, hit(too_many, F.get(levels, F.lit(most)))))
        return first_of(cases)

    def _levels(self, levels: Column) -> Iterator[Column]:
        groups = native.level_groups(self.system, levels)
        path = native.path_too_long(self.system, levels)
        for rule in _rules((limit for group in groups for limit in group.limits), path):
            cases = [
                (F.exists(group.levels, _any(own)), self._at_fault(first(group.levels, _any(own)), own))
                for group in groups
                if (own := [limit for limit in group.limits if limit.rule == rule])
            ]
            yield first_of([*cases, *self._path(rule, path, table=False)])

    def _at_fault(self, level: Column, own: list[Limit]) -> Column:
        codes = {limit: self._code(limit.rule, limit.reason, limit.accepted, level=True) for limit in own}

        def found(part: Column) -> Column:
            return first_of((limit.refuses(part), hit(codes[limit], part, limit.at_fault(part))) for limit in own)

        return let(level, found)

    def _name(self, levels: Column, name: Column) -> Iterator[Column]:
        path = native.table_path_too_long(self.system, levels, name)
        own = tuple(native.limits(self.system.table))
        for refusal in self.system.table.refusals("", 0):
            if refusal.rule == "empty-level":
                code = self._code(refusal.rule, refusal.reason, refusal.accepted, level=True, table=True)
                yield F.when(name == "", hit(code))
        for rule in _rules(own, path):
            cases = [
                (
                    limit.refuses(name),
                    hit(
                        self._code(rule, limit.reason, limit.accepted, level=True, table=True),
                        None,
                        limit.at_fault(name),
                    ),
                )
                for limit in own
                if limit.rule == rule
            ]
            yield first_of([*cases, *self._path(rule, path, table=True)])

    def _path(self, rule: str, path: Column | None, *, table: bool) -> Iterator[tuple[Column, Column]]:
        if rule == _TOO_LONG and path is not None:
            yield path, hit(self._code(rule, "", native.path_accepted(self.system), table=table))

    def _code(self, rule: str, reason: str, accepted: str, *, level: bool = False, table: bool = False) -> int:
        words = messages.refused_because(rule, reason, level=level)
        sentence = messages.not_taken(self.system.title, words, accepted, level=level, table=table)
        return self.code(rule, not table, sentence)


def _rules(limits: Iterable[Limit], path: Column | None) -> dict[str, None]:
    """The rules of `limits`, each once, and the one on lengths where a whole path can be too long."""
    return dict.fromkeys([*(limit.rule for limit in limits), *([] if path is None else [_TOO_LONG])])


def _any(limits: list[Limit]) -> Test:
    return lambda part: reduce(or_, (limit.refuses(part) for limit in limits))


__all__ = ["SystemRules"]
