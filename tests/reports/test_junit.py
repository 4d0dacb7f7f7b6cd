"""JUnit XML: what fails, what is skipped, what is named, and that any reader of the format takes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nestsync.core.findings import RULES
from nestsync.reports import junit
from nestsync.reports.facts import Digest, RuleCase
from tests.reports import samples

COUNTS = ("tests", "failures", "errors")
STRUCTURE = {
    "testsuites": ({"name", "time", *COUNTS}, {"testsuite"}),
    "testsuite": ({"name", "time", "timestamp", "skipped", *COUNTS}, {"testcase"}),
    "testcase": ({"classname", "name", "time"}, {"failure", "error", "skipped", "system-out"}),
    "failure": ({"message", "type"}, set()),
    "error": ({"message", "type"}, set()),
    "skipped": ({"message"}, set()),
    "system-out": (set(), set()),
}
"""Attributes and children by element: what Jenkins' and Surefire's schemas have in common."""


def written(digest: Digest, folder: Path) -> ET.Element:
    return ET.parse(junit.write(digest, folder)).getroot()


def case(root: ET.Element, classname: str, name: str) -> ET.Element:
    (found,) = [c for c in root.iter("testcase") if (c.get("classname"), c.get("name")) == (classname, name)]
    return found


@pytest.mark.parametrize("sample", samples.EVERY, ids=lambda sample: sample.__name__)
def test_the_structure_is_the_common_one_and_the_counts_add_up(sample: Callable[[], Digest], tmp_path: Path) -> None:
    root = written(sample(), tmp_path)
    for element in root.iter():
        attributes, children = STRUCTURE[element.tag]
        assert set(element.attrib) == attributes
        assert {child.tag for child in element} <= children
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for parent in (root, *root.iter("testsuite")):
        for count in set(tags) & set(parent.attrib):
            cases = [c for c in parent.iter("testcase") if count == "tests" or c.find(tags[count]) is not None]
            assert int(parent.attrib[count]) == len(cases), (parent.get("name"), count)
    for suite in root:
        assert len(suite) > 0


def test_a_case_for_each_rule_and_source(tmp_path: Path) -> None:
    root = written(samples.blocked(), tmp_path)
    for source in ("hms_main", "lake", "lance_files"):
        names = [c.get("name") for c in root.iter("testcase") if c.get("classname") == f"nestsync.findings.{source}"]
        assert names == list(RULES)


def test_a_blocking_finding_fails_its_case_and_names_the_subject(tmp_path: Path) -> None:
    root = written(samples.blocked(), tmp_path)
    failure = case(root, "nestsync.findings.hms_main", "separator-conflict").find("failure")
    assert failure is not None
    assert 'namespace hms_main ["hive","team:sales"]' in (failure.text or "")
    assert case(root, "nestsync.findings.lake", "separator-conflict").find("failure") is None


def test_a_warning_is_told_and_passes(tmp_path: Path) -> None:
    found = case(written(samples.blocked(), tmp_path), "nestsync.findings.hms_main", "unreadable-table")
    assert [child.tag for child in found] == ["system-out"]
    assert 'table hms_main ["hive","raw"] "broken"' in (found[0].text or "")


def test_what_was_not_looked_at_is_skipped_not_passed(tmp_path: Path) -> None:
    root = written(samples.unreachable(), tmp_path)
    cases = [c for c in root.iter("testcase") if (c.get("classname") or "").startswith("nestsync.findings")]
    assert len(cases) == len(RULES)
    assert all(c.find("skipped") is not None for c in cases)
    assert root.get("errors") == "1"
    error = case(root, "nestsync.stages", "inventory").find("error")
    assert error is not None
    assert "connection refused by get_catalogs" in error.attrib["message"]


def test_more_than_the_examples_are_counted(tmp_path: Path) -> None:
    row = samples.finding(("hive", "team:sales"))
    digest = replace(samples.blocked(), cases=(RuleCase(row.rule, "hms_main", "blocking", 1_234, (row,)),))
    failure = case(written(digest, tmp_path), "nestsync.findings.hms_main", row.rule).find("failure")
    assert failure is not None
    assert (failure.text or "").endswith("... and 1233 more, all in findings.csv")


def test_a_rule_or_source_unknown_here_is_not_lost(tmp_path: Path) -> None:
    row = samples.finding(("hive", "x"), rule="rule-of-tomorrow")
    digest = replace(samples.blocked(), cases=(RuleCase(row.rule, "elsewhere", "blocking", 1, (row,)),))
    found = case(written(digest, tmp_path), "nestsync.findings.elsewhere", "rule-of-tomorrow")
    assert found.find("failure") is not None


@pytest.mark.parametrize(
    ("name", "tags"),
    [
        pytest.param("every catalog answered", [], id="met"),
        pytest.param("every object could be read", ["system-out"], id="warning-not-met"),
        pytest.param("no name has a blocking finding", ["failure"], id="blocking-not-met"),
    ],
)
def test_expectations_are_cases(name: str, tags: list[str], tmp_path: Path) -> None:
    root = written(samples.blocked(), tmp_path)
    (found,) = [c for c in root.iter("testcase") if c.get("name") == name]
    assert [child.tag for child in found] == tags
