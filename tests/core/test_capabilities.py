"""What each target refuses, one case a limit, and where it is known from."""

from __future__ import annotations

import pytest
from hypothesis import given

from nestsync.core.capabilities import CAPABILITIES, Case, Evidence, Parents, Unit, capabilities
from nestsync.core.dialects import UnknownKind
from nestsync.core.findings import RULES
from nestsync.core.identifiers import Levels
from tests.core import hostile

REFUSED: list[tuple[str, Levels, str | None, str, int | None, str | None]] = [
    ("iceberg-rest", ("a\x1fb",), None, "reserved-character", 0, "\x1f"),
    ("iceberg-rest", ("a", "b\x00"), None, "reserved-character", 1, "\x00"),
    ("iceberg-rest", ("a",), "t\x1f", "reserved-character", 1, "\x1f"),
    ("iceberg-rest", ("a",), "", "empty-level", 1, None),
    ("iceberg-rest-1.11", ("a.b",), None, "reserved-character", 0, "."),
    ("iceberg-rest-1.11", ("a\x1fb",), None, "reserved-character", 0, "\x1f"),
    ("iceberg-rest-1.11", ("a", "b/c"), None, "character-refused", 1, "/"),
    ("iceberg-rest-1.11", ("100%",), None, "character-refused", 0, "%"),
    ("iceberg-rest-1.11", ("a\\b",), None, "character-refused", 0, "\\"),
    ("iceberg-rest-1.11", ("a\nb",), None, "character-refused", 0, "\n"),
    ("iceberg-rest-1.11", ("a\x7fb",), None, "character-refused", 0, "\x7f"),
    ("iceberg-rest-1.11", ("a",), "t/u", "character-refused", 1, "/"),
    ("jdbc", ("a.b",), None, "reserved-character", 0, "."),
    ("jdbc", ("a", "b\\c"), None, "reserved-character", 1, "\\"),
    ("jdbc", ("",), None, "empty-level", 0, None),
    ("jdbc", ("x" * 200, "y" * 55), None, "too-long", None, None),
    ("jdbc", ("a",), "t" * 256, "too-long", 1, None),
    ("nessie", ("a", ""), None, "empty-level", 1, None),
    ("nessie", ("a\x1fb",), None, "character-refused", 0, "\x1f"),
    ("nessie", ("a\tb",), None, "character-refused", 0, "\t"),
    ("nessie", ("a\x7fb",), None, "character-refused", 0, "\x7f"),
    ("nessie", ("a", ".b"), None, "character-refused", 1, "."),
    ("nessie", tuple("a" * 20), None, "too-deep", 19, None),
    ("nessie", ("x" * 300,), "y" * 201, "too-long", None, None),
    ("nessie", ("😀" * 251,), None, "too-long", None, None),
    ("polaris", ("a\x1fb",), None, "reserved-character", 0, "\x1f"),
    ("lakekeeper", ("a.b",), None, "reserved-character", 0, "."),
    ("lakekeeper", ("a+b",), None, "reserved-character", 0, "+"),
    ("lakekeeper", ("a", ""), None, "empty-level", 1, None),
    ("lakekeeper", tuple("abcdef"), None, "too-deep", 5, None),
    ("unity", ("a", "b"), None, "too-deep", 1, None),
    ("unity", (), None, "too-deep", None, None),
    ("unity", ("a b",), None, "character-refused", 0, " "),
    ("unity", ("é",), None, "character-refused", 0, "é"),
    ("unity", ("x" * 256,), None, "too-long", 0, None),
    ("glue", ("a", "b"), None, "too-deep", 1, None),
    ("glue", ("",), None, "empty-level", 0, None),
    ("glue", ("x" * 256,), None, "too-long", 0, None),
    ("glue", ("a\nb",), None, "character-refused", 0, "\n"),
    ("glue", ("a\ufffe",), None, "character-refused", 0, "\ufffe"),
    ("glue", ("a.b",), None, "reserved-character", 0, "."),
    ("glue", ("a",), "t" * 256, "too-long", 1, None),
    ("gravitino", ("a.b",), None, "character-refused", 0, "."),
    ("gravitino", ("a b",), None, "character-refused", 0, " "),
    ("gravitino", ("é",), None, "character-refused", 0, "é"),
    ("gravitino", ("a$b",), None, "character-refused", 0, "$"),
    ("gravitino", ("a%b",), None, "character-refused", 0, "%"),
    ("gravitino", ("a:b",), None, "character-refused", 0, ":"),
    ("gravitino", ("a\x01b",), None, "character-refused", 0, "\x01"),
    ("gravitino", ("*",), None, "character-refused", 0, "*"),
    ("gravitino", ("-a",), None, "character-refused", 0, "-"),
    ("gravitino", ("a", ""), None, "empty-level", 1, None),
    ("gravitino", ("a", "x" * 65), None, "too-long", 1, None),
    ("gravitino", ("x" * 64, "y" * 64), None, "too-long", None, None),
    ("hms-3", ("a", "b", "c"), None, "too-deep", 2, None),
    ("hms-3", ("hive",), None, "too-deep", None, None),
    ("hms-3", ("hive", "a:b"), None, "character-refused", 1, ":"),
    ("hms-3", ("hive", "日本"), None, "character-refused", 1, "日"),
    ("hms-3", ("hive", "x" * 129), None, "too-long", 1, None),
    ("hms-3", ("x" * 257, "a"), None, "too-long", 0, None),
    ("hms-3", ("hive", "a"), "t.u", "character-refused", 2, "."),
    ("hms-3", ("hive", "a"), "x" * 257, "too-long", 2, None),
    ("hms-4", ("a.b", "c"), None, "character-refused", 0, "."),
    ("hms-4", ("a", "b", "c"), None, "too-deep", 2, None),
    ("hms-4", ("hive",), None, "too-deep", None, None),
    ("hms-4", ("x" * 257, "a"), None, "too-long", 0, None),
    ("hms-4", ("hive", "x" * 129), None, "too-long", 1, None),
    ("hms-4", ("hive", "a"), "x" * 257, "too-long", 2, None),
    ("hms-4", ("hive", "a:b"), None, "character-refused", 1, ":"),
    ("hms-4", ("hive", " a"), None, "character-refused", 1, " "),
    ("hms-4", ("hive", "a "), None, "character-refused", 1, " "),
    ("hms-4", ("hive", "a#"), None, "character-refused", 1, "#"),
    ("hms-4", ("hive", "a!"), None, "character-refused", 1, "!"),
    ("hms-4", ("hive", "a"), " t", "character-refused", 2, " "),
    ("hms-4", ("hive", "a"), "t ", "character-refused", 2, " "),
    ("hms-4", ("hive", "é"), None, "character-refused", 1, "é"),
    ("hms-4", ("hive", "a\\b"), None, "character-refused", 1, "\\"),
    ("lance-dir", ("a$b",), None, "reserved-character", 0, "$"),
    ("lance-dir", (), "é", "character-refused", 0, "é"),
    ("lance-dir", (), "100%", "reserved-character", 0, "%"),
    ("lance-dir", (), "a?b", "reserved-character", 0, "?"),
    ("lance-dir", (), "a#b", "reserved-character", 0, "#"),
    ("lance-dir", (), "a/b", "reserved-character", 0, "/"),
    ("lance-dir", (), "a$b", "reserved-character", 0, "$"),
    ("lance-dir", (), "..", "reserved-character", 0, None),
    ("lance-dir", (), ".", "reserved-character", 0, None),
    ("lance-rest", ("a b",), None, "reserved-character", 0, " "),
    ("lance-rest", ("a$b",), None, "reserved-character", 0, "$"),
    ("lance-rest", ("..",), None, "reserved-character", 0, None),
    ("lance-rest", (".",), None, "reserved-character", 0, None),
    ("lance-rest", ("",), None, "empty-level", 0, None),
]


@pytest.mark.parametrize(
    ("name", "levels", "table", "rule", "index", "character"), REFUSED, ids=lambda value: ascii(value)[:40]
)
def test_a_target_refuses(
    name: str, levels: Levels, table: str | None, rule: str, index: int | None, character: str | None
) -> None:
    refusals = capabilities(name).refusals(levels, table)
    assert [(r.rule, r.level_index, r.character) for r in refusals] == [(rule, index, character)]
    assert all(r.reason and r.accepted for r in refusals)


HELD: list[tuple[str, Levels, str | None]] = [
    ("iceberg-rest", ("a.b", "", "x" * 300, "é", "a/b"), "t"),
    ("iceberg-rest-1.11", ("a b", "", "é", "a?b#c+d"), "t.u"),
    ("jdbc", ("x" * 200, "y" * 54), "t" * 255),
    ("jdbc", ("a", "", "b"), "t"),
    ("nessie", (*"a" * 19,), "t"),
    ("nessie", ("a.b", "é", "x" * 495), "t"),
    ("polaris", ("a.b", "é"), "t"),
    ("lakekeeper", tuple("abcde"), "t"),
    ("unity", ("a@b-c_1",), "x" * 255),
    ("glue", ("Sales\t日本 😀\x7f:;$",), "x" * 255),
    ("gravitino", ("1a", "_b", "c/d=e-f", "x" * 64), "t"),
    ("gravitino", ("x" * 64, "y" * 63), None),
    ("hms-3", ("spark", "sales_emea"), "a/b"),
    ("hms-3", ("x" * 256, "y" * 128), "z" * 256),
    ("hms-4", ("hive", "a.b $-@#%c"), "t!:"),
    ("hms-4", ("hive", "a"), "t u"),
    ("hms-4", ("x" * 256, "y" * 128), "z" * 256),
    ("lance-dir", ("a.b", "", "é", ".."), "t u+v.w"),
    ("lance-dir", (), "t"),
    ("lance-rest", ("a.b", "é", "100%", "a/b", "a+b"), "t"),
]


@pytest.mark.parametrize(("name", "levels", "table"), HELD, ids=lambda value: ascii(value)[:40])
def test_a_target_holds(name: str, levels: Levels, table: str | None) -> None:
    assert capabilities(name).refusals(levels, table) == []


def test_everything_that_is_wrong_is_said_at_once() -> None:
    refusals = capabilities("glue").refusals(("a\nb", ""), "x" * 256)
    assert [(r.level_index, r.rule) for r in refusals] == [
        (1, "too-deep"),
        (0, "character-refused"),
        (1, "empty-level"),
        (2, "too-long"),
    ]


@pytest.mark.parametrize(
    ("name", "levels", "reason", "accepted"),
    [
        ("gravitino", ("a.b",), "holds '.', which is refused", "characters of [A-Za-z0-9_/=-]"),
        ("gravitino", ("-a",), "begins with '-', which is refused", "a first character of [A-Za-z0-9_]"),
        ("hms-4", ("a", "b "), "ends in ' ', which is refused", "a last character of [^ #!]"),
        ("gravitino", ("x" * 65,), "is longer than 64 characters", "at most 64 characters"),
        ("gravitino", ("x" * 64, "y" * 64), "has 129 characters in all, over 128", "at most 128 characters in all"),
        ("unity", ("x" * 256,), "is longer than 255 UTF-16 units", "at most 255 UTF-16 units"),
        ("jdbc", ("a.b",), "holds '.', which joins levels in storage", "without '.'"),
    ],
    ids=str,
)
def test_a_refusal_says_why_and_what_would_do(name: str, levels: Levels, reason: str, accepted: str) -> None:
    (refusal,) = capabilities(name).refusals(levels)
    assert (refusal.reason, refusal.accepted) == (reason, accepted)


@given(levels=hostile.levels)
def test_what_would_do_can_be_read(levels: Levels) -> None:
    for entry in CAPABILITIES.values():
        assert all(refusal.accepted.isprintable() for refusal in entry.refusals(levels))


@given(levels=hostile.levels)
def test_a_refusal_always_carries_a_known_rule(levels: Levels) -> None:
    for entry in CAPABILITIES.values():
        assert {r.rule for r in entry.refusals(levels)} <= set(RULES)


@pytest.mark.parametrize("name", CAPABILITIES)
@pytest.mark.parametrize("surrogate", hostile.LONE_SURROGATES, ids=ascii)
def test_no_target_holds_a_lone_surrogate(name: str, surrogate: str) -> None:
    assert "character-refused" in {r.rule for r in capabilities(name).refusals((surrogate, surrogate))}


@pytest.mark.parametrize(
    ("name", "one", "other", "same"),
    [
        ("glue", "Sales", "sales", True),
        ("hms-3", "Sales", "sales", True),
        ("hms-4", "Sales", "sales", True),
        ("lakekeeper", "Sales", "sales", True),
        ("lakekeeper", "é", "e\u0301", True),
        ("iceberg-rest", "Sales", "sales", False),
        ("iceberg-rest", "é", "e\u0301", False),
        ("glue", "é", "e\u0301", False),
    ],
    ids=ascii,
)
def test_the_key_folds_and_normalises_where_the_target_does(name: str, one: str, other: str, same: bool) -> None:
    entry = capabilities(name)
    assert (entry.key(one) == entry.key(other)) is same


@pytest.mark.parametrize(
    ("name", "case", "parents"),
    [
        ("iceberg-rest", Case.KEPT, Parents.UNSPECIFIED),
        ("iceberg-rest-1.11", Case.KEPT, Parents.IGNORED),
        ("jdbc", Case.KEPT, Parents.IGNORED),
        ("nessie", Case.KEPT, Parents.NEEDED),
        ("polaris", Case.KEPT, Parents.NEEDED),
        ("lakekeeper", Case.IGNORED, Parents.NEEDED),
        ("unity", Case.KEPT, Parents.NONE),
        ("glue", Case.FOLDED, Parents.NONE),
        ("gravitino", Case.KEPT, Parents.MADE),
        ("hms-3", Case.FOLDED, Parents.NEEDED),
        ("hms-4", Case.FOLDED, Parents.NEEDED),
        ("lance-dir", Case.KEPT, Parents.NEEDED),
        ("lance-rest", Case.KEPT, Parents.NEEDED),
    ],
    ids=str,
)
def test_case_and_parents(name: str, case: Case, parents: Parents) -> None:
    assert (capabilities(name).case, capabilities(name).parents) == (case, parents)


def test_views_and_properties() -> None:
    with_views = {"iceberg-rest", "iceberg-rest-1.11", "jdbc", "nessie", "polaris", "lakekeeper", "hms-3", "hms-4"}
    assert {name for name, entry in CAPABILITIES.items() if entry.views} == with_views
    assert all(entry.properties for entry in CAPABILITIES.values())


def test_each_entry_says_how_it_is_known() -> None:
    documented = {name for name, entry in CAPABILITIES.items() if entry.evidence is Evidence.DOCUMENTED}
    assert documented == {"polaris", "lakekeeper", "unity", "glue"}
    assert all(entry.where and entry.half_accepted and entry.title for entry in CAPABILITIES.values())
    assert all(entry.name == name for name, entry in CAPABILITIES.items())


def test_units_count_what_they_say() -> None:
    assert Unit.CHARACTERS.measure("a😀") == 2
    assert Unit.UTF16.measure("a😀") == 3


def test_unknown_capabilities_are_said_by_name() -> None:
    with pytest.raises(
        UnknownKind, match=r"no capabilities 'hms' Hint: there are iceberg-rest, iceberg-rest-1\.11, jdbc, nessie"
    ):
        capabilities("hms")
