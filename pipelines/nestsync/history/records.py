"""Every run of a workspace as one record, out of what its commands said (`attempts`) and its summary.

What an older version wrote is read as far as it goes: a key that is missing or of another kind is not known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from nestsync.errors import SummaryUnreadable
from nestsync.history.actors import Actor, actors_of
from nestsync.history.attempts import BEGUN, ENDED, FOLDER, PRUNED, STAGE, history_file, is_under_way
from nestsync.runfiles import RunFiles

UNDER_WAY, DIED, FINISHED, UNKNOWN = "under way", "died", "ended", "unknown"
REPORT = "report"
_DATED = re.compile(r"(\d{8}T\d{6})(?![0-9])")
OBJECTS = ("namespaces", "tables", "views")
SYNC, ASSESSMENT = "sync", "assessment"
SEVERITIES = ("blocking", "warning", "info")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run, as far as it is known."""

    run_id: str
    state: str
    """``ended``; ``under way``; ``died``: it began and said nothing of an end; ``unknown``: of an older version."""
    started_at: datetime
    """UTC; where nobody said so, the time in the run's id, or that of its summary file."""
    seconds: float | None = None
    """Wall time of all its commands together; None where none has ended."""
    commands: tuple[str, ...] = ()
    exit_code: int | None = None
    """Of the last command that ended."""
    exit_codes: tuple[int, ...] = ()
    """Of every command that ended, in their order."""
    verdict: str = ""
    configuration: str | None = None
    """The configuration file of the last command that did more than report."""
    configuration_hashes: frozenset[str] = frozenset()
    """Of what it said when commands worked with it that did more than report; none where an older version took them."""
    actors: tuple[Actor, ...] = ()
    """Who took it through its stages; whoever asked for its report alone is none of them."""
    naming: str | None = None
    """A hash of all that decided names and properties, where it was checked."""
    catalogs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By catalog of the inventory: ``role``, ``system`` and ``counts``."""
    stages: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What each stage counted when it ran last."""
    died_in: str | None = None
    """The stage in which the last command that did more than report died; None where it did not, or nobody knows."""
    pruned: bool = False
    """Whether its rows and files were removed."""

    def objects(self, kind: str) -> int | None:
        """How many ``namespaces``, ``tables`` or ``views`` its sources held; None where it has no inventory."""
        sources = [facts for facts in self.catalogs.values() if facts.get("role") == "source"]
        return sum(_count(facts.get("counts"), kind) for facts in sources) if sources else None

    def findings(self, severity: str) -> int | None:
        """How many findings of `severity` its check came to; None where it was not checked."""
        return None if "check" not in self.stages else _count(self.stages["check"], severity)

    @property
    def written(self) -> int | None:
        """How many changes it made in the target; None where it did not apply."""
        return None if "apply" not in self.stages else _count(self.stages["apply"], "applied")

    @property
    def purpose(self) -> str:
        """``assessment`` where no command of it could have come to write; ``sync`` otherwise."""
        return ASSESSMENT if set(self.commands) - {"report"} == {"assess"} else SYNC

    @property
    def verified(self) -> bool:
        """Whether it found the target to hold what was planned."""
        return "verify" in self.stages and not _count(self.stages["verify"], "differences")

    @property
    def target(self) -> str | None:
        """The target in its inventory."""
        return next((name for name, facts in self.catalogs.items() if facts.get("role") == "target"), None)

    @property
    def has_rows(self) -> bool:
        """Whether its inventory is there to be looked at."""
        return bool(self.catalogs) and not self.pruned

    def shares_with(self, other: RunRecord) -> bool:
        """Whether a source is in both inventories."""
        return bool(_sources(self) & _sources(other))

    def as_json(self) -> dict[str, Any]:
        """The record as JSON types."""
        return {
            "run_id": self.run_id,
            "state": self.state,
            "died_in": self.died_in,
            "started_at": self.started_at.isoformat(),
            "seconds": self.seconds,
            "commands": list(self.commands),
            "exit_code": self.exit_code,
            "verdict": self.verdict,
            "configuration": self.configuration,
            "actors": [actor.as_json() for actor in self.actors],
            **{kind: self.objects(kind) for kind in OBJECTS},
            **{severity: self.findings(severity) for severity in SEVERITIES},
            "written": self.written,
            "verified": self.verified,
            "catalogs": {name: dict(facts) for name, facts in self.catalogs.items()},
            "pruned": self.pruned,
        }


def _sources(record: RunRecord) -> set[str]:
    return {name for name, facts in record.catalogs.items() if facts.get("role") == "source"}


def _count(counts: object, kind: str) -> int:
    found = counts.get(kind) if isinstance(counts, Mapping) else None
    return found if isinstance(found, int) else 0


def read_history(files: RunFiles) -> list[RunRecord]:
    """Every run of the workspace, oldest first. One that cannot be read is there all the same, and says so."""
    told = {file.stem for file in (files.root / FOLDER).glob("*.jsonl")}
    found = [read_record(files, run_id) for run_id in told | set(files.run_ids())]
    return sorted(found, key=lambda record: (record.started_at, record.run_id))


def read_record(files: RunFiles, run_id: str) -> RunRecord:
    """What is known of `run_id`, which need not be there."""
    lines = list(read_lines(files, run_id))
    begun = [line for line in lines if line.get("event") == BEGUN]
    ended = [line for line in lines if line.get("event") == ENDED]
    summary, problem = _summary(files, run_id)
    last = ended[-1] if ended else {}
    took_part = [line for line in begun if not only_reports(line)]
    worked = took_part or begun
    state = _state(files, run_id, worked, ended)
    return RunRecord(
        run_id=run_id,
        state=state,
        started_at=_started(files, run_id, begun),
        seconds=sum(_number(line.get("seconds")) for line in ended) if ended else None,
        commands=tuple(dict.fromkeys(str(line.get("command")) for line in begun)),
        exit_code=last.get("exit_code") if isinstance(last.get("exit_code"), int) else None,
        exit_codes=tuple(line["exit_code"] for line in ended if isinstance(line.get("exit_code"), int)),
        verdict=problem or str(last.get("verdict") or ""),
        configuration=next((str(line["configuration"]) for line in reversed(worked) if "configuration" in line), None),
        configuration_hashes=frozenset(filter(None, (_text(line.get("configuration_hash")) for line in took_part))),
        actors=actors_of(took_part),
        naming=_text(_facts(summary, "check").get("naming")),
        catalogs=_catalogs(ended, summary),
        stages=_stages(ended, summary),
        died_in=last_stage(lines, worked[-1].get("attempt")) if state == DIED else None,
        pruned=bool(begun) and summary is None and not problem and _is_pruned(lines, ended),
    )


def read_lines(files: RunFiles, run_id: str) -> Iterator[dict[str, Any]]:
    """Every whole line of what the commands of `run_id` said."""
    file = history_file(files, run_id)
    with suppress(FileNotFoundError), file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            with suppress(ValueError):  # the last line of a process that died may be torn
                said = json.loads(line)
                if isinstance(said, dict):
                    yield said


def last_stage(lines: Sequence[Mapping[str, Any]], attempt: object) -> str | None:
    """The stage that `attempt` began last, where it said so."""
    said = [line.get("stage") for line in lines if line.get("event") == STAGE and line.get("attempt") == attempt]
    return said[-1] if said and isinstance(said[-1], str) else None


def only_reports(begun: Mapping[str, Any]) -> bool:
    """Whether the attempt that began so does nothing but report: what it comes to says nothing of the run itself."""
    return begun.get("stages") == [REPORT]


def _is_pruned(lines: Sequence[Mapping[str, Any]], ended: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a run without a summary had one, or was removed without ever having had one.

    An older version wrote no line when it removed a run: there its inventory is what tells that something is gone.
    """
    said = [line.get("event") for line in lines if line.get("event") == PRUNED or _works(line)]
    return said[-1:] == [PRUNED] or bool(_catalogs(ended, None))


def _works(line: Mapping[str, Any]) -> bool:
    return line.get("event") == BEGUN and not only_reports(line)


def _summary(files: RunFiles, run_id: str) -> tuple[dict[str, Any] | None, str]:
    """The run's summary, if it left one, and what is wrong with it."""
    if not files.has_summary(run_id):
        return None, ""
    try:
        return files.summary(run_id), ""
    except SummaryUnreadable as error:
        return None, f"its summary cannot be read: {error.what}"


def _state(
    files: RunFiles, run_id: str, worked: Sequence[Mapping[str, Any]], ended: Sequence[Mapping[str, Any]]
) -> str:
    if not worked:
        return UNKNOWN
    if is_under_way(files, run_id):
        return UNDER_WAY
    ends = {line.get("attempt") for line in ended}
    return FINISHED if worked[-1].get("attempt") in ends else DIED


def _started(files: RunFiles, run_id: str, begun: Sequence[Mapping[str, Any]]) -> datetime:
    if begun:
        with suppress(ValueError, TypeError, KeyError):
            return datetime.fromisoformat(begun[0]["at"]).astimezone(UTC)
    dated = _DATED.match(run_id)
    if dated:
        with suppress(ValueError):
            return datetime.strptime(dated[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    file = files.root / "runs-json" / f"{run_id}.json"
    return datetime.fromtimestamp(file.stat().st_mtime if file.exists() else 0, UTC)


def _catalogs(ended: Sequence[Mapping[str, Any]], summary: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    said = [line.get("catalogs") for line in ended] + [(summary or {}).get("inventory")]
    found: dict[str, dict[str, Any]] = {}
    for catalogs in said:
        if isinstance(catalogs, Mapping):
            found |= {
                name: {key: facts.get(key) for key in ("role", "system", "counts")}
                for name, facts in catalogs.items()
                if isinstance(facts, Mapping)
            }
    return found


def _stages(ended: Sequence[Mapping[str, Any]], summary: Mapping[str, Any] | None) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for stage in ("check", "plan", "apply"):  # what an older version left of a stage that ran
        counts = _facts(summary, stage).get("counts")
        if isinstance(counts, Mapping):
            found[stage] = dict(counts)
    differences = _facts(summary, "verify").get("differences")
    if isinstance(differences, int):
        found["verify"] = {"differences": differences}
    for line in ended:
        for stage in _listed(line.get("stages")):
            if isinstance(stage, Mapping) and stage.get("status") != "failed":
                counts = stage.get("counts")
                found[str(stage.get("stage"))] = dict(counts) if isinstance(counts, Mapping) else {}
    return found


def _facts(summary: Mapping[str, Any] | None, stage: str) -> Mapping[str, Any]:
    found = (summary or {}).get(stage)
    return found if isinstance(found, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


__all__ = [
    "DIED",
    "FINISHED",
    "OBJECTS",
    "REPORT",
    "SEVERITIES",
    "UNDER_WAY",
    "UNKNOWN",
    "RunRecord",
    "last_stage",
    "only_reports",
    "read_history",
    "read_lines",
    "read_record",
]
