"""Two runs of a real workspace compared, and runs removed from it."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from nestsync.cli import app
from nestsync.history.choosing import choose
from nestsync.history.retention import Retention
from nestsync.runner.comparing import diff
from nestsync.runner.pruning import TABLES as PRUNED
from nestsync.runner.pruning import prune
from nestsync.schemas import TABLES
from nestsync.session import spark_path
from nestsync.ui import QuietUi
from nestsync.workspace import Workspace
from tests.history.runs import backdated, ended

pytestmark = pytest.mark.spark

PLAIN: dict[str, Any] = {
    "source": "hms", "system": "hms", "role": "source", "object": "namespace", "properties": {}, "status": "ok",
    "mapping_rule": "identity", "message": "it is wrong", "hint": "change it", "severity": "blocking",
    "action_id": "1", "kind": "create_namespace", "reason": "absent", "claimants": [], "event": "applied",
    "at": datetime(2026, 11, 28, tzinfo=UTC), "command": "run", "stage": "check",
    "started_at": datetime(2026, 11, 28, tzinfo=UTC), "seconds": 1.0, "counts": {},
}  # fmt: skip
_MEMBER = {"finding": ("hms", "namespace", ["kept"], None, ["kept"]), "rule": "collision", "target_levels": ["kept"]}
EVIL = "<img src=x onerror=alert(1)>"
INVENTORY = {"hms": {"role": "source", "system": "hms", "counts": {"namespaces": 2, "tables": 1}}}


def store(workspace: Workspace, run_id: str, table: str, *rows: dict[str, Any]) -> None:
    schema = TABLES[table]
    data = [tuple((PLAIN | {"run_id": run_id} | row).get(name) for name in schema.names) for row in rows]
    workspace.replace(table, workspace.spark.createDataFrame(data, schema).drop("run_id"), run_id=run_id)


def run(workspace: Workspace, run_id: str, names: list[str], *, owner: str, target: str, days_ago: int) -> None:
    """A checked run that read `names`."""
    ended(workspace, run_id, inventory=INVENTORY, days_ago=days_ago)
    backdated(workspace, run_id, datetime.now(UTC) - timedelta(days=days_ago))
    workspace.update_summary(run_id, "check", {"counts": {"blocking": len(names)}, "mapped": True})
    rows: dict[str, list[dict[str, Any]]] = {
        "namespaces": [{"levels": [name]} for name in names],
        "tables": [{"object": "table", "levels": ["kept"], "name": "t", "owner": owner}],
        "mapped": [{"levels": ["kept"], "target_levels": [target]}],
        "findings": [{"levels": [name], "rule": "collision"} for name in names],
        **{table: [{"levels": ["kept"]}] for table in ("actions", "ledger", "runs")},
        "finding_members": [_MEMBER | {"levels": [name]} for name in names],
        "differences": [{"levels": ["kept"], "detail": "missing"}],
    }
    with ThreadPoolExecutor(len(rows)) as pool:
        list(pool.map(lambda table: store(workspace, run_id, table, *rows[table]), rows))


@pytest.fixture(scope="module")
def workspace(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    found = Workspace(spark, tmp_path_factory.mktemp("past") / "work space #1%")
    run(found, "older", ["kept", "gone"], owner="ann", target="kept", days_ago=9)
    run(found, "newer", ["kept", EVIL], owner="bob", target="moved", days_ago=1)
    return found


def test_everything_is_counted_and_in_the_file_and_the_first_rows_are_shown(workspace: Workspace) -> None:
    found = diff(
        workspace.root,
        choose(workspace, "older"),
        choose(workspace, "latest"),
        ignored=(),
        shown=2,
        ui=QuietUi(),
    )
    assert found.sentence == (
        "Since run older: 1 finding new (1 blocking), 1 namespace vanished, 1 namespace moved, 1 table changed, "
        "1 namespace appeared, 1 finding gone."
    )
    assert (found.total, [row.change for row in found.rows], found.left_out) == (6, ["new", "vanished"], 4)
    with Path(found.file).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["change"], row["what"], json.loads(row["levels"]), row["detail"]) for row in rows] == [
        ("new", "finding", [EVIL], "it is wrong"),
        ("vanished", "namespace", ["gone"], ""),
        ("moved", "namespace", ["kept"], 'target ["kept"] → ["moved"]'),
        ("changed", "table", ["kept"], 'owner "ann" → "bob"'),
        ("appeared", "namespace", [EVIL], ""),
        ("gone", "finding", ["gone"], "it is wrong"),
    ]


def test_the_command_answers_in_words_and_as_one_document(workspace: Workspace) -> None:
    said = CliRunner().invoke(app, ["diff", "--workspace", str(workspace.root), "-n", "1"])
    assert said.exit_code == 0, said.output
    assert "5 more; all 6 are in\n" in said.stdout
    assert f'new     finding  hms ["{EVIL}"]' in said.stdout
    told = CliRunner().invoke(app, ["diff", "newer", "newer", "--workspace", str(workspace.root), "--json"])
    document = json.loads(told.stdout)
    assert (document["sentence"], document["total"]) == ("Nothing changed since run newer.", 0)


def test_a_pruned_run_leaves_the_tables_but_for_who_made_what(workspace: Workspace) -> None:
    """The last test here: it removes what the others look at."""
    folder = workspace.root / "delta"
    assert prune(workspace, Retention(keep_days=7), workspace.root / "reports") == ["older"]
    for table in TABLES:
        rows = workspace.spark.read.format("delta").load(spark_path(folder / table)).select("run_id").distinct()
        held = {row["run_id"] for row in rows.collect()}
        assert held == ({"newer"} if table in PRUNED else {"older", "newer"}), table
        assert {part.name for part in (folder / table).glob("run_id=*")} == {f"run_id={run_id}" for run_id in held}
    assert workspace.run_ids() == ["newer"]
    assert prune(workspace, Retention(keep_days=7), workspace.root / "reports") == []
