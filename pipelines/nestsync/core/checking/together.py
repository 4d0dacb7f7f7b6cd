"""Namespaces that the target holds apart and Trino shows as one schema: it means one of them, and hides the others.

Nothing is wrong with any of them by itself. What the target itself holds as one is a collision, and no matter here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from nestsync.core.checking import messages
from nestsync.core.checking.collisions import Claim, claims, finding, heard
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.rules import DANGEROUS, Placed, Subject
from nestsync.core.dangers import schema_shown
from nestsync.core.findings import Finding

ENGINE = "trino"
"""The engine that shows several namespaces as one, among `CheckContext.harmed_by`."""


def shown_together(placed: Iterable[Placed], existing: Iterable[Subject], context: CheckContext) -> Iterator[Finding]:
    """One finding for all namespaces, also parents, that are one schema."""
    if ENGINE not in context.harmed_by:
        return
    schemas: dict[str, set[Claim]] = defaultdict(set)
    for claim in claims(placed, existing, context, parents=True):
        if claim.levels and not claim.is_table:  # the root is no schema
            schemas[schema_shown(claim.stored)].add(claim)
    for group in schemas.values():
        among = heard(group)
        if len({claim.final for claim in among}) > 1:
            yield from finding(among, DANGEROUS, messages.ONE_SCHEMA, context)


__all__ = ["ENGINE", "shown_together"]
