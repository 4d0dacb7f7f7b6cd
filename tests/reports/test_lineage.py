"""OpenLineage events: read back by the client's own classes, exact, bounded, and sent only where one says so."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from uuid import UUID

import attr
import pytest
from openlineage.client.event_v2 import OutputDataset, RunEvent, RunState
from openlineage.client.generated.hierarchy_dataset import HierarchyDatasetFacet
from openlineage.client.generated.lineage import LineageDatasetFacet
from openlineage.client.serde import Serde

from nestsync.core.dialects import dialect
from nestsync.reports import lineage
from nestsync.reports.facts import Capped, CatalogFacts, Digest, Subject, TreeRow
from nestsync.reports.lineage import A_PORTION, PARENT, ROOT, LineageSettings, dataset, run_uuid
from tests.reports import samples
from tests.reports.lineage_events import read

HERE = LineageSettings()
TASK, DAG = "0193a1b2-0000-7000-8000-000000000001", "0193a1b2-0000-7000-8000-000000000002"


@pytest.fixture(autouse=True)
def no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (PARENT, ROOT, "OPENLINEAGE_DISABLED"):
        monkeypatch.delenv(name, raising=False)


def written(digest: Digest, folder: Path) -> list[RunEvent]:
    path, problem = lineage.write(digest, folder, HERE)
    assert problem is None
    return read(path)


def outputs(told: list[RunEvent]) -> list[OutputDataset]:
    return [each for event in told for each in event.outputs or ()]


@pytest.mark.parametrize("sample", samples.EVERY, ids=lambda sample: sample.__name__)
def test_the_clients_own_classes_read_every_event_back(sample: Callable[[], Digest], tmp_path: Path) -> None:
    told = written(sample(), tmp_path)
    lines = (tmp_path / lineage.FILE).read_text(encoding="utf-8").splitlines()
    assert [json.loads(Serde.to_json(event)) for event in told] == [json.loads(line) for line in lines]
    for event in told:
        UUID(event.run.runId)
        assert event.producer.startswith("urn:nestsync:")


@pytest.mark.parametrize(
    ("sample", "states"),
    [
        pytest.param(samples.finished, [RunState.START, RunState.RUNNING, RunState.COMPLETE], id="finished"),
        pytest.param(samples.blocked, [RunState.START, RunState.RUNNING, RunState.FAIL], id="blocked"),
        pytest.param(samples.unreachable, [RunState.START, RunState.FAIL], id="unreachable"),
    ],
)
def test_a_run_begins_and_ends_once(sample: Callable[[], Digest], states: list[RunState], tmp_path: Path) -> None:
    told = written(sample(), tmp_path)
    assert [event.eventType for event in told] == states
    assert len({event.run.runId for event in told}) == 1
    assert sorted(event.eventTime for event in told) == [event.eventTime for event in told]
    failed = told[-1].run.facets or {}
    assert ("errorMessage" in failed) == (states[-1] is RunState.FAIL)


def test_a_report_written_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    assert len(written(samples.finished(), tmp_path)) == len(written(samples.finished(), tmp_path)) == 3


def test_each_target_namespace_names_the_sources_that_it_comes_from(tmp_path: Path) -> None:
    found = {each.name: each for each in outputs(written(samples.finished(), tmp_path))}
    orders = found["finance.ledger.orders"]
    assert orders.namespace == "http://127.0.0.1:8182"
    facet = (orders.facets or {})["lineage"]
    assert isinstance(facet, LineageDatasetFacet)
    (source,) = facet.inputs or ()
    assert (source.namespace, source.name) == ("hive://127.0.0.1:9083", "hive.finance__ledger__orders")
    assert "scratch" not in found  # it is in the target, and nobody here wanted it


def test_what_was_only_planned_is_no_output(tmp_path: Path) -> None:
    digest = samples.finished()
    assert digest.tree is not None
    rows = tuple(replace(row, state="to create") for row in digest.tree.rows)
    told = written(replace(digest, tree=replace(digest.tree, rows=rows)), tmp_path)
    assert outputs(told) == []
    assert sum(len(event.inputs or ()) for event in told) > 0


def test_before_a_plan_the_sources_are_inputs(tmp_path: Path) -> None:
    told = written(samples.blocked(), tmp_path)
    names = {(each.namespace, each.name) for event in told for each in event.inputs or ()}
    assert ("http://127.0.0.1:8181", "raw.events") in names
    assert ("hive://127.0.0.1:9083", "hive.`<img src=x onerror=alert(1)>`") in names
    assert outputs(told) == []


HMS, FOLDER = samples.CATALOGS[0], samples.CATALOGS[2]


@pytest.mark.parametrize(
    ("catalog", "levels", "expected"),
    [
        pytest.param(HMS, ("hive", "sales"), ("hive://127.0.0.1:9083", "hive.sales"), id="metastore"),
        pytest.param(samples.CATALOGS[1], ("a.b",), ("http://127.0.0.1:8181", "`a.b`"), id="a-level-with-a-dot"),
        pytest.param(samples.CATALOGS[1], ("a", "b"), ("http://127.0.0.1:8181", "a.b"), id="two-levels"),
        pytest.param(FOLDER, (), ("file", "/data/lance/."), id="the-root-of-a-folder"),
        pytest.param(
            CatalogFacts("s", "lance_dir", "source", "s3://bucket/x/"),
            ("y",),
            ("s3://bucket/x", "y"),
            id="object-store",
        ),
        pytest.param(CatalogFacts("s", "gravitino", "source", ""), ("y",), ("s", "y"), id="no-address"),
    ],
)
def test_names_follow_the_naming_conventions(
    catalog: CatalogFacts, levels: tuple[str, ...], expected: tuple[str, str]
) -> None:
    assert dataset(catalog, levels) == expected


@pytest.mark.parametrize("name", samples.HOSTILE, ids=ascii)
def test_a_hostile_name_comes_back_as_itself(name: str, tmp_path: Path) -> None:
    row = TreeRow((name, "x"), "created", claimants=(Subject("hms_main", ("hive", name)),))
    digest = replace(samples.finished(), tree=Capped((row,), 1, "namespaces.csv"))
    told = written(digest, tmp_path)
    (source,), (target,) = told[1].inputs or (), told[1].outputs or ()
    assert dialect("spark").decode(source.name) == ("hive", name)
    assert dialect("spark").decode(target.name) == (name, "x")
    hierarchy = (target.facets or {})["hierarchy"]
    assert isinstance(hierarchy, HierarchyDatasetFacet)
    assert [level.name for level in hierarchy.hierarchy] == [name, "x"]


def test_a_large_catalog_is_told_in_portions_and_what_is_left_out_is_said(tmp_path: Path) -> None:
    rows = tuple(
        TreeRow((f"n{i}",), "created", claimants=(Subject("hms_main", ("hive", f"n{i}")),)) for i in range(1_201)
    )
    digest = replace(samples.finished(), tree=Capped(rows, 1_000_000, "namespaces.csv"))
    told = written(digest, tmp_path)
    assert [len(event.outputs or ()) for event in told] == [0, A_PORTION, A_PORTION, 201, 0]
    longest = max(map(len, (tmp_path / lineage.FILE).read_text(encoding="utf-8").splitlines()))
    assert longest < 2_000_000
    tags = (told[0].run.facets or {})["tags"]
    assert ("nestsync_namespaces_told", "1201 of 1000000") in [(tag.key, tag.value) for tag in tags.tags]  # type: ignore[attr-defined]


def test_the_run_id_follows_from_ours_and_from_the_jobs_namespace() -> None:
    assert run_uuid("r1", "a") == run_uuid("r1", "a")
    assert len({run_uuid("r1", "a"), run_uuid("r2", "a"), run_uuid("r1", "b")}) == 3


# ---- the run that this one belongs to


def test_a_schedulers_run_is_the_parent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(PARENT, f"airflow/eu/nightly.sync/{TASK}")
    monkeypatch.setenv(ROOT, f"airflow/eu/nightly/{DAG}")
    for event in written(samples.finished(), tmp_path):
        parent = attr.asdict((event.run.facets or {})["parent"])
        assert (parent["run"]["runId"], parent["job"]["namespace"], parent["job"]["name"]) == (
            TASK,
            "airflow/eu",
            "nightly.sync",
        )
        assert (parent["root"]["run"]["runId"], parent["root"]["job"]["name"]) == (DAG, "nightly")


@pytest.mark.parametrize("said", ["", "x", "a/b/c", "a/b/", f"/b/{TASK}", TASK])
def test_what_is_no_run_is_no_parent(said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(PARENT, said)
    assert "parent" not in (written(samples.finished(), tmp_path)[0].run.facets or {})


# ---- where they go


@contextmanager
def service(status: int = 201) -> Iterator[tuple[str, list[tuple[str, str | None, dict[str, object]]]]]:
    """A lineage service on loopback, and what it was sent: (path, authorization, event)."""
    taken: list[tuple[str, str | None, dict[str, object]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            taken.append((self.path, self.headers["Authorization"], json.loads(body)))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", taken
        finally:
            server.shutdown()


@pytest.mark.system
def test_events_go_to_the_configured_service_and_into_the_file(tmp_path: Path) -> None:
    with service() as (url, taken):
        settings = LineageSettings("prod", url, api_key="secret")
        path, problem = lineage.write(samples.finished(), tmp_path, settings)
    assert problem is None
    assert {(where, key) for where, key, _ in taken} == {("/api/v1/lineage", "Bearer secret")}
    assert [event for _, _, event in taken] == [json.loads(line) for line in path.read_text().splitlines()]
    assert "secret" not in repr(settings)


@pytest.mark.system
def test_a_service_that_refuses_is_said_and_stops_nothing(tmp_path: Path) -> None:
    with service(400) as (url, _):
        path, problem = lineage.write(samples.finished(), tmp_path, LineageSettings(url=url))
    assert problem is not None
    assert problem.startswith(f"the lineage events were not taken by {url}: 400")
    assert len(read(path)) == 3


@pytest.mark.system
def test_a_service_that_is_not_there_is_said_and_stops_nothing(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        _, problem = lineage.write(samples.finished(), tmp_path, LineageSettings(url=url, timeout=0.5))
    assert problem is not None
    assert url in problem


@pytest.mark.parametrize("variable", ["OPENLINEAGE_URL", "OPENLINEAGE__TRANSPORT__URL"])
def test_nothing_is_sent_unless_the_configuration_says_so(
    variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was contacted")

    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert len(written(samples.finished(), tmp_path)) == 3
