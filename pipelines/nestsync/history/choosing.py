"""Which run is meant by what somebody typed, which one came before, and what the earlier ones came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from nestsync.errors import ConfigurationError, RunNotFound
from nestsync.history.records import DIED, UNDER_WAY, RunRecord, read_history
from nestsync.runfiles import RunFiles

TREND = 30
"""How many earlier runs a report shows."""


def choose(files: RunFiles, said: str, records: Sequence[RunRecord] | None = None) -> RunRecord:
    """The run that `said` means: its id, the only beginning that fits, ``latest``, or ``previous``.

    ``latest`` and ``previous`` are of the runs that have an inventory; ``previous`` is the last before ``latest`` with
    a source in common. Raises `RunNotFound` and, where several runs begin so, `ConfigurationError`.
    """
    known = read_history(files) if records is None else list(records)
    exact = next((record for record in known if record.run_id == said), None)
    if exact is not None:
        return exact
    if said in ("latest", "previous"):
        return _recent(files, said, known)
    fitting = [record for record in known if said and record.run_id.startswith(said)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        named = ", ".join(record.run_id for record in fitting[-5:])
        raise ConfigurationError(
            f"{len(fitting):,} runs begin with {said!r}", where=str(files.root), hint=f"the latest of them are: {named}"
        )
    latest = ", ".join(record.run_id for record in known[-5:]) or "none yet"
    raise RunNotFound(f"there is no run {said!r}", where=str(files.root), hint=f"the latest runs are: {latest}")


def choose_two(files: RunFiles, before: str, after: str, records: Sequence[RunRecord]) -> tuple[RunRecord, RunRecord]:
    """The two runs to compare. ``previous`` is the latest that began before the other and shares a source with it."""
    if after == "previous" and before != "previous":
        other, one = choose_two(files, after, before, records)
        return one, other
    other = choose(files, after, records)
    if before != "previous" or any(record.run_id == before for record in records):
        return choose(files, before, records), other
    if not other.has_rows:
        return choose(files, before, records), other  # whoever demands its rows says why there are none
    return _before(files, other, records), other


def _recent(files: RunFiles, said: str, known: Sequence[RunRecord]) -> RunRecord:
    inventoried = [record for record in known if record.has_rows]
    if not inventoried or (said == "previous" and len(inventoried) == 1):
        have = "no run with an inventory yet" if not inventoried else "only one run with an inventory yet"
        raise RunNotFound(
            f"there is {have}", where=str(files.root), hint="`nestsync inventory -c FILE` reads the catalogs"
        )
    return inventoried[-1] if said == "latest" else _before(files, inventoried[-1], known)


def _before(files: RunFiles, run: RunRecord, known: Sequence[RunRecord]) -> RunRecord:
    found = previous_of(run, known)
    if found is None:
        raise RunNotFound(
            f"there is no run before {run.run_id} with a source in common",
            where=str(files.root),
            hint="`nestsync history` lists the runs; any two of them can be named",
        )
    return found


def demand_inventory(files: RunFiles, run: RunRecord, purpose: str) -> None:
    """Raise `RunNotFound` where `run` has no inventory, which says why there is nothing to `purpose`."""
    if run.has_rows:
        return
    what, hint = f"has no inventory, so there is nothing to {purpose}", "`nestsync history` lists the runs"
    if run.pruned:
        what, hint = "was removed, and only its line in the history is left", "retention says how long runs are kept"
    elif run.state == DIED:
        what = f"died before its inventory was read, so there is nothing to {purpose}"
    elif run.state == UNDER_WAY:
        what, hint = "is still reading its inventory", "wait until it has ended"
    elif run.verdict:
        what = f"{what}; it ended so: {run.verdict}"
    raise RunNotFound(f"run {run.run_id} {what}", where=str(files.root), hint=hint)


def previous_of(run: RunRecord, records: Sequence[RunRecord]) -> RunRecord | None:
    """The latest run before `run` that has an inventory with a source in common."""
    earlier = [
        record for record in records if _order(record) < _order(run) and record.has_rows and record.shares_with(run)
    ]
    return earlier[-1] if earlier else None


@dataclass(frozen=True, slots=True)
class Past:
    """What came before a run, for its report: bounded, however many runs there were."""

    runs: tuple[RunRecord, ...] = ()
    """The latest earlier runs with an inventory of the same sources, oldest first."""
    exit_codes: Mapping[int, int] = field(default_factory=dict)
    """How many commands ended with each, in all runs of the same configuration and purpose."""
    last_success: datetime | None = None
    """When the latest of those that ended with 0 began."""


def name_of(configuration: str | None) -> str:
    """What the configuration file goes by: its name without the ending, wherever it lies.

    Metrics and lineage know it by that, and go on with it where a deployment puts the file into another folder.
    """
    return Path(configuration or "").stem or "nestsync"


def past_of(run: RunRecord, records: Sequence[RunRecord]) -> Past:
    """What `records` say of the time before `run`, whose own earlier commands are counted."""
    codes: Counter[int] = Counter()
    mine = [record for record in records if _series(record) == _series(run)]
    for record in mine:
        codes.update(record.exit_codes)
    earlier = [record for record in records if _order(record) < _order(run)]
    alike = [record for record in earlier if record.shares_with(run)]
    successes = [record.started_at for record in mine if record.exit_code == 0 and _order(record) < _order(run)]
    return Past(tuple(alike[-TREND:]), dict(sorted(codes.items())), max(successes, default=None))


def _series(record: RunRecord) -> tuple[str, str]:
    return name_of(record.configuration), record.purpose


def _order(record: RunRecord) -> tuple[datetime, str]:
    return record.started_at, record.run_id


__all__ = ["TREND", "Past", "choose", "choose_two", "demand_inventory", "name_of", "past_of", "previous_of"]
