"""The whole flow on real Iceberg REST servers: stopped, written, idempotent, refused; counted at the target's door."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from openlineage.client.event_v2 import RunState
from prometheus_client.parser import text_string_to_metric_families
from pyiceberg.catalog.rest import RestCatalog
from pyspark.sql import SparkSession

from nestsync import runner
from nestsync.config import Config, load
from nestsync.core.checking import CheckContext
from nestsync.core.expectations import EXPECTATIONS
from nestsync.embedded.proxy import CountingProxy
from nestsync.embedded.servers import IcebergRest
from nestsync.errors import CatalogUnreachable, ConfigurationError
from nestsync.history.actors import this_process
from nestsync.history.records import read_history, read_record
from nestsync.names.separators import changes, read_separators
from nestsync.names.tree import read_tree
from nestsync.outcome import BrokenOff, RunOutcome
from nestsync.runfiles import RunFiles
from nestsync.ui import QuietUi, Ui
from nestsync.workspace import Workspace
from tests.reports.lineage_events import read
from tests.reports.pages import Page
from tests.runner.configurations import flat_to_nested

pytestmark = [pytest.mark.spark, pytest.mark.servers]

ALL = ("inventory", "check", "plan", "apply", "verify", "report")
NOTHING_HAPPENS = QuietUi()
Levels = tuple[str, ...]


@pytest.fixture
def door(target: IcebergRest) -> Iterator[CountingProxy]:
    """What stands in front of the target and counts."""
    with CountingProxy(target.uri) as proxy:
        yield proxy


def client(server: IcebergRest) -> RestCatalog:
    """A plain pyiceberg client: it shares no code with ours."""
    return RestCatalog("plain", uri=server.uri)


def configuration(tmp_path: Path, source: IcebergRest, door: CountingProxy, more: str = "") -> Config:
    return load(flat_to_nested(tmp_path, source, door, more))


class Meanwhile(QuietUi):
    """Does something to the world when a stage begins."""

    def __init__(self, stage: str, act: Callable[[], object]) -> None:
        self._stage = stage
        self._act = act

    def stage_started(self, stage: str, doing: str = "") -> None:
        if stage == self._stage:
            self._act()


def take(config: Config, *stages: str, run_id: str | None = None, ui: Ui = NOTHING_HAPPENS) -> RunOutcome:
    return runner.run(config, "run", stages or ALL, run_id, None, ui, lambda question: True)


def tree(server: IcebergRest) -> dict[Levels, dict[str, str]]:
    catalog = client(server)
    found: dict[Levels, dict[str, str]] = {}

    def walk(parent: Levels) -> None:
        for levels in catalog.list_namespaces(parent):
            found[levels] = dict(catalog.load_namespace_properties(levels))
            walk(levels)

    walk(())
    return found


@pytest.mark.proves("exit-0")
def test_written_once_exactly_and_then_never_again(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, target: IcebergRest, door: CountingProxy
) -> None:
    given = {
        ("dev",): {"owner": "ann", "comment": "Grüße"},
        ("dev", "sub"): {"code": "a:b|c", "empty": ""},
        ("raw__events",): {"k": "v"},
    }
    for levels, properties in given.items():
        client(source).create_namespace(levels, properties)
    config = configuration(tmp_path, source, door, 'mapping: {rules: [{source: flat, split: "__"}]}')

    first = take(config)
    assert (first.exit_code, first.counts("apply")["applied"]) == (0, 4), first.verdict
    assert tree(target) == {
        ("dev",): given["dev",],
        ("dev", "sub"): given["dev", "sub"],
        ("raw",): {},
        ("raw", "events"): {"k": "v"},
    }
    assert first.report is not None
    assert first.report.exists()

    door.reset()
    second = take(config)
    assert (second.exit_code, second.counts("apply")) == (0, {"applied": 0, "skipped": 4})
    assert door.writes == ()
    _machines_are_told(config, first, second)


def _machines_are_told(config: Config, first: RunOutcome, second: RunOutcome) -> None:
    """Both runs are in the history, the second is compared with the first, and every format has it."""
    runs = read_history(RunFiles(config.workspace))
    assert [(run.run_id, run.state, run.exit_code, run.written) for run in runs] == [
        (first.run_id, "ended", 0, 4),
        (second.run_id, "ended", 0, 0),
    ]
    assert [run.configuration for run in runs] == [str(config.path)] * 2
    assert [run.actors for run in runs] == [(replace(this_process(), commands=("run",)),)] * 2
    folder = config.workspace / "reports" / second.run_id
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["changes"]["since"], summary["changes"]["counts"]) == (
        first.run_id,
        [{"role": "target", "what": "namespace", "change": "appeared", "severity": None, "count": 4}],
    )
    assert len((folder / "changes.csv").read_text().splitlines()) == 5
    page = (folder / "index.html").read_text()
    assert "4 namespaces appeared in the target" in page
    assert f"by {this_process()}" in page
    outputs = {each.name: each for event in read(folder / "openlineage.jsonl") for each in event.outputs or ()}
    assert set(outputs) == {"dev", "dev.sub", "raw", "raw.events"}
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families((folder / "metrics.prom").read_text())
        for sample in family.samples
    }
    assert samples["nestsync_commands_total", "0", "nested", "nestsync", "sync"] == 2
    assert samples["nestsync_actions", "nested", "nestsync", "none", "noop", "sync"] == 4
    assert f"Since run {first.run_id}" in (folder / "report.md").read_text()


@pytest.mark.proves("separator-changed", "exit-3")
def test_another_separator_than_the_target_was_enabled_with_blocks_until_it_is_wanted(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, target: IcebergRest, door: CountingProxy
) -> None:
    client(source).create_namespace(("dev",))
    client(source).create_namespace(("dev", "sub"))
    assert take(configuration(tmp_path, source, door), "inventory", "check", "plan", "apply").exit_code == 0

    door.reset()
    other = "separator: {value: ';', replaces: '$'}"
    blocked = take(configuration(tmp_path, source, door, other), "inventory", "check", "plan", "apply")
    assert (blocked.exit_code, blocked.counts("check")["blocking"], door.writes) == (3, 1, ())
    assert "separator.replaces to ':'" in blocked.next_steps[0]

    wanted = configuration(tmp_path, source, door, "separator: {value: ';', replaces: ':'}")
    for informed in (1, 0):  # it is remembered then
        outcome = take(wanted, "inventory", "check", "plan", "apply")
        assert (outcome.exit_code, outcome.counts("check")["info"], door.writes) == (0, informed, ())


@pytest.mark.proves("separator-conflict", "exit-3")
def test_a_flat_name_that_holds_the_separator_blocks_and_a_free_one_is_suggested(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, target: IcebergRest, door: CountingProxy
) -> None:
    client(source).create_namespace(("team:sales",))
    outcome = take(configuration(tmp_path, source, door))
    assert outcome.exit_code == 3
    assert outcome.next_steps[0].startswith("set separator.value to ';'")
    assert (door.writes, tree(target)) == ((), {})


@pytest.mark.proves("exit-4")
def test_with_skip_what_a_finding_stands_on_is_left_out_and_the_rest_is_written(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, target: IcebergRest, door: CountingProxy
) -> None:
    for levels in (("team:sales",), ("fine",), ("dev",), ("dev", "a"), ("dev__a",), ("dev__a", "below")):
        client(source).create_namespace(levels)
    more = 'on_blocking: skip\nmapping: {rules: [{source: flat, split: "__"}]}'
    outcome = take(configuration(tmp_path, source, door, more))
    assert (outcome.exit_code, outcome.counts("check")["blocking"]) == (4, 2)
    assert set(tree(target)) == {("fine",), ("dev",)}
    assert outcome.report is not None
    with (outcome.report.parent / "finding_members.csv").open(newline="") as lines:
        members = [(row["source"], row["levels"], row["target_levels"]) for row in csv.DictReader(lines)]
    assert members == [("flat", '["dev","a"]', '["dev","a"]'), ("flat", '["dev__a"]', '["dev","a"]')]


def test_names_are_there_to_look_at_after_every_inventory_and_check(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, target: IcebergRest, door: CountingProxy
) -> None:
    for levels in (("team:sales",), ("dev",), ("dev", "inner")):
        client(source).create_namespace(levels)
    config = configuration(tmp_path, source, door)
    files = RunFiles(config.workspace)
    run_id = take(config, "inventory").run_id
    client(source).create_namespace(("dev", "late"))
    runner.run(config, "inventory", ("inventory",), run_id, ("flat",), QuietUi(), lambda question: True)

    flat = read_tree(files, names=["flat"]).catalogs[0]
    assert [node.levels for node in flat.nodes] == [("dev",), ("dev", "inner"), ("dev", "late"), ("team:sales",)]
    assert len(list((config.workspace / "listings" / run_id).iterdir())) == 2  # the target's is of the first time
    before = read_separators(files)
    take(config, "inventory", run_id=run_id)
    assert len(list((config.workspace / "listings" / run_id).iterdir())) == 1

    take(config, "check", run_id=run_id)
    after = read_separators(files)
    assert (before.checked, after.checked) == (False, True)
    assert before.ranked == after.ranked
    assert before.changes == after.changes == changes(Counter(list(flat.rows)), config_naming(config))


def config_naming(config: Config) -> CheckContext:
    return CheckContext(separator=config.separator.value, candidates=config.separator.candidates)


@pytest.mark.proves("drift", "exit-6")
def test_a_plan_is_dry_and_is_refused_once_something_moved(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, target: IcebergRest, door: CountingProxy
) -> None:
    client(source).create_namespace(("dev",))
    client(source).create_namespace(("dev", "inner"))
    config = configuration(tmp_path, source, door)

    planned = take(config, "inventory", "check", "plan")
    assert (planned.exit_code, planned.counts("plan")["create_namespace"]) == (0, 2)
    plan = json.loads((config.workspace / "plans" / planned.run_id / "plan.json").read_text())
    assert [action["levels"] for action in plan["actions"]] == [["dev"], ["dev", "inner"]]
    assert door.writes == ()

    client(source).create_namespace(("late",))
    refused = take(config, "apply", run_id=planned.run_id)
    assert refused.exit_code == 6
    assert "late" in refused.verdict
    assert door.writes == ()


@pytest.mark.proves("exit-6")
def test_a_plan_that_was_edited_is_refused(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, door: CountingProxy
) -> None:
    client(source).create_namespace(("dev",))
    config = configuration(tmp_path, source, door)
    planned = take(config, "inventory", "check", "plan")
    file = config.workspace / "plans" / planned.run_id / "plan.csv"
    file.write_text(file.read_text().replace("dev", "prod"))
    refused = take(config, "apply", run_id=planned.run_id)
    assert (refused.exit_code, door.writes) == (6, ())
    assert "edited" in refused.verdict


@pytest.mark.proves("exit-6")
def test_a_plan_of_another_configuration_is_refused(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, door: CountingProxy
) -> None:
    client(source).create_namespace(("dev",))
    planned = take(configuration(tmp_path, source, door), "inventory", "check", "plan")
    changed = configuration(tmp_path, source, door, "strategy: upsert")
    refused = take(changed, "apply", run_id=planned.run_id)
    assert (refused.exit_code, door.writes) == (6, ())
    assert "the configuration changed" in refused.verdict


@pytest.mark.proves("exit-6")
def test_what_was_read_again_is_checked_and_planned_again_before_anything_is_written(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, target: IcebergRest, door: CountingProxy
) -> None:
    client(source).create_namespace(("z",), {"k": "1"})
    config = configuration(tmp_path, source, door, 'separator: {value: ":"}')
    checked = take(config, "inventory", "check")
    client(source).create_namespace(("team:sales",))
    take(config, "inventory", run_id=checked.run_id)
    again = f"nestsync check -c {config.path} --run-id {checked.run_id}"
    early = take(config, "plan", run_id=checked.run_id)
    assert early.exit_code == 2
    assert "the catalogs were read again since" in early.verdict
    assert again in early.verdict
    assert take(config, "check", run_id=checked.run_id).exit_code == 3

    client(source).drop_namespace(("team:sales",))
    assert take(config, "inventory", "check", "plan", run_id=checked.run_id).exit_code == 0
    client(source).update_namespace_properties(("z",), updates={"k": "2"})
    for stages in (("inventory",), ("inventory", "check")):  # a plan of an earlier check is no better
        take(config, *stages, run_id=checked.run_id)
        late = take(config, "apply", run_id=checked.run_id)
        assert (late.exit_code, door.writes) == (6, ())
        assert "the catalogs were read again since" in late.verdict
    done = take(config, "check", "plan", "apply", "verify", run_id=checked.run_id)
    assert (done.exit_code, tree(target)["z",]["k"]) == (0, "2")


@pytest.mark.parametrize("strategy", ["create-only", "upsert"])
def test_a_run_that_is_taken_again_mends_what_was_undone_since(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, target: IcebergRest, door: CountingProxy, strategy: str
) -> None:
    client(source).create_namespace(("a",), {"k": "1"})
    config = configuration(tmp_path, source, door, f"strategy: {strategy}")
    first = take(config)
    for _ in range(2):
        if strategy == "upsert":
            client(target).update_namespace_properties(("a",), updates={"k": "theirs"})
        else:
            client(target).drop_namespace(("a",))
        again = take(config, run_id=first.run_id)
        assert (again.exit_code, again.counts("apply")) == (0, {"applied": 1, "skipped": 0}), again.verdict
        assert tree(target) == {("a",): {"k": "1"}}
    assert take(config, run_id=first.run_id).counts("apply")["applied"] == 0
    kept = Workspace(spark, config.workspace).read("ledger", run_id=first.run_id)
    assert kept.where("event = 'applied'").count() == 3


def test_a_stage_that_is_taken_again_tells_of_nothing_twice(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, target: IcebergRest, door: CountingProxy
) -> None:
    client(source).create_namespace(("left",), {"k": "ours"})
    client(source).create_namespace(("new",))
    client(target).create_namespace(("left",), {"k": "theirs"})
    config = configuration(tmp_path, source, door)
    run_id = take(config, "inventory", "check", "plan").run_id
    planned = take(config, "plan", run_id=run_id)
    assert planned.verdict == "Planned: 1 to write, 0 already as wanted, 1 left different."
    assert sum(planned.counts("plan").values()) == 2
    client(target).create_namespace(("new",), {"k": "somebody's"})
    for _ in range(2):
        assert take(config, "apply", run_id=run_id).exit_code == 6
    kept = Workspace(spark, config.workspace).read("findings", run_id=run_id)
    told = {
        (row["rule"], tuple(row["levels"])): row["count"] for row in kept.groupBy("rule", "levels").count().collect()
    }
    assert told == {("target-difference", ("left",)): 1, ("drift", ("new",)): 1}
    client(target).drop_namespace(("new",))
    assert take(config, "apply", run_id=run_id).exit_code == 0
    assert {row["rule"] for row in kept.collect()} == {"target-difference"}


@pytest.mark.proves("exit-5")
def test_a_catalog_that_is_down_stops_the_run_and_is_named(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, door: CountingProxy
) -> None:
    collected = tmp_path / "collected"
    collected.mkdir()
    config = configuration(tmp_path, source, door, f"report: {{metrics_folder: {collected}}}")
    source.stop()
    stopped = take(config)
    assert (stopped.exit_code, door.writes) == (5, ())
    assert stopped.report is not None
    page = Page.read(stopped.report).text
    assert stopped.verdict in page
    assert "No catalog was read" in page
    assert isinstance(stopped.error, CatalogUnreachable)
    assert re.search(r"flat.*127\.0\.0\.1", str(stopped.error))
    assert [(stage.stage, stage.status) for stage in stopped.stages] == [("inventory", "failed")]
    (file,) = collected.iterdir()
    assert file.name == "nestsync-nestsync.prom"
    assert 'nestsync_run_exit_code{configuration="nestsync",purpose="sync",target="nested"} 5.0' in file.read_text()
    told = read(config.workspace / "reports" / stopped.run_id / "openlineage.jsonl")
    assert [event.eventType for event in told] == [RunState.START, RunState.FAIL]
    assert [(run.exit_code, run.has_rows) for run in read_history(RunFiles(config.workspace))] == [(5, False)]


def test_a_plan_on_an_assessment_is_refused_until_the_target_was_read(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, target: IcebergRest, door: CountingProxy
) -> None:
    for server in (source, target):
        client(server).create_namespace("x")
    config = configuration(tmp_path, source, door)
    assessment = ("inventory", "check", "report")
    assessed = runner.run(config, "assess", assessment, "looked", None, NOTHING_HAPPENS, lambda question: True)
    again = f"nestsync inventory -c {config.path} --run-id looked --source nested"
    assert (assessed.exit_code, assessed.next_steps) == (0, (again,))
    refused = take(config, "plan", run_id="looked")
    assert (refused.exit_code, refused.failed.hint if refused.failed else "") == (2, again)
    assert "nested is not in the inventory of run looked" in refused.verdict
    runner.run(config, "inventory", ("inventory",), "looked", ("nested",), NOTHING_HAPPENS, lambda question: True)
    counts = [take(config, stage, run_id="looked").counts(stage) for stage in ("check", "plan")][-1]
    assert (counts["create_namespace"], counts["noop"]) == (0, 1)


@pytest.mark.proves("exit-4")
def test_a_target_that_goes_after_it_was_written_to_is_reconciled_in_part(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, door: CountingProxy
) -> None:
    client(source).create_namespace(("dev",))
    config = configuration(tmp_path, source, door)
    gone = take(config, ui=Meanwhile("verify", door.stop))
    assert (gone.exit_code, gone.counts("apply")["applied"]) == (4, 1)
    assert "reconciled in part: 1 applied" in gone.verdict
    assert "catalog-unreachable" in gone.verdict
    assert gone.next_steps == (f"nestsync apply -c {config.path} --run-id {gone.run_id}",)
    assert gone.report is not None
    assert gone.verdict in Page.read(gone.report).text
    alone = take(config, "verify", run_id=gone.run_id)
    assert alone.exit_code == 5  # it sent nothing itself
    door.start()
    assert take(config, "apply", "verify", run_id=gone.run_id).exit_code == 0


def test_a_run_that_is_broken_off_keeps_how_far_it_came(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, door: CountingProxy
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    client(source).create_namespace(("dev",))
    config = configuration(tmp_path, source, door)
    with pytest.raises(BrokenOff) as broken:
        take(config, ui=Meanwhile("apply", interrupt))
    came = broken.value.outcome
    assert isinstance(broken.value.__cause__, KeyboardInterrupt)
    assert [(stage.stage, stage.status) for stage in came.stages] == [
        ("inventory", "ok"),
        ("check", "ok"),
        ("plan", "ok"),
        ("apply", "failed"),
    ]
    assert came.next_steps == (f"nestsync run -c {config.path} --run-id {came.run_id}",)
    assert door.writes == ()
    assert [run.exit_code for run in read_history(RunFiles(config.workspace))] == [130]
    gone_on = take(config, run_id=came.run_id)
    assert (gone_on.exit_code, gone_on.counts("apply")["applied"]) == (0, 1)


def test_a_changed_configuration_needs_another_check(
    spark: SparkSession, tmp_path: Path, source: IcebergRest, door: CountingProxy
) -> None:
    client(source).create_namespace(("dev",))
    checked = take(configuration(tmp_path, source, door), "inventory", "check")
    changed = configuration(tmp_path, source, door, 'mapping: {rules: [{source: flat, prefix: ["new"]}]}')
    outcome = take(changed, "plan", run_id=checked.run_id)
    assert outcome.exit_code == ConfigurationError.exit_code
    assert "changed" in outcome.verdict


@pytest.mark.parametrize(
    ("new", "exit_code", "began"),
    [
        pytest.param((), 3, "Not as expected: ", id="before-a-write"),
        pytest.param(
            ("new",), 4, "The target is reconciled: 1 written and 2 namespaces verified. ", id="after-a-write"
        ),
    ],
)
@pytest.mark.proves("namespaces-steady", "exit-3", "exit-4")
def test_a_blocking_expectation_decides_what_the_run_ends_with(
    spark: SparkSession,
    tmp_path: Path,
    source: IcebergRest,
    target: IcebergRest,
    door: CountingProxy,
    new: tuple[str, ...],
    exit_code: int,
    began: str,
) -> None:
    names = ("one", "two", "three", "four")
    for name in names:
        client(source).create_namespace((name,))
    strict = "report: {expectations: {namespaces-steady: {severity: blocking, max_fall: 0.49, min_change: 1}}}"
    config = configuration(tmp_path, source, door, strict)
    assert take(config).exit_code == 0
    for name in names[1:]:
        client(source).drop_namespace((name,))
    for name in new:
        client(source).create_namespace((name,))

    outcome = take(config)
    assert (outcome.exit_code, outcome.verdict[: len(began)]) == (exit_code, began)
    assert "(namespaces-steady: 1 of 1)" in outcome.verdict
    assert outcome.next_steps == (EXPECTATIONS["namespaces-steady"].advice, f"nestsync run -c {config.path}")
    record = read_record(RunFiles(config.workspace), outcome.run_id)
    assert (record.exit_code, record.verdict) == (exit_code, outcome.verdict)

    again = runner.run(config, "report", ("report",), outcome.run_id, None, QuietUi(), lambda question: True)
    assert (again.exit_code, again.verdict) == (exit_code, outcome.verdict)
    summary = config.workspace / "reports" / outcome.run_id / "summary.json"
    assert json.loads(summary.read_text())["configuration_changed"] is False
    loose = configuration(tmp_path, source, door, strict.replace("blocking", "warning"))
    mended = runner.run(loose, "report", ("report",), outcome.run_id, None, QuietUi(), lambda question: True)
    assert mended.exit_code == 0
    assert json.loads(summary.read_text())["configuration_changed"] is True
    record = read_record(RunFiles(config.workspace), outcome.run_id)
    assert (record.exit_code, record.verdict) == (0, mended.verdict)
