"""Verify: what the target does not hold as planned, on records first and against a real server at the end."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from nestsync.catalogs.iceberg_rest import ROOM as ICEBERG_REST
from nestsync.catalogs.iceberg_rest import IcebergRestOptions
from nestsync.core.claims import SourceObject
from nestsync.core.plan import Action, ActionKind, Strategy, TargetNamespace
from nestsync.core.wanted import WantedSettings
from nestsync.embedded.proxy import CountingProxy
from nestsync.embedded.servers import IcebergRest
from nestsync.schemas import DIFFERENCE_FIELDS, LEDGER_FIELDS, contract
from nestsync.stages.apply import ApplySettings, apply
from nestsync.stages.check.local import local_frame
from nestsync.stages.journal import Journal, read_journal
from nestsync.stages.plan import plan
from nestsync.stages.verify import verify
from nestsync.stages.wanted import wanted
from tests.core.claims_cases import namespace, path
from tests.stages.wanted_frames import (
    about_frame,
    action_frame,
    action_records,
    mapped_frame,
    names_and_types,
    target_frame,
)

pytestmark = pytest.mark.spark

CREATE, SET, NOOP, BLOCKED = ActionKind


def action(text: str, kind: ActionKind = CREATE, **properties: str) -> Action:
    return Action(kind, path(text), properties, "because")


def target(text: str, status: str = "ok", **properties: str) -> TargetNamespace:
    return TargetNamespace("t", path(text), properties, status)


def ledger(spark: SparkSession, *entries: tuple[Action, str]) -> DataFrame:
    rows = [
        {
            "action_id": each.action_id,
            "kind": str(each.kind),
            "levels": list(each.levels),
            "event": event,
            "properties": list(each.properties.items()),
            "at": datetime.now(UTC),
        }
        for each, event in entries
    ]
    return local_frame(spark, rows, contract(*LEDGER_FIELDS))


def folded(levels: Column) -> Column:
    return F.transform(levels, F.lower)


# Each case in a namespace of its own: action, what the run did about it, what the target holds, what is wrong
# under create-only and under upsert.
MISSING, UNREADABLE = "the target does not hold it", "the target holds it and could not read it"
DIFFERS = 'it differs from the plan in ["k"]'
CASES: dict[str, tuple[Action, str | None, TargetNamespace | None, str | None, str | None]] = {
    "made": (action("made", k="v"), "applied", target("made", k="v", more="1"), None, None),
    "gone": (action("gone"), "applied", None, MISSING, MISSING),
    "never": (action("never"), None, None, MISSING, MISSING),
    "noop-gone": (action("noop-gone", NOOP), None, None, MISSING, MISSING),
    "noop": (action("noop", NOOP), None, target("noop", k="w"), None, None),
    "altered": (action("altered", k="v"), "applied", target("altered", k="w"), DIFFERS, DIFFERS),
    "lost": (action("lost", k=""), "applied", target("lost"), DIFFERS, DIFFERS),
    "first": (action("first", k="v"), "skipped", target("first", k="w"), None, DIFFERS),
    "set": (action("set", SET, k="v"), "applied", target("set", k="v"), None, None),
    "closed": (action("closed", k="v"), "applied", target("closed", "unreadable"), UNREADABLE, UNREADABLE),
    "closed-before": (action("closed-before", NOOP), None, target("closed-before", "unreadable"), None, UNREADABLE),
    "blocked": (action("blocked", BLOCKED), None, None, None, None),
}


@pytest.mark.parametrize("strategy", list(Strategy))
def test_what_is_not_as_planned(spark: SparkSession, strategy: Strategy) -> None:
    actions = [case[0] for case in CASES.values()]
    did = [(case[0], event) for case in CASES.values() for event in ("intent", case[1]) if case[1] and event]
    held = [case[2] for case in CASES.values() if case[2]]
    found = verify(action_frame(spark, actions), ledger(spark, *did), target_frame(spark, held), strategy)
    column = 3 if strategy is Strategy.CREATE_ONLY else 4
    assert {row["levels"][0]: row["detail"] for row in found.collect()} == {
        name: case[column] for name, case in CASES.items() if case[column]
    }
    assert names_and_types(found.schema) == names_and_types(contract(*DIFFERENCE_FIELDS))


def test_a_target_that_folds_is_asked_under_its_own_key(spark: SparkSession) -> None:
    made = action("Sales", k="v")
    frames = (
        action_frame(spark, [made]),
        ledger(spark, (made, "applied")),
        target_frame(spark, [target("sales", k="v")]),
    )
    assert verify(*frames, Strategy.UPSERT, folded).collect() == []
    assert [row["detail"] for row in verify(*frames, Strategy.UPSERT).collect()] == [MISSING]


# ---- the whole way, on the real server


class Target:
    """A namespace of the real server as a run's target: planned, written, verified, by the stages themselves."""

    def __init__(self, spark: SparkSession, server: IcebergRest, folder: Path, root: str) -> None:
        self.spark = spark
        self.root = root
        self.folder = folder
        self.proxy = CountingProxy(server.uri)
        self.runs = 0

    @property
    def options(self) -> IcebergRestOptions:
        return IcebergRestOptions(uri=self.proxy.uri)

    def held(self) -> DataFrame:
        reader = self.spark.read.format("nestsync.iceberg_rest").options(**self.options.to_spark())
        rows = reader.option("object", "namespaces").option("source", "t").load()
        return rows.where(F.get("levels", F.lit(0)) == self.root)

    def run(self, sources: list[SourceObject], strategy: Strategy = Strategy.CREATE_ONLY) -> dict[str, Any]:
        """One pass; the frames of the plan are those that the stages make of each other."""
        self.runs += 1
        journals = self.folder / str(self.runs)
        journals.mkdir()
        tree, _ = wanted(mapped_frame(self.spark, sources), lambda: about_frame(self.spark, []), WantedSettings())
        actions, differences = plan(tree.localCheckpoint(), self.held().localCheckpoint(), strategy)
        actions = actions.localCheckpoint()
        left_alone = differences.count()
        self.proxy.reset()
        assert ICEBERG_REST.writer is not None
        writer = ICEBERG_REST.writer(self.options, "t")
        with Journal(journals, "driver") as journal:
            result = apply(actions, read_journal(self.spark, journals), writer, journal, ApplySettings(strategy))
        writer.close()
        writes = self.proxy.writes
        wrong = verify(actions, read_journal(self.spark, journals), self.held(), strategy)
        return {
            "planned": [(each.kind, "/".join(each.levels[1:])) for each in action_records(actions)],
            "counts": {name: count for name, count in result.counts.items() if count},
            "writes": len(writes),
            "wrong": [(row["levels"], row["detail"]) for row in wrong.collect()],
            "left alone": left_alone,
        }


@pytest.mark.servers
@pytest.mark.timeout(1200)
def test_a_tree_is_written_verified_and_brought_up_to_date(
    spark: SparkSession, iceberg_memory_server: IcebergRest, tmp_path: Path, unique: str
) -> None:
    target = Target(spark, iceberg_memory_server, tmp_path, unique)
    deep = namespace(
        "s", "flat__name", f"{unique}/n1/n2/n3", properties={"k": "a:b|c"}, owner="ann", comment="\u2028é "
    )
    beside = namespace("s", "beside", f"{unique}/beside", properties={"odd key %1F": ""})
    with target.proxy:
        assert target.run([deep, beside]) == {
            "planned": [(CREATE, ""), (CREATE, "beside"), (CREATE, "n1"), (CREATE, "n1/n2"), (CREATE, "n1/n2/n3")],
            "counts": {"applied": 5},
            "writes": 5,
            "wrong": [],
            "left alone": 0,
        }
        other = namespace("s", "beside", f"{unique}/beside", properties={"odd key %1F": "x"})
        assert target.run([deep, other], Strategy.UPSERT) == {
            "planned": [(NOOP, ""), (SET, "beside"), (NOOP, "n1"), (NOOP, "n1/n2"), (NOOP, "n1/n2/n3")],
            "counts": {"applied": 1, "skipped": 4},
            "writes": 1,
            "wrong": [],
            "left alone": 0,
        }
        (row,) = target.held().where(F.size("levels") == 4).collect()
        assert {key: row["properties"][key] for key in ("k", "owner", "comment")} == {
            "k": "a:b|c",
            "owner": "ann",
            "comment": "\u2028é ",
        }
