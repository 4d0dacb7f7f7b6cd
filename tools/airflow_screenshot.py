"""Makes docs/images/airflow.png: a sync of the sample catalogs that waits at its gate, in Airflow's own graph view.

`make screenshot-airflow` calls it. Needs a Chromium (on PATH, or NESTSYNC_CHROMIUM), and minutes.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from playwright.sync_api import ViewportSize, sync_playwright

from tools.airflow_up import ROOT, Up, environment, free_port, sample
from tools.browser import arguments, chromium

PICTURE = ROOT / "docs" / "images" / "airflow.png"
DAG_ID = "nestsync.resolved"
WAITS = "awaiting_input"
LONGEST_SECONDS = 1200.0
SIZE: ViewportSize = {"width": 1500, "height": 620}
SETTLED_MS = 6000.0
"""How long the page is left alone after its graph is there: it is laid out, and zoomed to fit."""
STORED = {"default_dag_view": '"graph"', "chakra-ui-color-mode": "light", "theme": "light"}
"""What the UI remembers of a person who likes it so."""


def main() -> int:
    """Start everything, wait for the gate, take the picture, stop everything."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="airflow-", ignore_cleanup_errors=True)))
        conf = stack.enter_context(sample(home / "sample"))
        up = Up(home, environment(home, conf, port=free_port()))
        stack.callback(up.stop)
        up.start()
        run_id = _triggered(up.url)
        _wait_for_the_gate(up.url, run_id)
        page = f"{up.url}/dags/{DAG_ID}/runs/{quote(run_id)}"
        take_picture(page, PICTURE)
        return 0


def take_picture(address: str, file: Path) -> None:
    """The graph of the run at `address`, once it is drawn. Raises playwright's `TimeoutError` where it never is."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments())
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(address)  # it logs in by itself here
        page.evaluate(
            "(stored) => Object.entries(stored).forEach(([key, value]) => localStorage.setItem(key, value))", STORED
        )
        page.goto(address)
        page.locator(".react-flow__node").first.wait_for(timeout=60_000)
        page.wait_for_timeout(SETTLED_MS)
        page.screenshot(path=file)
        browser.close()


def _triggered(url: str) -> str:
    while not any(dag["dag_id"] == DAG_ID for dag in _ask(url, "/dags?limit=100")["dags"]):
        time.sleep(2)
    said = _ask(url, f"/dags/{DAG_ID}/dagRuns", {"dag_run_id": "nightly-2026-11-28", "logical_date": None})
    return str(said["dag_run_id"])


def _wait_for_the_gate(url: str, run_id: str) -> None:
    deadline = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < deadline:
        if _ask(url, f"/dags/{DAG_ID}/dagRuns/{quote(run_id)}/taskInstances/gate")["state"] == WAITS:
            return
        time.sleep(5)
    raise TimeoutError(f"the gate of {DAG_ID} was not reached")


def _ask(url: str, path: str, body: object = None) -> Any:
    with urlopen(f"{url}/auth/token", timeout=60) as answer:  # noqa: S310
        token = json.load(answer)["access_token"]
    content = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = Request(f"{url}/api/v2{path}", data=content, headers=headers)  # noqa: S310
    with urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer)


if __name__ == "__main__":
    sys.exit(main())
