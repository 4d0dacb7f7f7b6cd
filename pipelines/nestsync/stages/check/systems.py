"""What a target system does not take, as chains; `core.checking.rules` on `core.capabilities` is the oracle."""

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
from nestsync.stages.check.hits import Chain
from nestsync.stages.check.native import first

_TOO_LONG = "too-long"


@dataclass(frozen=True, slots=True)
class SystemRules:
    """What one system does not take: of each rule the first, of the levels and of the table's name."""

    system: Capabilities
    code: Callable[[str, bool, Sentence], int]
    """The code for a rule, whether the levels are at fault, and a sentence."""

    def chains(self, levels: Column, name: Column) -> Iterator[Chain]:
        """One chain a rule and part; `name` is null for a namespace."""
        yield from self.of_levels(levels)
        yield from (chain.only_where(name.isNotNull()) for chain in self._name(levels, name))

    def of_levels(self, levels: Column) -> Iterator[Chain]:
        """One chain a rule about the levels."""
        yield self._depth(levels)
        yield from self._levels(levels)

    def _depth(self, levels: Column) -> Chain:
        chain, most, shape = Chain(), self.system.most_depth, self.system.shape
        chain.add(F.size(levels) < self.system.least_depth, self._code("too-deep", "", shape))
        if most is not None:
            too_many = self._code("too-deep", "", shape, level=True)
            chain.add_level(F.size(levels) > most, F.get(levels, F.lit(most)), [(None, too_many)])
        return chain

    def _levels(self, levels: Column) -> Iterator[Chain]:
        groups = native.level_groups(self.system, levels)
        path = native.path_too_long(self.system, levels)
        for rule in _rules((limit for group in groups for limit in group.limits), path):
            chain = Chain()
            for group in groups:
                own = [limit for limit in group.limits if limit.rule == rule]
                if own:
                    self._add_level(chain, group.levels, own)
            self._add_path(chain, rule, path, table=False)
            yield chain

    def _add_level(self, chain: Chain, levels: Column, own: list[Limit]) -> None:
        by_code = {self._code(limit.rule, limit.reason, limit.accepted, level=True): limit for limit in own}
        *others, last = by_code.items()
        reasons = [*((limit.refuses, code) for code, limit in others), (None, last[0])]
        chain.add_level(
            F.exists(levels, _any(own)),
            first(levels, _any(own)),
            reasons,
            character=lambda code, level: by_code[code].at_fault(level),
        )

    def _name(self, levels: Column, name: Column) -> Iterator[Chain]:
        path = native.table_path_too_long(self.system, levels, name)
        own = tuple(native.limits(self.system.table))
        empty = Chain()
        for refusal in self.system.table.refusals("", 0):
            if refusal.rule == "empty-level":
                code = self._code(refusal.rule, refusal.reason, refusal.accepted, level=True, table=True)
                empty.add(name == "", code)
        yield empty
        for rule in _rules(own, path):
            chain = Chain()
            for limit in own:
                if limit.rule == rule:
                    self._add_name(chain, name, limit)
            self._add_path(chain, rule, path, table=True)
            yield chain

    def _add_name(self, chain: Chain, name: Column, limit: Limit) -> None:
        code = self._code(limit.rule, limit.reason, limit.accepted, level=True, table=True)
        chain.add_level(limit.refuses(name), name, [(None, code)], character=lambda _, part: limit.at_fault(part))

    def _add_path(self, chain: Chain, rule: str, path: Column | None, *, table: bool) -> None:
        if rule == _TOO_LONG and path is not None:
            chain.add(path, self._code(rule, "", native.path_accepted(self.system), table=table))

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
