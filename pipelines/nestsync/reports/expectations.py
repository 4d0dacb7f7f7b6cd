"""Great Expectations over Spark frames, with Data Docs that open offline.

The context lives in memory and knows no site but the report's own folder; nothing is sent anywhere.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from pyspark.sql import DataFrame

from nestsync.core.expectations import Expected, Settings
from nestsync.core.findings import Severity
from nestsync.reports import data_docs
from nestsync.reports.settled import ExpectationResult

FOLDER = "data_docs"
EXAMPLES = 20
"""How many unexpected rows a result names."""
ABOUT = "about"
"""The column of a suite's frame that says what a row is about, where its rows are not all of one kind."""
_SEVERITIES = {Severity.BLOCKING: "critical", Severity.WARNING: "warning", Severity.INFO: "info"}


@dataclass(frozen=True, slots=True)
class Held:
    """One expectation as it is held: the column called by its name is null in every row that is as expected.

    Where it is not null, it says what is unexpected.
    """

    expected: Expected
    settings: Settings
    about: str | None = None
    """It is about the rows with this in the column `ABOUT` alone; None for all of them."""


@dataclass(frozen=True, slots=True)
class Suite:
    """What is expected of one frame, with one text column for each expectation."""

    name: str
    frame: DataFrame
    held: tuple[Held, ...]


def load_ahead() -> None:
    """Load Great Expectations, which takes seconds, in the background: before `validate` is called."""
    Thread(target=_load, daemon=True).start()


def _load() -> None:
    for name in ("great_expectations", "openlineage.client.facet_v2"):
        import_module(name)


def validate(suites: Sequence[Suite], folder: Path) -> tuple[ExpectationResult, ...]:
    """Hold every frame to its suite and write the Data Docs into ``data_docs`` of `folder`, replacing older ones.

    A Spark job or two a suite and one an expectation, so that the frames had better be persisted; what comes to the
    driver is at most `EXAMPLES` texts each.
    """
    import great_expectations as gx

    docs = folder / FOLDER
    shutil.rmtree(docs, ignore_errors=True)
    context = gx.get_context(mode="ephemeral", project_config=_configuration(docs))
    source = context.data_sources.add_spark("nestsync", persist=False)
    results: list[ExpectationResult] = []
    for suite in suites:
        found = _run(context, source, suite)
        page = f"{FOLDER}/{data_docs.page_of(suite.name)}"
        by_column = {outcome.expectation_config.kwargs["column"]: outcome for outcome in found.results}
        results += (_result(held, by_column[held.expected.name], page) for held in suite.held)
    context.build_data_docs(build_index=False)
    data_docs.localise(docs, results)
    return tuple(results)


def _configuration(docs: Path) -> Any:
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
        ProgressBarsConfig,
    )

    site = {
        "class_name": "SiteBuilder",
        "show_how_to_buttons": False,
        "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(docs)},
    }
    # Without `init_temp_docs_sites` the context would keep a site of its own in the temporary folder.
    return DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        data_docs_sites={"report": site},
        analytics_enabled=False,
        progress_bars=ProgressBarsConfig(globally=False, metric_calculations=False),
    )


def _run(context: Any, source: Any, suite: Suite) -> Any:
    import great_expectations as gx
    from great_expectations.expectations.core.expect_column_values_to_be_null import ExpectColumnValuesToBeNull
    from great_expectations.expectations.metadata_types import FailureSeverity
    from great_expectations.expectations.row_conditions import Column

    expected = [
        ExpectColumnValuesToBeNull(
            column=part.expected.name,
            mostly=part.settings.mostly,
            row_condition=None if part.about is None else Column(ABOUT) == part.about,
            severity=FailureSeverity(_SEVERITIES[part.settings.severity]),
            description=_sentence(part),
        )
        for part in suite.held
    ]
    batch = source.add_dataframe_asset(suite.name).add_batch_definition_whole_dataframe("run")
    held = context.suites.add(gx.ExpectationSuite(name=suite.name, expectations=expected))
    definition = context.validation_definitions.add(gx.ValidationDefinition(name=suite.name, data=batch, suite=held))
    return definition.run(
        batch_parameters={"dataframe": suite.frame},
        # BASIC names the first unexpected values; the fuller formats collect as many rows as there are.
        result_format={"result_format": "BASIC", "partial_unexpected_count": EXAMPLES},
        run_id=gx.RunIdentifier(run_name="nestsync"),
    )


def _sentence(part: Held) -> str:
    """What Data Docs say of it, where they would say that values are null."""
    departures = part.expected.departures(part.settings)
    return f"{part.expected.sentence}; held to {', '.join(departures)}" if departures else part.expected.sentence


def _result(held: Held, outcome: Any, page: str) -> ExpectationResult:
    expected, settings, result = held.expected, held.settings, outcome.result
    if outcome.exception_info and outcome.exception_info.get("raised_exception"):
        raise RuntimeError(f"{expected.suite}: {expected.name}: {outcome.exception_info['exception_message']}")
    return ExpectationResult(
        suite=expected.suite,
        name=expected.name,
        expectation=expected.sentence,
        severity=settings.severity,
        success=bool(outcome.success),
        rows=result["element_count"],
        unexpected=result["unexpected_count"] or 0,
        examples=tuple(result["partial_unexpected_list"]),
        page=page,
        mostly=settings.mostly,
        departures=expected.departures(settings),
        reason=settings.reason,
    )


__all__ = ["ABOUT", "EXAMPLES", "FOLDER", "Held", "Suite", "load_ahead", "validate"]
