"""The report stage: what the workspace and this process know of the run, written down."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from nestsync.config import CatalogConfig, Config
from nestsync.errors import ConfigurationError
from nestsync.history.choosing import past_of, previous_of
from nestsync.history.records import RunRecord, read_history, read_record
from nestsync.outcome import RunOutcome
from nestsync.reports import html, machines
from nestsync.reports.facts import (
    CatalogFacts,
    CatalogRow,
    Compared,
    Digest,
    MatrixExample,
    MatrixRow,
    ReportFacts,
    ReportPaths,
)
from nestsync.reports.lineage import LineageSettings
from nestsync.reports.machines import Publishing
from nestsync.runner.comparing import compared
from nestsync.runner.context import RunContext
from nestsync.schemas import SEPARATOR_FIELDS, contract
from nestsync.stages.compare import Side
from nestsync.stages.report import write_reports


def report(context: RunContext, outcome: RunOutcome) -> ReportPaths:
    """Write the report of `outcome` into the run's folder of reports, and what the configuration publishes of it."""
    return write_reports(facts(context, outcome), folder(context), publishing(context.config))


def publishing(config: Config) -> Publishing:
    """Where the formats for machines go. Raises `ConfigurationError` for an environment variable that is not set."""
    said = config.report.openlineage
    key = None if said.api_key_env is None else os.environ.get(said.api_key_env)
    if said.url is not None and said.api_key_env is not None and not key:
        raise ConfigurationError(
            f"the environment variable {said.api_key_env} is not set",
            where=str(config.path),
            hint="report.openlineage.api_key_env names it",
        )
    lineage = LineageSettings(said.namespace, said.url, said.endpoint, key, said.timeout)
    return Publishing(config.report.url, config.report.metrics_folder, lineage)


def report_stopped(context: RunContext, outcome: RunOutcome) -> tuple[Path, tuple[str, ...]]:
    """Tell people and machines of a run that was stopped before there was anything to report on.

    Alerts and lineage must not go on with the last good run as if there had been none since. Returns the page, and
    what did not work, if anything.
    """
    error = outcome.verdict
    silent = [replace(row, error=error if _names(error, row.name) else None) for row in _catalogs(context)]
    run = read_record(context.workspace, context.run_id)
    digest = Digest(
        outcome=outcome,
        started_at=run.started_at,
        actors=run.actors,
        configuration=_configuration(context),
        configuration_changed=_has_changed(context, run),
        catalogs=tuple(CatalogRow(catalog, answered=False) for catalog in silent),
        findings=None,
        cases=(),
        separators=None,
        actions=None,
        action_counts={},
        tree=None,
        purpose=run.purpose,
        past=past_of(run, read_history(context.workspace)),
    )
    where = folder(context)
    where.mkdir(parents=True, exist_ok=True)
    problems = machines.write(digest, where, publishing(context.config)).problems
    return html.write(digest, where), problems


def _names(text: str, catalog: str) -> bool:
    """Whether `text` names `catalog`, and not one whose name only begins or ends like it."""
    return re.search(rf"(?<![\w-]){re.escape(catalog)}(?![\w-])", text) is not None


def folder(context: RunContext) -> Path:
    """Where the report of this run stands."""
    return context.config.report_folder / context.run_id


def facts(context: RunContext, outcome: RunOutcome) -> ReportFacts:
    """What the report shows; a stage that did not run has no frame."""
    ran = {stage for stage in ("inventory", "check", "plan", "apply", "verify") if context.facts(stage)}
    inventoried = "inventory" in ran
    wrote = "apply" in ran or context.began_to_write  # a run that died in apply left its journal, and no word
    objects = context.objects()
    runs = read_history(context.workspace)
    run = read_record(context.workspace, context.run_id)
    return ReportFacts(
        outcome=outcome,
        started_at=run.started_at,  # a report may be asked for days later
        actors=run.actors,
        catalogs=_catalogs(context),
        configuration=_configuration(context),
        configuration_changed=_has_changed(context, run),
        matrix=_matrix(context) if "check" in ran else None,
        namespaces=objects.where(F.col("object") == "namespace") if inventoried else None,
        tables=objects.where(F.col("object") != "namespace") if inventoried else None,
        findings=context.findings() if "check" in ran else None,
        members=context.finding_members() if "check" in ran else None,
        separators=_separators(context) if "check" in ran else None,
        separator=context.config.separator.value,
        actions=context.actions() if "plan" in ran else None,
        ledger=context.ledger() if wrote else None,
        differences=_differences(context),
        purpose=run.purpose,
        past=past_of(run, runs),
        compared=_compared(context, run, runs) if inventoried else None,
        expected=context.config.report.expected(),
    )


def _differences(context: RunContext) -> DataFrame | None:
    """What the target did not hold as planned; None where it was not read again, or nobody kept what was found."""
    verified = context.facts("verify")
    if not verified or (verified.get("differences") and not verified.get("kept")):  # an older version kept a number
        return None
    return context.differences()


def _compared(context: RunContext, run: RunRecord, runs: Sequence[RunRecord]) -> Compared | None:
    """The run beside the latest one before it."""
    before = previous_of(run, runs)
    if before is None:
        return None
    checked = "check" in run.stages
    mapped = context.workspace.read("mapped", run_id=run.run_id) if checked else None
    now = Side(context.objects(), mapped, context.findings() if checked else None)
    return compared(
        context.workspace,
        before,
        run,
        ignored=context.config.history.ignored_properties,
        after_side=now,
        keep=lambda frame: context.keep("changed-objects", frame),
    )


def _catalogs(context: RunContext) -> tuple[CatalogFacts, ...]:
    configured = [(source, "source") for source in context.config.sources]
    if context.with_target and context.config.target is not None:
        configured.append((context.config.target, "target"))
    known = context.facts("inventory")
    return tuple(
        CatalogFacts(
            name=catalog.name,
            system=catalog.system,
            role=role,
            address=address(catalog),
            error=None if catalog.name in known else "not in this run's inventory",
        )
        for catalog, role in configured
    )


def address(catalog: CatalogConfig) -> str:
    """Where `catalog` is: a room calls that ``uri``, or ``root`` where it is a folder."""
    options = catalog.options.model_dump()
    return str(options.get("uri") or options.get("root") or "")


def _configuration(context: RunContext) -> dict[str, str]:
    config = context.config
    separator = config.separator
    return {
        "configuration": str(config.path),
        "workspace": str(config.workspace),
        "strategy": config.strategy,
        "on_blocking": config.on_blocking,
        "separator": f"{separator.value} ({separator.policy})" if separator.value else "none",
        "engines": ", ".join(config.engines) or "none",
    }


def _has_changed(context: RunContext, run: RunRecord) -> bool | None:
    """Whether the configuration says something else than it did for `run`; None where nobody knows.

    An older version kept a hash of what decides names alone: where that is another, so is the configuration.
    """
    if run.configuration_hashes:
        return run.configuration_hashes != {context.config.fingerprint}
    return None if run.naming in (None, context.naming_hash) else True


def _separators(context: RunContext) -> DataFrame:
    schema = contract(*SEPARATOR_FIELDS)
    rows = context.facts("check")["separators"]
    return context.spark.createDataFrame([tuple(row[name] for name in schema.names) for row in rows], schema)


def _matrix(context: RunContext) -> tuple[MatrixRow, ...]:
    return tuple(
        MatrixRow(
            **{key: value for key, value in row.items() if key != "example"}, example=_example(row.get("example"))
        )
        for row in context.facts("check").get("matrix", ())
    )


def _example(said: dict[str, Any] | None) -> MatrixExample | None:
    if said is None:
        return None
    back = said["comes_back_as"]
    return MatrixExample(
        levels=tuple(said["levels"]),
        seen_as=tuple(said["seen_as"]),
        comes_back_as=None if back is None else tuple(back),
        first_difference=said["first_difference"],
        reason=said["reason"],
    )


__all__ = ["address", "publishing", "report", "report_stopped"]
