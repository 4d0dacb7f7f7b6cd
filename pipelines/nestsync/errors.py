"""Every error outside `core`, under the one root (`core.errors.NestsyncError`), by what a user must do."""

from __future__ import annotations

from typing import ClassVar

from nestsync.core.errors import NestsyncError, one_line

EXIT_CODES: dict[int, str] = {
    0: "done, nothing blocking; warnings are allowed",
    1: "unexpected failure",
    2: "usage or configuration is wrong; nothing was written",
    3: "blocking findings; nothing was written",
    4: "some actions failed or did not verify; the rest is applied and recorded",
    5: "a source or the target cannot be reached, or another run holds the lease",
    6: "the plan no longer fits: it was edited, or a source or the target moved since",
}
"""What every command can end with. Once a write request was sent, nothing ends with 3."""


class ConfigurationError(NestsyncError):
    """The configuration, an option or the command line is wrong; nothing ran."""

    code: ClassVar[str] = "configuration"
    exit_code: ClassVar[int] = 2


class UsageMistake(NestsyncError):
    """The command line cannot be understood; nothing ran."""

    code: ClassVar[str] = "usage"
    exit_code: ClassVar[int] = 2


class NotConfirmed(NestsyncError):
    """A person was asked before the target was written, and did not agree; nothing was written."""

    code: ClassVar[str] = "not-confirmed"
    exit_code: ClassVar[int] = 2


class PrerequisiteMissing(NestsyncError):
    """The machine lacks something that nestsync cannot bring along (Java, say)."""

    code: ClassVar[str] = "prerequisite-missing"
    exit_code: ClassVar[int] = 2


class BlockingFindings(NestsyncError):
    """Blocking findings stand in the way; nothing was written."""

    code: ClassVar[str] = "blocking-findings"
    exit_code: ClassVar[int] = 3


class ActionsFailed(NestsyncError):
    """Some actions failed or did not verify; the rest is applied and recorded."""

    code: ClassVar[str] = "actions-failed"
    exit_code: ClassVar[int] = 4


class CatalogUnreachable(NestsyncError):
    """A source or the target cannot be reached, refuses us, or answers with something that is no answer."""

    code: ClassVar[str] = "catalog-unreachable"
    exit_code: ClassVar[int] = 5


class WriteUnheard(CatalogUnreachable):
    """The target stopped answering after a write was sent to it: whether it was carried out is not known."""

    code: ClassVar[str] = "write-unheard"
    exit_code: ClassVar[int] = 4


class LeaseHeld(NestsyncError):
    """Another run holds the lease on this workspace; the message names it."""

    code: ClassVar[str] = "lease-held"
    exit_code: ClassVar[int] = 5


class PlanOutdated(NestsyncError):
    """The plan no longer fits: it was edited, or a source or the target moved since."""

    code: ClassVar[str] = "plan-outdated"
    exit_code: ClassVar[int] = 6


class ObjectError(NestsyncError):
    """One object cannot be read or written; the rest of the catalog can."""

    code: ClassVar[str] = "object-failed"
    exit_code: ClassVar[int] = 4


class AlreadyExists(ObjectError):
    """The object to create is there already; what it holds was not compared yet.

    `repeated` says that the creation was asked for more than once: the first sending may have made it.
    """

    code: ClassVar[str] = "already-exists"
    repeated: bool = False


class OutputUnwritable(NestsyncError):
    """Standard output did not take all that a command said: a disk is full, say. What the command did is done."""

    code: ClassVar[str] = "output-unwritable"


class RunNotFound(ConfigurationError):
    """The workspace holds no such run."""

    code: ClassVar[str] = "run-not-found"


class SummaryUnreadable(ConfigurationError):
    """A file that an earlier command left beside the Delta tables is missing, broken or half-written."""

    code: ClassVar[str] = "summary-unreadable"


__all__ = [
    "EXIT_CODES",
    "ActionsFailed",
    "AlreadyExists",
    "BlockingFindings",
    "CatalogUnreachable",
    "ConfigurationError",
    "LeaseHeld",
    "NestsyncError",
    "NotConfirmed",
    "ObjectError",
    "OutputUnwritable",
    "PlanOutdated",
    "PrerequisiteMissing",
    "RunNotFound",
    "SummaryUnreadable",
    "UsageMistake",
    "WriteUnheard",
    "one_line",
]
