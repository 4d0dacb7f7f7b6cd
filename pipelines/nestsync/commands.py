"""Commands as a person pastes them into a shell."""

from __future__ import annotations

import shlex
from pathlib import Path


def command(stage: str, config: Path | str, run_id: str | None = None, *more: str) -> str:
    """``nestsync STAGE -c CONFIG [--run-id RUN]`` and `more` words, each quoted where a shell needs it."""
    of_run = () if run_id is None else ("--run-id", run_id)
    return shlex.join(("nestsync", stage, "-c", str(config), *of_run, *more))


__all__ = ["command"]
