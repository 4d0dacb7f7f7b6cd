"""The links beside a task: to the report of its run, and to what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from airflow.sdk import BaseOperatorLink


class ReportLink(BaseOperatorLink):
    """The HTML page of the run. Airflow stores it when the task has ended, and asks for it no more."""

    name = "Report"
    fragment = ""

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The page's address; empty where there is none (yet)."""
        page = getattr(operator, "report_page", None)
        return f"{page}{self.fragment}" if page else ""


class FindingsLink(ReportLink):
    """What was found, on the same page."""

    name = "Findings"
    fragment = "#findings"


class PlanLink(ReportLink):
    """What would be done, or was, on the same page."""

    name = "Plan"
    fragment = "#plan"


def page_of(report: Path, reports_url: str | None) -> str:
    """The address of `report`, ``<folder of reports>/<run id>/index.html``.

    Below `reports_url`, where the folder of reports is served; else its own as a file, to be opened by hand:
    browsers do not follow a link from a web page to a file.
    """
    if reports_url is None:
        return report.absolute().as_uri()
    return f"{reports_url.rstrip('/')}/{quote(report.parent.name)}/{report.name}"


__all__ = ["FindingsLink", "PlanLink", "ReportLink", "page_of"]
