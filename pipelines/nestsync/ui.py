"""What a person sees while a run works: stages, progress, tables and notes, on a terminal, in a log, or not at all.

Progress goes to standard error, results to standard output; `machine` output keeps standard output for the one JSON
document and sends everything else to standard error.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol, TextIO

from nestsync.outcome import StageOutcome
from nestsync.printing import STYLES, console, counted, is_terminal, print_table, visible, write_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Confirm = Callable[[str], bool]
"""Asks a question before something is written; False means that nothing may be."""

SECONDS_BETWEEN_LINES = 10.0
"""How often a log hears of progress."""


class Ui(Protocol):
    """What a run tells while it works. Every method may be called from several threads."""

    def stage_started(self, stage: str, doing: str = "") -> None:
        """`stage` begins; `doing` says with what, in a few words."""

    def progress(self, done: int, total: int | None, label: str = "") -> None:
        """`done` of `total` things (None: nobody knows yet) of the running stage; `label` names them."""

    def stage_finished(self, outcome: StageOutcome) -> None:
        """The running stage ended as `outcome` says."""

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """A result of a few rows."""

    def note(self, text: str) -> None:
        """A sentence that a person should read."""

    def suspended(self) -> AbstractContextManager[None]:
        """Leave the terminal to somebody else, a question say, until the end of the block."""

    def close(self) -> None:
        """Give the terminal back; harmless when done again."""


def open_ui(*, quiet: bool = False, machine: bool = False) -> Ui:
    """The `Ui` that fits where this process writes to.

    `quiet` shows nothing. `machine` leaves standard output alone.
    """
    if quiet:
        return QuietUi()
    results = sys.stderr if machine else sys.stdout
    return TerminalUi(results) if is_terminal(sys.stderr) else PlainUi(results)


class QuietUi:
    """Shows nothing."""

    def stage_started(self, stage: str, doing: str = "") -> None: ...

    def progress(self, done: int, total: int | None, label: str = "") -> None: ...

    def stage_finished(self, outcome: StageOutcome) -> None: ...

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None: ...

    def note(self, text: str) -> None: ...

    def suspended(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None: ...


class PlainUi:
    """Lines, for logs and pipes: a line when a stage begins and ends, and now and then one for its progress."""

    def __init__(self, results: TextIO, log: TextIO | None = None) -> None:
        self._results = results
        self._log = log or sys.stderr
        self._lock = threading.Lock()
        self._stage = ""
        self._last_line = 0.0

    def stage_started(self, stage: str, doing: str = "") -> None:
        with self._lock:
            self._stage, self._last_line = stage, time.monotonic()
            write_line(self._log, f"{stage}: {visible(doing)}" if doing else f"{stage}: started")

    def progress(self, done: int, total: int | None, label: str = "") -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._last_line < SECONDS_BETWEEN_LINES:
                return
            self._last_line = now
            write_line(self._log, f"{self._stage}: {_how_far(done, total, label)}")

    def stage_finished(self, outcome: StageOutcome) -> None:
        with self._lock:
            write_line(self._log, summary(outcome))

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        with self._lock:
            print_table(self._results, title, columns, rows)

    def note(self, text: str) -> None:
        with self._lock:
            write_line(self._results, visible(text))

    def suspended(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None: ...


def _how_far(done: int, total: int | None, label: str) -> str:
    """Progress in a few words: ``3 of 1,000 tables``; the label alone where nothing is counted."""
    if total is None and not done:
        return visible(label)
    amount = f"{done:,}" if total is None else f"{done:,} of {total:,}"
    return f"{amount} {visible(label)}".rstrip()


def summary(outcome: StageOutcome) -> str:
    """One line on how a stage went: ``check: blocked after 5.0 s (blocking 3, warning 12)``."""
    counts = f" ({counted(outcome.counts)})" if outcome.counts else ""
    return f"{outcome.stage}: {outcome.status} after {outcome.seconds:.1f} s{counts}"


class TerminalUi:
    """A bar that moves while a stage works and is gone when it ends; a line stays for each stage that ended."""

    def __init__(self, results: TextIO) -> None:
        self._results = results
        self._console = console(sys.stderr)
        self._lock = threading.RLock()
        self._bar: tuple[Progress, TaskID] | None = None

    def stage_started(self, stage: str, doing: str = "") -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            self._stop()
            bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.fields[stage]:<9}", markup=False),
                BarColumn(bar_width=24),
                TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
                console=self._console,
                transient=True,
            )
            task = bar.add_task(visible(doing), total=None, stage=stage)
            bar.start()
            self._bar = (bar, task)

    def progress(self, done: int, total: int | None, label: str = "") -> None:
        with self._lock:
            if self._bar is not None:
                bar, task = self._bar
                bar.update(task, completed=done, total=total, description=_how_far(done, total, label))

    def stage_finished(self, outcome: StageOutcome) -> None:
        from rich.text import Text

        with self._lock:
            self._stop()
            style = STYLES.get(outcome.status, "")
            line = Text.assemble(
                (f"{outcome.stage:<10}", "bold"),
                (f"{outcome.status:<8}", style),
                f"{outcome.seconds:7.1f} s  {counted(outcome.counts)}",
            )
            self._console.print(line)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        with self.suspended():
            print_table(self._results, title, columns, rows)

    def note(self, text: str) -> None:
        with self.suspended():
            write_line(self._results, visible(text))

    @contextmanager
    def suspended(self) -> Iterator[None]:
        with self._lock:
            bar = None if self._bar is None else self._bar[0]
            if bar is not None:
                bar.stop()
            try:
                yield
            finally:
                if bar is not None:
                    bar.start()

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None

    def close(self) -> None:
        with self._lock:
            self._stop()


__all__ = ["Confirm", "PlainUi", "QuietUi", "TerminalUi", "Ui", "open_ui", "summary"]
