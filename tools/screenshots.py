"""Pictures of the newest report about a run that wrote something, for the README: `make screenshots`.

    python tools/screenshots.py REPORTS docs/images

Needs a Chromium: one on PATH, or NESTSYNC_CHROMIUM.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import Page, sync_playwright

from tools.browser import arguments, chromium

DESKTOP, PHONE = {"width": 1280, "height": 640}, {"width": 390, "height": 844}


def _whole(page: Page, path: Path) -> None:
    page.screenshot(path=path)


def _section(name: str) -> Any:
    def shot(page: Page, path: Path) -> None:
        page.add_style_tag(content="nav { position: static !important }")  # it would lie over the section
        page.locator(f"section#{name}").screenshot(path=path)

    return shot


PICTURES: dict[str, tuple[dict[str, int], str, Any]] = {
    "report.png": (DESKTOP, "light", _whole),
    "report-dark.png": (DESKTOP, "dark", _whole),
    "report-phone.png": (PHONE, "light", _whole),
    "report-namespaces.png": (DESKTOP, "light", _section("namespaces")),
}


def _report(reports: Path) -> Path:
    """The page of the newest run among `reports` that wrote something; of the newest, if none did."""
    newest_first = sorted(reports.glob("*/summary.json"), reverse=True)
    if not newest_first:
        sys.exit(f"there is no report in {reports}: `make run` makes one")
    wrote = (path for path in newest_first if _written(json.loads(path.read_text(encoding="utf-8"))))
    return next(wrote, newest_first[0]).with_name("index.html")


def _written(summary: dict[str, Any]) -> int:
    return sum(stage["counts"].get("applied", 0) for stage in summary["stages"])


def main() -> None:
    """Open the report and take its pictures."""
    report, folder = _report(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments())
        for name, (size, scheme, shot) in PICTURES.items():
            page = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
            page.goto(report.as_uri())
            shot(page, folder / name)
            page.close()
            sys.stdout.write(f"{folder / name}\n")
        browser.close()


if __name__ == "__main__":
    main()
