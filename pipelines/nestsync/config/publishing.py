"""Where reports go, what is told to other systems, and how long runs are remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from nestsync.config.kinds import Address, LeastPart, LocalPath, Multiple, Part, Reason, Text
from nestsync.config.problems import Section
from nestsync.core.expectations import EXPECTATIONS, Settings
from nestsync.core.findings import Severity


class OpenLineageConfig(Section):
    """Lineage events: which source namespace became which target namespace. Without a `url` they stay in a file."""

    url: Address | None = None
    """The address of a lineage service that every run's events are sent to."""
    endpoint: Text = "api/v1/lineage"
    """The path below `url` that takes events."""
    api_key_env: Text | None = None
    """The name of an environment variable that holds the service's key, sent as a bearer token."""
    timeout: float = Field(default=5.0, gt=0, le=300)
    """Seconds that one request may take."""
    namespace: Text = "nestsync"
    """The namespace of the job; its name is that of the configuration file."""


class ExpectationConfig(Section):
    """How strictly one expectation is held; `docs/expectations.md` lists them, and what each takes."""

    severity: Severity = Severity.BLOCKING
    """What it means where it is not met; `blocking` decides the exit code. Each has a default of its own."""
    reason: Reason | None = None
    """Why it is held otherwise than by default, which the report shows; one is needed to lower the severity."""
    mostly: LeastPart = 1.0
    """The least part of its rows that has to be as expected."""
    max_fall: Part | None = 0.2
    """By which part of what the last run counted a count may fall; null sets no limit."""
    max_rise: Multiple | None = 1.0
    """By which part of what the last run counted a count may rise (1.0: to twice as much); null sets no limit."""
    min_change: int = Field(default=10, ge=0, strict=True)
    """A change by fewer objects than this does not count, unless nothing is left."""

    @property
    def said(self) -> dict[str, Any]:
        """What stands in the file, by key."""
        return {key: getattr(self, key) for key in self.model_fields_set}


class ReportConfig(Section):
    """Where reports go."""

    folder: LocalPath | None = None
    """The folder of the reports; `reports` in the workspace by default."""
    url: Address | None = None
    """The address under which that folder is published: `report.md` then links to the page there."""
    metrics_folder: LocalPath | None = None
    """The folder of node_exporter's textfile collector, which takes the metrics as `nestsync-<configuration>.prom`,
    named after the configuration file, and those of assessments as `nestsync_assess-<configuration>.prom`."""
    openlineage: OpenLineageConfig = OpenLineageConfig()
    """Lineage events."""
    expectations: dict[str, ExpectationConfig] = Field(default_factory=dict)
    """Thresholds and severities by the name of the expectation: `namespaces-steady: {max_fall: 0.1}`."""

    def expected(self) -> dict[str, Settings]:
        """How strictly each expectation is held, by name."""
        return {
            name: expected.settings(self.expectations[name].said if name in self.expectations else {})
            for name, expected in EXPECTATIONS.items()
        }

    @field_validator("metrics_folder")
    @classmethod
    def _is_no_file(cls, folder: Path | None) -> Path | None:
        if folder is not None and folder.suffix == ".prom":
            raise ValueError(f"{folder.name!r} is the name of a file: name the folder, the file in it is named for you")
        return folder


class RetentionConfig(Section):
    """How long the rows and files of a run are kept: it is removed once every limit that is set allows it.

    Never removed are a run that is under way, the latest verified one, one whose writes are unfinished, the ledger,
    and the line of the history.
    """

    keep_runs: int | None = Field(default=None, ge=1, strict=True)
    """How many of the latest runs are kept; null sets no limit. Those without an inventory do not count, and go once
    they are older than the oldest that is kept."""
    keep_days: int | None = Field(default=None, ge=1, strict=True)
    """For how many days a run is kept; null sets no limit."""

    @property
    def limits(self) -> bool:
        """Whether anything is ever removed."""
        return self.keep_runs is not None or self.keep_days is not None


class HistoryConfig(Section):
    """How runs are compared."""

    ignored_properties: tuple[Text, ...] = (
        "transient_lastDdlTime",
        "last_modified_by",
        "last_modified_time",
        "numFiles",
        "numRows",
        "rawDataSize",
        "totalSize",
        "COLUMN_STATS_ACCURATE",
        "metadata_location",
        "previous_metadata_location",
    )
    """Keys of properties that change whenever data is written, which is no change of the object."""


__all__ = ["ExpectationConfig", "HistoryConfig", "OpenLineageConfig", "ReportConfig", "RetentionConfig"]
