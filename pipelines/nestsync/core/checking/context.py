"""What a check knows beside the objects themselves: the configuration, and what the servers said of themselves."""

from __future__ import annotations

from collections.abc import Mapping as Lookup
from dataclasses import dataclass, field
from typing import ClassVar

from nestsync.core.capabilities import Capabilities, Case, capabilities
from nestsync.core.dialects import Dialect, dialect
from nestsync.core.errors import NestsyncError
from nestsync.core.findings import RULES, Severity
from nestsync.core.identifiers import Identifier, Levels
from nestsync.core.mapping import Mapping
from nestsync.core.matrix import DEFAULT_PATH
from nestsync.core.separators import (
    ALLOWED,
    DEFAULT_CANDIDATES,
    Policy,
    SeparatorRefused,
    alternatives,
    refusal_reason,
    safety_reason,
)

_CATALOG_FIRST = ("flink", "hive", "lance-hive")
"""Dialects whose first level is the catalog, by whatever name the engine knows the target."""

_ORDER = (Severity.INFO, Severity.WARNING, Severity.BLOCKING)


def below(severity: Severity) -> tuple[Severity, ...]:
    """The severities that matter less than `severity`."""
    return _ORDER[: _ORDER.index(severity)]


class SeverityRefused(NestsyncError):
    """A severity that the configuration may not give to a rule."""

    code: ClassVar[str] = "severity-refused"
    exit_code: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class DialectUse:
    """A dialect and, where it lets one choose, what joins its levels (a server's advertised separator, say)."""

    name: str
    separator: str | None = None

    def open(self) -> Dialect:
        """The dialect itself. A refused separator is a finding of its own: the dialect's default stands in for it."""
        if self.separator is None:
            return dialect(self.name)
        plain = dialect(self.name)
        try:
            return dialect(self.name, separator=self.separator) if hasattr(plain, "separator") else plain
        except SeparatorRefused:
            return plain


@dataclass(frozen=True, slots=True)
class Target:
    """The configured target: how it writes names and what it can hold."""

    name: str
    system: str
    dialect: DialectUse
    capabilities: str
    """The name of its `core.capabilities`."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """A severity that the configuration lowers: of one rule, for one object of one source, for a reason.

    `name` None is the namespace `levels` itself.
    """

    rule: str
    source: str
    levels: Levels
    severity: Severity
    reason: str
    name: str | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise SeverityRefused(f"there is no rule {self.rule!r}", hint=f"the rules are {', '.join(RULES)}")
        if not self.reason.strip():
            raise SeverityRefused(
                f"{self.rule} is lowered without a reason", where=self.source, hint="say why; the report shows it"
            )


@dataclass(frozen=True, slots=True)
class Reader:
    """An engine that reads the target: its dialect, and the levels that it puts before the target's own."""

    dialect: Dialect
    before: Levels = ()

    def sees(self, identifier: Identifier) -> Identifier:
        """What this engine has to write for `identifier` of the target."""
        return Identifier((*self.before, *identifier.levels), identifier.name)


@dataclass(frozen=True, slots=True)
class CheckContext:
    """Everything that decides what is found. Raises `SeverityRefused` where `severities` lowers a rule."""

    mapping: Mapping = field(default_factory=Mapping)
    target: Target | None = None
    """None for an assessment, which has no target."""
    separator: str | None = None
    """The configured character that joins levels in text; None where none is wanted."""
    separator_before: str | None = None
    """The separator that the target was enabled with, where that is another."""
    replaces: str | None = None
    """The separator whose replacement the configuration wants."""
    candidates: tuple[str, ...] = DEFAULT_CANDIDATES
    policy: Policy = "restricted"
    allowed: tuple[str, ...] = ALLOWED
    engines: tuple[str, ...] = ()
    """Dialects of the engines that read the target."""
    paths: tuple[str, ...] = (DEFAULT_PATH,)
    """Whole ways of dialects, ``a > b > c``, that the matrix follows every namespace on."""
    sources: Lookup[str, DialectUse] = field(default_factory=dict)
    """How each configured source writes names; a source that is not here is not asked."""
    severities: Lookup[str, Severity] = field(default_factory=dict)
    """Raised severities by rule."""
    lowered: tuple[Lowered, ...] = ()

    def __post_init__(self) -> None:
        for slug, severity in self.severities.items():
            if slug not in RULES:
                raise SeverityRefused(f"there is no rule {slug!r}", hint=f"the rules are {', '.join(RULES)}")
            if severity in below(RULES[slug].severity):
                raise SeverityRefused(
                    f"{slug} is {RULES[slug].severity} and cannot be lowered to {severity} as a whole",
                    hint="lower it for one object, with a reason",
                )

    @property
    def capabilities(self) -> Capabilities | None:
        """What the target can hold; None without a target."""
        return None if self.target is None else capabilities(self.target.capabilities)

    @property
    def folds(self) -> bool:
        """Whether names that differ in case alone are one in the target."""
        return self.capabilities is not None and self.capabilities.case is not Case.KEPT

    @property
    def normalizes(self) -> bool:
        """Whether names that differ in Unicode normalisation alone are one in the target."""
        return self.capabilities is not None and self.capabilities.normalises

    @property
    def unescaped(self) -> tuple[str, ...]:
        """Texts that join levels where nothing can escape them: a level of the target that holds one is several.

        The configured separator, and what the target's storage joins with.
        """
        storage = None if self.capabilities is None else self.capabilities.joint
        return tuple(dict.fromkeys(text for text in (self.separator, storage) if text))

    @property
    def catalogs_first(self) -> tuple[str, ...]:
        """The catalogs for which an engine takes the first level of a name of the target: Spark, resolution rule 1."""
        if self.target is None or "spark" not in self.engines:
            return ()
        return tuple(sorted({self.target.name, *self.sources}))

    def severity(self, rule: str, default: Severity | None = None) -> Severity:
        """The severity of `rule` (or its `default` in this place), raised as configured."""
        own = default or RULES[rule].severity
        return max(own, self.severities.get(rule, own), key=_ORDER.index)

    def ranked(self) -> tuple[str, ...]:
        """The separators to rank, each once: the configured one first, then the candidates.

        Where the configured one is refused, also what may be offered in its place, which must be known to be free.
        """
        if self.separator is None:
            return tuple(dict.fromkeys(self.candidates))
        refused = refusal_reason(self.separator, self.policy, self.allowed) is not None
        instead = alternatives(self.policy, self.allowed) if refused else ()
        return tuple(dict.fromkeys((self.separator, *self.candidates, *instead)))

    def readers(self) -> tuple[Reader, ...]:
        """The engines that read the target, each once and without the target's own dialect."""
        uses = (DialectUse(name, self._joining(name)) for name in self.engines)
        own = None if self.target is None else self.target.dialect.open()
        return tuple(self.reader(found) for found in dict.fromkeys(use.open() for use in uses) if found != own)

    def reader(self, found: Dialect) -> Reader:
        """The engine of a dialect, with the catalog's name before the levels where the dialect wants one."""
        catalog = "catalog" if self.target is None else self.target.name
        return Reader(found, (catalog,) if found.name in _CATALOG_FIRST else ())

    @property
    def harmed_by(self) -> tuple[str, ...]:
        """Who of `core.dangers.READERS` reads the target, and would do harm to others because of a name in it."""
        found = {
            "trino": "trino" in self.engines,
            "gravitino": any(name.startswith("gravitino") for name in self.engines),
            "iceberg-rest": self.target is not None and self.target.system == "iceberg_rest",
        }
        return tuple(reader for reader, reads in found.items() if reads)

    @property
    def path_options(self) -> dict[str, dict[str, str]]:
        """The options of dialects on `paths`: the configured separator, where they join levels with it."""
        joining = {name: self._joining(name) for name in ("gravitino", "gravitino-shipped")}
        return {name: {"separator": separator} for name, separator in joining.items() if separator is not None}

    def _joining(self, name: str) -> str | None:
        """The configured separator for dialects that join levels with it, unless it is no separator at all."""
        usable = self.separator is not None and safety_reason(self.separator) is None
        return self.separator if usable and name in ("gravitino", "gravitino-shipped") else None


__all__ = ["CheckContext", "DialectUse", "Lowered", "Reader", "SeverityRefused", "Target", "below"]
