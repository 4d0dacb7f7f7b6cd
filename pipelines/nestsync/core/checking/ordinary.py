"""Ordinary names: short ones of a few plain characters, with which nothing is wrong by themselves.

Most names of most catalogs are such, and one cheap look tells them from the others. What is ordinary is not written
down anywhere: the rules are asked about witnesses, so that a rule that is added, or configured, takes its part away.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.fates import Way, ending
from nestsync.core.checking.rules import NAMESPACE, Placed, Subject, hits
from nestsync.core.dialects import DIALECTS
from nestsync.core.identifiers import Identifier, Levels
from nestsync.core.mapping import Mapped, MappedBy
from nestsync.core.matrix import Fate

PLAIN = string.ascii_lowercase + string.digits + "_"
LONGEST = 40
"""How many characters an ordinary level or name has at most."""
DEEPEST = 8
"""How many levels an ordinary namespace has at most."""
OWN_WORDS = tuple(sorted({word for kind in DIALECTS.values() for word in kind.own_words}))
"""Words that some dialect gives a meaning of its own."""
_EVERY_CHARACTER_AT_AN_END = 2
"""So many levels down, rules may look at a level's first and last character."""

Asked = Callable[[Levels, str | None], bool]
"""Whether nothing is wrong with a namespace, or with the table of that name in it."""


@dataclass(frozen=True, slots=True)
class Ordinary:
    """What is ordinary on one side: these depths of a namespace, with levels and names of `characters` alone."""

    characters: str
    namespaces: frozenset[int]
    tables: frozenset[int]
    """Depths of the namespace of a table."""
    words: tuple[str, ...] = OWN_WORDS
    """Texts that are never ordinary, sorted: somebody gives them a meaning of their own, which no witness finds."""

    @property
    def depths_of_parents(self) -> frozenset[int]:
        """How many levels the parents of ordinary namespaces, and the namespaces of ordinary tables, can have."""
        return frozenset(range(1, max({depth - 1 for depth in self.namespaces} | self.tables, default=0) + 1))

    def covers(self, other: Ordinary, *, tables: bool = True) -> bool:
        """Whether every namespace, and table, that is ordinary for `other` is so here, too."""
        depths = other.namespaces <= self.namespaces and (not tables or other.tables <= self.tables)
        return depths and set(other.characters) <= set(self.characters) and set(self.words) <= set(other.words)

    def holds(self, levels: Levels, name: str | None = None) -> bool:
        """Whether the namespace `levels`, or the table `name` in it, is ordinary."""
        parts = levels if name is None else (*levels, name)
        depths = self.namespaces if name is None else self.tables
        return len(levels) in depths and all(
            0 < len(part) <= LONGEST and set(part) <= set(self.characters) and part not in self.words for part in parts
        )


def in_target(context: CheckContext) -> Ordinary:
    """What the rules about targets, engines and separators have nothing to say of."""
    no_source = replace(context, sources={})

    def fine(levels: Levels, name: str | None) -> bool:
        return _nothing_hit("", levels, levels, name, no_source)

    found = _found(fine, _characters(context))
    return replace(found, words=tuple(sorted({*OWN_WORDS, *context.catalogs_first})))


def in_sources(context: CheckContext) -> Mapping[str, Ordinary]:
    """By source, what its own dialect takes. Sources without a dialect take everything, and are not listed."""
    alone = replace(context, target=None, engines=(), separator=None)
    characters = _characters(context)

    def asked(source: str) -> Asked:
        return lambda levels, name: _nothing_hit(source, levels, ("x",), name, alone)

    return {source: _found(asked(source), characters) for source in context.sources}


def lossless(way: Way, context: CheckContext) -> Ordinary:
    """The namespaces that come back as they are on every hop of `way`."""
    return _found(lambda levels, name: name is None and ending(way, levels).fate is Fate.LOSSLESS, _characters(context))


def _nothing_hit(source: str, levels: Levels, target: Levels, name: str | None, context: CheckContext) -> bool:
    subject = Subject(source, NAMESPACE if name is None else "table", levels, name)
    placed = Placed(subject, Mapped(Identifier(target, name), MappedBy.IDENTITY))
    return next(hits(placed, context, None), None) is None


def _characters(context: CheckContext) -> str:
    """The plain characters that no separator in use holds: a separator may be several of them in a row."""
    uses = [*context.sources.values(), *([] if context.target is None else [context.target.dialect])]
    separators = {*context.unescaped, *(use.separator or "" for use in uses)}
    return "".join(character for character in PLAIN if not any(character in text for text in separators))


def _found(fine: Asked, characters: str) -> Ordinary:
    def depths(name: str | None) -> frozenset[int]:
        return frozenset(
            depth
            for depth in range(1, DEEPEST + 1)
            if characters
            and all(fine((level,) * depth, name and level) for level in witnesses(characters, at_ends=depth))
        )

    return Ordinary(characters, depths(None), depths("named"))


def witnesses(characters: str, *, at_ends: int) -> Iterator[str]:
    """One text with every character and as long as can be, and each character as the first and the last."""
    yield (characters * LONGEST)[:LONGEST]
    if at_ends <= _EVERY_CHARACTER_AT_AN_END:
        yield from characters


__all__ = ["DEEPEST", "LONGEST", "OWN_WORDS", "PLAIN", "Ordinary", "in_sources", "in_target", "lossless", "witnesses"]
