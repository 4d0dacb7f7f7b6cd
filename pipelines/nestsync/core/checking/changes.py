"""A separator that is another than the target was enabled with: what each name there means is to be looked at again.

Source: the Gravitino design, "Existing Name Compatibility and Migration Guard".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nestsync.core.checking import messages
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.messages import Slot, fill
from nestsync.core.checking.rules import NAMESPACE, Subject
from nestsync.core.findings import Finding, Severity
from nestsync.core.gravitino import is_concerned
from nestsync.core.identifiers import quoted, shown

RULE = "separator-changed"


def severity(context: CheckContext) -> Severity:
    """A change that the configuration wants is reported, and blocks nothing."""
    if context.replaces is not None and context.replaces == context.separator_before:
        return Severity.INFO
    return context.severity(RULE)


def separator_changes(existing: Iterable[Subject], context: CheckContext) -> Iterator[Finding]:
    """One finding for each namespace among `existing`, of the target, whose text is another, or none any more."""
    before, after = context.separator_before, context.separator
    if before is None or after is None:
        return
    for subject in existing:
        if subject.object != NAMESPACE or not is_concerned(subject.levels, after):
            continue
        holding = next((level for level in subject.levels if after in level), None)
        sentence = messages.separator_changed(before, after, context.replaces, holds=holding is not None)
        values = {Slot.TARGET: shown(subject.levels), Slot.LEVEL: quoted(holding or "")}
        yield Finding(
            rule=RULE,
            severity=severity(context),
            source=subject.source,
            object=NAMESPACE,
            levels=subject.levels,
            name=None,
            target_levels=subject.levels,
            message=fill(sentence.message, values),
            hint=fill(sentence.hint, values),
        )


__all__ = ["RULE", "separator_changes", "severity"]
