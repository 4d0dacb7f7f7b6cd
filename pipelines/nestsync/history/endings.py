"""How the commands of a run went before somebody asks for its report: stage by stage, and whether the last one died."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nestsync.history.attempts import BEGUN, ENDED, is_under_way
from nestsync.history.records import REPORT, last_stage, only_reports, read_lines
from nestsync.outcome import StageOutcome
from nestsync.runfiles import RunFiles

WITHOUT_A_WORD = "its process ended without a word"
_PARTLY, _BLOCKED = 4, 3
_NOTHING_SENT = (2, 5, 6)
"""What a command ends with whose failed stage left the target alone."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What the commands of a run came to that did more than report."""

    stages: tuple[StageOutcome, ...]
    """The latest outcome of each stage, in the order in which they ended; of a stage that died it is ``failed``."""
    exit_code: int | None
    """None where the last of them died, or is under way."""
    verdict: str = ""
    """What the last of them said."""
    died: bool = False
    under_way: bool = False
    stage: str | None = None
    """The stage in which it died, or is; None where nobody said so."""


def read_ending(files: RunFiles, run_id: str) -> Ending | None:
    """How `run_id` ended, as far as its commands said; None where none did. To be asked before a command begins."""
    lines = list(read_lines(files, run_id))
    begun = [line for line in lines if line.get("event") == BEGUN and not only_reports(line)]
    if not begun:
        return None
    ends = {line.get("attempt"): line for line in lines if line.get("event") == ENDED}
    told = [(stage, line) for line in ends.values() for stage in _stages(line) if stage.stage != REPORT]
    stages = {stage.stage: stage for stage, _ in told}
    codes = {stage.stage: line.get("exit_code") for stage, line in told}
    last = begun[-1].get("attempt")
    if last in ends:
        code = ends[last].get("exit_code")
        return Ending(
            tuple(stages.values()),
            _in_all(code if isinstance(code, int) else 1, stages.values(), codes),
            str(ends[last].get("verdict") or ""),
        )
    at = last_stage(lines, last)
    if is_under_way(files, run_id):
        return Ending(tuple(stages.values()), None, under_way=True, stage=at)
    if at is not None:
        stages.pop(at, None)
        stages[at] = StageOutcome(at, "failed", 0.0, {}, WITHOUT_A_WORD)
    return Ending(tuple(stages.values()), None, died=True, stage=at)


def _in_all(code: int, stages: Iterable[StageOutcome], codes: Mapping[str, object]) -> int:
    """What a run ended with whose last command ended with `code`, but for what its expectations made of it.

    A command that went well does not undo what one before it met; `codes` are what commands ended with, by stage.
    Where every stage went well, 3 and 4 are what the expectations of an earlier report said; they are held again.
    """
    if code not in (0, _BLOCKED, _PARTLY):
        return code
    met = [_met(stage, codes.get(stage.stage)) for stage in stages]
    return max(code, *met) if any(met) else 0


def _met(stage: StageOutcome, ended: object) -> int:
    """What `stage`, of a command that `ended` so, leaves a run with."""
    if stage.status == "failed":
        return ended if isinstance(ended, int) and ended in _NOTHING_SENT else _PARTLY
    return _BLOCKED if stage.status == "blocked" else 0


def _stages(line: Mapping[str, Any]) -> list[StageOutcome]:
    """The stages of a line that ends an attempt; what another version wrote otherwise is left out."""
    found = []
    told = line.get("stages")
    for each in told if isinstance(told, list) else ():
        if isinstance(each, Mapping) and isinstance(each.get("stage"), str):
            counts = each.get("counts")
            found.append(
                StageOutcome(
                    each["stage"],
                    str(each.get("status")),
                    float(each.get("seconds") or 0),
                    dict(counts) if isinstance(counts, Mapping) else {},
                    each.get("error"),
                )
            )
    return found


__all__ = ["WITHOUT_A_WORD", "Ending", "read_ending"]
