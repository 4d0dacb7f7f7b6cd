"""What a run ends with once its expectations are known: 3 before a write was sent, 4 after it, each told once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nestsync.core.expectations import EXPECTATIONS
from nestsync.core.findings import Severity
from nestsync.outcome import RunOutcome
from nestsync.reports import html, junit, markdown, summary
from nestsync.reports.facts import Digest
from nestsync.reports.settled import ExpectationResult, settled
from tests.reports import samples


def missed(name: str, severity: Severity = Severity.BLOCKING, unexpected: int = 2) -> ExpectationResult:
    expected = EXPECTATIONS[name]
    return ExpectationResult(
        expected.suite, name, expected.sentence, severity, unexpected == 0, 40, unexpected, ("x",) * unexpected, "p"
    )


def outcome(exit_code: int) -> RunOutcome:
    return RunOutcome("r1", "run", exit_code, "It went as it went.", next_steps=("nestsync apply",))


STEADY, CLEAR = "namespaces-steady", "separator-free"
SAID = (
    "Not as expected: no source has far fewer or far more namespaces than in its last run (namespaces-steady: 2 of 40)."
)


@pytest.mark.parametrize(
    ("exit_code", "names", "sent", "ends_with", "verdict"),
    [
        pytest.param(0, [], False, 0, "It went as it went.", id="all-met"),
        pytest.param(0, [STEADY], False, 3, f"{SAID} Nothing was written.", id="before-a-write"),
        pytest.param(0, [STEADY], True, 4, f"It went as it went. {SAID}", id="after-a-write"),
        pytest.param(3, [STEADY], False, 3, f"It went as it went. {SAID}", id="beside-findings"),
        pytest.param(4, [STEADY], True, 4, f"It went as it went. {SAID}", id="beside-failures"),
        pytest.param(4, [STEADY], False, 4, f"It went as it went. {SAID}", id="left-out-and-nothing-sent"),
        pytest.param(3, [CLEAR], False, 3, "It went as it went.", id="findings-are-told-once"),
        pytest.param(3, [CLEAR, STEADY], False, 3, f"It went as it went. {SAID}", id="and-the-rest-beside-them"),
        pytest.param(3, [CLEAR], True, 4, "It went as it went.", id="once-a-write-was-sent-nothing-ends-with-3"),
        pytest.param(5, [STEADY, "catalogs-answered"], False, 5, "It went as it went.", id="unreachable-stays"),
        pytest.param(6, [STEADY, CLEAR], False, 6, "It went as it went.", id="drift-stays"),
        pytest.param(1, [STEADY], True, 1, "It went as it went.", id="a-failure-stays"),
    ],
)
@pytest.mark.proves("exit-3", "exit-4")
def test_the_exit_code_and_the_verdict(
    exit_code: int, names: list[str], sent: bool, ends_with: int, verdict: str
) -> None:
    found = settled(outcome(exit_code), [missed(name) for name in names], sent=sent, config="c.yaml")
    assert (found.exit_code, found.verdict) == (ends_with, verdict)


@pytest.mark.parametrize("severity", [Severity.WARNING, Severity.INFO])
def test_what_does_not_block_decides_nothing(severity: Severity) -> None:
    assert settled(outcome(0), [missed(STEADY, severity)], sent=False) == outcome(0)


def test_what_to_do_next_is_said_once_for_each_advice() -> None:
    advice = EXPECTATIONS[STEADY].advice
    both = [missed(STEADY), missed("tables-steady")]
    assert settled(outcome(0), both, sent=False, config="c.yaml").next_steps == (advice, "nestsync run -c c.yaml")
    assert settled(outcome(4), both, sent=True, config="c.yaml").next_steps == (advice, "nestsync apply")


def test_a_verdict_names_the_first_of_many() -> None:
    names = [name for name, expected in EXPECTATIONS.items() if expected.suite == "inventory"]
    verdict = settled(outcome(0), map(missed, names), sent=False).verdict
    assert verdict.count(" of 40)") == 3
    assert verdict.endswith("; and 2 more. Nothing was written.")


@pytest.mark.parametrize(
    ("departures", "reason", "said"),
    [
        pytest.param((), None, "", id="as-by-default"),
        pytest.param(("mostly 0.9 (by default 1)",), None, "mostly 0.9 (by default 1)", id="without-a-reason"),
        pytest.param(
            ("max_fall 0.5 (by default 0.2)", "min_change 1 (by default 10)"),
            "we tidy up",
            "max_fall 0.5 (by default 0.2), min_change 1 (by default 10): we tidy up",
            id="with-one",
        ),
    ],
)
def test_how_it_is_held_otherwise_in_a_sentence(departures: tuple[str, ...], reason: str | None, said: str) -> None:
    assert replace(missed(STEADY), departures=departures, reason=reason).held_otherwise == said


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(lambda digest, folder: html.render(digest), id="page"),
        pytest.param(lambda digest, folder: markdown.render(digest, "index.html").replace("\\", ""), id="markdown"),
        pytest.param(lambda digest, folder: junit.write(digest, folder).read_text(), id="junit"),
        pytest.param(lambda digest, folder: str(summary.document(digest)["expectations"]), id="json"),
    ],
)
def test_every_format_tells_what_is_held_otherwise_and_why(told: Callable[[Digest, Path], str], tmp_path: Path) -> None:
    held = replace(missed(STEADY), departures=("max_fall 0.5 (by default 0.2)",), reason="we tidy up this week")
    text = told(replace(samples.blocked(), expectations=(held,)), tmp_path)
    assert "max_fall 0.5 (by default 0.2)" in text
    assert "we tidy up this week" in text
