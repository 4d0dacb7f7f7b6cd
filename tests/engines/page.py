"""The page of the docs that shows what engines were seen to do beside what nestsync says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator

from nestsync.core.identifiers import Levels
from tests.engines.answers import Answer, Kind
from tests.engines.asked import CATALOG, ENGINES, NAME, QUESTIONS, TABLE, right
from tests.engines.cases import ROOT
from tests.engines.seen import Seen

LONGEST = 40
"""How much of a long level is shown."""

INTRODUCTION = f"""\
What real servers and engines were seen to do with hostile names, beside what nestsync's core says of each. `make
test-engines` asks them anew and writes down their answers; `make test` holds the core to what is written down. The
answers for the servers were taken byte for byte, past clients that change names on the way.

Names are JSON arrays of levels, outermost first; `{ROOT}` stands for a plain namespace made for the case. **kept**:
listed, found and, for a namespace, a child listed in it, all under exactly this name. **read as another**: it is there
as the levels shown. **half there**: made, and not found in every way. **refused**: not made.
"""


def page(seen: list[Seen]) -> Iterator[str]:
    """The text of the page in pieces."""
    yield INTRODUCTION
    yield _table(
        ("", "asked", *Kind, "nestsync says the same"),
        [_count(title.title, [one for one in seen if one.engine == name]) for name, title in ENGINES.items()],
    )
    for name, engine in ENGINES.items():
        rows = [one for one in seen if one.engine == name]
        yield f"## {engine.title}\n\nnestsync's answer: {engine.source}.\n"
        for question, meaning in QUESTIONS.items():
            asked = [one for one in rows if one.question == question]
            if asked:
                yield f"**{meaning[0].upper()}{meaning[1:]}.**\n"
                yield from _section(question, asked)


def _section(question: str, asked: list[Seen]) -> Iterator[str]:
    held = question in (NAME, TABLE, CATALOG)
    words = {
        Kind.KEPT: "Kept, and said to be kept" if held else "No harm, and none foretold",
        Kind.REFUSED: "Refused, and said to be refused",
    }
    plain: dict[Kind, list[Seen]] = {Kind.KEPT: [], Kind.REFUSED: []}
    rows = []
    for one in asked:
        said = ENGINES[one.engine].says(one.question, one.names).answer
        same = one.answer.kind is said.kind and right(one) and (held or one.answer.kind is Kind.KEPT)
        (plain[one.answer.kind] if same and one.answer.kind in plain else rows).append(one)
    if rows:
        yield _table(("name", "what it did", "what nestsync says"), map(_row, rows))
    for kind, ones in plain.items():
        if ones:
            yield f"{words[kind]} ({len(ones)}): {', '.join(_names(one.names) for one in ones)}\n"


def _row(one: Seen) -> tuple[str, str, str]:
    said = ENGINES[one.engine].says(one.question, one.names).answer
    mark = "" if right(one) else "**not so:** "
    return _names(one.names), _answer(one.answer), mark + _answer(said)


def _answer(answer: Answer) -> str:
    back = f" {as_json(answer.back)}" if answer.back is not None else ""
    why = f": {_plain(answer.why)}" if answer.why else ""
    return f"{answer.kind}{back}{why}"


def _count(title: str, rows: list[Seen]) -> tuple[str, ...]:
    kinds = Counter(one.answer.kind for one in rows)
    same = sum(map(right, rows))
    return (title, str(len(rows)), *(str(kinds[kind]) for kind in Kind), f"{same} of {len(rows)}")


def _names(names: Iterable[Levels]) -> str:
    return " + ".join(map(as_json, names))


def as_json(levels: Levels) -> str:
    """`levels` as JSON in Markdown code: in ASCII, and without signs that Markdown means something by."""
    short = [level if len(level) <= LONGEST else f"{level[:8]}... ({len(level)} characters)" for level in levels]
    text = json.dumps(short)
    for sign in "`|<>\x7f":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f"`{text}`"


def _plain(text: str) -> str:
    """`text` with what Markdown means something by escaped."""
    return "".join(f"\\{c}" if c in "\\`*_<>|[]#" else c for c in text)


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(columns)]
    lines += [["---"] * len(lines[0]), *map(list, rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
