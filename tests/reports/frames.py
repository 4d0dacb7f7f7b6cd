"""Spark frames as the stages hand them over, small enough to read in a test."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from nestsync.schemas import SEPARATOR_FIELDS, TABLES, contract

AT = datetime(2026, 11, 28, 1, 2, 3, 456789, tzinfo=UTC)


def _frame(spark: SparkSession, table: str, rows: Sequence[dict[str, Any]]) -> DataFrame:
    schema = TABLES[table]
    defaults = {
        "run_id": "r1",
        "system": "hms",
        "properties": {},
        "claimants": [],
        "reason": "the target does not hold it",
    }
    data = [tuple((defaults | row).get(field.name) for field in schema) for row in rows]
    return spark.createDataFrame(data, schema)


def namespaces(spark: SparkSession, *rows: tuple[str, str, list[str]], **more: Any) -> DataFrame:
    """(role, source, levels) of namespaces, all readable unless `more` says otherwise."""
    base = {"object": "namespace", "status": "ok"} | more
    return _frame(spark, "namespaces", [base | {"role": r, "source": s, "levels": ls} for r, s, ls in rows])


def tables(spark: SparkSession, *rows: tuple[str, list[str], str, str | None]) -> DataFrame:
    """(source, levels, name, error) of tables; one with an error is unreadable."""
    return _frame(
        spark,
        "tables",
        [
            {
                "role": "source",
                "object": "table",
                "source": source,
                "levels": levels,
                "name": name,
                "status": "unreadable" if error else "ok",
                "error": error,
            }
            for source, levels, name, error in rows
        ],
    )


def findings(spark: SparkSession, *rows: tuple[str, str, list[str]], **more: Any) -> DataFrame:
    """(rule, severity, levels) of findings on namespaces of the source ``hms``."""
    base = {"source": "hms", "object": "namespace", "message": "it is wrong", "hint": "change it"} | more
    return _frame(
        spark,
        "findings",
        [base | {"rule": r, "severity": s, "levels": ls, "target_levels": ls[1:]} for r, s, ls in rows],
    )


def members(spark: SparkSession, *rows: tuple[str, list[str], list[str]], **more: Any) -> DataFrame:
    """(role, levels, target_levels) of the objects of one blocking collision; it is told of the first row."""
    first = ("hms", "namespace", rows[0][1], None, rows[0][2])
    base = {"source": "hms", "object": "namespace", "finding": first, "rule": "collision", "severity": "blocking"}
    return _frame(
        spark, "finding_members", [base | {"role": r, "levels": ls, "target_levels": t} | more for r, ls, t in rows]
    )


def actions(spark: SparkSession, *rows: tuple[str, str, list[str]]) -> DataFrame:
    """(action_id, kind, levels) of actions, each claimed by ``hms``."""
    return _frame(
        spark,
        "actions",
        [
            {"action_id": i, "kind": k, "levels": ls, "claimants": [("hms", ["hive", "__".join(ls)])]}
            for i, k, ls in rows
        ],
    )


def ledger(spark: SparkSession, *rows: tuple[str, str, str | None], together: bool = False) -> DataFrame:
    """(action_id, event, detail), a second apart, or all at one time."""
    return _frame(
        spark,
        "ledger",
        [
            {
                "action_id": i,
                "kind": "create_namespace",
                "levels": ["x"],
                "event": event,
                "detail": detail,
                "at": AT if together else AT + timedelta(seconds=second),
                "user": "ann",
                "host": "host-1",
            }
            for second, (i, event, detail) in enumerate(rows)
        ],
    )


def separators(spark: SparkSession) -> DataFrame:
    """Two candidates, one of them free."""
    rows = [(":", 3, [("hms", ["hive", "a:b"])], True, None, 2, False), (";", 0, [], True, None, 1, True)]
    return spark.createDataFrame(rows, contract(*SEPARATOR_FIELDS))


def differences(spark: SparkSession, *rows: tuple[list[str], str]) -> DataFrame:
    """What verify found: (levels, detail)."""
    return spark.createDataFrame(list(rows), "levels array<string>, detail string")
