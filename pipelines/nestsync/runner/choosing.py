"""Which run a command takes, or makes."""

from __future__ import annotations

from datetime import UTC, datetime
from secrets import token_hex

from nestsync.errors import RunNotFound
from nestsync.history.attempts import history_file
from nestsync.history.choosing import demand_inventory
from nestsync.history.records import read_record
from nestsync.runfiles import RunFiles, checked_run_id


def run_to_take(files: RunFiles, wanted: str | None, *, new: bool) -> str:
    """The id of the run called `wanted`, or of a `new` one, or else of the latest.

    Raises `RunNotFound` where there is no such run, or nothing of it that a stage could stand on.
    """
    if wanted is not None:
        if not new and not files.has_summary(wanted) and history_file(files, wanted).exists():
            demand_inventory(files, read_record(files, wanted), "go on with")
        if not new:
            files.summary(wanted)  # raises for a run that is not there
        return checked_run_id(wanted)
    if new:
        return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{token_hex(3)}"
    known = files.run_ids()
    if not known:
        raise RunNotFound("there is no run yet", where=str(files.root), hint="begin with `nestsync inventory`")
    return known[-1]


__all__ = ["run_to_take"]
