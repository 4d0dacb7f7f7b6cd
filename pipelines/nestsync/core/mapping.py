"""The mapping: the rules that give each source identifier its target identifier.

Order, per the design: a rule's patterns select on source levels, renames from the mapping file are final,
then levels are dropped, split on a text, and prefixed. The first rule that selects an object decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from nestsync.core.identifiers import Identifier, Levels

Pattern = tuple[str, ...]
"""One glob a level (``*`` any run of characters, ``?`` one character); a last ``**`` takes any further levels."""


@dataclass(frozen=True, slots=True)
class MappingRule:
    """What happens to the objects of one source whose namespace levels the patterns select.

    `include` empty selects everything; `exclude` takes away from it. An object that no rule of its source
    selects is excluded, and says so; a source without any rule is mapped to itself.
    """

    source: str
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()
    drop: int = 0
    """Outermost levels to leave out (1 for the catalog level of a Hive Metastore)."""
    split: str | None = None
    """Any non-empty text; every remaining level is split on it. Empty segments stay, and are findings."""
    prefix: Levels = ()


@dataclass(frozen=True, slots=True)
class Rename:
    """One line of the mapping file: this source identifier becomes that target identifier, finally.

    A rename of a namespace moves the tables in it too (they keep their names); it does not move the
    namespaces below it.
    """

    source: str
    identifier: Identifier
    target: Identifier


@dataclass(frozen=True, slots=True)
class Mapping:
    """All rules of a configuration, in order."""

    rules: tuple[MappingRule, ...] = ()
    renames: tuple[Rename, ...] = ()
    merge: frozenset[Levels] = field(default_factory=frozenset)
    """Target namespaces that several sources may claim explicitly."""
