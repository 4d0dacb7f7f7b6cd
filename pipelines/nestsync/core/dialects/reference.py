"""The reference table of the documentation: every dialect, how it writes the root and a table, what it refuses."""

from __future__ import annotations

from dataclasses import dataclass

from nestsync.core.dialects import DIALECTS, dialect

_TABLE = (("a", "b"), "t")


@dataclass(frozen=True, slots=True)
class Row:
    """One dialect with its defaults; None where it has no such text."""

    dialect: str
    root: str | None
    table: str | None
    """``encode_table(("a", "b"), "t")``."""
    refuses: str


def rows() -> list[Row]:
    """One row a dialect, in the order of the registry."""
    return [_row(name) for name in DIALECTS]


def _row(name: str) -> Row:
    found = dialect(name)
    root = found.encode(()) if found.refusal(()) is None else None
    table = found.encode_table(*_TABLE) if found.table_refusal(*_TABLE) is None else None
    return Row(name, root, table, found.refuses)


__all__ = ["Row", "rows"]
