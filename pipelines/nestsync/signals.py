"""SIGTERM ends a process by an exception, as Ctrl-C does, and that exception is never lost on its way."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_BETWEEN_LOOKS_FOR_PARENT = 1.0
SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The environment variable that spark-submit gives its Python driver."""
LOOKS = 3
"""So often in a row the main thread is seen to know nothing of a signal before it is told again."""


class _Answer:
    """Raises `SystemExit` in the main thread, again where it was dropped, until somebody says that it was heard."""

    def __init__(self) -> None:
        self._raised: SystemExit | None = None
        self._dropped = False
        self._heard = threading.Event()
        self._to_watch: SimpleQueue[None] = SimpleQueue()  # the one queue that a signal handler may use

    def raise_it(self, number: int, _frame: object) -> None:
        """Answer a scheduler: leases are given back and servers stopped, which no second signal ends."""
        if self._raised is not None and not self._dropped:
            return
        self._dropped, self._raised = False, SystemExit(128 + number)
        self._to_watch.put(None)
        raise self._raised

    def hear(self) -> None:
        self._heard.set()

    def watch(self, main: int) -> None:
        """Send the signal again whenever `main`, a thread, went on as if there had been none."""
        while True:
            self._to_watch.get()
            unaware = 0
            while unaware < LOOKS:
                if self._heard.wait(SECONDS_BETWEEN_LOOKS):
                    return
                unaware = 0 if self._is_handled_in(main) else unaware + 1
            self._dropped = True
            signal.pthread_kill(main, signal.SIGTERM)

    def _is_handled_in(self, thread: int) -> bool:
        handled: Any = sys._current_exceptions().get(thread)
        error: BaseException | None = handled[1] if isinstance(handled, tuple) else handled  # a tuple until 3.12
        while error is not None and error is not self._raised:
            error = error.__context__
        return error is not None


_answer = _Answer()


@contextmanager
def answered() -> Iterator[None]:
    """Let SIGTERM raise ``SystemExit(143)`` in the main thread until the end of the block.

    Python drops what is raised while an object is finalized, and that of an open file without a word: the rows that
    come from Spark hold one. So the main thread is watched, and told again if it goes on.
    """
    threading.Thread(target=_answer.watch, args=(threading.get_ident(),), daemon=True, name="signals").start()
    signal.signal(signal.SIGTERM, _answer.raise_it)
    try:
        yield
    finally:
        heard()


def end_with_parent() -> None:
    """Let the end of the parent end this process as SIGTERM does.

    spark-submit, when it is ended, leaves its Python driver behind, which would go on writing to the target until it
    needs Spark again.
    """
    threading.Thread(
        target=_watch_parent, args=(os.getppid(), threading.get_ident()), daemon=True, name="parent"
    ).start()


def _watch_parent(parent: int, main: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS_FOR_PARENT)
    signal.pthread_kill(main, signal.SIGTERM)


def heard() -> None:
    """Say that the process knows that it ends: nobody need tell it again."""
    _answer.hear()


__all__ = ["SUBMITTED", "answered", "end_with_parent", "heard"]
