"""What a DAG says of itself in Airflow's UI."""

from __future__ import annotations

from pathlib import Path

SYNC = """\
Nightly sync of the configuration `{file}` by nestsync.

```
 sources ──► inventory ──► check ──► plan ──► gate ──► apply ──► verify ──► done
   (each its own task)       │         │        │          │          │
                             └─────────┴─ report, whatever happened ──┘
```

- **configuration** validates the file; **inventory** reads each source and the target, each retried on its own.
- **check** and **plan** decide in full what would be written, and write nothing.
- **gate**: blocking findings stop the run here. A plan that creates at most {approve_above} namespaces, and changes
  none, passes; on any other a person decides under *Required Actions*, within {approval_hours:g} hours. No
  decision is a no, and fails the run.
- **apply** writes. A task that was killed, or cleared, goes on with its run: nothing is written twice.
- **verify** reads the target again, also where some actions failed or were blocked. Where everything was applied, its
  success updates the asset `{asset}`, on which other DAGs can be scheduled.
- **report** is written wherever the names were checked; the link *Report* leads there.

Tried again, with back-off, is only what may end otherwise: a catalog that does not answer, a lease that is held (exit
5), what the target refused for the moment (4), a job that was killed. Findings (3), drift (6) and mistakes (2) are not.
"""

ASSESSMENT = """\
Readiness assessment of the configuration `{file}`: what stands in the way of nested namespaces. It reads the sources,
checks every name, writes the report (link *Report*), and needs no target. Findings are its answer, and no failure.

```
 sources ──► inventory ──► check ──► report
```
"""

BROKEN = """\
**The configuration cannot be scheduled.** {problem}

Mend the block `airflow:` of the file; `docs/airflow.md` has its keys. Until then this DAG fails whenever the sync was
to run, or every night where that is not known, so that nobody takes silence for a sync.
"""


def sync_text(file: Path, approve_above: int, approval_hours: float, asset: str) -> str:
    """The text of a sync."""
    return SYNC.format(file=file, approve_above=approve_above, approval_hours=approval_hours, asset=asset)


__all__ = ["ASSESSMENT", "BROKEN", "SYNC", "sync_text"]
