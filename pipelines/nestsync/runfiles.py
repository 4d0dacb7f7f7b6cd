"""What runs leave as files beside the Delta tables: summaries, listings of namespaces, journals and plans.

Needs no Spark: the commands that look at names only, and shell completion, stand on this alone.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nestsync.core.checking import Subject
from nestsync.errors import ConfigurationError, RunNotFound, SummaryUnreadable

_INVENTORY = "`nestsync inventory -c FILE` reads the catalogs"
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,127}")


class RunFiles:
    """The files of the workspace in the folder `root`. Nothing is made before something is written."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    # ---- runs and their summaries

    def run_ids(self) -> list[str]:
        """Every run that left a summary, oldest first."""
        files = self._summaries.glob("*.json")
        return [file.stem for file in sorted(files, key=lambda file: (file.stat().st_ctime_ns, file.stem))]

    def summary(self, run_id: str) -> dict[str, Any]:
        """What the stages of `run_id` left for each other, by stage. Raises `RunNotFound`, `SummaryUnreadable`."""
        file = self._summary_file(run_id)
        try:
            return _summary(file)
        except FileNotFoundError as error:
            known = ", ".join(self.run_ids()[-5:]) or "none yet"
            raise RunNotFound(
                f"there is no run {run_id!r}", where=str(self.root), hint=f"the latest runs are: {known}"
            ) from error

    def has_summary(self, run_id: str) -> bool:
        """Whether any stage of `run_id` left something."""
        return self._summary_file(run_id).exists()

    def update_summary(self, run_id: str, stage: str, facts: Mapping[str, Any]) -> None:
        """Merge `facts` of `stage` into the run's summary file, atomically and under a lock."""
        target = self._summary_file(run_id)
        target.parent.mkdir(parents=True, exist_ok=True)
        with self.lock(f"summary-{run_id}"):
            known = _summary(target) if target.exists() else {}
            summary: dict[str, Any] = {"run_id": run_id} | known
            summary[stage] = summary.get(stage, {}) | dict(facts)
            _replace(target, summary)

    @contextmanager
    def understood(self, run_id: str, hint: str) -> Iterator[None]:
        """Say so in one `SummaryUnreadable` where what `run_id` left is not what its stages leave."""
        try:
            yield
        except (KeyError, TypeError, AttributeError) as error:
            where = str(self._summary_file(run_id))
            raise SummaryUnreadable(f"the summary of run {run_id} is broken", where=where, hint=hint) from error

    # ---- what is remembered of targets

    def separator_of(self, target: str) -> str | None:
        """The separator that the catalog `target` was written with last. Raises `SummaryUnreadable`."""
        try:
            found = _summary(self._separators).get(target)
        except FileNotFoundError:
            return None
        return found if isinstance(found, str) else None

    def remember_separator(self, target: str, separator: str) -> None:
        """Remember that `target` is written with `separator`, whatever it was written with before."""
        with self.lock("separators"):
            known = _summary(self._separators) if self._separators.exists() else {}
            _replace(self._separators, known | {target: separator})

    # ---- inventories and their listings

    def inventory(self, run_id: str | None = None) -> tuple[str, dict[str, dict[str, Any]]]:
        """The run (by default the latest that has one) and, by catalog, what its inventory left.

        Raises `RunNotFound` where there is no such run, or none with an inventory yet, and `SummaryUnreadable`.
        """
        if run_id is not None:
            found = self.summary(run_id).get("inventory")
            if not found:
                raise RunNotFound(f"run {run_id} has no inventory", where=str(self.root), hint=_INVENTORY)
            return run_id, found
        for latest in reversed(self.run_ids()):
            found = self.summary(latest).get("inventory")
            if found:
                return latest, found
        what = "there is no run yet" if self.root.is_dir() else "there is no workspace"
        raise RunNotFound(what, where=str(self.root), hint=_INVENTORY)

    def listed_namespaces(self, run_id: str, catalogs: Mapping[str, Mapping[str, Any]]) -> Iterator[Subject]:
        """The namespaces of `catalogs`, which is `inventory`'s answer or a part of it, catalog by catalog in no order.

        Raises `SummaryUnreadable` where a listing is not there, or does not hold as many as were read.
        """
        listings: dict[str | None, set[str]] = {}
        for name, facts in catalogs.items():
            listings.setdefault(facts.get("listing"), set()).add(name)
        for listing, names in listings.items():
            if listing is None:
                raise _broken(self.root, f"the inventory of {', '.join(sorted(names))} left no listing of its names")
            expected = {name: catalogs[name].get("counts", {}).get("namespaces", 0) for name in names}
            for subject in self._listed(run_id, listing, names):
                expected[subject.source] -= 1
                yield subject
            if any(expected.values()):
                raise _broken(self.listing_folder(run_id, listing), "the listing of the namespaces is not whole")

    def listing_folder(self, run_id: str, listing: str) -> Path:
        """Where the JSON lines of one `listing` are."""
        return self.root / "listings" / checked_run_id(run_id) / listing

    def _listed(self, run_id: str, listing: str, catalogs: Collection[str]) -> Iterator[Subject]:
        folder = self.listing_folder(run_id, listing)
        if not folder.is_dir():
            raise _broken(folder, "the listing of the namespaces is missing")
        for file in sorted(folder.glob("part-*")):
            with _readable(file), file.open(encoding="utf-8") as lines:
                for line in lines:
                    row = json.loads(line)
                    if row["source"] in catalogs:
                        yield Subject(
                            source=row["source"],
                            object="namespace",
                            levels=tuple(row["levels"]),
                            status=row["status"],
                            error=row.get("error"),
                            role=row["role"],
                        )

    def drop_listings(self, run_id: str, listings: Collection[str]) -> None:
        """Delete those of `listings` that the run's summary does not name, or not any more."""
        named = {facts.get("listing") for facts in self.summary(run_id).get("inventory", {}).values()}
        for listing in set(listings) - named:
            shutil.rmtree(self.listing_folder(run_id, listing), ignore_errors=True)

    # ---- folders and locks

    def folder(self, kind: str, run_id: str) -> Path:
        """The folder of a run's files of one kind (``journal``, ``plans``), made when it is missing."""
        found = self.root / kind / checked_run_id(run_id)
        found.mkdir(parents=True, exist_ok=True)
        return found

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold the inter-process lock called `name` until the end of the block."""
        path = self.root / "locks" / f"{name}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @property
    def _separators(self) -> Path:
        return self.root / "separators.json"

    @property
    def _summaries(self) -> Path:
        return self.root / "runs-json"

    def _summary_file(self, run_id: str) -> Path:
        return self._summaries / f"{checked_run_id(run_id)}.json"


def checked_run_id(run_id: str) -> str:
    """`run_id` itself. Raises `ConfigurationError` where it could not be a partition and a file name."""
    if not _RUN_ID.fullmatch(run_id):
        raise ConfigurationError(
            f"{run_id!r} is no run id",
            hint="use letters, digits and _ . : + -, at most 128, starting with a letter or digit",
        )
    return run_id


def _replace(file: Path, content: Mapping[str, Any]) -> None:
    draft = file.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")
    draft.replace(file)


def _summary(file: Path) -> dict[str, Any]:
    with _readable(file):
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or not all(isinstance(facts, dict | str) for facts in found.values()):
            raise TypeError(file)
        return found


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Say so in one error whatever is wrong with the content of `file`."""
    try:
        yield
    except (ValueError, TypeError, KeyError, RecursionError) as error:  # a decoding error is a ValueError
        raise _broken(file, "the file is broken or half-written") from error


def _broken(where: Path, what: str) -> SummaryUnreadable:
    return SummaryUnreadable(what, where=str(where), hint=f"{_INVENTORY} again")


__all__ = ["RunFiles", "checked_run_id"]
