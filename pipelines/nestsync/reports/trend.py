"""The runs that led here, as the page shows them: three lines that rise or fall, and the numbers behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nestsync.history.records import RunRecord
from nestsync.reports.facts import Digest

WIDTH, HEIGHT, MARGIN = 240, 48, 4
"""Of one line's drawing, in its own units."""
LEAST = 2
"""Fewer runs than this draw no line."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run of the trend; None where it did not count that."""

    run_id: str
    began: str
    exit_code: int | None
    namespaces: int | None
    tables: int | None
    findings: int | None
    blocking: int | None


@dataclass(frozen=True, slots=True)
class Line:
    """One number over the runs: the drawing's polyline, and what it says in words."""

    label: str
    points: str
    last_x: float
    last_y: float
    latest: int
    change: int

    @property
    def words(self) -> str:
        """The line for whoever cannot see it."""
        turned = f"{self.change:+,} since the first of them" if self.change else "as many as in the first of them"
        return f"{self.label}: {self.latest:,}, {turned}"


def points(digest: Digest) -> list[Point]:
    """The earlier runs and this one, oldest first."""
    return [*map(_earlier, digest.past.runs), _now(digest)]


def _earlier(run: RunRecord) -> Point:
    blocking, warning, info = (run.findings(severity) for severity in ("blocking", "warning", "info"))
    findings = None if blocking is None else blocking + (warning or 0) + (info or 0)
    began = f"{run.started_at:%Y-%m-%d %H:%M}"
    return Point(run.run_id, began, run.exit_code, run.objects("namespaces"), run.objects("tables"), findings, blocking)


def _now(digest: Digest) -> Point:
    sources = [row for row in digest.catalogs if row.catalog.role == "source" and row.answered]
    outcome = digest.outcome

    def held(kind: str) -> int | None:
        return sum(row.objects.get(kind, 0) for row in sources) if sources else None

    return Point(
        outcome.run_id,
        f"{digest.started_at:%Y-%m-%d %H:%M}",
        outcome.exit_code,
        held("namespace"),
        held("table"),
        None if digest.findings is None else digest.findings.total,
        None if digest.findings is None else digest.severities()["blocking"],
    )


def lines(runs: Sequence[Point]) -> list[Line]:
    """A line for namespaces, tables and findings each, where there are runs enough to draw one."""
    numbers: dict[str, Callable[[Point], int | None]] = {
        "Namespaces": lambda point: point.namespaces,
        "Tables": lambda point: point.tables,
        "Findings": lambda point: point.findings,
    }
    drawn = (_line(label, list(map(number, runs))) for label, number in numbers.items())
    return [line for line in drawn if line is not None]


def _line(label: str, numbers: Sequence[int | None]) -> Line | None:
    known = [(index, number) for index, number in enumerate(numbers) if number is not None]
    if len(known) < LEAST:
        return None
    least, most = min(number for _, number in known), max(number for _, number in known)
    across = (WIDTH - 2 * MARGIN) / (len(numbers) - 1)
    up = (HEIGHT - 2 * MARGIN) / (most - least) if most > least else 0
    middle = 0 if up else HEIGHT / 2 - MARGIN  # a flat line runs through the middle
    places = [
        (round(MARGIN + index * across, 1), round(HEIGHT - MARGIN - middle - (number - least) * up, 1))
        for index, number in known
    ]
    return Line(label, _text(places), *places[-1], known[-1][1], known[-1][1] - known[0][1])


def _text(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)


__all__ = ["HEIGHT", "WIDTH", "Line", "Point", "lines", "points"]
