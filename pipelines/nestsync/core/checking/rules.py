"""What is wrong with one object by itself: its levels, its name, how it was read.

Everything here has its column expression in `nestsync.stages.check`; a property test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nestsync.core.capabilities import capabilities
from nestsync.core.checking import messages
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.messages import Sentence, Slot, fill
from nestsync.core.dangers import dangers
from nestsync.core.dialects import Dialect, NameRefused, Refusal
from nestsync.core.findings import Finding, Severity
from nestsync.core.identifiers import Identifier, Levels, quoted, shown
from nestsync.core.mapping import Mapped, map_identifier

NAMESPACE = "namespace"
UNREADABLE, EMPTY, UNSUPPORTED, NOT_A_TABLE = "unreadable", "empty", "unsupported", "not-a-table"
DANGEROUS = "dangerous-name"

MOVED = ("ok", UNREADABLE)
"""The statuses of objects that are what they are called, or will be once they can be read."""

STATUS_RULES: dict[tuple[str, bool], tuple[str, Sentence]] = {
    (UNREADABLE, True): ("unreadable-namespace", messages.UNREADABLE),
    (UNREADABLE, False): ("unreadable-table", messages.UNREADABLE),
    (EMPTY, False): ("unreadable-table", messages.UNREADABLE),
    (UNSUPPORTED, False): ("unsupported-table", messages.UNSUPPORTED),
    (NOT_A_TABLE, False): ("not-a-table", messages.NOT_A_TABLE),
}
"""The rule and its sentence, by status and by whether the object is a namespace."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One object of the inventory, as far as a check looks at it."""

    source: str
    object: str
    levels: Levels
    name: str | None = None
    status: str = "ok"
    error: str | None = None
    role: str = "source"

    @property
    def identifier(self) -> Identifier:
        """Its identifier in its own catalog."""
        return Identifier(self.levels, self.name)


@dataclass(frozen=True, slots=True)
class Placed:
    """A source's object and what the mapping made of it."""

    subject: Subject
    mapped: Mapped
    renamed_itself: bool = False
    """Whether a rename names this very table, so that it need not be where its namespace is."""

    @property
    def moved(self) -> Identifier | None:
        """The target of an object that is wanted there; None where it is excluded, or is nothing to move."""
        return self.mapped.target if self.subject.status in MOVED else None


@dataclass(frozen=True, slots=True)
class Hit:
    """What is wrong, before it is known whom to tell: the object, or (`of_levels`) the namespace that it is in."""

    rule: str
    of_levels: bool
    sentence: Sentence
    level: str = ""
    character: str = ""
    back: Levels | None = None
    severity: Severity | None = None


def place(subject: Subject, context: CheckContext) -> Placed:
    """`subject` with its target."""
    mapping, identifier = context.mapping, subject.identifier
    itself = identifier.name is not None and any(
        (rename.source, rename.identifier) == (subject.source, identifier) for rename in mapping.renames
    )
    return Placed(subject, map_identifier(mapping, subject.source, identifier), itself)


def hits(placed: Placed, context: CheckContext, free: str | None) -> Iterator[Hit]:
    """All that is wrong with one object by itself; nothing where the mapping excludes it. `free`: see `ranking`."""
    if placed.mapped.target is None:
        return
    yield from _status(placed.subject)
    target = placed.moved
    if target is None:
        return
    yield from _in_source(placed.subject, context)
    yield from _empty(target)
    yield from _conflict(target.levels, context, free)
    if context.target is not None:
        yield from _in_target(target, context.target.dialect.open(), context)
        yield from _capabilities(target, context)
    if target.levels and target.levels[0] in context.catalogs_first:
        yield Hit("ambiguous-first-part", True, messages.AMBIGUOUS, target.levels[0])
    for reader in context.readers():
        yield from _in_engine(reader.sees(target), reader.dialect)
    for harming in context.harmed_by:
        yield from _dangers(target.levels, harming)


def _status(subject: Subject) -> Iterator[Hit]:
    found = STATUS_RULES.get((subject.status, subject.object == NAMESPACE))
    if found is not None:
        yield Hit(found[0], False, found[1])


def _fault(dialect: Dialect, identifier: Identifier) -> tuple[Refusal, bool] | None:
    """Why `dialect` does not write `identifier`, and whether its levels are at fault (else its name is)."""
    of_levels = dialect.refusal(identifier.levels)
    if identifier.name is None:
        return None if of_levels is None else (of_levels, True)
    whole = dialect.table_refusal(identifier.levels, identifier.name)
    if whole is None:
        return None
    return (whole, False) if of_levels is None else (of_levels, True)


def _in_source(subject: Subject, context: CheckContext) -> Iterator[Hit]:
    use = context.sources.get(subject.source)
    dialect = None if use is None else use.open()
    fault = None if dialect is None else _fault(dialect, subject.identifier)
    if dialect is not None and fault is not None:
        refusal, of_levels = fault
        sentence = messages.source_refuses(dialect.name, refusal.reason, table=not of_levels)
        yield Hit("round-trip-loss", of_levels, sentence, severity=Severity.WARNING)


def _empty(target: Identifier) -> Iterator[Hit]:
    if target.name is None and not target.levels:
        yield Hit("empty-level", True, messages.NO_LEVEL)
    elif "" in target.levels:
        yield Hit("empty-level", True, messages.EMPTY_LEVEL)


def _conflict(levels: Levels, context: CheckContext, free: str | None) -> Iterator[Hit]:
    separator = context.separator
    level = next((level for level in levels if separator in level), None) if separator else None
    if separator and level is not None:
        yield Hit("separator-conflict", True, messages.separator_conflict(separator, free), level)


def _in_target(target: Identifier, dialect: Dialect, context: CheckContext) -> Iterator[Hit]:
    """What the target's dialect refuses, under the refusal's own rule, unless it is said elsewhere."""
    fault = _fault(dialect, target)
    if fault is not None and not (fault[1] and said_elsewhere(fault[0], context)):
        yield _dialect_hit(target, dialect, fault[0], fault[0].rule, of_levels=fault[1])


def said_elsewhere(refusal: Refusal, context: CheckContext) -> bool:
    """Whether a refusal of levels by the target's dialect is what `_empty`, `_conflict` or the capabilities say."""
    match refusal.rule:
        case "empty-level":
            return True
        case "separator-conflict":
            return refusal.character == context.separator
        case "too-deep":
            return context.capabilities is not None and context.capabilities.most_depth is not None
    return False


def _in_engine(target: Identifier, dialect: Dialect) -> Iterator[Hit]:
    fault = _fault(dialect, target)
    if fault is not None:
        yield _dialect_hit(target, dialect, fault[0], "round-trip-loss", of_levels=fault[1])


def _dialect_hit(target: Identifier, dialect: Dialect, refusal: Refusal, rule: str, *, of_levels: bool) -> Hit:
    if not of_levels:
        return Hit(rule, False, messages.dialect_refuses_table(dialect.name, refusal.reason, dialect.refuses))
    back = _read_back(dialect, target.levels)
    sentence = messages.dialect_refuses(dialect.name, refusal.reason, dialect.refuses, level=refusal.level is not None)
    return Hit(rule, True, sentence, level=refusal.level or "", back=back)


def _read_back(dialect: Dialect, levels: Levels) -> Levels | None:
    """The other levels that `dialect` reads where `levels` were written; None where it reads the same, or nothing."""
    try:
        back = dialect.read(dialect.render(levels))
    except NameRefused:
        return None
    return None if back == levels else back


def _capabilities(target: Identifier, context: CheckContext) -> Iterator[Hit]:
    """The first refusal of each rule: of the levels, and of the table's name. Empty levels have their own finding."""
    system = context.capabilities
    if system is None:
        return
    of_levels = system.refusals(target.levels)
    yield from _not_taken(system.title, [r for r in of_levels if r.rule != "empty-level"], of_levels=True)
    if target.name is not None:
        of_table = [r for r in system.refusals(target.levels, target.name) if r not in of_levels]
        yield from _not_taken(system.title, of_table, of_levels=False)


def _not_taken(system: str, refusals: list[Refusal], *, of_levels: bool) -> Iterator[Hit]:
    first_by_rule = {refusal.rule: refusal for refusal in reversed(refusals)}
    for rule, refusal in first_by_rule.items():
        level = refusal.level is not None
        reason = messages.refused_because(rule, refusal.reason, level=level)
        sentence = messages.not_taken(system, reason, refusal.accepted, level=level, table=not of_levels)
        yield Hit(rule, of_levels, sentence, level=refusal.level or "", character=refusal.character or "")


def _dangers(levels: Levels, reader: str) -> Iterator[Hit]:
    """What `reader` does to others because of `levels`, each kind of harm once. Empty levels are nobody's to keep."""
    if reader == "gravitino":
        system = capabilities(reader)
        refused = [r for r in system.refusals(levels) if r.rule != "empty-level"]
        for hit in _not_taken(system.title, refused, of_levels=True):
            yield replace(hit, rule=DANGEROUS, sentence=messages.kept_in_backend(hit.sentence))
        return
    for reason, harm in {each.reason: each for each in reversed(dangers(reader, levels))}.items():
        yield Hit(DANGEROUS, True, messages.dangerous(reason, harm.accepted), level=harm.level or "")


def finding(placed: Placed, hit: Hit, context: CheckContext) -> Finding:
    """`hit` as a finding: about the namespace where its levels are at fault, so that it is said once for all in it."""
    subject, target = placed.subject, placed.mapped.target
    of_namespace = hit.of_levels and not placed.renamed_itself
    name = subject.name if target is None else target.name
    values = {
        Slot.LEVELS: shown(subject.levels),
        Slot.TARGET: "" if target is None else shown(target.levels),
        Slot.NAME: "" if name is None else quoted(name),
        Slot.LEVEL: quoted(hit.level),
        Slot.CHARACTER: quoted(hit.character),
        Slot.BACK: "" if hit.back is None else messages.COMES_BACK + shown(hit.back),
        Slot.ERROR: subject.error or messages.NO_REASON,
    }
    return Finding(
        rule=hit.rule,
        severity=context.severity(hit.rule, hit.severity),
        source=subject.source,
        object=NAMESPACE if of_namespace else subject.object,
        levels=subject.levels,
        name=None if of_namespace else subject.name,
        target_levels=None if target is None else target.levels,
        message=fill(hit.sentence.message, values),
        hint=fill(hit.sentence.hint, values),
    )


__all__ = [
    "DANGEROUS",
    "MOVED",
    "NAMESPACE",
    "STATUS_RULES",
    "Hit",
    "Placed",
    "Subject",
    "finding",
    "hits",
    "place",
    "said_elsewhere",
]
