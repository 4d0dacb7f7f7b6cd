"""The plan as files that people read, and the proof that nobody edited it.

``plan.csv`` and ``plan.json`` follow from the actions byte for byte, so that one hash, kept with the run, stands
for all three. What people edit is the mapping file, and it goes through check and plan again.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from nestsync.core.identifiers import shown, shown_json
from nestsync.errors import PlanOutdated
from nestsync.schemas import ACTION_FIELDS
from nestsync.stages.plan import action_id, in_order, plan_hash

CSV_FILE = "plan.csv"
JSON_FILE = "plan.json"
_COLUMNS = tuple(field.name for field in ACTION_FIELDS)
_HINT = "a plan is not edited: edit the mapping file and plan again"


def write_plan_files(actions: DataFrame, folder: Path) -> tuple[Path, Path]:
    """Write the actions (`schemas.ACTION_FIELDS`) as `CSV_FILE` and `JSON_FILE` into `folder`, in order.

    Streamed: the driver holds one partition of `stages.plan.in_order` at a time. Each file appears whole or not
    at all. Levels, properties and claimants are JSON in the CSV too. Returns the two paths.
    """
    folder.mkdir(parents=True, exist_ok=True)
    targets = (folder / CSV_FILE, folder / JSON_FILE)
    drafts = tuple(target.with_suffix(f"{target.suffix}.{os.getpid()}.tmp") for target in targets)
    with (
        drafts[0].open("w", encoding="utf-8", newline="") as table,
        drafts[1].open("w", encoding="utf-8", newline="") as document,
    ):
        for csv_text, json_text in _texts(actions):
            table.write(csv_text)
            document.write(json_text)
    for draft, target in zip(drafts, targets, strict=True):
        draft.replace(target)
    return targets


def check_unedited(actions: DataFrame, folder: Path | None, recorded: str) -> None:
    """Raise `PlanOutdated` unless the actions, their files in `folder` and the `recorded` plan hash agree.

    `folder` None leaves the files out (where they are not at hand). Reads the actions three times.
    """
    forged = actions.where(~action_id().eqNullSafe(F.col("action_id"))).select("levels").first()
    if forged is not None:
        raise PlanOutdated(
            f"the action on {shown(tuple(forged['levels']))} is not what was planned", where="plan", hint=_HINT
        )
    if plan_hash(actions) != recorded:
        raise PlanOutdated("actions were added to the plan, or taken from it", where="plan", hint=_HINT)
    if folder is not None:
        _check_files(actions, folder)


def _check_files(actions: DataFrame, folder: Path) -> None:
    paths = (folder / CSV_FILE, folder / JSON_FILE)
    try:
        with (
            paths[0].open(encoding="utf-8", newline="") as table,
            paths[1].open(encoding="utf-8", newline="") as document,
        ):
            for texts in _texts(actions):
                for path, file, text in zip(paths, (table, document), texts, strict=True):
                    if file.read(len(text)) != text:
                        raise _edited(path)
            for path, file in zip(paths, (table, document), strict=True):
                if file.read(1):
                    raise _edited(path)
    except FileNotFoundError as error:
        raise PlanOutdated("a file of the plan is gone", where=str(error.filename), hint=_HINT) from error
    except UnicodeDecodeError as error:
        raise PlanOutdated("a file of the plan is no longer text", where=str(folder), hint=_HINT) from error


def _edited(path: Path) -> PlanOutdated:
    return PlanOutdated("the file was edited since it was planned", where=str(path), hint=_HINT)


def _texts(actions: DataFrame) -> Iterator[tuple[str, str]]:
    """The pieces of the CSV and of the JSON file, in step."""
    yield _csv_line(_COLUMNS), '{"actions":['
    separator = "\n"
    for row in in_order(actions).select(*_COLUMNS).toLocalIterator():
        record = _record(row)
        yield _csv_line(_cell(record[name]) for name in _COLUMNS), separator + shown_json(record)
        separator = ",\n"
    yield "", "\n]}\n"


def _record(row: Row) -> dict[str, Any]:
    record = row.asDict(recursive=True)
    record["properties"] = dict(sorted(record["properties"].items()))
    return record


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else shown_json(value)


def _csv_line(cells: Iterable[str]) -> str:
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(cells)
    return line.getvalue()


__all__ = ["CSV_FILE", "JSON_FILE", "check_unedited", "write_plan_files"]
