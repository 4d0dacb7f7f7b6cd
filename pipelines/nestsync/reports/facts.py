"""What a report is made of: `ReportFacts` goes in, with Spark's frames; `Digest` is what the writers see of it.

Between the two stands `stages.report`: it reads every frame once, in order, and keeps no more rows than the page
shows. Nothing here grows with a catalog.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Generic, TypeVar

from pyspark.sql import DataFrame

from nestsync.core.expectations import Settings, defaults
from nestsync.core.identifiers import Levels
from nestsync.history.actors import Actor
from nestsync.history.choosing import Past
from nestsync.history.records import SYNC, RunRecord
from nestsync.outcome import RunOutcome
from nestsync.reports.changes import Changes
from nestsync.reports.settled import ExpectationResult, blocking_failures

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class CatalogFacts:
    """A configured catalog: where it is, and, where it did not answer, what it said instead."""

    name: str
    system: str
    role: str
    """``source`` or ``target``."""
    address: str
    """As a person would look for it: an endpoint, a folder. Never with a secret in it."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class MatrixExample:
    """One namespace that a way does not bring back: as its source has it, and what became of it at the hop."""

    levels: Levels
    seen_as: Levels
    """What the hop has to write: the levels, maybe with a catalog before them."""
    comes_back_as: Levels | None
    """What the hop reads instead; None where it refuses them."""
    first_difference: int | None
    """The first level that is another, counted from 0."""
    reason: str | None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """How many namespaces of one source end so on one way through the dialects (see `core.checking.fates`)."""

    source: str
    side: str
    """Whose levels were taken: ``source`` or ``target``."""
    way: str
    hop: str
    """The dialect at which it ends."""
    fate: str
    """``lossless``, ``refused`` or ``lossy``."""
    count: int
    example: MatrixExample | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """A run beside an earlier one: what differs, in `schemas.CHANGE_FIELDS`."""

    before: RunRecord
    after: RunRecord
    frame: DataFrame
    notes: tuple[str, ...] = ()
    """What a reader should know before anything else."""


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """A run, finished or stopped on its way. A frame is None where its stage did not run.

    `namespaces` and `tables` are those of the workspace, of every role; `findings`, `members` (of those
    that are about several objects), `actions`, `ledger` and `separators` have their schemas of `nestsync.schemas` (a
    `run_id` column may be there or not). `differences`
    is what verify found not to be as planned, as (``levels``, ``detail``); it is empty where all is well.
    """

    outcome: RunOutcome
    started_at: datetime
    """UTC."""
    catalogs: tuple[CatalogFacts, ...] = ()
    actors: tuple[Actor, ...] = ()
    """Who took the run through its stages."""
    configuration: Mapping[str, str] = field(default_factory=dict)
    """What the reader has to know of it, by the name of its key, in the order to show; no secrets."""
    configuration_changed: bool | None = None
    """Whether it says something else than it did for the run; None where nobody knows."""
    matrix: tuple[MatrixRow, ...] | None = None
    """What the check found; None where it did not run."""
    namespaces: DataFrame | None = None
    tables: DataFrame | None = None
    findings: DataFrame | None = None
    members: DataFrame | None = None
    separators: DataFrame | None = None
    separator: str | None = None
    """The configured one."""
    actions: DataFrame | None = None
    ledger: DataFrame | None = None
    differences: DataFrame | None = None
    purpose: str = SYNC
    """``sync`` or ``assessment``, as `RunRecord.purpose` has it."""
    past: Past = field(default_factory=Past)
    compared: Compared | None = None
    """None where there is no earlier run to compare with."""
    expected: Mapping[str, Settings] = field(default_factory=defaults)
    """How strictly each expectation is held, by name."""


@dataclass(frozen=True, slots=True)
class Capped(Generic[Row]):
    """The first `rows` of `total`; all of them are in `file`, in the report's folder."""

    rows: tuple[Row, ...]
    total: int
    file: str

    @property
    def left_out(self) -> int:
        """How many rows are in the file alone."""
        return self.total - len(self.rows)


@dataclass(frozen=True, slots=True)
class Attached:
    """How many rows are in `file`, in the report's folder, and on no page."""

    total: int
    file: str


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """One catalog and what it answered; None counts where the inventory never came so far."""

    catalog: CatalogFacts
    answered: bool
    objects: Mapping[str, int] = field(default_factory=dict)
    """How many by kind: ``namespace``, ``table``, ``view``."""
    unread: Mapping[str, int] = field(default_factory=dict)
    """How many by status, where it is not ``ok``."""

    @property
    def holds_nothing(self) -> bool:
        """Whether it is a source that answered, and with nothing."""
        return self.answered and self.catalog.role == "source" and not any(self.objects.values())


@dataclass(frozen=True, slots=True)
class Subject:
    """An object of a source: what a finding is about, or what claims a target namespace."""

    source: str
    levels: Levels
    name: str | None = None
    object: str = "namespace"


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding."""

    subject: Subject
    system: str
    rule: str
    severity: str
    target_levels: Levels | None
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class SeparatorRow:
    """One candidate separator, in the order of its rank."""

    separator: str
    conflicts: int
    examples: tuple[Subject, ...]
    allowed: bool
    reason: str | None
    suggested: bool


@dataclass(frozen=True, slots=True)
class ActionRow:
    """One action of the plan and what became of it.

    `outcome` is the ledger's ``applied``, ``skipped`` or ``failed``; ``unknown`` where the ledger holds an
    intent alone; ``pending`` where nothing was sent; ``none`` where nothing had to be.
    """

    kind: str
    levels: Levels
    outcome: str
    reason: str
    detail: str | None
    claimants: tuple[Subject, ...]
    at: datetime | None = None
    """When the ledger says so, in UTC; None where nothing was sent."""
    by: Actor | None = None
    """Who sent it; None where nothing was sent, or nobody kept who did."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One namespace of the tree, in the order of its levels, with what stands beside it."""

    levels: Levels
    state: str
    """The action's kind and outcome in one word (see `stages.report`), ``existing``, or ``source``."""
    note: str | None = None
    claimants: tuple[Subject, ...] = ()
    blocking: int = 0
    warnings: int = 0
    rules: tuple[str, ...] = ()
    """Of those findings, each once."""


@dataclass(frozen=True, slots=True)
class RuleCase:
    """All findings of one rule in one source, of one severity; the first of them named."""

    rule: str
    source: str
    severity: str
    count: int
    examples: tuple[FindingRow, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """Everything that the writers show, bounded, and without Spark."""

    outcome: RunOutcome
    started_at: datetime
    configuration: Mapping[str, str]
    catalogs: tuple[CatalogRow, ...]
    findings: Capped[FindingRow] | None
    cases: tuple[RuleCase, ...]
    separators: tuple[SeparatorRow, ...] | None
    actions: Capped[ActionRow] | None
    action_counts: Mapping[tuple[str, str], int]
    """How many actions by (kind, outcome)."""
    tree: Capped[TreeRow] | None
    members: Attached | None = None
    """The objects of the findings that are about several; None without any."""
    separator: str | None = None
    """The configured one."""
    actors: tuple[Actor, ...] = ()
    configuration_changed: bool | None = None
    """Whether it says something else than it did for the run; None where nobody knows."""
    expectations: tuple[ExpectationResult, ...] = ()
    matrix: tuple[MatrixRow, ...] | None = None
    purpose: str = SYNC
    """``sync`` or ``assessment``, as `RunRecord.purpose` has it."""
    past: Past = field(default_factory=Past)
    changes: Changes | None = None
    """None where there is no earlier run to compare with."""

    def severities(self) -> Counter[str]:
        """How many findings of each severity."""
        counts: Counter[str] = Counter()
        for case in self.cases:
            counts[case.severity] += case.count
        return counts


@dataclass(frozen=True, slots=True)
class ReportPaths:
    """Where the report is, and what it says the run ended with.

    `outcome` is that of the facts, unless a blocking expectation is not met (see `settled`).
    """

    html: Path
    json: Path
    junit: Path
    markdown: Path
    metrics: Path
    lineage: Path
    data_docs: Path
    outcome: RunOutcome
    expectations: tuple[ExpectationResult, ...] = ()
    problems: tuple[str, ...] = ()
    """What did not work that the run does not depend on."""

    @property
    def failed_expectations(self) -> tuple[ExpectationResult, ...]:
        """The failed expectations of severity `blocking`."""
        return blocking_failures(self.expectations)


__all__ = [
    "ActionRow",
    "Attached",
    "Capped",
    "CatalogFacts",
    "CatalogRow",
    "Compared",
    "Digest",
    "FindingRow",
    "MatrixExample",
    "MatrixRow",
    "ReportFacts",
    "ReportPaths",
    "RuleCase",
    "SeparatorRow",
    "Subject",
    "TreeRow",
]
