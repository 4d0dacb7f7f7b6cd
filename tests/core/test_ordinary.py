"""Ordinary names: that nothing is wrong with them, and that most names are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.core.capabilities import CAPABILITIES
from nestsync.core.checking import CheckContext, DialectUse, Subject, Target, check
from nestsync.core.checking.collisions import target_text
from nestsync.core.checking.fates import ending, ways
from nestsync.core.checking.joints import Joints, joints
from nestsync.core.checking.ordinary import LONGEST, OWN_WORDS, PLAIN, Ordinary, in_sources, in_target, lossless
from nestsync.core.dialects import DIALECTS
from nestsync.core.identifiers import Levels
from nestsync.core.matrix import Fate
from tests.core.check_cases import context
from tests.core.hostile import HOSTILE

SOURCES = {"hms": DialectUse("hive"), "rest": DialectUse("iceberg-rest", "."), "lance": DialectUse("lance", "_b")}
ENGINES = ("trino", "spark", "flink", "gravitino-shipped", "jdbc")
PATHS = ("spark > gravitino > gravitino-physical > iceberg-rest > trino", "flink > hive")
CONTEXTS = [
    *(context(capabilities=name, sources=SOURCES, engines=ENGINES, separator=":") for name in CAPABILITIES),
    *(context(name, sources=SOURCES) for name in DIALECTS),
    CheckContext(
        target=Target("lake", "iceberg_rest", DialectUse("iceberg-rest"), "gravitino"),
        separator="e",
        policy="unrestricted",
        engines=(*ENGINES, "gravitino"),
        sources=SOURCES,
        paths=PATHS,
    ),
    CheckContext(sources=SOURCES, paths=PATHS),
]
PARTS = st.text(PLAIN, min_size=1, max_size=LONGEST) | st.sampled_from([*OWN_WORDS, "a", "0", "_", "x" * LONGEST])


@given(st.sampled_from(CONTEXTS), st.sampled_from(sorted(SOURCES)), st.lists(PARTS, max_size=8).map(tuple), st.data())
def test_nothing_is_wrong_with_what_is_ordinary(
    of: CheckContext, source: str, levels: Levels, data: st.DataObject
) -> None:
    name = data.draw(st.none() | PARTS)
    subject = Subject(source, "namespace" if name is None else "table", levels, name)
    if in_target(of).holds(levels, name) and in_sources(of)[source].holds(levels, name):
        of_names = [finding for finding in check([subject], of) if finding.levels]  # the separator's own have none
        assert of_names == []
    for way in ways(of):
        if name is None and lossless(way, of).holds(levels):
            assert ending(way, levels).fate is Fate.LOSSLESS


KINDS = [
    *(ordinary for of in CONTEXTS for ordinary in (in_target(of), *in_sources(of).values())),
    *(lossless(way, of) for of in CONTEXTS for way in ways(of)),
    Ordinary("ab", frozenset({1}), frozenset({1}), ()),
    Ordinary("ab", frozenset({1}), frozenset(), ()),
]


@given(st.sampled_from(KINDS), st.sampled_from(KINDS), st.lists(PARTS, max_size=8).map(tuple), st.none() | PARTS)
def test_what_one_covers_is_ordinary_there_too(
    one: Ordinary, other: Ordinary, levels: Levels, name: str | None
) -> None:
    if one.covers(other, tables=name is not None) and other.holds(levels, name):
        assert one.holds(levels, name)


@pytest.mark.parametrize(
    ("other", "of_namespaces", "of_tables"),
    [
        (Ordinary("a", frozenset({1}), frozenset({1}), ("w", "v")), True, True),
        (Ordinary("a", frozenset({1}), frozenset({2}), ("w",)), True, False),
        (Ordinary("a", frozenset({2}), frozenset({1}), ("w",)), False, False),
        (Ordinary("abc", frozenset({1}), frozenset({1}), ("w",)), False, False),
        (Ordinary("ab", frozenset({1}), frozenset({1}), ()), False, False),
    ],
    ids=["less", "deeper-tables", "deeper", "more-characters", "fewer-words"],
)
def test_what_covers_another(other: Ordinary, of_namespaces: bool, of_tables: bool) -> None:
    one = Ordinary("ab", frozenset({1}), frozenset({1}), ("w",))
    assert (one.covers(other, tables=False), one.covers(other)) == (of_namespaces, of_tables)


@given(st.sampled_from(CONTEXTS), st.lists(PARTS, max_size=8).map(tuple), st.none() | PARTS)
def test_an_ordinary_identifier_has_a_text_of_its_own_with_the_same_joints(
    of: CheckContext, levels: Levels, name: str | None
) -> None:
    ordinary = in_target(of)
    if not ordinary.holds(levels, name):
        return
    text = target_text(levels, name, of)
    told = joints(lambda at, named: target_text(at, named, of), ordinary, of_tables=name is not None)
    assert told is None or told.text(levels, name) == text
    if of.target is not None:
        dialect = of.target.dialect.open()
        back = (dialect.decode(text), None) if name is None else dialect.decode_table(text)
        assert back == (levels, name)


JOINTS = [
    pytest.param(context(), Joints("", "%1F", "", ""), Joints("", "%1F", "/tables/", ""), id="iceberg-rest"),
    pytest.param(context("hive", "hms-3"), Joints("@", "#", "", ""), Joints("@", "#", ".", ""), id="hive"),
    pytest.param(context("jdbc", "jdbc"), Joints("", ".", "", ""), Joints("", ".", ".", ""), id="dotted"),
    pytest.param(context("spark"), None, None, id="Spark quotes what begins with a digit"),
    pytest.param(context("iceberg-rest-query"), Joints("", "%1F", "", ""), None, id="no text for tables"),
]


@pytest.mark.parametrize(("of", "of_namespaces", "of_tables"), JOINTS)
def test_joints_of_dialects(of: CheckContext, of_namespaces: Joints | None, of_tables: Joints | None) -> None:
    def write(levels: Levels, name: str | None) -> str:
        return target_text(levels, name, of)

    assert joints(write, in_target(of), of_tables=False) == of_namespaces
    assert joints(write, in_target(of), of_tables=True) == of_tables


@pytest.mark.parametrize("name", sorted(CAPABILITIES))
def test_no_system_reserves_a_plain_word(name: str) -> None:
    """Witnesses cannot find a rule about one word."""
    system = CAPABILITIES[name]
    for rule in (*system.levels, system.table):
        assert not [word for word in rule.taken if set(word) <= set(PLAIN)]


ORDINARY = [
    pytest.param(context(capabilities="iceberg-rest"), {1, 2, 3, 4, 5, 6, 7, 8}, id="any depth"),
    pytest.param(context(capabilities="lakekeeper"), {1, 2, 3, 4, 5}, id="five levels"),
    pytest.param(context(capabilities="gravitino"), {1, 2, 3}, id="128 characters in all"),
    pytest.param(context("hive", "hms-3"), {2}, id="catalog and database"),
    pytest.param(context(capabilities="glue"), {1}, id="one level"),
]


@pytest.mark.parametrize(("of", "depths"), ORDINARY)
def test_how_deep_ordinary_namespaces_are(of: CheckContext, depths: set[int]) -> None:
    assert in_target(of).namespaces == depths


@pytest.mark.parametrize(
    "name", [part for part in HOSTILE if not re.fullmatch(r"[a-z0-9_]{1,40}", part) or part in OWN_WORDS]
)
def test_hostile_names_are_not_ordinary(name: str) -> None:
    assert not in_target(context()).holds((name,))
    assert not in_target(context()).holds(("a",), name)


def test_characters_of_a_separator_are_not_ordinary() -> None:
    of = context(separator="e", policy="unrestricted", sources={"lance": DialectUse("lance", "_b")})
    assert set(PLAIN) - set(in_target(of).characters) == {"e", "_", "b"}
    assert in_target(of) == Ordinary(in_target(of).characters, frozenset(range(1, 9)), frozenset(range(1, 9)))


def test_names_of_catalogs_are_not_ordinary() -> None:
    of = context(engines=("spark",), sources=SOURCES)
    assert of.target is not None
    for name in (of.target.name, *SOURCES):
        assert not in_target(of).holds((name, "a"))
        assert in_target(context()).holds((name, "a"))
