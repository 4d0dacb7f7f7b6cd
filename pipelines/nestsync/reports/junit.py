"""JUnit XML for CI: one case a rule and source, one a stage, one an expectation.

The structure is the one that Jenkins, GitLab and Maven's Surefire share: `testsuites` > `testsuite` > `testcase`
> `failure`, `error`, `skipped` or `system-out`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from nestsync.core.findings import RULES, Severity
from nestsync.reports.facts import Digest, FindingRow, RuleCase
from nestsync.reports.settled import ExpectationResult
from nestsync.reports.text import subject_text, xml_text

FILE = "junit.xml"


def write(digest: Digest, folder: Path) -> Path:
    """Write ``junit.xml`` into `folder`. A blocking finding fails its case, which names the subjects."""
    suites = [_stages(digest), *_findings(digest), *_expectations(digest.expectations)]
    root = ET.Element("testsuites", name="nestsync")
    for suite in suites:
        suite.set("timestamp", digest.started_at.strftime("%Y-%m-%dT%H:%M:%S"))
        root.append(suite)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    root.set("time", f"{sum(stage.seconds for stage in digest.outcome.stages):.3f}")
    ET.indent(root)
    path = folder / FILE
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    return path


def _stages(digest: Digest) -> ET.Element:
    cases = []
    for stage in digest.outcome.stages:
        case = _case("nestsync.stages", stage.stage, stage.seconds)
        if stage.status == "failed":
            _tell(case, "error", stage.error or "the stage failed", stage.error or "")
        cases.append(case)
    return _suite("stages", cases)


def _findings(digest: Digest) -> list[ET.Element]:
    """A suite a source. Without the check stage every case is skipped: not looked at is not passed."""
    if digest.findings is None:
        skipped = [_case("nestsync.findings", rule) for rule in RULES]
        for case in skipped:
            _tell(case, "skipped", "the check stage did not run")
        return [_suite("findings", skipped)]
    # A rule that found something under a slug or source that is not known here is not to be lost.
    sources = {row.catalog.name for row in digest.catalogs if row.catalog.role == "source"}
    sources |= {case.source for case in digest.cases}
    rules = [*RULES, *sorted({case.rule for case in digest.cases} - set(RULES))]
    return [
        _suite(
            f"findings in {source}",
            [_rule(rule, source, [c for c in digest.cases if (c.rule, c.source) == (rule, source)]) for rule in rules],
        )
        for source in sorted(sources)
    ]


def _rule(rule: str, source: str, found: Sequence[RuleCase]) -> ET.Element:
    case = _case(f"nestsync.findings.{source}", rule)
    blocking = [part for part in found if part.severity == Severity.BLOCKING]
    rest = [part for part in found if part.severity != Severity.BLOCKING]
    for part in blocking:
        _tell(case, "failure", f"{part.count} blocking: {part.examples[0].message}", "\n".join(_lines(part)))
    if rest:
        out = ET.SubElement(case, "system-out")
        out.text = xml_text("\n".join(line for part in rest for line in (f"{part.severity}:", *_lines(part))))
    return case


def _lines(case: RuleCase) -> Iterable[str]:
    yield from map(_line, case.examples)
    if case.count > len(case.examples):
        yield f"... and {case.count - len(case.examples)} more, all in findings.csv"


def _line(row: FindingRow) -> str:
    subject = row.subject
    return f"{subject.object} {subject_text(subject.source, subject.levels, subject.name)}: {row.message} ({row.hint})"


def _expectations(results: Sequence[ExpectationResult]) -> list[ET.Element]:
    suites = []
    for name in dict.fromkeys(result.suite for result in results):
        cases = []
        for result in (r for r in results if r.suite == name):
            case = _case(f"nestsync.expectations.{name}", result.name)
            if not result.success:
                tag = "failure" if result.severity is Severity.BLOCKING else "system-out"
                told = f"not met ({result.severity}): {result.expectation}; {result.unexpected} of {result.rows} rows"
                _tell(case, tag, told, "\n".join(_not_met(result)))
            cases.append(case)
        suites.append(_suite(f"expectations: {name}", cases))
    return suites


def _not_met(result: ExpectationResult) -> Iterable[str]:
    if result.departures:
        yield f"held to {result.held_otherwise}"
    yield from result.examples
    if result.unexpected > len(result.examples):
        yield f"... and {result.unexpected - len(result.examples)} more"


def _suite(name: str, cases: Sequence[ET.Element]) -> ET.Element:
    suite = ET.Element("testsuite", name=xml_text(name), tests=str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    suite.extend(cases)
    return suite


def _case(classname: str, name: str, seconds: float = 0.0) -> ET.Element:
    return ET.Element("testcase", classname=xml_text(classname), name=xml_text(name), time=f"{seconds:.3f}")


def _tell(case: ET.Element, tag: str, message: str, text: str = "") -> None:
    told = ET.SubElement(case, tag)
    if tag == "system-out":
        told.text = xml_text(f"{message}\n{text}")
        return
    told.set("message", xml_text(message))
    if tag != "skipped":
        told.set("type", "nestsync")
        told.text = xml_text(text)


__all__ = ["FILE", "write"]
