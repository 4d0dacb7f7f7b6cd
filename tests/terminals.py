"""A terminal for a test: what is typed into it, and what it shows."""

from __future__ import annotations

import os
import pty
import select
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


class Terminal:
    """The person's side of a terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def type(self, text: str) -> None:
        """Type `text`, before or while somebody reads it."""
        os.write(self._descriptor, text.encode())

    def shown(self) -> str:
        """Everything shown since the last time, what was typed included."""
        received = b""
        while select.select([self._descriptor], [], [], 0.2)[0]:
            received += os.read(self._descriptor, 1 << 16)
        return received.decode("utf-8")


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch, *, for_output: bool = False) -> Iterator[Terminal]:
    """Standard input and standard error (`for_output`: standard output too) are a terminal until the end of the block.

    Not a fixture: pytest's own capturing takes the streams back between the set-up of a test and the test.
    """
    ours, theirs = pty.openpty()
    with monkeypatch.context() as patch, os.fdopen(os.dup(theirs)) as keys, os.fdopen(theirs, "w") as screen:
        patch.setenv("TERM", "xterm")
        patch.setenv("COLUMNS", "100")
        patch.setattr("sys.stdin", keys)
        patch.setattr("sys.stderr", screen)
        if for_output:
            patch.setattr("sys.stdout", screen)
        yield Terminal(ours)
    os.close(ours)
