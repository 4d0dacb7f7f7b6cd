"""The matrix: a line for each way and source, counts whole, an example for all that does not come back."""

from __future__ import annotations

from dataclasses import replace

from nestsync.reports import html
from nestsync.reports.matrix import lines
from tests.reports import samples
from tests.reports.pages import Page


def test_a_line_for_each_way_and_source() -> None:
    told = {(line.way, line.source): line for line in lines(samples.MATRIX)}
    assert list(told) == [
        ("hive", "hms_main"),
        ("iceberg-rest", "lake"),
        (samples.DEEP_PATH, "hms_main"),
    ]
    path = told[samples.DEEP_PATH, "hms_main"]
    assert [path.count(fate) for fate in ("lossless", "refused", "lossy")] == [42, 1, 1]
    assert [row.hop for row in path.lost] == ["trino", "gravitino"]


def test_the_page_shows_what_does_not_come_back() -> None:
    page = Page(html.render(samples.blocked()))
    assert "level 1 differs" in page.text
    assert "holds '.', which Trino reads as two levels" in page.text


def test_without_a_check_there_is_no_matrix() -> None:
    for matrix in (None, ()):
        source = html.render(replace(samples.blocked(), matrix=matrix))
        assert "Round trips" not in source
