"""What a command says of itself while it takes a run through stages: a line when it begins, a stage, its end.

``history/<run_id>.jsonl`` in the workspace is only ever appended to, by any number of processes, and survives the
run's own rows. A process that dies leaves a beginning without an end, and gives its lock back: that is how a run that
died is told from one that is under way.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from nestsync.errors import NestsyncError
from nestsync.history.actors import this_process
from nestsync.outcome import RunOutcome, ended_by
from nestsync.runfiles import RunFiles, checked_run_id

FOLDER = "history"
BEGUN, STAGE, ENDED, PRUNED = "begun", "stage", "ended", "pruned"


@dataclass
class Attempt:
    """One command's way through stages of a run; `tell` what it ended with before the block ends."""

    file: Path
    name: str = field(default_factory=lambda: token_hex(4))
    began: float = field(default_factory=time.monotonic)
    told: dict[str, Any] = field(default_factory=dict)

    def stage(self, stage: str) -> None:
        """Say that `stage` begins: where the process dies, that is where it was."""
        _append(self.file, {"event": STAGE, "attempt": self.name, "at": _now(), "stage": stage})

    def tell(self, outcome: RunOutcome, catalogs: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep `outcome`, and what the run's inventory holds by catalog, for when the block ends."""
        said = outcome.as_json()
        self.told = {key: said[key] for key in ("exit_code", "verdict", "stages", "report", "plan_hash")}
        self.told["catalogs"] = {name: _catalog(facts) for name, facts in catalogs.items()}


def _catalog(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: facts.get(key) for key in ("role", "system", "counts")}


@contextmanager
def attempt(files: RunFiles, run_id: str, **facts: Any) -> Iterator[Attempt]:
    """Remember that a command works on `run_id` until the end of the block, and what it ended with.

    `facts` (the command, its stages, the configuration) are remembered as they are. An error that leaves the block is
    remembered by its kind and goes on.
    """
    begun, who = Attempt(history_file(files, run_id)), this_process()
    beginning = {"event": BEGUN, "attempt": begun.name, "at": _now(), "user": who.user, "host": who.host}
    with _under_way(files, run_id):
        _append(begun.file, beginning | facts)
        try:
            yield begun
        except BaseException as error:
            begun.told = _told(error)
            raise
        finally:
            seconds = round(time.monotonic() - begun.began, 3)
            line = {"event": ENDED, "attempt": begun.name, "at": _now(), "seconds": seconds}
            _append(begun.file, line | begun.told)


def history_file(files: RunFiles, run_id: str) -> Path:
    """Where the lines about `run_id` are."""
    return files.root / FOLDER / f"{checked_run_id(run_id)}.jsonl"


def tell_pruned(files: RunFiles, run_id: str) -> None:
    """Say that the rows and files of `run_id` were removed; one that an older version made has no line to add it to."""
    file = history_file(files, run_id)
    if file.exists():
        _append(file, {"event": PRUNED, "at": _now()})


def _told(error: BaseException) -> dict[str, Any]:
    code, said = ended_by(error) or (
        error.exit_code if isinstance(error, NestsyncError) else 1,
        str(error) or type(error).__name__,
    )
    return {"exit_code": code, "verdict": f"Stopped: {said}"}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _append(file: Path, line: Mapping[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    # One write to a file that is opened for appending: lines of several processes do not mix.
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # or a long line that another process is writing would look torn
        end = os.lseek(descriptor, 0, os.SEEK_END)
        # A process that died may have left half a line, which is not to take this one with it.
        torn = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n"
        os.write(descriptor, b"\n" * torn + json.dumps(line, ensure_ascii=True).encode("ascii") + b"\n")
    finally:
        os.close(descriptor)


@contextmanager
def _under_way(files: RunFiles, run_id: str) -> Iterator[None]:
    """Hold a shared lock on the run: the system gives it back when the process ends, however it does."""
    path = _lock_file(files, run_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


def is_under_way(files: RunFiles, run_id: str) -> bool:
    """Whether a process works on `run_id` right now."""
    with suppress(FileNotFoundError), _lock_file(files, run_id).open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@contextmanager
def kept_from_others(files: RunFiles, run_id: str) -> Iterator[bool]:
    """Whether nobody works on `run_id`; if so, nobody begins to until the end of the block."""
    path = _lock_file(files, run_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _lock_file(files: RunFiles, run_id: str) -> Path:
    return files.root / "locks" / f"run-{checked_run_id(run_id)}.lock"


__all__ = [
    "BEGUN",
    "ENDED",
    "FOLDER",
    "PRUNED",
    "STAGE",
    "Attempt",
    "attempt",
    "history_file",
    "is_under_way",
    "kept_from_others",
    "tell_pruned",
]
