"""The report stage over real Spark frames: what it writes, what it bounds, and what Great Expectations finds."""

from __future__ import annotations

import csv
import json
import re
import socket
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from pyspark.sql import SparkSession

from nestsync.core.expectations import Settings, defaults
from nestsync.core.findings import Severity
from nestsync.history.choosing import Past
from nestsync.history.records import RunRecord
from nestsync.outcome import RunOutcome, StageOutcome
from nestsync.reports import summary
from nestsync.reports.facts import CatalogFacts, ReportFacts, ReportPaths
from nestsync.reports.settled import ExpectationResult
from nestsync.stages.report import digest, write_reports
from nestsync.stages.report import frames as streaming
from tests.reports import frames
from tests.reports.checker import complaints
from tests.reports.pages import Page

pytestmark = pytest.mark.spark

EVIL = "<img src=x onerror=alert(1)>"
CATALOGS = (
    CatalogFacts("hms", "hms", "source", "thrift://127.0.0.1:9083"),
    CatalogFacts("target", "iceberg_rest", "target", "http://127.0.0.1:8181"),
)
OUTCOME = RunOutcome("r1", "run", 0, "All is well.", (StageOutcome("inventory", "ok", 1.0, {"namespaces": 3}),))


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def troubled_facts(spark: SparkSession) -> ReportFacts:
    """Hostile names, an unreadable table, blocking findings, a failed action, one without an outcome."""
    return ReportFacts(
        outcome=replace(OUTCOME, exit_code=4, verdict="The target is reconciled in part."),
        started_at=frames.AT,
        catalogs=CATALOGS,
        configuration={"strategy": "create-only"},
        namespaces=frames.namespaces(
            spark, ("source", "hms", ["hive", EVIL]), ("source", "hms", ["hive", "b"]), ("target", "target", ["only"])
        ),
        tables=frames.tables(
            spark, ("hms", ["hive", "b"], "t", None), ("hms", ["hive", "b"], "bad&<b>", "no manifest")
        ),
        findings=frames.findings(
            spark,
            ("missing-parent", "warning", ["hive", "b"]),
            ("separator-conflict", "blocking", ["hive", EVIL]),
            ("not-a-table", "info", ["hive", "b"]),
        ),
        separators=frames.separators(spark),
        actions=frames.actions(
            spark,
            ("1", "create_namespace", ["a"]),
            ("2", "create_namespace", ["a", "b"]),
            ("3", "noop", ["b"]),
            ("4", "create_namespace", ["d"]),
            ("5", "create_namespace", ["e"]),
        ),
        ledger=frames.ledger(
            spark,
            ("1", "intent", None),
            ("1", "applied", None),
            ("2", "intent", None),
            ("4", "intent", None),
            ("4", "failed", "409: it is there"),
        ),
        differences=frames.differences(spark, (["a"], "the target does not hold it")),
    )


@pytest.fixture(scope="module")
def troubled(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> ReportPaths:
    return write_reports(troubled_facts(spark), tmp_path_factory.mktemp("troubled") / "made" / "by it")


def result(paths: ReportPaths, name: str) -> ExpectationResult:
    (found,) = [r for r in paths.expectations if r.name == name]
    return found


def test_every_file_is_there_and_valid(troubled: ReportPaths) -> None:
    folder = troubled.html.parent
    assert {path.name for path in folder.iterdir()} == {
        "index.html",
        "summary.json",
        "junit.xml",
        "report.md",
        "metrics.prom",
        "openlineage.jsonl",
        "findings.csv",
        "actions.csv",
        "namespaces.csv",
        "data_docs",
    }
    jsonschema.Draft202012Validator(summary.schema()).validate(json.loads(troubled.json.read_text()))
    assert ET.parse(troubled.junit).getroot().get("failures") == "4"
    assert complaints(sorted(folder.rglob("*.html"))) == []


def test_findings_are_all_in_the_csv_most_severe_first(troubled: ReportPaths) -> None:
    found = rows(troubled.html.parent / "findings.csv")
    assert [row["rule"] for row in found] == ["separator-conflict", "missing-parent", "not-a-table"]
    assert json.loads(found[0]["levels"]) == ["hive", EVIL]
    assert json.loads(found[0]["target_levels"]) == [EVIL]


def test_actions_carry_the_ledgers_last_word(troubled: ReportPaths) -> None:
    found = {row["action_id"]: row for row in rows(troubled.html.parent / "actions.csv")}
    assert {key: row["outcome"] for key, row in found.items()} == {
        "1": "applied",
        "2": "unknown",
        "3": "none",
        "4": "failed",
        "5": "pending",
    }
    assert found["4"]["detail"] == "409: it is there"
    assert {key for key, row in found.items() if (row["user"], row["host"]) == ("ann", "host-1")} == {"1", "2", "4"}
    assert {key for key, row in found.items() if row["at"]} == {"1", "2", "4"}
    assert json.loads(found["2"]["claimants"]) == [{"source": "hms", "levels": ["hive", "a__b"]}]


def test_the_tree_is_the_targets_with_findings_where_they_are(troubled: ReportPaths) -> None:
    found = rows(troubled.html.parent / "namespaces.csv")
    assert [(json.loads(r["levels"]), r["state"], r["blocking"], r["warnings"], r["rules"]) for r in found] == [
        (["a"], "created", "0", "0", ""),
        (["a", "b"], "unknown", "0", "0", ""),
        (["b"], "unchanged", "0", "1", "missing-parent"),
        (["d"], "failed", "0", "0", ""),
        (["e"], "to create", "0", "0", ""),
        (["only"], "existing", "0", "0", ""),
    ]


def test_what_findings_about_several_are_about_is_all_there(spark: SparkSession, tmp_path: Path) -> None:
    """In the CSV, told of on the page, and once for each place in the tree."""
    several = [
        ("source", ["hive", "b"], ["b"]),
        ("source", ["hive", "B"], ["a"]),
        ("source", ["hive", "bb"], ["b"]),
        ("source", ["hive", "BB"], ["a"]),
        ("target", ["hive", "c"], ["e"]),
    ]
    facts = replace(
        troubled_facts(spark),
        findings=frames.findings(spark, ("collision", "blocking", ["hive", "b"])),
        members=frames.members(spark, *several),
    )
    page = Page.read(write_reports(facts, tmp_path).html)
    found = rows(tmp_path / "finding_members.csv")
    assert [(row["role"], row["finding_levels"], row["levels"]) for row in found] == [
        ("source", '["hive","b"]', '["hive","B"]'),
        ("source", '["hive","b"]', '["hive","BB"]'),
        ("source", '["hive","b"]', '["hive","b"]'),
        ("source", '["hive","b"]', '["hive","bb"]'),
        ("target", '["hive","b"]', '["hive","c"]'),
    ]
    assert "5 objects are in findings about several of them" in page.text
    blocking = {row["levels"]: row["blocking"] for row in rows(tmp_path / "namespaces.csv")}
    assert {levels: number for levels, number in blocking.items() if number != "0"} == {'["a"]': "1", '["b"]': "1"}


def test_a_run_that_was_not_checked_has_its_tree(spark: SparkSession, tmp_path: Path) -> None:
    whole = troubled_facts(spark)
    facts = replace(whole, findings=None, separators=None, actions=None, ledger=None, differences=None)
    paths = write_reports(facts, tmp_path)
    assert [json.loads(row["levels"]) for row in rows(tmp_path / "namespaces.csv")] == [
        ["hms", "hive", EVIL], ["hms", "hive", "b"],
    ]  # fmt: skip
    assert "The check stage did not run" in Page.read(paths.html).text


@pytest.mark.parametrize(
    ("name", "rows_seen", "example"),
    [
        pytest.param("tables-readable", 2, r'hms ["hive","b"] "bad\u0026\u003Cb\u003E": no manifest', id="unreadable"),
        pytest.param(
            "separator-free",
            3,
            r'separator-conflict hms ["hive","\u003Cimg src=x onerror=alert(1)\u003E"]',
            id="blocking",
        ),
        pytest.param("target-equals-plan", 5, '["a"]: the target does not hold it', id="not-as-planned"),
    ],
)
def test_a_failing_expectation_fails_and_names_the_row(
    troubled: ReportPaths, name: str, rows_seen: int, example: str
) -> None:
    found = result(troubled, name)
    assert (found.success, found.rows, found.unexpected, found.examples) == (False, rows_seen, 1, (example,))
    text = Page.read(troubled.html.parent / found.page).text
    assert example in text
    assert found.name in text
    assert found.expectation in text


def test_every_format_tells_of_what_is_not_met(troubled: ReportPaths) -> None:
    found = result(troubled, "actions-succeeded")
    assert found.unexpected == 3
    assert {r.severity for r in troubled.failed_expectations} == {Severity.BLOCKING}
    assert found.examples[0] in Page.read(troubled.html).text
    (told,) = [each for each in json.loads(troubled.json.read_text())["expectations"] if each["name"] == found.name]
    assert (told["success"], told["unexpected"]) == (False, 3)
    (case,) = [each for each in ET.parse(troubled.junit).iter("testcase") if each.get("name") == found.name]
    failure = case.find("failure")
    assert failure is not None
    assert found.examples[0] in (failure.text or "")
    assert f"(`{found.name}`): 3 of 5 say otherwise, the first is" in troubled.markdown.read_text()
    of_all, of_it = 'configuration="nestsync"', 'severity="blocking",suite="reconciliation"'
    labels = f'{{{of_all},expectation="actions-succeeded",purpose="sync",{of_it}}}'
    assert f"nestsync_expectation_met{labels} 0.0\n" in troubled.metrics.read_text()
    assert f"nestsync_expectation_unexpected_rows{labels} 3.0\n" in troubled.metrics.read_text()


def test_no_page_loads_anything_from_elsewhere(troubled: ReportPaths) -> None:
    pages = list(troubled.html.parent.rglob("*.html"))
    assert len(pages) == 10  # ours, the index of the Data Docs, and two for each of four suites
    for path in pages:
        page = Page.read(path)
        assert page.remote == [], path
        assert page.handlers == [], path
        assert page.tags("img") == [], path
        for address in page.addresses:
            assert address.startswith("#") or (path.parent / address.split("#")[0]).exists(), (path, address)


def test_the_page_shows_what_the_frames_hold(troubled: ReportPaths) -> None:
    text = Page.read(troubled.html).text
    for said in (EVIL, "409: it is there", "it is wrong", "1 unreadable", "suggested", "only in target", "change it"):
        assert said in text


def test_a_run_without_trouble_is_left_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    facts = replace(
        troubled_facts(spark),
        outcome=OUTCOME,
        findings=frames.findings(spark, ("owner-conflict", "warning", ["hive", "b"])),
        actions=frames.actions(spark, ("1", "create_namespace", ["a"]), ("3", "noop", ["b"])),
        ledger=frames.ledger(spark, ("1", "intent", None), ("1", "applied", None), together=True),
        differences=frames.differences(spark),
    )
    paths = write_reports(facts, tmp_path)
    assert [r.name for r in paths.expectations if not r.success] == ["tables-readable"]  # a warning decides nothing
    assert paths.outcome == OUTCOME
    assert ET.parse(paths.junit).getroot().get("failures") == "0"


STEADY = {"namespaces-steady": Settings(Severity.BLOCKING, max_fall=0.5, min_change=1)}
BEFORE = RunRecord(
    "r0", "ended", frames.AT, catalogs={"hms": {"role": "source", "system": "hms", "counts": {"namespaces": 9}}}
)


@pytest.mark.parametrize(
    ("event", "exit_code", "said"),
    [
        pytest.param(None, 3, "Nothing was written.", id="nothing-sent"),
        pytest.param("applied", 4, "All is well. Not as expected: ", id="written"),
        pytest.param("intent", 4, "All is well. Not as expected: ", id="sent-and-never-answered"),
    ],
)
@pytest.mark.proves("exit-3", "exit-4")
def test_a_blocking_expectation_decides_the_exit_code(
    spark: SparkSession, tmp_path: Path, event: str | None, exit_code: int, said: str
) -> None:
    facts = ReportFacts(
        outcome=OUTCOME,
        started_at=frames.AT,
        catalogs=CATALOGS,
        namespaces=frames.namespaces(spark, ("source", "hms", ["hive", "b"])),
        findings=frames.findings(spark),
        actions=frames.actions(spark, ("1", "noop", ["a"])),
        ledger=frames.ledger(spark, *([] if event is None else [("1", event, None)])),
        past=Past((BEFORE,)),
        expected=defaults() | STEADY,
    )
    paths = write_reports(facts, tmp_path)
    assert paths.outcome.exit_code == exit_code
    assert "(namespaces-steady: 1 of 1)" in paths.outcome.verdict
    assert said in paths.outcome.verdict
    page = Page.read(paths.html).text
    assert "Not as expected" in page
    assert paths.outcome.verdict in page
    assert json.loads(paths.json.read_text())["exit_code"] == exit_code
    labels = 'configuration="nestsync",purpose="sync",target="target"'
    assert f"nestsync_run_exit_code{{{labels}}} {exit_code}.0" in paths.metrics.read_text()
    assert f"exit {exit_code}" in paths.markdown.read_text().splitlines()[0]


def test_a_run_that_read_nothing_has_its_page(spark: SparkSession, tmp_path: Path) -> None:
    silent = replace(CATALOGS[0], error="connection refused by get_catalogs")
    outcome = replace(OUTCOME, exit_code=5, verdict="hms did not answer.", stages=())
    paths = write_reports(ReportFacts(outcome, frames.AT, catalogs=(silent, CATALOGS[1])), tmp_path)
    found = result(paths, "catalogs-answered")
    assert (found.success, found.unexpected) == (False, 2)
    assert "hms: connection refused by get_catalogs" in found.examples
    assert "connection refused by get_catalogs" in Page.read(paths.html).text
    assert paths.outcome == outcome


def test_an_assessment_shows_the_sources_tree(spark: SparkSession, tmp_path: Path) -> None:
    whole = troubled_facts(spark)
    facts = replace(whole, actions=None, ledger=None, differences=None)
    paths = write_reports(facts, tmp_path)
    found = rows(tmp_path / "namespaces.csv")
    assert [(json.loads(r["levels"]), r["state"], r["blocking"], r["warnings"]) for r in found] == [
        (["hms", "hive", EVIL], "source", "1", "0"),
        (["hms", "hive", "b"], "source", "0", "1"),
    ]
    assert {r.suite for r in paths.expectations} == {"inventory", "names", "hierarchy"}
    assert not (tmp_path / "actions.csv").exists()


def test_rows_beyond_the_cap_are_in_the_csv_and_counted(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "FINDINGS_SHOWN", 4)
    monkeypatch.setattr(streaming, "ROWS_AT_ONCE", 3)  # several partitions, to be in order all the same
    names = [f"n{number:02}" for number in range(23)]
    found = frames.findings(spark, *(("separator-conflict", "blocking", ["hive", name]) for name in reversed(names)))
    paths = write_reports(ReportFacts(OUTCOME, frames.AT, findings=found), tmp_path)
    assert [json.loads(row["levels"])[1] for row in rows(tmp_path / "findings.csv")] == names
    page = Page.read(paths.html)
    assert "The first 4 of 23 findings; all of them are in findings.csv beside this page." in page.text
    assert "n03" in page.text
    assert "n04" not in page.text
    document: dict[str, Any] = json.loads(paths.json.read_text())
    assert document["findings"]["by_severity"]["blocking"] == document["findings"]["total"] == 23
    failure = next(ET.parse(paths.junit).getroot().iter("failure"))
    assert (failure.text or "").endswith("... and 3 more, all in findings.csv")
    names_result = result(paths, "separator-free")
    assert (names_result.unexpected, len(names_result.examples)) == (23, 20)


def test_a_second_report_replaces_the_first(spark: SparkSession, tmp_path: Path) -> None:
    facts = ReportFacts(OUTCOME, frames.AT, findings=frames.findings(spark, ("too-deep", "blocking", ["hive", "a"])))
    write_reports(facts, tmp_path)
    paths = write_reports(replace(facts, findings=None), tmp_path)
    assert [path.name for path in (tmp_path / "data_docs" / "validations").iterdir()] == ["inventory.html"]
    assert not (tmp_path / "findings.csv").exists()
    assert "The check stage did not run" in Page.read(paths.html).text


class Network:
    """Refuses whatever leaves the machine, a name to look up included, below every library; lists what was tried."""

    HERE = ("127.0.0.1", "::1", "localhost", None)

    def __init__(self) -> None:
        self.denied = False
        self.tried: list[Any] = []
        sys.addaudithook(self._heard)  # for good: a hook cannot be taken back

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.denied:
            return
        if event in ("socket.connect", "socket.sendto"):
            address = arguments[1]
            host = address[0] if isinstance(address, tuple) else None  # anything else stays on the machine
        elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
            host = arguments[0]
        else:
            return
        if host not in self.HERE:
            self.tried.append((event, host))
            raise OSError(f"no network here: {host}")


@pytest.fixture(scope="module")
def network() -> Network:
    return Network()


@pytest.fixture
def no_network(network: Network) -> Iterator[list[Any]]:
    network.tried.clear()
    network.denied = True
    yield network.tried
    network.denied = False


def test_the_network_is_denied(no_network: list[Any]) -> None:
    for attempt in (
        lambda: socket.create_connection(("198.51.100.1", 80), timeout=1),
        lambda: socket.getaddrinfo("example.org", 80),
        lambda: urllib.request.urlopen("http://198.51.100.1/"),
    ):
        with pytest.raises(OSError, match="no network here"):
            attempt()
    assert len(no_network) == 3


def test_nothing_is_sent_and_nothing_left_behind(
    spark: SparkSession, tmp_path: Path, no_network: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(scratch)
    paths = write_reports(troubled_facts(spark), tmp_path / "report")
    assert len({result.suite for result in paths.expectations}) == 4
    assert no_network == []
    assert list(scratch.iterdir()) == []


_ADDRESS = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>)]+|\burl\((?!data:)[^)]*\)")
OURS = (b"thrift://127.0.0.1:9083", b"http://127.0.0.1:8181", b"hive://127.0.0.1:9083")
"""Where the catalogs are, which a report says."""
NAMES_OF_FORMATS = (b"http://www.w3.org/", b"https://openlineage.io/spec/", b"https://github.com/OpenLineage/")
"""Addresses that are names: nobody goes there."""


def test_no_file_of_the_report_names_a_remote_address(troubled: ReportPaths) -> None:
    found = {
        (path.relative_to(troubled.html.parent).as_posix(), address)
        for path in troubled.html.parent.rglob("*")
        if path.is_file()
        for address in _ADDRESS.findall(path.read_bytes())
        if not address.startswith((*OURS, *NAMES_OF_FORMATS))
    }
    assert found == set()


def test_frames_that_somebody_keeps_stay_kept(spark: SparkSession, tmp_path: Path) -> None:
    kept = frames.findings(spark, ("too-deep", "warning", ["hive", "a"])).persist()
    free = frames.actions(spark, ("1", "noop", ["a"]))
    write_reports(ReportFacts(OUTCOME, frames.AT, findings=kept, actions=free), tmp_path)
    assert kept.storageLevel.useMemory
    assert not free.storageLevel.useMemory
    kept.unpersist()
