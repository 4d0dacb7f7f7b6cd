"""Names that are not merely lossy: an engine or a server that reads them does harm to others.

Source: what Trino 476, Gravitino 1.3.0 and the clients of object stores were seen to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from nestsync.core.capabilities import capabilities
from nestsync.core.dialects import Refusal, dialect
from nestsync.core.dialects.trino import BLANKS
from nestsync.core.identifiers import Levels

_RULE = "dangerous-name"


def _in_trino(levels: Levels) -> list[Refusal]:
    found = []
    for index, level in enumerate(levels):
        if not level.strip(BLANKS + "."):
            reason = "addresses its parent in Trino: a DROP SCHEMA of it drops the parent"
            found.append(Refusal(index, level, None, reason, "a level that can be seen", _RULE))
        if "\x1f" in level:
            reason = "holds U+001F, which makes SHOW SCHEMAS fail for the whole catalog in Trino"
            found.append(Refusal(index, level, "\x1f", reason, "levels without U+001F", _RULE))
    return found


def _in_gravitino(levels: Levels) -> list[Refusal]:
    """With authorisation on, a request with such a name fails and leaves the namespace in the backend all the same."""
    refused = capabilities("gravitino").refusals(levels)
    return [
        Refusal(
            r.level_index, r.level, r.character, f"{r.reason}, and Gravitino keeps it in the backend", r.accepted, _RULE
        )
        for r in refused
    ]


def _in_requests(levels: Levels) -> list[Refusal]:
    """HTTP clients resolve a path segment ``.`` or ``..`` away (RFC 3986, section 5.2.4)."""
    if levels not in ((".",), ("..",)):
        return []
    reason = "is resolved away in a request path: a request for it goes to what is above"
    return [Refusal(0, levels[0], ".", reason, "another name", _RULE)]


def _in_locations(levels: Levels) -> list[Refusal]:
    """Clients (pyiceberg, Lance) cut a location at ``?`` and ``#``; Lance undoes ``%`` too. Two tables become one."""
    return [
        Refusal(index, level, sign, f"holds {sign!r}, at which clients cut a location", f"without {sign!r}", _RULE)
        for index, level in enumerate(levels)
        for sign in "?#%"
        if sign in level
    ]


READERS: dict[str, Callable[[Levels], list[Refusal]]] = {
    "trino": _in_trino,
    "gravitino": _in_gravitino,
    "iceberg-rest": _in_requests,
    "locations": _in_locations,
}
"""Who reads a target's names: an engine, a server, the clients of REST paths, or clients of derived locations."""


def dangers(reader: str, levels: Levels) -> list[Refusal]:
    """What `reader` (one of `READERS`; others do no harm) would do about the namespace `levels`, level by level."""
    return READERS[reader](levels) if reader in READERS else []


def schema_shown(levels: Levels) -> str:
    """The text by which Trino knows the namespace `levels`, and every other one that it shows as the same schema."""
    return dialect("trino").render(levels)


def one_schema_together(namespaces: Iterable[Levels]) -> list[list[Levels]]:
    """Groups of namespaces that Trino shows as one schema: it means one of them by that name and hides the others."""
    by_text: dict[str, set[Levels]] = defaultdict(set)
    for levels in namespaces:
        by_text[schema_shown(levels)].add(levels)
    return [sorted(group) for _, group in sorted(by_text.items()) if len(group) > 1]


__all__ = ["READERS", "dangers", "one_schema_together", "schema_shown"]
