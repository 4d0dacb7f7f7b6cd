"""The plan in Spark is the one that `core` says; its files follow from it, and an edit of anything is refused."""

from __future__ import annotations

import csv
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as budget
from hypothesis import strategies as st
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from nestsync.core.claims import Claimant, SourceObject
from nestsync.core.findings import Finding
from nestsync.core.plan import Action, ActionKind, Strategy, TargetNamespace, plan_actions
from nestsync.core.plan import plan_hash as core_hash
from nestsync.core.wanted import WantedSettings, wanted_tree
from nestsync.errors import PlanOutdated
from nestsync.schemas import ACTION_FIELDS, FINDING_FIELDS, contract
from nestsync.stages.plan import in_order, plan, plan_hash
from nestsync.stages.plan_files import check_unedited, write_plan_files
from tests.core.claims_cases import batch, checked_catalogs
from tests.stages.wanted_frames import (
    action_frame,
    action_records,
    finding_records,
    names_and_types,
    target_frame,
    wanted_frame,
)

pytestmark = pytest.mark.spark

HOSTILE = ("a:b", 'quote"', "line\nbreak", "carriage\rreturn", "comma,", "e\u0301", "\x00", "\u2028", "😀", "=1+1", "")


def folded(levels: Column) -> Column:
    return F.transform(levels, F.lower)


@budget(max_examples=2, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(
    cases=st.lists(checked_catalogs(), min_size=30, max_size=50),
    strategy=st.sampled_from(Strategy),
    folds=st.booleans(),
    seed=st.randoms(use_true_random=False),
)
def test_spark_and_core_plan_the_same(
    spark: SparkSession,
    cases: list[tuple[list[SourceObject], list[Finding]]],
    strategy: Strategy,
    folds: bool,
    seed: random.Random,
) -> None:
    wanted = wanted_tree(*_first(batch(cases))).namespaces
    held = [
        TargetNamespace(
            "t",
            tuple(level.upper() for level in one.levels) if folds else one.levels,
            {**one.properties, "server": "adds"} if seed.random() < 0.5 else {"k": "1"},
            seed.choice(("ok", "ok", "ok", "unreadable")),
        )
        for one in wanted
        if seed.random() < 0.7
    ]
    key = (lambda levels: tuple(level.lower() for level in levels)) if folds else (lambda levels: levels)
    oracle = plan_actions(wanted, held, strategy, key)
    frames = wanted_frame(spark, wanted), target_frame(spark, held)
    actions, differences = plan(*frames, strategy, folded) if folds else plan(*frames, strategy)
    assert action_records(actions) == list(oracle.actions)
    assert sorted(finding_records(differences), key=repr) == sorted(oracle.findings, key=repr)
    assert plan_hash(actions) == core_hash(action.action_id for action in oracle.actions)
    assert names_and_types(actions.schema) == names_and_types(contract(*ACTION_FIELDS))
    assert names_and_types(differences.schema) == names_and_types(contract(*FINDING_FIELDS))


def _first(both: tuple[list[SourceObject], list[Finding]]) -> tuple[list[SourceObject], WantedSettings, list[Finding]]:
    return both[0], WantedSettings(), both[1]


def hostile_actions() -> list[Action]:
    deep = [
        Action(
            ActionKind.CREATE_NAMESPACE,
            (name, "x")[: 1 + index % 2],
            {name: "a:b|c", "k": name},
            f"because of {index}",
            (Claimant(name or "s", (name,)),),
        )
        for index, name in enumerate(HOSTILE)
    ]
    return [*deep, Action(ActionKind.NOOP, ("z", "y", "x"), {}, "nothing to do")]


@pytest.fixture(scope="module")
def actions(spark: SparkSession) -> DataFrame:
    return action_frame(spark, hostile_actions()).persist()


@pytest.fixture(scope="module")
def written(actions: DataFrame, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("plans") / "run"
    write_plan_files(actions, folder)
    return folder, plan_hash(actions)


@pytest.fixture
def planned(written: tuple[Path, str], tmp_path: Path) -> tuple[Path, str]:
    """The files of a plan, to be edited, and its recorded hash."""
    return shutil.copytree(written[0], tmp_path / "run"), written[1]


def test_the_order_is_parents_first_however_the_rows_come(spark: SparkSession, actions: DataFrame) -> None:
    expected = sorted(hostile_actions(), key=lambda action: (len(action.levels), action.levels))
    rows = in_order(actions.repartition(3)).toLocalIterator()
    assert [tuple(row["levels"]) for row in rows] == [action.levels for action in expected]


def test_both_files_hold_every_action_in_order(planned: tuple[Path, str]) -> None:
    folder, _ = planned
    expected = sorted(hostile_actions(), key=lambda action: (len(action.levels), action.levels))
    document = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    with (folder / "plan.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    for action, in_json, in_csv in zip(expected, document["actions"], table, strict=True):
        assert in_json["action_id"] == in_csv["action_id"] == action.action_id
        assert in_json["kind"] == in_csv["kind"] == str(action.kind)
        assert in_json["levels"] == json.loads(in_csv["levels"]) == list(action.levels)
        assert in_json["properties"] == json.loads(in_csv["properties"]) == action.properties
        assert in_json["reason"] == in_csv["reason"] == action.reason
        assert [Claimant(c["source"], tuple(c["levels"])) for c in in_json["claimants"]] == list(action.claimants)
    assert sorted(path.name for path in folder.iterdir()) == ["plan.csv", "plan.json"]


def test_an_action_is_one_line_in_both_files(planned: tuple[Path, str]) -> None:
    folder, _ = planned
    count = len(hostile_actions())
    assert len((folder / "plan.csv").read_text(encoding="utf-8").splitlines()) == count + 1
    assert len((folder / "plan.json").read_text(encoding="utf-8").splitlines()) == count + 2


def test_a_plan_that_nobody_touched_is_accepted(actions: DataFrame, planned: tuple[Path, str]) -> None:
    check_unedited(actions, *planned)


def test_an_empty_plan_has_files_and_a_hash(spark: SparkSession, tmp_path: Path) -> None:
    nothing = action_frame(spark, [])
    write_plan_files(nothing, tmp_path)
    assert json.loads((tmp_path / "plan.json").read_text()) == {"actions": []}
    assert plan_hash(nothing) == core_hash([])
    check_unedited(nothing, tmp_path, core_hash([]))


def edited_levels(frame: DataFrame) -> DataFrame:
    return frame.withColumn("levels", F.when(F.size("levels") == 3, F.array(F.lit("other"))).otherwise(F.col("levels")))


def edited_value(frame: DataFrame) -> DataFrame:
    changed = F.transform_values("properties", lambda key, value: F.when(key == "k", "x").otherwise(value))
    return frame.withColumn("properties", changed)


@pytest.mark.proves("exit-6")
@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(edited_levels, id="other-levels"),
        pytest.param(edited_value, id="another-value"),
        pytest.param(lambda frame: frame.withColumn("kind", F.lit("noop")), id="another-kind"),
        pytest.param(lambda frame: frame.withColumn("action_id", F.lit(None).cast("string")), id="no-id"),
        pytest.param(lambda frame: frame.where(F.size("levels") < 3), id="one-taken-away"),
        pytest.param(lambda frame: frame.unionByName(frame.where(F.size("levels") == 3)), id="one-twice"),
    ],
)
def test_an_edited_table_is_refused(
    actions: DataFrame, planned: tuple[Path, str], edit: Callable[[DataFrame], DataFrame]
) -> None:
    with pytest.raises(PlanOutdated, match="edit the mapping file and plan again") as refused:
        check_unedited(edit(actions), None, planned[1])
    assert refused.value.exit_code == 6


@pytest.mark.proves("exit-6")
@pytest.mark.parametrize("name", ["plan.csv", "plan.json"])
@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda content: content.replace(b"a:b|c", b"a:b|d", 1), id="a-value"),
        pytest.param(lambda content: content + b"\n", id="something-at-the-end"),
        pytest.param(lambda content: content[:-1], id="cut-short"),
        pytest.param(lambda content: b"", id="emptied"),
        pytest.param(lambda content: content.replace(b"\n", b"\r\n"), id="other-line-ends"),
        pytest.param(lambda content: b"\xff" + content, id="no-longer-text"),
        pytest.param(None, id="gone"),
    ],
)
def test_an_edited_file_is_refused(
    actions: DataFrame, planned: tuple[Path, str], name: str, edit: Callable[[bytes], bytes] | None
) -> None:
    folder, recorded = planned
    path = folder / name
    if edit is None:
        path.unlink()
    else:
        path.write_bytes(edit(path.read_bytes()))
    with pytest.raises(PlanOutdated, match="edit the mapping file and plan again"):
        check_unedited(actions, folder, recorded)
