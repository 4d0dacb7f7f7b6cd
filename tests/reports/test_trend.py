"""The trend: what is drawn from which numbers."""

from __future__ import annotations

import pytest

from nestsync.reports.trend import HEIGHT, MARGIN, WIDTH, Point, lines, points
from tests.reports import samples

TOP, FOOT, LEFT, RIGHT = MARGIN, HEIGHT - MARGIN, MARGIN, WIDTH - MARGIN


def point(namespaces: int | None) -> Point:
    return Point("r", "2026-11-28 01:02", 0, namespaces, None, None, None)


@pytest.mark.parametrize(
    ("numbers", "drawn"),
    [
        pytest.param([1, 3], f"{LEFT},{FOOT} {RIGHT},{TOP}", id="rises"),
        pytest.param([9, 5], f"{LEFT},{TOP} {RIGHT},{FOOT}", id="falls"),
        pytest.param([4, 4], f"{LEFT},{HEIGHT / 2:g} {RIGHT},{HEIGHT / 2:g}", id="flat"),
        pytest.param([1, None, 3], f"{LEFT},{FOOT} {RIGHT},{TOP}", id="a-gap"),
        pytest.param([0, 2, 1], f"{LEFT},{FOOT} {WIDTH / 2:g},{TOP} {RIGHT},{HEIGHT / 2:g}", id="three"),
    ],
)
def test_a_line_goes_from_edge_to_edge(numbers: list[int | None], drawn: str) -> None:
    (line,) = lines([point(number) for number in numbers])
    assert line.points == drawn


@pytest.mark.parametrize("numbers", [[], [5], [5, None], [None, None]])
def test_one_number_draws_no_line(numbers: list[int | None]) -> None:
    assert lines([point(number) for number in numbers]) == []


def test_the_last_point_is_the_run_itself() -> None:
    found = points(samples.continued())
    assert len(found) == 10
    assert (found[-1].run_id, found[-1].namespaces, found[-1].findings, found[-1].blocking) == (
        samples.finished().outcome.run_id, 72, 1, 0,
    )  # fmt: skip
    assert (found[0].namespaces, found[0].findings) == (69, 2)


def test_what_was_not_counted_is_no_number() -> None:
    (only,) = points(samples.unreachable())
    assert (only.exit_code, only.namespaces, only.findings) == (5, None, None)
