"""The metrics: read by Prometheus' own parser, named as its conventions say, and of bounded cardinality."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from nestsync import __version__
from nestsync.core.findings import RULES
from nestsync.history.choosing import Past
from nestsync.reports import machines, metrics
from nestsync.reports.facts import CatalogRow, Digest, RuleCase
from nestsync.reports.machines import Publishing
from nestsync.reports.metrics import METERS
from tests.reports import samples

SOURCES = 3


def written(digest: Digest, folder: Path) -> list[Sample]:
    text = metrics.write(digest, folder / metrics.FILE).read_text(encoding="utf-8")
    return [sample for family in text_string_to_metric_families(text) for sample in family.samples]


def value(found: list[Sample], name: str, **labels: str) -> float:
    (sample,) = [each for each in found if each.name == f"nestsync_{name}" and labels.items() <= each.labels.items()]
    return sample.value


@pytest.mark.parametrize("sample", samples.EVERY, ids=lambda sample: sample.__name__)
def test_prometheus_reads_it_and_finds_what_is_declared(sample: Callable[[], Digest], tmp_path: Path) -> None:
    declared = {f"nestsync_{meter.name}": {"configuration", "purpose", *meter.labels} for meter in METERS}
    found = written(sample(), tmp_path)
    assert found
    for each in found:
        assert set(each.labels) == declared[each.name]
    assert len({(each.name, *sorted(each.labels.items())) for each in found}) == len(found)


@pytest.mark.parametrize("meter", METERS, ids=lambda meter: meter.name)
def test_names_follow_the_conventions(meter: metrics.Meter) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", meter.name)
    assert not re.search(r"milli|minutes|hours|percent|_count$|_sum$", meter.name)
    assert meter.meaning.endswith(".")
    assert not any(re.search("levels|name|run_id", label) for label in meter.labels)
    if "timestamp" in meter.name or "duration" in meter.name:
        assert meter.name.endswith("_seconds")


def test_kinds_are_told(tmp_path: Path) -> None:
    text = metrics.write(samples.blocked(), tmp_path / metrics.FILE).read_text(encoding="utf-8")
    assert "# TYPE nestsync_commands_total counter" in text
    assert "# TYPE nestsync_run_exit_code gauge" in text
    assert f'nestsync_build_info{{configuration="nestsync",purpose="sync",version="{__version__}"}} 1.0' in text
    assert all(f"# HELP nestsync_{meter.name} {meter.meaning}" in text for meter in METERS if "last" not in meter.name
               and meter.name != "actions")  # fmt: skip


def test_what_a_run_came_to(tmp_path: Path) -> None:
    found = written(samples.blocked(), tmp_path)
    assert value(found, "run_exit_code", target="target") == 3
    assert value(found, "run_start_timestamp_seconds") == samples.STARTED.timestamp()
    assert value(found, "run_duration_seconds") == pytest.approx(15.33)
    assert value(found, "catalog_objects", catalog="lake", kind="view") == 3
    assert value(found, "catalog_objects_unread", catalog="lance_files", status="unreadable") == 1
    assert value(found, "findings", source="hms_main", rule="round-trip-loss", severity="blocking") == 12
    finished = written(samples.finished(), tmp_path)
    assert value(finished, "actions", target="target", kind="create_namespace", outcome="applied") == 22


def test_a_rule_that_found_nothing_is_a_zero_in_every_source(tmp_path: Path) -> None:
    found = [each for each in written(samples.finished(), tmp_path) if each.name == "nestsync_findings"]
    assert len(found) == SOURCES * len(RULES)
    assert sum(each.value for each in found) == 1


def test_what_did_not_run_has_no_number(tmp_path: Path) -> None:
    found = written(samples.unreachable(), tmp_path)
    assert {each.name for each in found} & {
        "nestsync_findings",
        "nestsync_actions",
        "nestsync_catalog_objects",
    } == set()
    assert value(found, "catalog_answered", catalog="hms_main") == 0
    assert value(found, "stage_failed", stage="inventory") == 1


@pytest.mark.parametrize(
    ("exit_code", "before", "expected"),
    [
        pytest.param(0, None, samples.STARTED, id="this-one"),
        pytest.param(3, samples.STARTED - timedelta(days=1), samples.STARTED - timedelta(days=1), id="an-earlier-one"),
        pytest.param(3, None, None, id="none-yet"),
    ],
)
def test_the_last_success_is_told_also_by_a_run_that_failed(
    exit_code: int, before: datetime | None, expected: datetime | None, tmp_path: Path
) -> None:
    digest = samples.finished()
    outcome = replace(digest.outcome, exit_code=exit_code)
    found = written(replace(digest, outcome=outcome, past=Past((), {0: 4, 3: 1}, before)), tmp_path)
    told = [each.value for each in found if each.name == "nestsync_last_success_timestamp_seconds"]
    assert told == ([] if expected is None else [expected.astimezone(UTC).timestamp()])
    assert value(found, "commands_total", exit_code="3") == (1 if exit_code == 0 else 2)


def test_no_name_of_an_object_is_in_it_and_series_do_not_grow_with_the_catalog(tmp_path: Path) -> None:
    digest = samples.blocked()
    few = written(digest, tmp_path)
    row = digest.cases[0].examples[0]
    many = replace(
        digest,
        cases=tuple(RuleCase(c.rule, c.source, c.severity, c.count * 10_000, (row,) * 20) for c in digest.cases),
        catalogs=tuple(CatalogRow(c.catalog, c.answered, {"namespace": 10**6}, c.unread) for c in digest.catalogs),
    )
    assert len(written(many, tmp_path)) == len(few)
    text = (tmp_path / metrics.FILE).read_text(encoding="utf-8")
    assert not any(name in text for name in samples.HOSTILE if len(name) > 1)


def test_what_is_collected_from_one_folder_does_not_clash(tmp_path: Path) -> None:
    """What node_exporter does with a folder: one series that stands twice, and nothing of it is collected."""
    for folder, name, purpose in (
        ("conf", "sales", "sync"),
        ("conf", "finance", "sync"),
        ("elsewhere", "sales", "sync"),
        ("conf", "sales", "assessment"),
    ):
        said = {"configuration": f"/{folder}/{name}.yaml"}
        publishing = Publishing(metrics_folder=tmp_path / "collected")
        (tmp_path / "collected").mkdir(exist_ok=True)
        machines.write(replace(samples.finished(), configuration=said, purpose=purpose), tmp_path, publishing)
    files = sorted((tmp_path / "collected").iterdir())
    assert [file.name for file in files] == [
        "nestsync-finance.prom",
        "nestsync-sales.prom",
        "nestsync_assess-sales.prom",
    ]
    texts = [file.read_text(encoding="utf-8") for file in files]
    found = [
        (sample.name, *sorted(sample.labels.items()))
        for text in texts
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
    assert len(set(found)) == len(found)


def test_a_hostile_label_is_text(tmp_path: Path) -> None:
    row = samples.finding(("hive", "x"))
    digest = replace(samples.blocked(), cases=(RuleCase("r", 'a"b\\c\nd\u202e', "blocking", 1, (row,)),))
    assert value(written(digest, tmp_path), "findings", rule="r", source='a"b\\c\\u000Ad\\u202E') == 1


def test_a_scrape_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """Read in a loop while the file is replaced: every reading is whole, and nothing else is left in the folder."""
    file = metrics.write(samples.blocked(), tmp_path / metrics.FILE)
    ends, broken = threading.Event(), []

    def scrape() -> None:
        while not ends.is_set():
            text = file.read_text(encoding="utf-8")
            if not text.startswith("# HELP nestsync_build") or not text.endswith("\n") or "run_exit_code" not in text:
                broken.append(text)

    reader = threading.Thread(target=scrape)
    reader.start()
    for _ in range(50):
        metrics.write(samples.blocked(), file)
    ends.set()
    reader.join()
    assert (broken, os.listdir(tmp_path)) == ([], [metrics.FILE])
