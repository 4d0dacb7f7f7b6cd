"""What engines were seen to do: kept in `seen.json`, one line an answer, from which the page of the docs is made."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nestsync.core.identifiers import Levels
from tests.engines.answers import Answer, Kind

FILE = Path(__file__).parent / "seen.json"


@dataclass(frozen=True)
class Seen:
    """What `engine` did when `question` was asked of `names`: one name, or several that were there together.

    Questions are those of `tests.engines.asked`.
    """

    engine: str
    question: str
    names: tuple[Levels, ...]
    answer: Answer

    @property
    def key(self) -> tuple[str, str, tuple[Levels, ...]]:
        return self.engine, self.question, self.names


def load(file: Path = FILE) -> list[Seen]:
    """Everything that was seen, in the order of the file."""
    rows: list[dict[str, Any]] = json.loads(file.read_text("utf-8")) if file.exists() else []
    return [_seen(row) for row in rows]


def save(seen: Iterable[Seen], file: Path = FILE) -> None:
    """Put `seen` in the place of what the file says of the same engines, one question at a time."""
    fresh = list(seen)
    again = {(one.engine, one.question) for one in fresh}
    kept = [one for one in load(file) if (one.engine, one.question) not in again]
    rows = sorted((*kept, *fresh), key=lambda one: (one.engine, one.question))  # stable: the cases' own order
    file.write_text("[\n" + ",\n".join(json.dumps(_row(one)) for one in rows) + "\n]\n", encoding="utf-8")


def _row(one: Seen) -> dict[str, Any]:
    row: dict[str, Any] = {"engine": one.engine, "question": one.question, "names": one.names, "did": one.answer.kind}
    if one.answer.back is not None:
        row["back"] = one.answer.back
    return row | ({"why": one.answer.why} if one.answer.why else {})


def _seen(row: dict[str, Any]) -> Seen:
    back = tuple(row["back"]) if "back" in row else None
    names = tuple(map(tuple, row["names"]))
    return Seen(row["engine"], row["question"], names, Answer(Kind(row["did"]), back, row.get("why", "")))
