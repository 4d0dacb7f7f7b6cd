"""Two runs side by side, as the terminal, the page and JSON show them: bounded, and without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nestsync.core.findings import Severity
from nestsync.core.identifiers import Levels
from nestsync.history.records import RunRecord

ORDER = ("new", "vanished", "moved", "changed", "unknown", "appeared", "gone")
"""Changes by how much they may hurt."""
WHAT = ("finding", "namespace", "table", "view")


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One thing that is another in the later run."""

    what: str
    """``namespace``, ``table``, ``view`` or ``finding``."""
    change: str
    role: str
    source: str
    object: str
    levels: Levels
    name: str | None
    rule: str | None
    severity: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class Changes:
    """What is another in the run `after` than in `before`: the first rows, and how many there are of each kind."""

    before: RunRecord
    after: RunRecord
    rows: tuple[ChangeRow, ...]
    counts: Mapping[tuple[str, str, str, str], int]
    """By ``role``, ``what``, ``change`` and, for findings, ``severity`` (empty for objects)."""
    file: str
    """A CSV file with every row."""
    notes: tuple[str, ...] = field(default=())
    """What a reader should know before anything else."""

    @property
    def total(self) -> int:
        """How many rows there are."""
        return sum(self.counts.values())

    @property
    def left_out(self) -> int:
        """How many rows are in the file alone."""
        return self.total - len(self.rows)

    def counted(self) -> list[tuple[str, int]]:
        """How many of what, in words, with what may hurt first: ``("namespaces vanished", 3)``."""
        sums: Counter[tuple[str, str, str]] = Counter()
        for (role, what, change, _), count in self.counts.items():
            sums[change, role, what] += count
        order = sorted(sums, key=lambda key: (ORDER.index(key[0]), key[1] == "target", WHAT.index(key[2])))
        return [(self._words(*key, sums[key]), sums[key]) for key in order]

    def _words(self, change: str, role: str, what: str, count: int) -> str:
        where = " in the target" if role == "target" else ""
        blocking = self.new_blocking if (what, change) == ("finding", "new") else 0
        told = f" ({blocking:,} blocking)" if blocking else ""
        return f"{what}{'' if count == 1 else 's'} {change}{where}{told}"

    @property
    def new_blocking(self) -> int:
        """How many blocking findings are new."""
        wanted = ("finding", "new", str(Severity.BLOCKING))
        return sum(count for key, count in self.counts.items() if key[1:] == wanted)

    @property
    def sentence(self) -> str:
        """The comparison in one sentence."""
        if not self.total:
            return f"Nothing changed since run {self.before.run_id}."
        return f"Since run {self.before.run_id}: {', '.join(f'{count:,} {words}' for words, count in self.counted())}."

    def as_json(self) -> dict[str, Any]:
        """The comparison as JSON types."""
        return {
            "before": self.before.as_json(),
            "after": self.after.as_json(),
            "sentence": self.sentence,
            "notes": list(self.notes),
            "total": self.total,
            "counts": list(self.counts_json()),
            "file": self.file,
            "changes": [_row(row) for row in self.rows],
        }

    def counts_json(self) -> Iterator[dict[str, Any]]:
        """The counts, a row each."""
        for (role, what, change, severity), count in sorted(self.counts.items()):
            yield {"role": role, "what": what, "change": change, "severity": severity or None, "count": count}


def _row(row: ChangeRow) -> dict[str, Any]:
    return {
        "what": row.what,
        "change": row.change,
        "role": row.role,
        "source": row.source,
        "object": row.object,
        "levels": list(row.levels),
        "name": row.name,
        "rule": row.rule,
        "severity": row.severity,
        "detail": row.detail,
    }


def settings_notes(before: RunRecord, after: RunRecord) -> Iterator[str]:
    """What makes the two runs hard to compare, in sentences."""
    for record in (before, after):
        if record.state == "died":
            yield f"run {record.run_id} died on its way: what it had not read yet is not in it"
        if record.has_rows and not any(map(record.objects, ("namespaces", "tables", "views"))):
            yield f"run {record.run_id} found nothing: its inventory is empty"
    if None not in (before.configuration, after.configuration) and before.configuration != after.configuration:
        yield f"another configuration: {before.configuration}, then {after.configuration}"
    if None not in (before.naming, after.naming) and before.naming != after.naming:
        yield "the rules for names changed between the runs, which moves names and changes findings by itself"
    yield from _one_sided(before, after)


def _one_sided(before: RunRecord, after: RunRecord) -> Iterator[str]:
    for one, other in ((before, after), (after, before)):
        alone = sorted(catalogs(one) - catalogs(other))
        if alone:
            named = ", ".join(f"{name} ({role})" for role, name in alone)
            yield f"only in run {one.run_id}, and not compared: {named}"


def catalogs(record: RunRecord) -> set[tuple[str, str]]:
    """The catalogs of a run's inventory, as (role, name)."""
    return {(str(facts.get("role")), name) for name, facts in record.catalogs.items()}


__all__ = ["ORDER", "ChangeRow", "Changes", "catalogs", "settings_notes"]
