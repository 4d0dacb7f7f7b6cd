"""``nestsync prune`` as a person and as a machine reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from nestsync.history.retention import Kept
from nestsync.printing import visible, write_line


@dataclass(frozen=True, slots=True)
class Pruned:
    """The answer of ``nestsync prune``."""

    runs: Sequence[str]
    kept: Sequence[Kept]
    dry_run: bool
    limited: bool = True
    """Whether any limit is set."""

    def write(self, stream: TextIO) -> None:
        """What went or would go, and what stays although the limits would take it."""
        if not self.limited:
            write_line(stream, "nothing is ever removed: the configuration's `retention` sets no limit")
            return
        verb = "would be removed" if self.dry_run else "removed"
        write_line(stream, f"{len(self.runs):,} {'run' if len(self.runs) == 1 else 'runs'} {verb}")
        for run_id in self.runs:
            write_line(stream, f"  {run_id}")
        for each in self.kept:
            write_line(stream, visible(f"kept: {each.run_id}, for {each.reason}"))

    def as_json(self) -> dict[str, Any]:
        """The runs, and what stays."""
        return {
            "dry_run": self.dry_run,
            "runs": list(self.runs),
            "kept": [{"run_id": each.run_id, "reason": each.reason} for each in self.kept],
        }


__all__ = ["Pruned"]
