"""Gravitino's rules for names once nested mode is on: new flat names, and a separator that changes.

Source: the design, "Existing Name Compatibility and Migration Guard" and "Delimiter Configuration Policy".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nestsync.core.dialects import NameRefused, Refusal, dialect
from nestsync.core.dialects.base import unwritable
from nestsync.core.identifiers import Levels
from nestsync.core.separators import Policy, demand_policy, shown


def read_new_name(name: str, *, separator: str = ":", policy: Policy = "restricted", nested_aware: bool) -> Levels:
    """What creating a schema called `name` means: its levels. Raises `NameRefused`, and `UnknownKind` for a policy.

    A nested-aware request path (Iceberg's namespace API, Gravitino's own) reads hierarchy. On any other (Hive's)
    the name is flat: option 1, ``restricted``, refuses one that holds the separator, option 2, ``unrestricted``,
    takes it as it is.
    """
    demand_policy(policy)
    logical = dialect("gravitino", separator=separator)
    if not name:  # the empty text is the root, which nobody creates
        raise NameRefused(Refusal(0, name, None, "is empty", "one character or more", "empty-level"), where="gravitino")
    if nested_aware:
        return logical.decode(name)
    logical.demand(unwritable((name,)))
    if policy == "restricted" and separator in name:
        reason = f"holds {shown(separator)}, which is reserved for hierarchy since nested mode is on"
        refusal = Refusal(0, name, separator, reason, f"a name without {shown(separator)}", "separator-conflict")
        raise NameRefused(refusal, where="gravitino")
    return (name,)


@dataclass(frozen=True, slots=True)
class Affected:
    """One namespace that a change of the separator concerns."""

    levels: Levels
    before: str
    """Its text so far; plain joining where the old separator could not write it."""
    after: str | None
    """Its new text; None where a level holds the new separator or is empty, so that it has none."""


def is_concerned(levels: Levels, after: str) -> bool:
    """Whether the namespace `levels` has another text, or none any more, once `after` joins levels.

    Nested ones get another text; flat ones are concerned only where they hold the new separator.
    """
    return len(levels) > 1 or any(after in level for level in levels)


def separator_changed(namespaces: Iterable[Levels], *, before: str, after: str) -> list[Affected]:
    """The namespaces that are concerned once `before` is replaced by `after`, sorted.

    Raises `SeparatorRefused` where `after` is unsafe.
    """
    new = dialect("gravitino", separator=after)
    return [
        Affected(levels, before.join(levels), new.encode(levels) if new.refusal(levels) is None else None)
        for levels in (sorted(set(namespaces)) if before != after else ())
        if is_concerned(levels, after)
    ]


__all__ = ["Affected", "is_concerned", "read_new_name", "separator_changed"]
