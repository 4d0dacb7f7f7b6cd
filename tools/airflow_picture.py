"""A picture of a page of Airflow's UI, by a headless Chromium that is driven over its DevTools protocol.

    .venv-airflow/bin/python tools/airflow_picture.py ADDRESS FILE.png

Runs in Airflow's environment, which has `websockets`. NESTSYNC_CHROMIUM names the program where it is not called so.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from websockets.sync.client import ClientConnection, connect

SIZE = (1500, 620)
DRAWN_SECONDS = 60.0
SETTLED_SECONDS = 6.0
"""How long the page is left alone after its graph is there: it is laid out, and zoomed to fit."""
STORED = {"default_dag_view": '"graph"', "chakra-ui-color-mode": "light", "theme": "light"}
DRAWN = "document.querySelectorAll('.react-flow__node').length"


def main(address: str, file: str) -> int:
    """Take the picture of the graph at `address`."""
    with _chromium() as browser:
        origin = f"{urlsplit(address).scheme}://{urlsplit(address).netloc}"
        browser.call("Page.navigate", url=origin)
        time.sleep(SETTLED_SECONDS)  # it logs in by itself here
        for key, value in STORED.items():
            browser.value(f"localStorage.setItem({json.dumps(key)}, {json.dumps(value)})")
        browser.call("Page.navigate", url=address)
        deadline = time.monotonic() + DRAWN_SECONDS
        while not browser.value(DRAWN):
            if time.monotonic() > deadline:
                sys.stderr.write(f"no graph was drawn at {address} within {DRAWN_SECONDS:.0f} s\n")
                return 1
            time.sleep(0.5)
        time.sleep(SETTLED_SECONDS)
        picture = browser.call("Page.captureScreenshot", format="png", optimizeForSpeed=False)["data"]
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_bytes(base64.b64decode(picture))
    return 0


class Browser:
    """One page of a browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """The result of one command of the protocol."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            said = json.loads(self._socket.recv(60))
            if said.get("id") == number:
                result: dict[str, Any] = said["result"]
                return result

    def value(self, expression: str) -> Any:
        """What `expression` is in the page; None where it is nothing, or cannot be told yet."""
        return self.call("Runtime.evaluate", expression=expression)["result"].get("value")


@contextmanager
def _chromium() -> Iterator[Browser]:
    installed = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    program = os.environ.get("NESTSYNC_CHROMIUM") or next(installed, "chromium")
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0"]
        options += [f"--user-data-dir={profile}", f"--window-size={SIZE[0]},{SIZE[1]}", "about:blank"]
        process = subprocess.Popen(  # noqa: S603
            [program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            with connect(_page(Path(profile)), max_size=None) as socket:
                browser = Browser(socket)
                size = {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1, "mobile": False}
                browser.call("Emulation.setDeviceMetricsOverride", **size)
                yield browser
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _page(profile: Path) -> str:
    """The address of the first page; the browser leaves its port in its profile. Raises `TimeoutError`."""
    deadline = time.monotonic() + DRAWN_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError, IndexError, ValueError):
            port = (profile / "DevToolsActivePort").read_text("ascii").splitlines()[0]
            with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
                pages = [page for page in json.load(answer) if page["type"] == "page"]
            return str(pages[0]["webSocketDebuggerUrl"])
        time.sleep(0.2)
    raise TimeoutError("the browser does not start")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
