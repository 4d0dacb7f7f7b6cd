"""``nestsync diff`` as a person and as a machine reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from nestsync.core.identifiers import quoted, shown
from nestsync.printing import print_table, visible, write_line

if TYPE_CHECKING:
    from nestsync.reports.changes import ChangeRow, Changes


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer of ``nestsync diff``."""

    changes: Changes

    def write(self, stream: TextIO) -> None:
        """The sentence, what to know before, the first changes, and where all of them are."""
        found = self.changes
        write_line(stream, visible(found.sentence))
        for note in found.notes:
            write_line(stream, visible(f"note: {note}"))
        if not found.total:
            return
        write_line(stream, "")
        print_table(stream, "", ("change", "what", "which", "detail"), [_row(row) for row in found.rows])
        if found.left_out:
            write_line(stream, f"{found.left_out:,} more; all {found.total:,} are in")
        write_line(stream, found.file)

    def as_json(self) -> dict[str, Any]:
        """The comparison."""
        return self.changes.as_json()


def _row(row: ChangeRow) -> tuple[str, ...]:
    name = "" if row.name is None else f" {quoted(row.name)}"
    rule = "" if row.rule is None else f"{row.severity} {row.rule}: "
    what = row.what if row.role == "source" else f"{row.what} in the target"
    return row.change, what, f"{row.source} {shown(row.levels)}{name}", f"{rule}{row.detail or ''}"


__all__ = ["Comparison"]
