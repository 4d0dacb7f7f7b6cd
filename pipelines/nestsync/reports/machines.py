"""Every format that a machine takes, of one run: JSON, JUnit XML, Markdown, Prometheus' text, OpenLineage's events."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nestsync.reports import junit, lineage, markdown, metrics, summary
from nestsync.reports.facts import Digest
from nestsync.reports.lineage import LineageSettings

FILES = (summary.FILE, junit.FILE, markdown.FILE, metrics.FILE, lineage.FILE)


@dataclass(frozen=True, slots=True)
class Publishing:
    """Where the formats go beside the report's folder."""

    url: str | None = None
    """Under which address the folder of all reports is published; links are relative without one."""
    metrics_folder: Path | None = None
    """The folder that Prometheus' node_exporter collects from."""
    lineage: LineageSettings = field(default_factory=LineageSettings)

    def page(self, run_id: str) -> str:
        """The address of the HTML page of `run_id`."""
        return "index.html" if self.url is None else f"{self.url.rstrip('/')}/{run_id}/index.html"


@dataclass(frozen=True, slots=True)
class Machines:
    """Where each is, and what did not work that the run does not depend on."""

    json: Path
    junit: Path
    markdown: Path
    metrics: Path
    lineage: Path
    problems: tuple[str, ...] = ()


def write(digest: Digest, folder: Path, publishing: Publishing) -> Machines:
    """Write all of them into `folder`, and where `publishing` says beside it.

    Raises `OSError` where `folder` cannot be written. What cannot be written or sent elsewhere is a problem to tell.
    """
    problems = []
    if publishing.metrics_folder is not None:
        try:
            metrics.write(digest, publishing.metrics_folder / metrics.collected(digest))
        except OSError as error:
            problems.append(f"the metrics were not written: {error}")
    events, problem = lineage.write(digest, folder, publishing.lineage)
    problems += [] if problem is None else [problem]
    return Machines(
        json=summary.write(digest, folder),
        junit=junit.write(digest, folder),
        markdown=markdown.write(digest, folder, publishing.page(digest.outcome.run_id)),
        metrics=metrics.write(digest, folder / metrics.FILE),
        lineage=events,
        problems=tuple(problems),
    )


__all__ = ["FILES", "Machines", "Publishing", "write"]
