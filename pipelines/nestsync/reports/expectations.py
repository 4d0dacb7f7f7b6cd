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

from nestsync.core.findings import Severity
from nestsync.reports import data_docs
from nestsync.reports.facts import ExpectationResult

FOLDER = "data_docs"
EXAMPLES = 20
"""How many unexpected rows a result names."""
_SEVERITIES = {Severity.BLOCKING: "critical", Severity.WARNING: "warning", Severity.INFO: "info"}


@dataclass(frozen=True, slots=True)
class Expectation:
    """`column` is null in every row; where it is not, it says what is unexpected. `sentence` says it for people."""

    column: str
    sentence: str
    severity: Severity


@dataclass(frozen=True, slots=True)
class Suite:
    """What is expected of one frame, with one text column for each expectation."""

    name: str
    frame: DataFrame
    expectations: tuple[Expectation, ...]


def load_ahead() -> None:
    """Load Great Expectations, which takes seconds, in the background: before `validate` is called."""
    Thread(target=_load, daemon=True).start()


def _load() -> None:
    for name in ("great_expectations", "openlineage.client.facet_v2"):
        import_module(name)


def validate(suites: Sequence[Suite], folder: Path) -> tuple[ExpectationResult, ...]:
    """Hold every frame to its suite and write the Data Docs into ``data_docs`` of `folder`, replacing older ones.

    Two Spark jobs a suite and one an expectation; what comes to the driver is at most `EXAMPLES` texts each.
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
        results += (_result(suite, expected, by_column[expected.column], page) for expected in suite.expectations)
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

    expected = [
        ExpectColumnValuesToBeNull(
            column=part.column, severity=FailureSeverity(_SEVERITIES[part.severity]), notes=part.sentence
        )
        for part in suite.expectations
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


def _result(suite: Suite, expected: Expectation, outcome: Any, page: str) -> ExpectationResult:
    result = outcome.result
    if outcome.exception_info and outcome.exception_info.get("raised_exception"):
        raise RuntimeError(f"{suite.name}: {expected.column}: {outcome.exception_info['exception_message']}")
    return ExpectationResult(
        suite=suite.name,
        expectation=expected.sentence,
        severity=expected.severity,
        success=bool(outcome.success),
        rows=result["element_count"],
        unexpected=result["unexpected_count"] or 0,
        examples=tuple(result["partial_unexpected_list"]),
        page=page,
    )


__all__ = ["FOLDER", "Expectation", "Suite", "load_ahead", "validate"]
