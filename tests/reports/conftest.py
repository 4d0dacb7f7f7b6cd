"""A real Chromium for the module that wants one, and the pages that it opens."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tools.browser import arguments, chromium


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
