"""`metrics.prom`: the run for Prometheus, as node_exporter's textfile collector reads it.

Labels are names of catalogs, rules and the like, all of the configuration or of nestsync: never a namespace's or a
table's, so that there are no more series tomorrow than today. Names follow Prometheus' own conventions: base units,
``_total`` for what only grows, ``_info`` for what is not a number, moments as seconds since 1970.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import write_to_textfile
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from nestsync import __version__
from nestsync.core.findings import RULES
from nestsync.history.choosing import name_of
from nestsync.history.records import ASSESSMENT
from nestsync.reports.facts import Digest
from nestsync.reports.settled import ExpectationResult
from nestsync.reports.text import plain

FILE = "metrics.prom"
OBJECTS = ("namespace", "table", "view")


@dataclass(frozen=True, slots=True)
class Meter:
    """One metric: its name without the prefix ``nestsync_``, what it means, and its labels beside `OF_ALL`."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()


OF_ALL = ("configuration", "purpose")
"""The labels that every metric begins with, so that all that write to one folder can be collected from it."""
METERS = (
    Meter("build_info", "Always 1; which nestsync wrote this.", ("version",)),
    Meter("run_start_timestamp_seconds", "When the command began.", ("target",)),
    Meter("run_duration_seconds", "Wall time of its stages so far.", ("target",)),
    Meter("run_exit_code", "What it ended with; 0 is good.", ("target",)),
    Meter(
        "last_success_timestamp_seconds",
        "When the latest run that ended with 0 began.",
        ("target",),
    ),
    Meter("commands_total", "Commands that ended, by what they ended with.", ("target", "exit_code")),
    Meter("stage_duration_seconds", "Wall time of a stage.", ("stage",)),
    Meter("stage_failed", "1 where the stage failed.", ("stage",)),
    Meter("catalog_answered", "1 where the catalog answered.", ("catalog", "system", "role")),
    Meter("catalog_objects", "What the catalog holds.", ("catalog", "role", "kind")),
    Meter("catalog_objects_unread", "What could not be read, by status.", ("catalog", "role", "status")),
    Meter("findings", "Findings of the check.", ("source", "rule", "severity")),
    Meter("actions", "Actions of the plan and what became of them.", ("target", "kind", "outcome")),
    Meter("expectation_met", "1 where the expectation is met.", ("suite", "expectation", "severity")),
    Meter("expectation_unexpected_rows", "Rows that are not as expected.", ("suite", "expectation", "severity")),
)
"""Every metric; ``docs/machines.md`` is generated from here."""

Sample = tuple[tuple[str, ...], float]


def collected(digest: Digest) -> str:
    """The name of the file in a folder that syncs and assessments of several configurations write to."""
    writer = "nestsync_assess" if digest.purpose == ASSESSMENT else "nestsync"
    return f"{writer}-{name_of(digest.configuration.get('configuration'))}.prom"


def write(digest: Digest, file: Path) -> Path:
    """Write the metrics to `file`, whose name has to end in ``.prom``, at once: a scrape sees the old or the new.

    Raises `OSError` where its folder cannot be written.
    """
    write_to_textfile(str(file), _Run(digest))
    return file


class _Run(Collector):
    """One run as a collector."""

    def __init__(self, digest: Digest) -> None:
        self._digest = digest

    def collect(self) -> Iterable[Metric]:
        values = _values(self._digest)
        of_all = name_of(self._digest.configuration.get("configuration")), self._digest.purpose
        for meter in METERS:
            found = list(values.get(meter.name, ()))
            if found:
                yield _family(meter, [((*of_all, *labels), value) for labels, value in found])


def _family(meter: Meter, samples: Iterable[Sample]) -> Metric:
    name, named = f"nestsync_{meter.name}", (*OF_ALL, *meter.labels)
    if meter.name.endswith("_info"):
        info = InfoMetricFamily(name.removesuffix("_info"), meter.meaning)
        for labels, _ in samples:
            info.add_metric((), dict(zip(named, map(plain, labels), strict=True)))
        return info
    kind = CounterMetricFamily if meter.name.endswith("_total") else GaugeMetricFamily
    family = kind(name.removesuffix("_total"), meter.meaning, labels=named)
    for labels, value in samples:
        family.add_metric([plain(label) for label in labels], value)
    return family


def _values(digest: Digest) -> Mapping[str, Iterable[Sample]]:
    outcome, target = digest.outcome, _target(digest)
    codes = Counter(digest.past.exit_codes) + Counter([outcome.exit_code])
    success = digest.started_at if outcome.exit_code == 0 else digest.past.last_success
    return {
        "build_info": [((__version__,), 1)],
        "run_start_timestamp_seconds": [((target,), digest.started_at.timestamp())],
        "run_duration_seconds": [((target,), sum(stage.seconds for stage in outcome.stages))],
        "run_exit_code": [((target,), outcome.exit_code)],
        "last_success_timestamp_seconds": [] if success is None else [((target,), success.timestamp())],
        "commands_total": [((target, str(code)), count) for code, count in sorted(codes.items())],
        "stage_duration_seconds": [((stage.stage,), stage.seconds) for stage in outcome.stages],
        "stage_failed": [((stage.stage,), stage.status == "failed") for stage in outcome.stages],
        **_catalogs(digest),
        "findings": _findings(digest),
        "actions": [((target, kind, end), count) for (kind, end), count in sorted(digest.action_counts.items())],
        "expectation_met": [(_expectation(result), result.success) for result in digest.expectations],
        "expectation_unexpected_rows": [(_expectation(result), result.unexpected) for result in digest.expectations],
    }


def _expectation(result: ExpectationResult) -> tuple[str, ...]:
    return result.suite, result.name, str(result.severity)


def _target(digest: Digest) -> str:
    return next((row.catalog.name for row in digest.catalogs if row.catalog.role == "target"), "")


def _catalogs(digest: Digest) -> Mapping[str, Iterable[Sample]]:
    answered = [row for row in digest.catalogs if row.answered]
    return {
        "catalog_answered": [
            ((row.catalog.name, row.catalog.system, row.catalog.role), row.answered) for row in digest.catalogs
        ],
        "catalog_objects": [
            ((row.catalog.name, row.catalog.role, kind), row.objects.get(kind, 0))
            for row in answered
            for kind in (OBJECTS if row.catalog.role == "source" else OBJECTS[:1])  # a target's tables are not read
        ],
        "catalog_objects_unread": [
            ((row.catalog.name, row.catalog.role, status), count)
            for row in answered
            for status, count in sorted(row.unread.items())
        ],
    }


def _findings(digest: Digest) -> Iterator[Sample]:
    """What was found, and a zero for each rule that found nothing in a source: an alert has to see it come back."""
    if digest.findings is None:
        return
    sources = [row.catalog.name for row in digest.catalogs if row.catalog.role == "source"]
    counts = {(source, slug, str(rule.severity)): 0 for source in sources for slug, rule in RULES.items()}
    for case in digest.cases:
        counts[case.source, case.rule, case.severity] = case.count
    yield from sorted(counts.items())


__all__ = ["FILE", "METERS", "OF_ALL", "Meter", "collected", "write"]
