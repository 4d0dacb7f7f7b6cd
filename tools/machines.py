"""The page `docs/machines.md`: what a report tells machines, and every metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from nestsync.reports.lineage import A_PORTION, PARENT, ROOT
from nestsync.reports.metrics import METERS

Table = Callable[[Iterable[str], Iterable[Iterable[str]]], str]

FILES = (
    ("`summary.json`", "everything that is counted; levels are lists", "its [JSON Schema](summary.schema.json)"),
    (
        "`junit.xml`",
        "a case for each rule and source, each stage and each expectation; what blocks fails its case",
        "the schema in `tests/reports/junit.xsd`",
    ),
    (
        "`report.md`",
        "verdict, next commands, findings by rule and source, plan and outcome, for a pull request or a chat",
        "a Markdown parser",
    ),
    ("`metrics.prom`", "the metrics below", "Prometheus' own parser"),
    (
        "`openlineage.jsonl`",
        "an event a line: START, the namespaces in portions, COMPLETE or FAIL",
        "OpenLineage's own client",
    ),
)
INTRODUCTION = """\
Every report folder holds, beside the page and its CSV files, one file for each of these. `report.metrics_folder` has
the metrics written where node_exporter's textfile collector finds them, `report.openlineage.url` has the events sent to
a lineage service; by default nothing leaves the folder. A run that is stopped because a catalog does not answer has
these files too, so that alerts do not go on with the last good run.
"""
METRICS = """\
## Metrics

Every series has two labels beside those below: `configuration`, the name of the configuration file without its ending,
and `purpose`: `assessment` for a run of `assess`, `sync` for every other. `report.metrics_folder` takes a file for each
of both, `nestsync-<configuration>.prom` and `nestsync_assess-<configuration>.prom`, so that several can be
collected from one folder. Two files of one name, in two folders, are one configuration to Prometheus: give them
different names. Labels are names of catalogs, rules and the like, never a namespace's: there are no more series
tomorrow than today. What is counted over runs is counted over those of the configuration and purpose that the workspace
knows.

```yaml
- alert: NestsyncIsBehind
  expr: time() - nestsync_last_success_timestamp_seconds{purpose="sync"} > 36 * 3600
  annotations: { summary: "{{ $labels.configuration }} has not ended well for a day and a half" }
- alert: NestsyncIsBlocked
  expr: sum by (configuration, source, rule) (nestsync_findings{severity="blocking"}) > 0
```
"""
LINEAGE = f"""\
## Lineage

A source namespace and a target namespace are datasets of type `NAMESPACE`. The catalog's address is the dataset's
namespace (`hive://host:port`, the address of an Iceberg REST catalog, `file` for local folders). The levels are its
name, joined by dots, with backticks around a level that holds one, so that two namespaces never get one name; the
facet `hierarchy` has the levels themselves. A target namespace that is there because it was wanted is an output, and
its facet `lineage` names the source namespaces that it comes from, ten at most. No event holds more than
{A_PORTION} target namespaces, and a run tells of 10,000; `nestsync_namespaces_told` among its tags says so where there
are more.

The job is named after the configuration file, in the namespace `report.openlineage.namespace`; the run's UUID follows
from that and from the run id. A scheduler's own run becomes the parent where it sets `{PARENT}` (and
`{ROOT}`) to `<job namespace>/<job name>/<run UUID>`. `OPENLINEAGE_DISABLED=true` sends nothing.
"""


def page(table: Table) -> Iterator[str]:
    """The parts of the page, below its title."""
    yield INTRODUCTION
    yield table(("file", "what it is", "tests hold it to"), FILES)
    yield METRICS
    yield table(
        ("metric", "labels", "meaning"),
        (
            (f"`nestsync_{meter.name}`", ", ".join(f"`{label}`" for label in meter.labels), meter.meaning)
            for meter in METERS
        ),
    )
    yield LINEAGE


__all__ = ["page"]
