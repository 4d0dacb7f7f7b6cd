"""JUnit XML: what fails, what is skipped, what is named, and that any reader of the format takes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import xmlschema

from nestsync.core.findings import RULES
from nestsync.reports import junit
from nestsync.reports.facts import Digest, RuleCase
from tests.reports import samples

SCHEMA = xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))


def written(digest: Digest, folder: Path) -> ET.Element:
    return ET.parse(junit.write(digest, folder)).getroot()


def case(root: ET.Element, classname: str, name: str) -> ET.Element:
    (found,) = [c for c in root.iter("testcase") if (c.get("classname"), c.get("name")) == (classname, name)]
    return found


@pytest.mark.parametrize("sample", samples.EVERY, ids=lambda sample: sample.__name__)
def test_it_fits_the_schema_and_the_counts_add_up(sample: Callable[[], Digest], tmp_path: Path) -> None:
    root = written(sample(), tmp_path)
    SCHEMA.validate(tmp_path / junit.FILE)
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for parent in (root, *root.iter("testsuite")):
        for count in set(tags) & set(parent.attrib):
            cases = [c for c in parent.iter("testcase") if count == "tests" or c.find(tags[count]) is not None]
            assert int(parent.attrib[count]) == len(cases), (parent.get("name"), count)
    for suite in root:
        assert len(suite) > 0


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param(lambda root: root[0].set("errors", "-1"), id="a-count"),
        pytest.param(lambda root: root[0].append(ET.Element("surprise")), id="an-element"),
        pytest.param(lambda root: root[0].remove(root[0][0]) or root.append(root[1]), id="a-suite-twice"),
        pytest.param(lambda root: root[0][0].attrib.pop("classname"), id="an-attribute-less"),
        pytest.param(lambda root: root[0][0].set("time", "1,5"), id="a-time"),
    ],
)
def test_the_schema_notices(spoilt: Callable[[ET.Element], object], tmp_path: Path) -> None:
    root = written(samples.finished(), tmp_path)
    assert SCHEMA.is_valid(root)
    spoilt(root)
    assert not SCHEMA.is_valid(root)


@pytest.mark.parametrize("name", samples.HOSTILE, ids=ascii)
def test_a_hostile_name_fits_the_schema_too(name: str, tmp_path: Path) -> None:
    row = samples.finding(("hive", name), message=f"{name} is wrong")
    cases = tuple(RuleCase("collision", "lake", severity, 1, (row,)) for severity in ("blocking", "warning"))
    written(replace(samples.blocked(), cases=cases), tmp_path)
    SCHEMA.validate(tmp_path / junit.FILE)


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
        pytest.param("catalogs-answered", [], id="met"),
        pytest.param("tables-readable", ["system-out"], id="warning-not-met"),
        pytest.param("separator-free", ["failure"], id="blocking-not-met"),
    ],
)
def test_expectations_are_cases(name: str, tags: list[str], tmp_path: Path) -> None:
    root = written(samples.blocked(), tmp_path)
    (found,) = [c for c in root.iter("testcase") if c.get("name") == name]
    assert [child.tag for child in found] == tags
