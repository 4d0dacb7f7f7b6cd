"""``nestsync explain`` as a person and as a machine reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TextIO

from nestsync.core.capabilities import Case
from nestsync.core.dialects import Refusal, dialect
from nestsync.core.explain import Explanation, Held, Written
from nestsync.core.identifiers import Identifier, quoted, shown
from nestsync.core.separators import shown as shown_separator
from nestsync.printing import print_table, visible, write_line


@dataclass(frozen=True, slots=True)
class Explained:
    """The answer of ``nestsync explain``."""

    explanation: Explanation

    def write(self, stream: TextIO) -> None:
        """What the text means, each dialect, each target that refuses it, and what would be dangerous."""
        found = self.explanation
        write_line(stream, visible(f"{found.asked.dialect} reads {found.asked.text} as {self._meaning()}"))
        for warning in self.warnings():
            write_line(stream, visible(f"warning: {warning}"))
        if found.written:
            write_line(stream, "")
            rows = [(_label(each), each.fate, each.text or "", _way_back(each)) for each in found.written]
            print_table(stream, "", ("dialect", "way back", "written", "because"), rows)
            self._write_targets(stream)

    def _meaning(self) -> str:
        found = self.explanation
        if found.path is not None:
            name = quoted(found.identifier.name or "")
            return f"the table {name} by its path {found.path}, in which no dialect and no target has a say"
        of = "" if found.catalog is None else f" of the catalog {found.catalog}"
        return f"{_in_words(found.identifier)}{of}"

    def warnings(self) -> list[str]:
        """What a person should know before anything else."""
        other = self.explanation.other
        if other is None:
            return []
        java = f"Iceberg's Java clients and servers mean a blank by it: they read {_in_words(other)}"
        return [f"a bare + is a plus in a path (RFC 3986), and {java}. Write %2B or %20."]

    def _write_targets(self, stream: TextIO) -> None:
        found = self.explanation
        takes = [held.target.name for held in found.held if not held.refusals]
        write_line(stream, f"targets that take it: {', '.join(takes) or 'none'}")
        write_line(stream, "")
        refused = [
            (held.target.name, _why(refusal), held.target.evidence) for held in found.held for refusal in held.refusals
        ]
        if refused:
            print_table(stream, "", ("target", "refuses it", "known"), refused)
        other = [
            (held.target.name, _in_words(held.key), _where_it_counts(held))
            for held in found.held
            if not held.refusals and held.key != found.identifier
        ]
        if other:
            print_table(stream, "", ("target", "takes it for", "because"), other)
        if found.dangers:
            rows = [(danger.reader, _why(danger.refusal)) for danger in found.dangers]
            print_table(stream, "", ("read by", "dangerous"), rows)

    def as_json(self) -> dict[str, Any]:
        """The whole explanation; levels are lists, and a `name` is a table's."""
        found = self.explanation
        return {
            "text": found.asked.text,
            "from": found.asked.dialect,
            "separator": found.asked.separator,
            "catalog": found.catalog,
            "path": found.path,
            **_identifier(found.identifier),
            "other_reading": None if found.other is None else _identifier(found.other),
            "warnings": self.warnings(),
            "dialects": [_dialect_json(each) for each in found.written],
            "targets": [_target_json(each, found.identifier) for each in found.held],
            "dangers": [{"reader": each.reader, **_refusal_json(each.refusal)} for each in found.dangers],
        }


def _in_words(identifier: Identifier) -> str:
    where = shown(identifier.levels) if identifier.levels else "the root"
    if identifier.name is not None:
        return f"the table {quoted(identifier.name)} in {where}"
    return f"the namespace {where}" if identifier.levels else where


def _label(written: Written) -> str:
    separator = getattr(written.dialect, "separator", None)
    own = getattr(dialect(written.dialect.name), "separator", None)
    return written.dialect.name if separator == own else f"{written.dialect.name} {shown_separator(separator or '')}"


def _way_back(written: Written) -> str:
    if written.refusal is None:
        return ""
    back = f"comes back as {_in_words(written.back)}: " if written.back is not None else ""
    return f"{back}{_why(written.refusal)}"


def _why(refusal: Refusal) -> str:
    accepted = "" if refusal.accepted in refusal.reason else f"; accepted: {refusal.accepted}"
    return f"{refusal}{accepted}"


def _where_it_counts(held: Held) -> str:
    return f"{held.target.case}" if held.target.case is not Case.KEPT else "compares in NFC"


def _identifier(identifier: Identifier) -> dict[str, Any]:
    return {"levels": list(identifier.levels), "name": identifier.name}


def _refusal_json(refusal: Refusal) -> dict[str, Any]:
    return {
        "level_index": refusal.level_index,
        "level": refusal.level,
        "character": refusal.character,
        "reason": refusal.reason,
        "accepted": refusal.accepted,
    }


def _dialect_json(written: Written) -> dict[str, Any]:
    return {
        "dialect": written.dialect.name,
        "separator": getattr(written.dialect, "separator", None),
        "fate": str(written.fate),
        "text": written.text,
        "reads": None if written.back is None else _identifier(written.back),
        "refusal": None if written.refusal is None else _refusal_json(written.refusal),
    }


def _target_json(held: Held, identifier: Identifier) -> dict[str, Any]:
    return {
        "target": held.target.name,
        "title": held.target.title,
        "takes_it": not held.refusals,
        "refusals": [_refusal_json(each) for each in held.refusals],
        "takes_it_for": None if held.key == identifier else _identifier(held.key),
        "evidence": str(held.target.evidence),
        "where": held.target.where,
    }


__all__ = ["Explained"]
