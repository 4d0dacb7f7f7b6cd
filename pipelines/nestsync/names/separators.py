"""``nestsync separators``: which character could join the levels of an inventory, and what it would change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from nestsync.core.checking import CheckContext, Ranked, rank_separators
from nestsync.core.identifiers import Levels, shown
from nestsync.core.separators import safety_reason
from nestsync.core.separators import shown as shown_separator
from nestsync.printing import print_table, visible, write_line
from nestsync.runfiles import RunFiles


@dataclass(frozen=True, slots=True)
class Change:
    """What a candidate would change for the names whose levels are joined by the configured separator so far."""

    renamed: int
    """Names that would get another text."""
    example: tuple[str, str] | None
    """The shortest of them, before and after."""


@dataclass(frozen=True, slots=True)
class Separators:
    """The answer of ``nestsync separators``."""

    run_id: str
    configured: str | None
    ranked: tuple[Ranked, ...]
    changes: Mapping[str, Change]
    """By candidate; one that cannot join levels at all, or has nothing to be compared with, is not there."""
    checked: bool
    """Whether the ranking is the check's own: it also keeps clear of the levels that a mapping brings in."""

    def write(self, stream: TextIO) -> None:
        """The ranking, then which names are in conflict with each candidate."""
        basis = "as its check ranked them" if self.checked else "by its inventory alone, before a check of it"
        write_line(stream, f"separators of run {self.run_id}, {basis}")
        if not self.ranked:
            write_line(stream, "no separator is configured, and no candidate")
            return
        rows = [
            (each.rank, shown_separator(each.separator), each.conflicts, self._verdict(each), self._change(each))
            for each in self.ranked
        ]
        print_table(stream, "", ("rank", "separator", "conflicts", "verdict", "would change"), rows)
        for each in self.ranked:
            for source, levels in each.examples:
                write_line(stream, visible(f"{shown_separator(each.separator)} is in {source} {shown(levels)}"))
            if each.conflicts > len(each.examples):
                more = each.conflicts - len(each.examples)
                write_line(stream, f"{shown_separator(each.separator)} is in {more:,} more")

    def _verdict(self, ranked: Ranked) -> str:
        said = "suggested" if ranked.suggested else "allowed" if ranked.allowed else f"refused: {ranked.reason}"
        return f"configured, {said}" if ranked.separator == self.configured else said

    def _change(self, ranked: Ranked) -> str:
        change = self.changes.get(ranked.separator)
        if change is None:
            return ""
        if change.example is None:
            return "nothing"
        before, after = change.example
        return f"{change.renamed:,} {'text' if change.renamed == 1 else 'texts'}: {before} to {after}"

    def as_json(self) -> dict[str, Any]:
        """The ranking, best first."""
        return {
            "run_id": self.run_id,
            "configured": self.configured,
            "ranked_by": "check" if self.checked else "inventory",
            "separators": [self._row(each) for each in self.ranked],
        }

    def _row(self, ranked: Ranked) -> dict[str, Any]:
        change = self.changes.get(ranked.separator)
        before, after = (None, None) if change is None or change.example is None else change.example
        return {
            "rank": ranked.rank,
            "separator": ranked.separator,
            "configured": ranked.separator == self.configured,
            "conflicts": ranked.conflicts,
            "examples": [{"source": source, "levels": list(levels)} for source, levels in ranked.examples],
            "allowed": ranked.allowed,
            "reason": ranked.reason,
            "suggested": ranked.suggested,
            "changes": None if change is None else {"texts": change.renamed, "before": before, "after": after},
        }


def read_separators(files: RunFiles, *, run_id: str | None = None) -> Separators:
    """The ranking of a run's candidates, of the latest with an inventory by default: the check's where it still fits.

    Raises as `RunFiles` does.
    """
    run_id, known = files.inventory(run_id)
    summary = files.summary(run_id)
    with files.understood(run_id, "`nestsync check -c FILE` ranks the separators again"):
        naming = _naming(summary)
        check = summary.get("check", {})
        # A catalog that was read again since is another listing, and the check's ranking is out of date.
        fits = check.get("listings") == {name: facts.get("listing") for name, facts in known.items()}
        ranked = tuple(map(_ranked, check["separators"])) if fits else None
    sources = {name: facts for name, facts in known.items() if facts.get("role") == "source"}
    subjects = list(files.listed_namespaces(run_id, sources))
    changed = changes(Counter(subject.levels for subject in subjects), naming)
    if ranked is None:
        return Separators(run_id, naming.separator, rank_separators(subjects, naming), changed, checked=False)
    return Separators(run_id, naming.separator, ranked, changed, checked=True)


def _naming(summary: Mapping[str, Any]) -> CheckContext:
    said = summary["naming"]
    return CheckContext(
        separator=said["separator"],
        candidates=tuple(said["candidates"]),
        policy=said["policy"],
        allowed=tuple(said["allowed"]),
    )


def _ranked(row: Mapping[str, Any]) -> Ranked:
    return Ranked(
        separator=row["separator"],
        conflicts=row["conflicts"],
        examples=tuple((each["source"], tuple(each["levels"])) for each in row["examples"]),
        allowed=row["allowed"],
        reason=row["reason"],
        rank=row["rank"],
        suggested=row["suggested"],
    )


def changes(namespaces: Counter[Levels], naming: CheckContext) -> dict[str, Change]:
    """What each candidate would change for `namespaces`, each as often as a source has it.

    Of those that `core.gravitino.separator_changed` finds, the ones with a text before and after; those that hold the
    candidate are its conflicts. In one pass for each candidate.
    """
    before = naming.separator
    if before is None:
        return {}
    texts = {levels: before.join(levels) for levels in namespaces if len(levels) > 1 and "" not in levels}
    found = {}
    for candidate in naming.ranked():
        if candidate == before:
            found[candidate] = Change(0, None)
        elif safety_reason(candidate) is None:
            free = [levels for levels, text in texts.items() if candidate not in text or not _held(candidate, levels)]
            shortest = min(free, key=lambda levels: (len(texts[levels]), levels), default=None)
            example = None if shortest is None else (texts[shortest], candidate.join(shortest))
            found[candidate] = Change(sum(namespaces[levels] for levels in free), example)
    return found


def _held(candidate: str, levels: Levels) -> bool:
    return any(candidate in level for level in levels)


__all__ = ["Change", "Separators", "changes", "read_separators"]
