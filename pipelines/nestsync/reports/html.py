"""The page: one self-contained HTML file that opens from disk and reaches for nothing."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from markupsafe import Markup

from nestsync.core.findings import RULES, Severity
from nestsync.reports import matrix, templates, trend
from nestsync.reports.changes import Changes
from nestsync.reports.facts import Capped, Digest
from nestsync.reports.settled import blocking_failures, unsaid
from nestsync.reports.text import CHANGED_SINCE
from nestsync.reports.tree import TreeNode, nodes, state

FILE = "index.html"
STYLES = ("theme.css", "page.css", "history.css")
Table = TypeVar("Table", Capped[Any] | None, Changes | None)
LARGEST = 5_000_000
"""Bytes of a page at most, however many rows there are and however long their names."""
_OPEN_UP_TO = 150
"""A tree with more lines than this starts with its folders closed."""
_MANY = 400
"""More rows than this are laid out only when they come into sight."""


@dataclass(frozen=True, slots=True)
class _State:
    """What an exit code means at a glance; `tone` picks the colour."""

    word: str
    tone: str


_TONES = {"applied": "ok", "skipped": "", "pending": "info"}
"""The colour of an action's outcome; of any other, that of what is bad."""
_STATES = {
    0: _State("Done", "ok"),
    1: _State("Failed", "bad"),
    2: _State("Not started", "bad"),
    3: _State("Blocked", "bad"),
    4: _State("Partly applied", "warn"),
    5: _State("Unreachable", "bad"),
    6: _State("Out of date", "warn"),
}
_UNEXPECTED = _State("Not as expected", "bad")
"""Every stage went well, and a blocking expectation is not met."""


@dataclass(frozen=True, slots=True)
class _Figure:
    """One number at the top of the page; `note` is what it leaves unsaid."""

    label: str
    value: str
    tone: str = ""
    note: str = ""


def write(digest: Digest, folder: Path) -> Path:
    """Write ``index.html`` into `folder`, with as many rows as `LARGEST` leaves room for."""
    path = folder / FILE
    page = _encoded(digest)
    while len(page) > LARGEST and (fewer := _fewer(digest)) != digest:
        digest = fewer
        page = _encoded(digest)
    path.write_bytes(page)
    return path


def _encoded(digest: Digest) -> bytes:
    # A lone surrogate cannot be written at all; `visible` has escaped those in names.
    return render(digest).encode("utf-8", "backslashreplace")


def _fewer(digest: Digest) -> Digest:
    """`digest` with half of the rows of each table, which the page then says: all of them are in the CSV files."""
    return replace(
        digest,
        findings=_half(digest.findings),
        actions=_half(digest.actions),
        tree=_half(digest.tree),
        changes=_half(digest.changes),
    )


def _half(table: Table) -> Table:
    return table if table is None else replace(table, rows=table.rows[: len(table.rows) // 2])


def render(digest: Digest) -> str:
    """The page as text."""
    script = templates.text("page.js")
    tree = [] if digest.tree is None else nodes(digest.tree.rows)
    runs = trend.points(digest)
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_digest(script)}'"
    return (
        templates.environment()
        .get_template("page.html.j2")
        .render(
            digest=digest,
            outcome=digest.outcome,
            state=_state(digest),
            changed_since=CHANGED_SINCE if digest.configuration_changed else None,
            planned=_planned(digest.action_counts),
            outcomes=_outcomes(digest.action_counts),
            tones=_TONES,
            started=digest.started_at.astimezone(UTC),
            figures=_figures(digest),
            severities=[(str(severity), digest.severities()[severity]) for severity in Severity],
            meanings={slug: rule.meaning for slug, rule in RULES.items()},
            conflicts=max([row.conflicts for row in digest.separators or ()], default=0),
            longest=max([stage.seconds for stage in digest.outcome.stages], default=0.0),
            matrix=None if digest.matrix is None else matrix.lines(digest.matrix),
            tree=tree,
            opened=_opened(tree),
            trend=runs,
            trend_lines=trend.lines(runs),
            trend_size=(trend.WIDTH, trend.HEIGHT),
            many=_MANY,
            duration=_duration,
            policy=policy,
            style=Markup("".join(map(templates.text, STYLES))),  # noqa: S704 our own files
            script=Markup(script),  # noqa: S704
        )
    )


def _state(digest: Digest) -> _State:
    done = all(stage.status == "ok" for stage in digest.outcome.stages)
    if done and digest.outcome.exit_code in (3, 4) and unsaid(blocking_failures(digest.expectations)):
        return _UNEXPECTED
    return _STATES.get(digest.outcome.exit_code, _STATES[1])


def _digest(script: str) -> str:
    return base64.b64encode(sha256(script.encode()).digest()).decode()


def _opened(tree: Sequence[TreeNode]) -> int:
    """Down to which depth folders start open."""
    return len(tree) if len(tree) <= _OPEN_UP_TO else 0


def _figures(digest: Digest) -> list[_Figure]:
    found = [_Figure("Catalogs", f"{len(digest.catalogs):,}", note=_silent(digest))]
    objects = {
        kind: sum(row.objects.get(kind, 0) for row in digest.catalogs if row.catalog.role == "source")
        for kind in ("namespace", "table", "view")
    }
    if any(row.answered for row in digest.catalogs):
        found.append(_Figure("Namespaces", f"{objects['namespace']:,}"))
        views = f"and {objects['view']:,} view{'' if objects['view'] == 1 else 's'}" if objects["view"] else ""
        found.append(_Figure("Tables", f"{objects['table']:,}", note=views))
    if digest.findings is not None:
        severities = digest.severities()
        blocking, warnings = severities[Severity.BLOCKING], severities[Severity.WARNING]
        found.append(_Figure("Blocking", f"{blocking:,}", tone="bad" if blocking else "ok"))
        found.append(_Figure("Warnings", f"{warnings:,}", tone="warn" if warnings else ""))
    found += _plan_figures(digest.action_counts) if digest.actions is not None else []
    seconds = sum(stage.seconds for stage in digest.outcome.stages)
    return [*found, _Figure("Time", _duration(seconds))]


def _planned(counts: Mapping[tuple[str, str], int]) -> list[tuple[str, int]]:
    words: Counter[str] = Counter()
    for (kind, result), count in counts.items():
        words[state(kind, result)] += count
    return words.most_common()


def _outcomes(counts: Mapping[tuple[str, str], int]) -> list[tuple[str, int]]:
    """How many actions there are of each outcome, of those that have one."""
    words: Counter[str] = Counter()
    for (_, result), count in counts.items():
        words[result] += count
    del words["none"]
    return words.most_common()


def _silent(digest: Digest) -> str:
    silent = sum(row.catalog.error is not None for row in digest.catalogs)
    return f"{silent:,} without an answer" if silent else ""


def _plan_figures(counts: Mapping[tuple[str, str], int]) -> list[_Figure]:
    def of(kinds: set[str], outcomes: set[str]) -> int:
        return sum(count for (kind, outcome), count in counts.items() if kind in kinds and outcome in outcomes)

    changes = {"create_namespace", "set_properties"}
    applied, pending = of(changes, {"applied", "skipped"}), of(changes, {"pending"})
    failed, unchanged = of(changes, {"failed", "unknown"}), of({"noop"}, {"none"})
    note = f"{unchanged:,} unchanged" if unchanged else ""
    figures = [] if pending and not applied else [_Figure("Written", f"{applied:,}", note=note)]
    if pending:
        figures.append(_Figure("To write", f"{pending:,}"))
    if failed:
        figures.append(_Figure("Failed", f"{failed:,}", tone="bad"))
    return figures


def _duration(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


__all__ = ["FILE", "render", "write"]
