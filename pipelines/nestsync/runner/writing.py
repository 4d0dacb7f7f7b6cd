"""The stages around the write: plan, apply and verify."""

from __future__ import annotations

from nestsync.core.plan import Strategy
from nestsync.errors import ActionsFailed, BlockingFindings, ConfigurationError, PlanOutdated
from nestsync.runner.context import RunContext
from nestsync.runner.outcomes import WRITES
from nestsync.runner.reading import found
