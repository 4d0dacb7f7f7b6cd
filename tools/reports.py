"""The page `docs/reports.md`: what is in a report, how much of it the page shows, and what it was measured to cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from nestsync.history.choosing import TREND
from nestsync.reports.html import LARGEST
from nestsync.stages.report.changes import SHOWN as CHANGES_SHOWN
from nestsync.stages.report.digest import ACTIONS_SHOWN, FINDINGS_SHOWN
from nestsync.stages.report.tree import SHOWN as NAMESPACES_SHOWN

Table = Callable[[Iterable[str], Iterable[Iterable[str]]], str]

INTRODUCTION = """\
Every run leaves a folder of its own, `reports/<run_id>` in the workspace or in `report.folder`; `nestsync report
--run-id ID` writes it anew from the workspace, also days later. `index.html` opens from disk and loads nothing. What
other programs read is in [For machines](machines.md), what the run is held to in [Expectations](expectations.md).

| who asks | what | where on the page |
| --- | --- | --- |
| the engineer | what blocks me, where, what do I change | the verdict, *What to do next*, *Findings*, *Namespaces* |
| the platform owner | can nested namespaces be turned on, with which separator | *Separators*, *Round trips* |
| the platform owner | is tonight's sync fine compared with last week's | *Expectations*, *Compared with earlier runs* |
| the auditor | who made what, when, from which source | the head of the page, *Plan and outcome*, `actions.csv` |

*Who* is the user and the host of each process that took the run through its stages, as `nestsync history` and the Delta
table `runs` have it, too; of each write, those of the process that sent it, as the Delta table `ledger` has it. Where
the configuration file or the mapping file has changed since the run, a report that is written later says so: it is of
the file as it is now.
"""
BOUNDS = f"""\
## How much the page shows

The first rows, most severe first; the CSV files beside the page hold all of them. Where names are so long that the page
would pass {LARGEST / 1e6:g} MB, it shows fewer, and says how many.
"""
SHOWN = (
    ("findings", f"{FINDINGS_SHOWN:,}", "`findings.csv`"),
    ("objects of findings about several", "a few, in the message", "`finding_members.csv`"),
    ("actions of the plan", f"{ACTIONS_SHOWN:,}", "`actions.csv`"),
    ("namespaces of the tree", f"{NAMESPACES_SHOWN:,}", "`namespaces.csv`"),
    ("changes since the run before", f"{CHANGES_SHOWN:,}", "`changes.csv`"),
    ("earlier runs in the trend", f"{TREND:,}", "`nestsync history`"),
)
COST = """\
## What it costs

Measured on 29 November 2026, two cores, 100,000 identifiers with 2,000 findings, in a Spark session that had done the
same once before:
"""
MEASURED = (
    ("the report step, with Great Expectations and its Data Docs", "14.4 s"),
    ("of that, on its own: seventeen expectations in four suites", "8.4 s"),
    ("the same rows as CSV files by Spark alone, to compare", "1.4 s"),
    ("`index.html`", "4.00 MB"),
    ("filtering the findings, by key, in Chromium", "21 ms"),
    ("finding a namespace, by key, in Chromium", "17 ms"),
)
AGAIN = """\
To measure it again:

```console
$ .venv/bin/python benchmarks/report_cost.py
$ .venv/bin/python benchmarks/expectations_cost.py
```
"""


def page(table: Table) -> Iterator[str]:
    """The parts of the page, below its title."""
    yield INTRODUCTION
    yield BOUNDS
    yield table(("what", "the page shows", "all of them"), SHOWN)
    yield COST
    yield table(("what", "took"), MEASURED)
    yield AGAIN


__all__ = ["page"]
