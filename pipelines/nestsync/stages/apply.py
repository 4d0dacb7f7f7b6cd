"""Apply: send what the plan says, parents before children, and write down every step.

What decides is the plan; apply adds nothing to it and stops at the first sign that the target is gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import groupby

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from nestsync.catalogs.base import CatalogWriter
from nestsync.core.hierarchy import ancestors
from nestsync.core.identifiers import Levels, shown
from nestsync.core.plan import ActionKind, Strategy, changed_keys
from nestsync.errors import ActionsFailed, AlreadyExists, CatalogUnreachable, ObjectError
from nestsync.stages.journal import Entry, Event, Journal, settled

WRITES = (ActionKind.CREATE_NAMESPACE, ActionKind.SET_PROPERTIES)
"""The kinds of action that send something."""
FAILURES_SHOWN = 5
_WAITING_PER_THREAD = 4

Progress = Callable[[int, int], None]
"""Told how many actions of how many are done."""


@dataclass(frozen=True, slots=True)
class ApplySettings:
    """How to write: the plan's own strategy, and how many requests at once."""

    strategy: Strategy = Strategy.CREATE_ONLY
    concurrency: int = 8


@dataclass(frozen=True, slots=True)
class Failure:
    """One action that failed, and what the target said."""

    levels: Levels
    detail: str


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """How many actions ended how, and the first few that failed.

    `skipped` needed no write: planned as such, done earlier in this run, or found done by somebody else.
    """

    applied: int = 0
    skipped: int = 0
    failed: int = 0
    blocked: int = 0
    failures: tuple[Failure, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The numbers by their names."""
        return {
            "applied": self.applied,
            "skipped": self.skipped,
            "failed": self.failed,
            "blocked": self.blocked,
        }


def apply(
    actions: DataFrame,
    ledger: DataFrame,
    writer: CatalogWriter,
    journal: Journal,
    settings: ApplySettings,
    on_progress: Progress = lambda done, total: None,
) -> ApplyResult:
    """Do what `actions` (`schemas.ACTION_FIELDS`) say, but for what this run's `ledger` says is done.

    Namespaces of one depth are written at once, up to `settings.concurrency`; the next depth begins when they are
    done, and nothing is tried below one that failed. An intent is on the disk before its request is sent, the
    outcome after it. What the target holds already is a success only after its properties were compared.

    Raises `CatalogUnreachable` when the target stops answering before anything was written, `ActionsFailed` when it
    does so later; the journal says in both cases how far it came.
    """
    counted = {row["kind"]: row["count"] for row in actions.groupBy("kind").count().collect()}
    writes = actions.where(F.col("kind").isin([str(kind) for kind in WRITES]))
    left = writes.join(settled(ledger), "action_id", "left_anti").withColumn("depth", F.size("levels"))
    run = _Run(writer, journal, settings, sum(counted.get(kind, 0) for kind in WRITES), on_progress)
    ordered = left.orderBy("depth", "levels").toLocalIterator(prefetchPartitions=True)
    try:
        for _, rows in groupby(ordered, key=lambda row: row["depth"]):
            run.take(map(_step, rows))
    except CatalogUnreachable as gone:
        if not run.ended[Event.APPLIED]:
            raise
        raise ActionsFailed(
            f"the target stopped answering after {run.ended[Event.APPLIED]:,} writes: {gone.what}",
            where=gone.where,
            hint="apply the same run again: it goes on from there",
        ) from gone
    failed, applied = run.ended[Event.FAILED], run.ended[Event.APPLIED]
    return ApplyResult(
        applied=applied,
        skipped=run.planned - applied - failed + counted.get(ActionKind.NOOP, 0),
        failed=failed,
        blocked=counted.get(ActionKind.BLOCKED, 0),
        failures=tuple(run.failures),
    )


@dataclass(frozen=True, slots=True)
class _Step:
    action_id: str
    kind: ActionKind
    levels: Levels
    properties: dict[str, str]

    def entry(self, event: Event, detail: str | None = None) -> Entry:
        return Entry(self.action_id, str(self.kind), self.levels, event, self.properties, detail)


def _step(row: Row) -> _Step:
    return _Step(row["action_id"], ActionKind(row["kind"]), tuple(row["levels"]), dict(row["properties"]))


class _Run:
    """The steps of one apply. Threads send and journal; what came of it is counted by the one that waits."""

    def __init__(
        self, writer: CatalogWriter, journal: Journal, settings: ApplySettings, planned: int, on_progress: Progress
    ) -> None:
        self.planned = planned
        self.ended: Counter[Event] = Counter()
        self.failures: list[Failure] = []
        self._writer = writer
        self._journal = journal
        self._settings = settings
        self._on_progress = on_progress
        self._fallen: set[Levels] = set()

    def take(self, steps: Iterator[_Step]) -> None:
        """Do the steps of one depth, a bounded number of them waiting at a time."""
        waiting: set[Future[Entry]] = set()
        with ThreadPoolExecutor(self._settings.concurrency, thread_name_prefix="apply") as pool:
            try:
                for step in steps:
                    waiting.add(pool.submit(self._do, step))
                    if len(waiting) >= self._settings.concurrency * _WAITING_PER_THREAD:
                        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                        self._count(done)
                self._count(waiting)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                self._count(future for future in waiting if future.done() and not _broke(future))
                raise

    def _count(self, futures: Iterable[Future[Entry]]) -> None:
        for future in futures:
            entry = future.result()
            self.ended[entry.event] += 1
            if entry.event is Event.FAILED:
                self._fallen.add(entry.levels)
                if len(self.failures) < FAILURES_SHOWN:
                    self.failures.append(Failure(entry.levels, entry.detail or ""))
            self._on_progress(self.ended.total(), self.planned)

    def _do(self, step: _Step) -> Entry:
        """Intent, request, outcome. Raises `CatalogUnreachable`, and then leaves the intent without an outcome."""
        entry = self._attempt(step)
        self._journal.record(entry)
        return entry

    def _attempt(self, step: _Step) -> Entry:
        above = next((levels for levels in ancestors(step.levels) if levels in self._fallen), None)
        if above is not None:
            return step.entry(Event.FAILED, f"not tried: its parent {shown(above)} failed")
        self._journal.record(step.entry(Event.INTENT))
        try:
            if step.kind is ActionKind.CREATE_NAMESPACE:
                return self._create(step)
            self._writer.update_namespace(step.levels, step.properties)
            return step.entry(Event.APPLIED)
        except ObjectError as error:
            return step.entry(Event.FAILED, str(error))

    def _create(self, step: _Step) -> Entry:
        try:
            self._writer.create_namespace(step.levels, step.properties)
        except AlreadyExists as error:
            return self._found_there(step, error)
        return step.entry(Event.APPLIED)

    def _found_there(self, step: _Step, error: AlreadyExists) -> Entry:
        """Somebody, or our own request before a retry, was first: what is there decides."""
        held = self._writer.namespace_properties(step.levels)
        if held is None:
            return step.entry(Event.FAILED, f"it cannot be created and cannot be found: {error}")
        keys = changed_keys(step.properties, held)
        if not keys:
            return step.entry(Event.SKIPPED, "it was there already, with equal properties")
        if self._settings.strategy is Strategy.CREATE_ONLY:
            return step.entry(
                Event.SKIPPED, f"it was there already, and create-only leaves what differs: {shown(keys)}"
            )
        self._writer.update_namespace(step.levels, {key: step.properties[key] for key in keys})
        return step.entry(Event.APPLIED, f"it was there already; these keys were made equal: {shown(keys)}")


def _broke(future: Future[Entry]) -> bool:
    return future.cancelled() or future.exception() is not None


__all__ = ["WRITES", "ApplyResult", "ApplySettings", "Failure", "apply"]
