"""The Chromium that is installed: for pictures, and for the tests that look at the report."""

from __future__ import annotations

import os
import shutil

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def chromium() -> str | None:
    """The program: of NESTSYNC_CHROMIUM, else one that is on PATH."""
    named = os.environ.get("NESTSYNC_CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


def arguments() -> list[str]:
    """As root, which containers run as, Chromium has no sandbox; it opens nothing but our own pages here."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []
