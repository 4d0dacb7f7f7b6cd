"""Expectations by name: nothing that blocks is outside one, and a count is steady up to the part that is allowed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nestsync.core.expectations import EXPECTATIONS, NAMES, SUITES, Settings, defaults, of_suite, unsteady
from nestsync.core.findings import RULES, Severity

STRICT = Settings(Severity.WARNING, max_fall=0.2, max_rise=0.5, min_change=3)


def test_every_suite_has_expectations_and_every_name_is_one_of_them() -> None:
    assert {expected.suite for expected in EXPECTATIONS.values()} == set(SUITES)
    assert all(name == expected.name for name, expected in EXPECTATIONS.items())
    assert defaults().keys() == EXPECTATIONS.keys()


def test_the_findings_that_it_stands_for_are_known_and_in_one_expectation_alone() -> None:
    rules = [rule for expected in EXPECTATIONS.values() for rule in expected.rules]
    assert sorted(rules) == sorted(set(rules))
    assert set(rules) <= set(RULES)
    blocking = {slug for slug, rule in RULES.items() if rule.severity is Severity.BLOCKING}
    named = {rule for expected in of_suite(NAMES) for rule in expected.rules}
    assert blocking - named == {"drift", "property-conflict"}  # for nothing-else-blocks


@pytest.mark.parametrize(
    ("before", "now", "settings", "said"),
    [
        pytest.param(100, 100, STRICT, None, id="the-same"),
        pytest.param(100, 80, STRICT, None, id="a-fall-by-the-part-that-is-allowed"),
        pytest.param(
            100, 79, STRICT, "79, and 100 before: 21.0% fewer, where 20.0% is allowed", id="a-fall-by-one-more"
        ),
        pytest.param(100, 150, STRICT, None, id="a-rise-by-the-part-that-is-allowed"),
        pytest.param(
            100, 151, STRICT, "151, and 100 before: 51.0% more, where 50.0% is allowed", id="a-rise-by-one-more"
        ),
        pytest.param(100, 71, replace(STRICT, max_fall=0.29), None, id="the-part-is-exact-as-a-decimal"),
        pytest.param(4, 2, STRICT, None, id="fewer-than-the-least-change"),
        pytest.param(4, 1, STRICT, "1, and 4 before: 75.0% fewer, where 20.0% is allowed", id="the-least-change"),
        pytest.param(1000, 0, STRICT, "0, and 1,000 before: 100.0% fewer, where 20.0% is allowed", id="to-nothing"),
        pytest.param(2, 0, STRICT, "0, and 2 before: 100.0% fewer, where 20.0% is allowed", id="little-to-nothing"),
        pytest.param(0, 1000, STRICT, "1,000, and 0 before: 1,000 more, where 50.0% is allowed", id="from-nothing"),
        pytest.param(0, 2, STRICT, None, id="from-nothing-by-little"),
        pytest.param(0, 0, STRICT, None, id="nothing-at-all"),
        pytest.param(100, 0, replace(STRICT, max_fall=None), None, id="no-limit-to-a-fall"),
        pytest.param(100, 900, replace(STRICT, max_rise=None), None, id="no-limit-to-a-rise"),
        pytest.param(100, 97, replace(STRICT, max_fall=0.0), "97, and 100", id="no-fall-at-all"),
    ],
)
def test_how_far_a_count_may_move(before: int, now: int, settings: Settings, said: str | None) -> None:
    found = unsteady(now, before, settings)
    assert (found or "").startswith(said or "-") if said else found is None


def test_the_configuration_has_the_last_word() -> None:
    steady = EXPECTATIONS["namespaces-steady"]
    assert steady.settings({"severity": Severity.BLOCKING, "max_rise": None}) == Settings(
        Severity.BLOCKING, max_rise=None
    )
    assert steady.keys == ("severity", "reason", "max_fall", "max_rise", "min_change")
    assert EXPECTATIONS["keys-unique"].keys == ("severity",)


@pytest.mark.parametrize(
    ("name", "said", "departures"),
    [
        pytest.param("tables-steady", {}, (), id="nothing-said"),
        pytest.param("tables-steady", {"max_fall": 0.2, "severity": Severity.WARNING}, (), id="the-default-said"),
        pytest.param("tables-steady", {"max_fall": 0.5}, ("max_fall 0.5 (by default 0.2)",), id="loosened"),
        pytest.param("tables-steady", {"max_fall": None}, ("max_fall without limit (by default 0.2)",), id="no-limit"),
        pytest.param("tables-readable", {"mostly": 0.99}, ("mostly 0.99 (by default 1)",), id="a-part"),
        pytest.param(
            "tables-steady",
            {"severity": Severity.BLOCKING, "min_change": 3},
            ("severity blocking (by default warning)", "min_change 3 (by default 10)"),
            id="tightened",
        ),
        pytest.param(
            "parents-planned",
            {"severity": Severity.INFO, "reason": "by hand"},
            ("severity info (by default blocking)",),
            id="lowered-with-a-reason",
        ),
    ],
)
def test_what_is_held_otherwise_than_by_default_is_told(
    name: str, said: dict[str, object], departures: tuple[str, ...]
) -> None:
    expected = EXPECTATIONS[name]
    assert expected.departures(expected.settings(said)) == departures
