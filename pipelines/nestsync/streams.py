"""Standard streams whose loss ends no work: a disk that is full, a reader that left, a stream that was never there."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

from nestsync.errors import OutputUnwritable


class _Lasting(io.FileIO):
    """What cannot be written is dropped, and `lost` says why: what a command does is worth more than its log."""

    lost: OSError | None = None

    def write(self, content: Any, /) -> int:
        if self.lost is None:
            try:
                return super().write(content)
            except OSError as error:
                self.lost = error
        return memoryview(content).nbytes


def open_standard_streams() -> None:
    """Have all three, and let the two that are written to be of the kind that lasts.

    A process may be started without one of them, for which Python has None.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  # as long as the process lives
        elif mode == "w":
            setattr(sys, name, _lasting(stream))


def _lasting(stream: TextIO) -> TextIO:
    stream.flush()
    try:
        number = stream.fileno()
    except io.UnsupportedOperation:  # whoever called put a text in memory in its place
        return stream
    written = io.BufferedWriter(_Lasting(number, "w", closefd=False))
    # Python's own, where nothing is to be buffered, has no such writer; here its lines are flushed.
    by_line = getattr(stream, "line_buffering", False) or getattr(stream, "write_through", False)
    return io.TextIOWrapper(written, stream.encoding, stream.errors, line_buffering=by_line)


def demand_written() -> None:
    """Raise `OutputUnwritable` where standard output did not take all that was said.

    A reader that left, as ``| head`` does, wanted no more.
    """
    sys.stdout.flush()
    written = getattr(sys.stdout, "buffer", None)
    lost = getattr(getattr(written, "raw", None), "lost", None)
    if lost is not None and not isinstance(lost, BrokenPipeError):
        raise OutputUnwritable(
            f"not all that was said could be written: {lost.strerror}",
            where="standard output",
            hint="what the command did is done all the same; send its output where there is room",
        )


__all__ = ["demand_written", "open_standard_streams"]
