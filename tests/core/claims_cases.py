"""Source objects for tests of the wanted tree and of the plan: short to write, and a strategy that makes many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from hypothesis import strategies as st

from nestsync.core.claims import PropertyKeys, SourceObject
from nestsync.core.findings import Finding, Member, Severity
from nestsync.core.identifiers import Levels
from nestsync.core.wanted import WantedSettings

About = TypeVar("About", Finding, Member)


def namespace(source: str, levels: str, target: str | None = None, **fields: object) -> SourceObject:
    """A namespace row; levels are written with slashes, and are their own target unless another is given."""
    return SourceObject(source, "namespace", path(levels), None, path(levels if target is None else target), **fields)  # type: ignore[arg-type]


def table(source: str, levels: str, name: str, target: str | None = None, **fields: object) -> SourceObject:
    """A table row, in the target namespace `target`."""
    return SourceObject(source, "table", path(levels), name, path(levels if target is None else target), **fields)  # type: ignore[arg-type]


def path(text: str) -> Levels:
    """``a/b`` as levels; tests of names that hold a slash write tuples."""
    return tuple(text.split("/")) if text else ()


def blocking(item: SourceObject, rule: str = "separator-conflict") -> Finding:
    """A blocking finding about `item`."""
    return Finding(
        rule, Severity.BLOCKING, item.source, item.object, item.levels, item.name, item.target_levels, "wrong", "mend"
    )


def members(*items: SourceObject) -> Iterator[Member]:
    """`items` as the objects of one finding, the last one as if the target held it; none where it is about one."""
    if len(items) > 1:
        for number, item in enumerate(items, 1):
            role = "target" if number == len(items) else "source"
            yield Member(role, item.source, item.object, item.levels, item.name, item.target_levels or ())


_NAMES = ("a", "b", "a:b", "é", "e\u0301", "\x00", "a\nb", "\u2028", "😀", "", "'\"\\")
_names = st.sampled_from(_NAMES)
_few = st.sampled_from(_NAMES[:3])
_keys = st.sampled_from(("k", "owner", "comment", "location", "x-owner", "K", "a:b|c", ""))
_values = st.sampled_from(("1", "2", "", "a:b|c", "é", "\x00\n"))
_own = st.one_of(st.none(), _values)


@st.composite
def source_objects(draw: st.DrawFn) -> SourceObject:
    """A row of one of three sources; few names, so that many rows meet in the target."""
    kind = draw(st.sampled_from(("namespace", "namespace", "namespace", "table", "view")))
    return SourceObject(
        source=draw(st.sampled_from(("s1", "s2", "s:3"))),
        object=kind,
        levels=tuple(draw(st.lists(_names, min_size=1, max_size=3))),
        name=None if kind == "namespace" else draw(_names),
        target_levels=draw(st.one_of(st.none(), st.lists(_few, max_size=4).map(tuple))),
        properties=draw(st.dictionaries(_keys, _values, max_size=4)),
        owner=draw(_own),
        comment=draw(_own),
        location=draw(_own),
        status=draw(st.sampled_from(("ok", "ok", "ok", "ok", "unreadable", "unsupported"))),
    )


def _subject(item: SourceObject) -> tuple[object, ...]:
    return item.source, item.object, item.levels, item.name


catalogs: st.SearchStrategy[list[SourceObject]] = st.lists(source_objects(), max_size=12, unique_by=_subject)


@st.composite
def checked_catalogs(draw: st.DrawFn) -> tuple[list[SourceObject], list[Finding]]:
    """A catalog, and what the check might have found in it."""
    catalog = draw(catalogs)
    chosen = draw(st.lists(st.sampled_from(catalog), max_size=2)) if catalog else []
    severities = st.sampled_from((Severity.BLOCKING, Severity.BLOCKING, Severity.WARNING))
    others = st.lists(st.sampled_from(catalog), max_size=2) if catalog else st.just([])
    return catalog, [
        replace(blocking(item), severity=draw(severities), members=tuple(members(item, *draw(others))))
        for item in chosen
    ]


def batch(cases: list[tuple[list[SourceObject], list[Finding]]]) -> tuple[list[SourceObject], list[Finding]]:
    """All cases in one catalog, each below a level of its own: one Spark job for many cases."""
    objects = [_below(item, str(i)) for i, (catalog, _) in enumerate(cases) for item in catalog]
    findings = [
        replace(_placed(f, str(i)), members=tuple(_placed(member, str(i)) for member in f.members))
        for i, (_, found) in enumerate(cases)
        for f in found
    ]
    return objects, findings


def _placed(about: About, case: str) -> About:
    target = about.target_levels and (case, *about.target_levels)
    return replace(about, levels=(case, *about.levels), target_levels=target)


def _below(item: SourceObject, case: str) -> SourceObject:
    target = item.target_levels and (case, *item.target_levels)
    return replace(item, levels=(case, *item.levels), target_levels=target)


settings: st.SearchStrategy[WantedSettings] = st.builds(
    WantedSettings,
    keys=st.sampled_from(
        (
            PropertyKeys(),
            PropertyKeys(owner="x-owner"),
            PropertyKeys(comment=None, location=None),
            PropertyKeys(None, None, None),
            PropertyKeys(comment="location", location="comment"),
        )
    ),
    source_order=st.sampled_from(((), ("s2",), ("s:3", "s1"), ("s1", "s2", "s:3"))),
)
