"""The page `docs/names.md`: every dialect, every separator that is refused, and what every system holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from nestsync.core.capabilities import CAPABILITIES, Capabilities, NameRule
from nestsync.core.dialects import DIALECTS
from nestsync.core.dialects.reference import rows
from nestsync.core.separators import ALLOWED, DEFAULT_CANDIDATES, REFUSED, safety_reason, shown
from nestsync.printing import visible

Table = Callable[[Iterable[str], Iterable[Iterable[str]]], str]

DIALECTS_ARE = """\
A namespace is a list of levels; text exists in dialects alone. Each is a bijection on the names that it accepts, and
says which it does not accept, and why. This is each with its defaults: what it writes for the root, for the table `t`
in the namespace of the levels `a` and `b`, and what it refuses to write. What no UTF-8 text can carry (a lone
surrogate) and a table without a name are refused by all. `nestsync explain` shows one identifier in all of them.
"""
SEPARATORS_ARE = """\
## Separators

The configured separator joins levels in text: one character, by Gravitino's design. `restricted` takes those of an
allow-list (by default {allowed}), `unrestricted` whatever is safe; the check ranks {candidates} unless the
configuration says otherwise. These are safe under neither:
"""
CLASSES = (
    ("no character, or more than one", ("", "::")),
    ("blanks", (" ",)),
    ("letters", ("a",)),
    ("digits", ("7",)),
    ("combining marks", ("\u0301",)),
    ("controls, and what cannot be seen", ("\x00",)),
    ("what Unicode normalisation changes", ("\u037e",)),
)
"""The classes that are refused as a whole, each with members to ask for the reason."""
CAPABILITIES_ARE = """\
## What systems hold

`target.capabilities` names what is behind a target's address. *Tried* entries were asked for real, in the version that
is named; [engines.md](engines.md) shows the answers. *Documented only* ones are read from their source or their
documentation.
"""


COST_IS = """\
## What the check costs

Measured on 30 November 2026, two cores, in one Spark session that had done the same a few times before; one name in a
hundred has something odd. The plain pass is the sum of the lengths of all levels and names.
"""
COST = (
    ("the check of 1,000,000 identifiers", "4.9 s to 5.7 s; 21 s the first time in a session"),
    ("a plain pass over them", "0.40 s to 0.41 s: the check is 12.4 to 14.1 times that"),
    ("the check of 5,000,000 identifiers", "14.8 s, where 1,000,000 took 5.7 s: half as much each"),
    ("the pure core over 1,000,000 in Python workers", "139 s: 24 times what the check took in the same session"),
)
COST_AGAIN = """\
To measure it again:

```console
$ .venv/bin/python benchmarks/check_cost.py
$ .venv/bin/python benchmarks/check_cost.py --against growth
$ .venv/bin/python benchmarks/check_cost.py --against core
```
"""


def page(table: Table) -> Iterator[str]:
    """The parts of the page."""
    yield DIALECTS_ARE
    yield table(("dialect", "what it is", "the root", '`encode_table(("a", "b"), "t")`', "refuses"), _dialects())
    yield SEPARATORS_ARE.format(allowed=_listed(ALLOWED), candidates=_listed(DEFAULT_CANDIDATES))
    yield table(("refused", "because"), _separators())
    yield CAPABILITIES_ARE
    yield table(("system", "depth", "each level", "a table's name", "case", "parents"), _limits())
    yield table(("system", "what names do that it only half accepts", "known", "where"), _knowledge())
    yield COST_IS
    yield table(("what", "took"), COST)
    yield COST_AGAIN


def _dialects() -> Iterator[tuple[str, ...]]:
    for row in rows():
        what = (DIALECTS[row.dialect].__doc__ or "").partition("\n\n")[0]
        yield _code(row.dialect), " ".join(what.split()), _text(row.root), _text(row.table), row.refuses


def _text(text: str | None) -> str:
    if text is None:
        return "none"
    return _code(visible(text)) if text else "the empty text"


def _separators() -> Iterator[tuple[str, str]]:
    for name, members in CLASSES:
        yield name, ", ".join(dict.fromkeys(safety_reason(member) or "" for member in members))
    for separator, reason in REFUSED.items():
        yield _code(separator if separator.isprintable() else shown(separator)), reason


def _listed(separators: Iterable[str]) -> str:
    return " ".join(map(_code, separators))


def _limits() -> Iterator[tuple[str, ...]]:
    for entry in CAPABILITIES.values():
        folds = f"{entry.case}, normalised to NFC" if entry.normalises else str(entry.case)
        yield (
            f"{entry.title} ({_code(entry.name)})",
            entry.shape,
            _levels(entry),
            "; ".join(_rule(entry.table)),
            folds,
            str(entry.parents),
        )


def _levels(entry: Capabilities) -> str:
    said = ["; ".join(_rule(rule)) for rule in entry.levels]
    whole = []
    if entry.longest_path is not None:
        of = "the whole path, with a table's name" if entry.path_has_name else "the whole namespace"
        whole = [f"{of}: at most {entry.longest_path} {entry.path_unit}"]
    if len(said) == 1:
        return "; ".join([*said, *whole])
    first, *deeper = said
    return "<br>".join([f"the first: {first}", *(f"below: {each}" for each in deeper), *whole])


def _rule(rule: NameRule) -> Iterator[str]:
    yield "any character" if rule.allowed == NameRule().allowed else f"characters of {_class(rule.allowed)}"
    if rule.first:
        yield f"the first of {_class(rule.first)}"
    if rule.last:
        yield f"the last of {_class(rule.last)}"
    if rule.reserved:
        yield "none of " + ", ".join(f"{_code(visible(sign))} ({means})" for sign, means in rule.reserved)
    if rule.taken:
        yield f"not {' or '.join(map(_code, sorted(rule.taken)))}"
    if rule.may_be_empty:
        yield "may be empty"
    if rule.longest is not None:
        yield f"at most {rule.longest} {rule.unit}"


def _class(characters: str) -> str:
    plain = (c if " " <= c <= "~" else f"\\x{ord(c):02x}" if ord(c) < 0x100 else f"\\u{ord(c):04x}" for c in characters)
    return _code("".join(plain).replace("\\ud800-\\udfff", ""))


def _knowledge() -> Iterator[tuple[str, ...]]:
    for entry in CAPABILITIES.values():
        yield _code(entry.name), entry.half_accepted, str(entry.evidence), entry.where


def _code(text: str) -> str:
    """`text` as Markdown code, with a fence that it does not hold."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


__all__ = ["page"]
