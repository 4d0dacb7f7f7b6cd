"""A real Chromium for the module that wants one, and the pages that it opens."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def chromium() -> str | None:
    """The program: of NESTSYNC_CHROMIUM, else one that is on PATH."""
    named = os.environ.get("NESTSYNC_CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


def arguments() -> list[str]:
    """As root, which containers run as, Chromium has no sandbox; it opens nothing but our own files here."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window. Where none is installed the test is skipped; on a build server it fails."""
    program = chromium()
    if program is None and not os.environ.get("CI"):
        pytest.skip("there is no Chromium: install it, or name it in NESTSYNC_CHROMIUM")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=arguments())
        yield opened
        opened.close()
