"""`openlineage.jsonl`: the run as OpenLineage events, source namespaces to target namespaces, through its own client.

Two events at least: START, and COMPLETE or FAIL. Between them, RUNNING events carry the namespaces in portions, so
that no event grows with a catalog; OpenLineage adds up what the events of a run say. Nothing is sent anywhere but
where the configuration says so.

Dataset names are those of OpenLineage's naming conventions as far as they go: the catalog's address is the dataset's
namespace (``hive://host:port`` for a metastore), and its levels are joined by dots, with backticks as Spark writes
them around a level that holds one, so that two namespaces never get one name. The facet ``hierarchy`` has the levels
themselves.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, UUID, uuid5

from nestsync import __version__
from nestsync.core.dialects import dialect
from nestsync.core.identifiers import Levels
from nestsync.history.choosing import name_of
from nestsync.reports.facts import CatalogFacts, Digest, Subject, TreeRow
from nestsync.reports.text import plain

if TYPE_CHECKING:
    from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent
    from openlineage.client.generated.lineage import LineageJobInput

FILE = "openlineage.jsonl"
A_PORTION = 500
"""Target namespaces in one event; about half a megabyte."""
PRODUCER = f"urn:nestsync:{__version__}"
IN_TARGET = frozenset({"created", "updated", "unchanged", "there already"})
"""The states (`reports.tree.state`) of a namespace that the target holds because it was wanted."""
PARENT, ROOT = "OPENLINEAGE_PARENT_ID", "OPENLINEAGE_ROOT_PARENT_ID"
"""Environment variables that a scheduler sets: ``<job namespace>/<job name>/<run id>``."""


@dataclass(frozen=True, slots=True)
class LineageSettings:
    """Where the events go beside the file, and what they call the job."""

    namespace: str = "nestsync"
    """The job's namespace."""
    url: str | None = None
    """Where a lineage service listens; None sends nothing."""
    endpoint: str = "api/v1/lineage"
    api_key: str | None = None
    timeout: float = 5.0
    """Seconds for one request."""

    def __repr__(self) -> str:
        return f"LineageSettings({self.namespace!r}, {self.url!r})"  # never the key


def write(digest: Digest, folder: Path, settings: LineageSettings) -> tuple[Path, str | None]:
    """Write the events into ``openlineage.jsonl`` of `folder`, and send them where `settings` say so.

    A service that does not take them is no error of the run: what it said comes back beside the path.
    """
    from openlineage.client.transport.file import FileConfig, FileTransport

    path = folder / FILE
    path.unlink(missing_ok=True)
    told = list(events(digest, settings))
    file = FileTransport(FileConfig(str(path), append=True))
    for event in told:
        file.emit(event)
    return path, _sent(told, settings)


def _sent(told: Sequence[RunEvent], settings: LineageSettings) -> str | None:
    """What went wrong on the way to the service, if one is configured."""
    if settings.url is None or os.environ.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true":
        return None
    from openlineage.client.transport.http import ApiKeyTokenProvider, HttpConfig, HttpTransport, TokenProvider

    auth = ApiKeyTokenProvider({"apiKey": settings.api_key}) if settings.api_key else TokenProvider({})
    retry = {"total": 2, "backoff_factor": 0.3, "status_forcelist": [500, 502, 503, 504], "allowed_methods": ["POST"]}
    config = HttpConfig(settings.url, settings.endpoint, timeout=settings.timeout, auth=auth, retry=retry)
    transport = HttpTransport(config)
    try:
        for event in told:
            transport.emit(event)
    except Exception as error:
        return f"the lineage events were not taken by {settings.url}: {plain(str(error))[:300]}"
    finally:
        transport.close()
    return None


def run_uuid(run_id: str, namespace: str) -> UUID:
    """The run's id for OpenLineage, the same however often it is asked for."""
    return uuid5(NAMESPACE_URL, f"nestsync:{namespace}/{run_id}")


def events(digest: Digest, settings: LineageSettings) -> Iterator[RunEvent]:
    """The run's events, in their order."""
    from openlineage.client.event_v2 import RunEvent, RunState

    end = digest.started_at + timedelta(seconds=sum(stage.seconds for stage in digest.outcome.stages))
    job = _job(digest, settings)

    def event(kind: RunState, at: datetime, **more: Any) -> RunEvent:
        run = _run(digest, settings, ended=kind is RunState.FAIL)
        return RunEvent(
            eventTime=at.astimezone(UTC).isoformat(), producer=PRODUCER, run=run, job=job, eventType=kind, **more
        )

    yield event(RunState.START, digest.started_at)
    mapped = list(_mapped(digest))
    for first in range(0, len(mapped), A_PORTION):
        inputs, outputs = _datasets(digest, mapped[first : first + A_PORTION])
        yield event(RunState.RUNNING, end, inputs=inputs, outputs=outputs)
    yield event(RunState.COMPLETE if digest.outcome.exit_code == 0 else RunState.FAIL, end)


def _mapped(digest: Digest) -> Iterator[TreeRow]:
    """What the digest shows of the namespaces that have a source."""
    rows = () if digest.tree is None else digest.tree.rows
    if digest.actions is not None:
        yield from (row for row in rows if row.claimants)
        return
    sources = {row.catalog.name for row in digest.catalogs}
    for row in rows:  # nothing is planned: the tree is that of the sources, each below its source
        if len(row.levels) > 1 and row.levels[0] in sources:
            yield TreeRow((), row.state, claimants=(Subject(row.levels[0], row.levels[1:]),))


def _datasets(digest: Digest, rows: Sequence[TreeRow]) -> tuple[list[InputDataset], list[OutputDataset]]:
    from openlineage.client.event_v2 import InputDataset, OutputDataset
    from openlineage.client.generated.lineage import LineageDatasetFacet, LineageDatasetInput

    catalogs = {row.catalog.name: row.catalog for row in digest.catalogs}
    target = next((catalog for catalog in catalogs.values() if catalog.role == "target"), None)
    inputs: dict[tuple[str, Levels], InputDataset] = {}
    outputs = []
    for row in rows:
        sources = [(catalogs[each.source], each.levels) for each in row.claimants if each.source in catalogs]
        for catalog, levels in sources:
            where, name = dataset(catalog, levels)
            inputs[catalog.name, levels] = InputDataset(where, name, facets=_facets(catalog, levels))
        if target is not None and row.state in IN_TARGET:
            fed: list[LineageDatasetInput | LineageJobInput] = [
                LineageDatasetInput(*dataset(catalog, levels), type="DATASET") for catalog, levels in sources
            ]
            facets = _facets(target, row.levels) | {"lineage": LineageDatasetFacet(inputs=fed, producer=PRODUCER)}
            outputs.append(OutputDataset(*dataset(target, row.levels), facets=facets))
    return list(inputs.values()), outputs


def dataset(catalog: CatalogFacts, levels: Levels) -> tuple[str, str]:
    """The dataset (its namespace and its name) that stands for the namespace `levels` of `catalog`."""
    name = dialect("spark").render(levels) if levels else "."
    address = re.sub(r"\Athrift://", "hive://", catalog.address)
    if address.startswith("/"):  # a local folder
        return "file", f"{address.rstrip('/')}/{name}"
    return address.rstrip("/") or catalog.name, name


def _facets(catalog: CatalogFacts, levels: Levels) -> dict[str, Any]:
    from openlineage.client.facet_v2 import catalog_dataset, dataset_type_dataset
    from openlineage.client.generated.hierarchy_dataset import HierarchyDatasetFacet, HierarchyDatasetFacetLevel

    framework, _, kind = catalog.system.partition("_")
    steps = [HierarchyDatasetFacetLevel("NAMESPACE", level) for level in levels]
    return {
        "catalog": catalog_dataset.CatalogDatasetFacet(
            framework={"hms": "hive"}.get(framework, framework),
            type=kind or "hive",
            name=catalog.name,
            metadataUri=catalog.address or None,
            source="nestsync",
            producer=PRODUCER,
        ),
        "datasetType": dataset_type_dataset.DatasetTypeDatasetFacet("NAMESPACE", producer=PRODUCER),
        "hierarchy": HierarchyDatasetFacet(steps, producer=PRODUCER),
    }


def _job(digest: Digest, settings: LineageSettings) -> Job:
    from openlineage.client.event_v2 import Job
    from openlineage.client.facet_v2 import job_type_job

    name = name_of(digest.configuration.get("configuration"))
    kind = job_type_job.JobTypeJobFacet("BATCH", "NESTSYNC", jobType="SYNC", producer=PRODUCER)
    return Job(settings.namespace, name, facets={"jobType": kind})


def _run(digest: Digest, settings: LineageSettings, *, ended: bool) -> Run:
    from openlineage.client.event_v2 import Run
    from openlineage.client.facet_v2 import error_message_run, tags_run

    told = 0 if digest.tree is None else len(digest.tree.rows)
    tags = {"nestsync_run_id": digest.outcome.run_id, "nestsync_command": digest.outcome.command}
    if digest.tree is not None and digest.tree.left_out:
        tags["nestsync_namespaces_told"] = f"{told} of {digest.tree.total}"
    facets: dict[str, Any] = {
        "tags": tags_run.TagsRunFacet(
            [tags_run.TagsRunFacetFields(key, value, "NESTSYNC") for key, value in tags.items()],
            producer=PRODUCER,
        )
    }
    if ended:
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(
            plain(digest.outcome.verdict), "PYTHON", producer=PRODUCER
        )
    parent = _parent()
    if parent is not None:
        facets["parent"] = parent
    return Run(str(run_uuid(digest.outcome.run_id, settings.namespace)), facets=facets)


def _parent() -> Any:
    """The run that this one belongs to, where a scheduler says so; nothing where what it says is no run."""
    from openlineage.client.facet_v2 import parent_run

    parent, root = _named(PARENT), _named(ROOT)
    if parent is None:
        return None
    namespace, name, run_id = parent
    return parent_run.ParentRunFacet(
        parent_run.Run(run_id),
        parent_run.Job(namespace, name),
        None if root is None else parent_run.Root(parent_run.RootRun(root[2]), parent_run.RootJob(root[0], root[1])),
        producer=PRODUCER,
    )


def _named(variable: str) -> tuple[str, str, str] | None:
    parts = os.environ.get(variable, "").rsplit("/", 2)
    try:
        UUID(parts[-1])
    except ValueError:
        return None
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 and all(parts) else None


__all__ = [
    "A_PORTION",
    "FILE",
    "PARENT",
    "ROOT",
    "LineageSettings",
    "dataset",
    "events",
    "run_uuid",
    "write",
]
