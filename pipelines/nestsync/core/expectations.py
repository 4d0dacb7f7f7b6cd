"""What a run is expected to be like: every expectation by its name, and what the configuration may say of it.

The names are keys of the configuration, metrics and JUnit cases: like the slugs of findings, they never change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from nestsync.core.findings import Severity

INVENTORY, NAMES, HIERARCHY, RECONCILIATION = "inventory", "names", "hierarchy", "reconciliation"
SUITES = (INVENTORY, NAMES, HIERARCHY, RECONCILIATION)
"""A suite a stage, in the order of the stages."""

SEVERITY, REASON, MOSTLY = "severity", "reason", "mostly"
COUNTS = ("max_fall", "max_rise", "min_change")


@dataclass(frozen=True, slots=True)
class Settings:
    """How strictly an expectation is held; what it takes no parameter for is left as it stands here."""

    severity: Severity
    mostly: float = 1.0
    """The least fraction of its rows that are as expected."""
    max_fall: float | None = 0.2
    """By which fraction of what was there before a count may fall; None sets no limit."""
    max_rise: float | None = 1.0
    """By which fraction of what was there before a count may rise; None sets no limit."""
    min_change: int = 10
    """A change by fewer objects than this does not count, unless nothing is left."""
    reason: str | None = None
    """Why it is held otherwise than by default."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One expectation. `sentence` says what is true where it is met, `advice` what to do where it is not."""

    name: str
    suite: str
    sentence: str
    severity: Severity
    advice: str
    parameters: tuple[str, ...] = ()
    """What the configuration may say beside `severity` and `reason`."""
    rules: tuple[str, ...] = ()
    """The findings that it stands for."""
    decided: bool = False
    """Whether the run itself ends with another exit code where it is not met: then its severity is not lowered."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that the configuration may give it."""
        return (SEVERITY, *(() if self.decided else (REASON,)), *self.parameters)

    def settings(self, said: Mapping[str, Any]) -> Settings:
        """The defaults, and what the configuration has `said` by key."""
        return replace(Settings(self.severity), **said)

    def departures(self, settings: Settings) -> tuple[str, ...]:
        """What `settings` hold it to otherwise than by default, each as ``max_fall 0.5 (by default 0.2)``."""
        usual = self.settings({})
        pairs = ((key, getattr(settings, key), getattr(usual, key)) for key in (SEVERITY, *self.parameters))
        return tuple(f"{key} {_said(now)} (by default {_said(before)})" for key, now, before in pairs if now != before)


def _said(value: Severity | float | None) -> str:
    if value is None:
        return "without limit"
    return str(value) if isinstance(value, Severity) else f"{value:g}"


_BLOCKING, _WARNING = Severity.BLOCKING, Severity.WARNING
_RESOLVE = "resolve each blocking finding as its hint says, in the configuration or in the mapping file"
_READ = "find out why they cannot be read: the report names each with its error"
_SOURCE = (
    "look at the source: is that what happened there? If so, the next run compares with this one; "
    "report.expectations sets how much may change"
)
_APPLY = "apply the same run again: it goes on from there"
_MAP = "map a namespace to it where it should hold more than an owner"

_ALL = (
    Expected(
        "catalogs-answered",
        INVENTORY,
        "every catalog answered",
        _BLOCKING,
        "take the inventory of what did not answer: `nestsync inventory --run-id ID --source NAME`",
        decided=True,
    ),
    Expected("namespaces-readable", INVENTORY, "every namespace could be read", _WARNING, _READ, (MOSTLY,)),
    Expected("tables-readable", INVENTORY, "every table and view could be read", _WARNING, _READ, (MOSTLY,)),
    Expected(
        "namespaces-steady",
        INVENTORY,
        "no source has far fewer or far more namespaces than in its last run",
        _WARNING,
        _SOURCE,
        COUNTS,
    ),
    Expected(
        "tables-steady",
        INVENTORY,
        "no source has far fewer or far more tables and views than in its last run",
        _WARNING,
        _SOURCE,
        COUNTS,
    ),
    Expected(
        "separator-free",
        NAMES,
        "no name is in conflict with the separator",
        _BLOCKING,
        _RESOLVE,
        rules=("separator-conflict", "separator-changed"),
        decided=True,
    ),
    Expected(
        "names-accepted",
        NAMES,
        "the target refuses no name",
        _BLOCKING,
        _RESOLVE,
        rules=(
            "separator-refused",
            "character-refused",
            "reserved-character",
            "empty-level",
            "too-long",
            "too-deep",
        ),
        decided=True,
    ),
    Expected(
        "names-lossless",
        NAMES,
        "every name comes back as itself",
        _BLOCKING,
        _RESOLVE,
        rules=("round-trip-loss",),
        decided=True,
    ),
    Expected(
        "keys-unique",
        NAMES,
        "no two names become one",
        _BLOCKING,
        _RESOLVE,
        rules=("collision", "case-collision", "normalization-collision"),
        decided=True,
    ),
    Expected(
        "names-harmless", NAMES, "no name does harm", _BLOCKING, _RESOLVE, rules=("dangerous-name",), decided=True
    ),
    Expected("nothing-else-blocks", NAMES, "no other finding blocks", _BLOCKING, _RESOLVE, decided=True),
    Expected(
        "parents-planned",
        HIERARCHY,
        "every namespace of the plan has its parent in the plan or in the target",
        _BLOCKING,
        "resolve what blocks the parent, or map a namespace to it",
    ),
    Expected(
        "parents-in-sources",
        HIERARCHY,
        "every parent is a namespace of a source",
        _WARNING,
        _MAP,
        rules=("missing-parent",),
    ),
    Expected(
        "first-parts-unambiguous",
        HIERARCHY,
        "no first level is a catalog's name too",
        _WARNING,
        "rename the namespace in the mapping file, or the catalog where the engine is configured",
        rules=("ambiguous-first-part",),
    ),
    Expected("actions-succeeded", RECONCILIATION, "every action succeeded", _BLOCKING, _APPLY, decided=True),
    Expected(
        "target-equals-plan", RECONCILIATION, "the target holds what was planned", _BLOCKING, _APPLY, decided=True
    ),
    Expected("nothing-left-out", RECONCILIATION, "nothing was left out as blocked", _BLOCKING, _RESOLVE, decided=True),
    Expected(
        "existing-as-wanted",
        RECONCILIATION,
        "what the target held before is as the sources want it",
        _WARNING,
        "use `strategy: upsert` to make the wanted properties equal",
        rules=("target-difference",),
    ),
)
EXPECTATIONS: dict[str, Expected] = {expected.name: expected for expected in _ALL}
"""Every expectation by name, in the order of the report."""


def defaults() -> dict[str, Settings]:
    """How strictly each expectation is held where the configuration says nothing."""
    return {name: expected.settings({}) for name, expected in EXPECTATIONS.items()}


def of_suite(suite: str) -> tuple[Expected, ...]:
    """The expectations of `suite`, in their order."""
    return tuple(expected for expected in EXPECTATIONS.values() if expected.suite == suite)


def unsteady(now: int, before: int, settings: Settings) -> str | None:
    """What is unexpected in a count that was `before` and is `now`, in a few words; None where nothing is.

    A change by exactly the fraction that is allowed is as expected. From nothing, every rise is beyond any fraction.
    """
    change, limit = now - before, settings.max_rise if now > before else settings.max_fall
    small = abs(change) < settings.min_change and now > 0  # that nothing is left is never a small change
    if not change or limit is None or small or abs(change) <= Fraction(str(limit)) * before:
        return None
    word = "more" if change > 0 else "fewer"
    share = f"{abs(change) / before:.1%}" if before else f"{change:,}"
    return f"{now:,}, and {before:,} before: {share} {word}, where {limit:.1%} is allowed"


__all__ = [
    "COUNTS",
    "EXPECTATIONS",
    "HIERARCHY",
    "INVENTORY",
    "MOSTLY",
    "NAMES",
    "REASON",
    "RECONCILIATION",
    "SEVERITY",
    "SUITES",
    "Expected",
    "Settings",
    "defaults",
    "of_suite",
    "unsteady",
]
