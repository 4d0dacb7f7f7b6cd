"""`report.md`: the run for a pull request or a chat, short enough for both, in GitHub's Markdown.

Names are hostile until proven otherwise. They stand in code spans, where nothing is markup, nobody is mentioned and
nothing becomes a link; all that a reader cannot see is escaped before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nestsync.core.findings import Severity
from nestsync.reports.facts import Digest, RuleCase
from nestsync.reports.settled import ExpectationResult
from nestsync.reports.text import CHANGED_SINCE, plain, subject_text
from nestsync.reports.tree import state

FILE = "report.md"
CASES_SHOWN = 40
"""Rows of the table of findings; the most severe come first."""
LONGEST = 300
"""Characters of one cell, step or sentence: a comment may have 65,536 in all."""

_TOLD = {0: "✅", 3: "⛔", 4: "⚠️", 6: "⚠️"}
_MARKS = re.compile(r"([\\`*_\[\]<>~&$|])")
_BEGINS = re.compile(r"\A(?:([-+=])|(\d+)([.)]))")
"""What begins a list or a heading, and is itself anywhere else."""
_MEANS_MORE = re.compile(r"[@#`]|:\w|://|www\.|\b[A-Za-z][A-Za-z0-9]*-\d+\b", re.IGNORECASE)
"""What chats and forges make something of by themselves, escaped or not: mentions, issues (``#12``, ``GH-12``),
addresses, emoji."""
_RUNS_OF_TICKS = re.compile("`+")


def write(digest: Digest, folder: Path, page: str) -> Path:
    """Write ``report.md`` into `folder`; `page` is the address of the HTML page, relative or absolute."""
    path = folder / FILE
    path.write_text(render(digest, page), encoding="utf-8")
    return path


def render(digest: Digest, page: str) -> str:
    """The report as Markdown."""
    outcome = digest.outcome
    parts = [
        f"### {_TOLD.get(outcome.exit_code, '❌')} nestsync {outcome.command}: exit {outcome.exit_code}",
        sentence(outcome.verdict),
        *([sentence(CHANGED_SINCE)] if digest.configuration_changed else []),
        *_next_steps(outcome.next_steps),
        *_findings(digest),
        *_plan(digest),
        *_expectations(digest),
        *_history(digest),
        f"{_run(digest)}: {_link('the whole report', page)}.",
    ]
    return "\n\n".join(parts) + "\n"


def _run(digest: Digest) -> str:
    by = f" by {', '.join(code(str(actor)) for actor in digest.actors)}" if digest.actors else ""
    return f"Run {code(digest.outcome.run_id)} of {digest.started_at:%Y-%m-%d %H:%M} UTC{by}"


def _next_steps(steps: Sequence[str]) -> Iterator[str]:
    if steps:
        yield "**Next**"
    for step in steps:
        yield _block(step) if step.startswith("nestsync ") or "\n" in step else sentence(step)


def _findings(digest: Digest) -> Iterator[str]:
    if digest.findings is None:
        yield "**Findings**: not known, the check did not run."
        return
    severities = digest.severities()
    counted = ", ".join(f"{severities[each]:,} {each}" for each in Severity if severities[each])
    yield f"**Findings**: {counted or 'none'}"
    if digest.cases:
        order = [str(severity) for severity in Severity]
        cases = sorted(digest.cases, key=lambda case: (order.index(case.severity), -case.count, case.rule, case.source))
        yield _table(("severity", "rule", "source", "found", "the first"), map(_case, cases[:CASES_SHOWN]))
        if len(cases) > CASES_SHOWN:
            yield f"{len(cases) - CASES_SHOWN:,} more rules and sources are in the report."


def _case(case: RuleCase) -> tuple[str, ...]:
    first = case.examples[0]
    subject = subject_text(first.subject.source, first.subject.levels, first.subject.name)
    return (
        case.severity,
        code(case.rule),
        code(case.source),
        f"{case.count:,}",
        f"{code(subject)} {code(first.message)}",
    )


def _plan(digest: Digest) -> Iterator[str]:
    if digest.actions is None:
        yield "**Plan**: nothing was planned, and nothing was written."
        return
    yield f"**Plan and outcome**: {_counted(digest.action_counts) or 'there was nothing to do'}"


def _counted(counts: Mapping[tuple[str, str], int]) -> str:
    words: dict[str, int] = {}
    for (kind, outcome), count in counts.items():
        word = state(kind, outcome)
        words[word] = words.get(word, 0) + count
    return ", ".join(f"{count:,} {word}" for word, count in sorted(words.items(), key=lambda item: (-item[1], item[0])))


def _expectations(digest: Digest) -> Iterator[str]:
    failed = [result for result in digest.expectations if not result.success]
    if failed:
        yield "**Expectations that are not met**"
        yield "\n".join(map(_not_met, sorted(failed, key=lambda result: list(Severity).index(result.severity))))


def _not_met(result: ExpectationResult) -> str:
    line = f"- {result.severity}: {sentence(result.expectation)} ({code(result.name)})"
    first = f", the first is {code(result.examples[0])}" if result.examples else ""
    held = f"; held to {sentence(result.held_otherwise)}" if result.departures else ""
    return f"{line}: {result.unexpected:,} of {result.rows:,} say otherwise{first}{held}"


def _history(digest: Digest) -> Iterator[str]:
    if digest.changes is not None:
        yield f"**Compared with the run before**: {sentence(digest.changes.sentence)}"
        yield from map(sentence, digest.changes.notes)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """`text` for a table: GFM takes one apart at its bars before it looks for code, so they are escaped in code too.

    Readers do not agree on what a bar behind a backslash is: there it is spelled out.
    """
    return re.sub(r"(?<=\\)\|", lambda _: "\\u007C", text).replace("|", "\\|")


def sentence(text: str) -> str:
    """`text` as prose that means nothing to Markdown; as code where chats and forges would make something of it."""
    shown = _short(text)
    if _MEANS_MORE.search(shown):
        return code(text)
    escaped = _MARKS.sub(r"\\\1", shown).strip()
    return _BEGINS.sub(lambda found: f"{found[2] or ''}\\{found[1] or found[3]}", escaped)


def code(text: str) -> str:
    """`text` as a code span, on one line, with all that cannot be seen escaped."""
    shown = _short(text)
    if not shown.strip(" "):
        shown = f'"{shown}"'
    ticks = "`" * (1 + max(map(len, _RUNS_OF_TICKS.findall(shown)), default=0))
    # The blanks inside are taken away by whoever reads it, and keep a name's own backtick and blanks apart.
    edge = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{edge}{shown}{edge}{ticks}"


def _block(text: str) -> str:
    """`text`, which may have several lines, as a block of code."""
    lines = "\n".join(_short(line, 2_000) for line in text.splitlines())
    fence = "`" * max(3, 1 + max(map(len, _RUNS_OF_TICKS.findall(lines)), default=0))
    return f"{fence}console\n{lines}\n{fence}"


def _link(text: str, address: str) -> str:
    target = re.sub(r"[\s<>\\()]", lambda found: f"%{ord(found[0]):02X}", address)
    return f"[{text}](<{target}>)"


def _short(text: str, longest: int = LONGEST) -> str:
    shown = plain(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


__all__ = ["CASES_SHOWN", "FILE", "LONGEST", "code", "render", "sentence", "write"]
