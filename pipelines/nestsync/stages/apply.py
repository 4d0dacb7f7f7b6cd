"""Apply: send what the plan says, parents before children, and write down every step.

What decides is the plan; apply adds nothing to it and stops at the first sign that the target is gone.
"""

from __future__ import annotations

import threading
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
from nestsync.errors import ActionsFailed, AlreadyExists, CatalogUnreachable, NestsyncError, ObjectError, WriteUnheard
from nestsync.stages.journal import Entry, Event, Journal, known
from nestsync.stages.plan import in_order

WRITES = (ActionKind.CREATE_NAMESPACE, ActionKind.SET_PROPERTIES)
"""The kinds of action that send something."""
FAILURES_SHOWN = 5
_WAITING_PER_THREAD = 4

Progress = Callable[[int, int], None]
"""Told how many writes of how many are done."""


@dataclass(frozen=True, slots=True)
class ApplySettings:
    """How to write: the plan's own strategy, how many requests at once, and how many may fail.

    A target that refuses `failure_limit` of them is not asked any further. Requests are sent again by the writer,
    which knows what is safe to send again.
    """

    strategy: Strategy = Strategy.CREATE_ONLY
    concurrency: int = 8
    failure_limit: int = 10_000


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
    outcome after it. What the target holds already is a success only after its properties were compared. The
    driver holds a bounded share of the plan, whatever its size.

    Raises `CatalogUnreachable` when the target stops answering before a write reached it, `ActionsFailed` when it
    does so later or refuses `settings.failure_limit` actions, `JournalUnwritable`. The journal says in each case,
    and after an interrupt, how far it came; applying the same run again goes on from there.
    """
    marked = actions.join(known(ledger), "action_id", "left")
    counted = {(row["kind"], row["done"]): row["count"] for row in marked.groupBy("kind", "done").count().collect()}
    left = sum(counted.get((kind, done), 0) for kind in WRITES for done in (None, False))
    earlier = sum(counted.get((kind, True), 0) for kind in WRITES)
    run = _Run(writer, journal, settings, _Tally(left + earlier, earlier, on_progress))
    to_do = marked.where(~F.coalesce("done", F.lit(False)) & F.col("kind").isin([str(kind) for kind in WRITES]))
    if left:
        rows = in_order(to_do, left).toLocalIterator(prefetchPartitions=True)
        _send(run, rows, left)
    tally = run.tally
    return ApplyResult(
        applied=tally.ended[Event.APPLIED],
        skipped=tally.ended[Event.SKIPPED] + earlier + counted.get((ActionKind.NOOP, None), 0),
        failed=tally.ended[Event.FAILED],
        blocked=counted.get((ActionKind.BLOCKED, None), 0),
        failures=tuple(tally.failures),
    )


def _send(run: _Run, rows: Iterable[Row], left: int) -> None:
    """Depth by depth, whatever the rows ask for."""
    try:
        for _, of_one_depth in groupby(rows, key=lambda row: len(row["levels"])):
            run.take(map(_step, of_one_depth))
    except CatalogUnreachable as gone:
        written = run.tally.ended[Event.APPLIED]
        if not written and not run.unheard:
            raise
        raise ActionsFailed(
            f"the target stopped answering after {written:,} of {left:,} writes: {gone.what}",
            where=gone.where,
            hint="apply the same run again: it goes on from there",
        ) from gone


@dataclass(frozen=True, slots=True)
class _Step:
    action_id: str
    kind: ActionKind
    levels: Levels
    properties: dict[str, str]
    begun: bool = False
    """Whether the journal has an intent of it that nobody knows the end of."""

    def entry(self, event: Event, detail: str | None = None) -> Entry:
        return Entry(self.action_id, str(self.kind), self.levels, event, self.properties, detail)


def _step(row: Row) -> _Step:
    kind, begun = ActionKind(row["kind"]), row["done"] is not None
    return _Step(row["action_id"], kind, tuple(row["levels"]), dict(row["properties"]), begun)


class _Tally:
    """What came of the steps so far; only the thread that waits for them counts."""

    def __init__(self, total: int, earlier: int, on_progress: Progress) -> None:
        self.ended: Counter[Event] = Counter()
        self.failures: list[Failure] = []
        self._total = total
        self._earlier = earlier
        self._on_progress = on_progress

    def add(self, entry: Entry) -> None:
        self.ended[entry.event] += 1
        if entry.event is Event.FAILED and len(self.failures) < FAILURES_SHOWN:
            self.failures.append(Failure(entry.levels, entry.detail or ""))
        self._on_progress(self._earlier + self.ended.total(), self._total)


class _Run:
    """The steps of one apply: threads send and journal, one thread waits for them."""

    def __init__(self, writer: CatalogWriter, journal: Journal, settings: ApplySettings, tally: _Tally) -> None:
        self.tally = tally
        self.unheard = False
        """Whether a write was sent that may have been carried out, and nobody said so."""
        self._writer = writer
        self._journal = journal
        self._settings = settings
        self._refused: set[Levels] = set()
        self._stopped = threading.Event()
        self._waiting: set[Future[Entry | None]] = set()

    def take(self, steps: Iterator[_Step]) -> None:
        """Do the steps of one depth, a bounded number of them waiting at a time."""
        with ThreadPoolExecutor(self._settings.concurrency, thread_name_prefix="apply") as pool:
            try:
                for step in steps:
                    self._waiting.add(pool.submit(self._do, step))
                    if len(self._waiting) >= self._settings.concurrency * _WAITING_PER_THREAD:
                        self._collect()
                while self._waiting:
                    self._collect()
            except BaseException:
                self._stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)
                self._count(future for future in self._waiting if not future.cancelled())
                raise

    def _collect(self) -> None:
        """Wait for one step at least; count what ended, and only then raise what broke."""
        ended, self._waiting = wait(self._waiting, return_when=FIRST_COMPLETED)
        broken = self._count(ended)
        if broken is not None:
            raise broken
        if len(self._refused) >= self._settings.failure_limit:
            raise ActionsFailed(
                f"the target refused {len(self._refused):,} actions, and was not asked any further: "
                f"{self.tally.failures[0].detail}",
                where=shown(self.tally.failures[0].levels),
                hint="mend what it says, then apply the same run again: it goes on from there",
            )

    def _count(self, futures: Iterable[Future[Entry | None]]) -> BaseException | None:
        broken: BaseException | None = None
        for future in futures:
            error = future.exception()
            if error is not None:
                broken = broken or error
            elif (entry := future.result()) is not None:
                self.tally.add(entry)
        return broken

    def _do(self, step: _Step) -> Entry | None:
        """Intent, request, outcome; nothing at all once something broke."""
        if self._stopped.is_set():
            return None
        try:
            entry = self._attempt(step)
            self._journal.record(entry)
        except CatalogUnreachable as gone:
            self._stopped.set()
            self.unheard |= isinstance(gone, WriteUnheard)
            self._journal.record(step.entry(Event.FAILED, f"whether it was done is not known: {gone}"))
            raise
        except BaseException:
            self._stopped.set()
            raise
        return entry

    def _attempt(self, step: _Step) -> Entry:
        above = next((levels for levels in ancestors(step.levels) if levels in self._refused), None)
        if above is not None:
            return step.entry(Event.FAILED, f"not tried: its parent {shown(above)} failed")
        self._journal.record(step.entry(Event.INTENT))
        try:
            if step.begun and self._was_done(step):
                return step.entry(Event.SKIPPED, "it had been done when this run was stopped")
            if step.kind is ActionKind.CREATE_NAMESPACE:
                return self._create(step)
            self._writer.update_namespace(step.levels, step.properties)
            return step.entry(Event.APPLIED)
        except ObjectError as error:
            return self._refusal(step, error)

    def _was_done(self, step: _Step) -> bool:
        """Whether a request whose answer nobody heard was carried out: it is not sent again then."""
        held = self._writer.namespace_properties(step.levels)
        return held is not None and not changed_keys(step.properties, held)

    def _refusal(self, step: _Step, error: NestsyncError) -> Entry:
        self._refused.add(step.levels)
        return step.entry(Event.FAILED, str(error))

    def _create(self, step: _Step) -> Entry:
        try:
            self._writer.create_namespace(step.levels, step.properties)
        except AlreadyExists as error:
            return self._found_there(step, error)
        return step.entry(Event.APPLIED)

    def _found_there(self, step: _Step, error: AlreadyExists) -> Entry:
        """Somebody, or our own request before it was sent again, was first: what is there decides."""
        held = self._writer.namespace_properties(step.levels)
        if held is None:
            return self._refusal(step, ObjectError(f"it cannot be created and cannot be found: {error}"))
        keys = changed_keys(step.properties, held)
        if not keys:
            return step.entry(Event.SKIPPED, "it was there already, with equal properties")
        if self._settings.strategy is Strategy.CREATE_ONLY:
            if step.begun or error.repeated:  # verify answers for what may be ours
                made = "this run asked for it more than once, and may have made it"
                return step.entry(Event.APPLIED, f"{made}; it is not as planned in: {shown(keys)}")
            return step.entry(
                Event.SKIPPED, f"it was there already, and create-only leaves what differs: {shown(keys)}"
            )
        changes = {key: step.properties[key] for key in keys}
        change = _Step(step.action_id, ActionKind.SET_PROPERTIES, step.levels, changes)
        self._journal.record(change.entry(Event.INTENT))
        self._writer.update_namespace(step.levels, changes)
        return change.entry(Event.APPLIED, f"it was there already; these keys were made equal: {shown(keys)}")


__all__ = ["WRITES", "ApplyResult", "ApplySettings", "Failure", "Progress", "apply"]
