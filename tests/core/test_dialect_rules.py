"""Each dialect's rules, one case a rule: what is written, what is read, what is refused and which part is blamed."""

from __future__ import annotations

import pytest

from nestsync.core.dialects import NameRefused, dialect
from nestsync.core.dialects.iceberg_rest import java_reading
from nestsync.core.identifiers import Levels
from nestsync.core.separators import SeparatorRefused

WRITTEN: list[tuple[str, dict[str, str], Levels, str]] = [
    ("iceberg-rest", {}, ("a b", "c"), "a%20b%1Fc"),
    ("iceberg-rest", {}, ("a+b",), "a%2Bb"),
    ("iceberg-rest", {}, ("a.b-c_d~e",), "a.b-c_d~e"),
    ("iceberg-rest", {}, ("é", "100%", "a/b"), "%C3%A9%1F100%25%1Fa%2Fb"),
    ("iceberg-rest", {}, ("a", ""), "a%1F"),
    ("iceberg-rest", {}, (), ""),
    ("iceberg-rest", {"separator": "."}, ("a", "b"), "a%2Eb"),
    ("iceberg-rest-query", {}, ("a b", "c"), "a%20b%1Fc"),
    ("iceberg-rest-query", {"separator": "."}, ("a", "b"), "a.b"),
    ("iceberg-rest-query", {}, (), ""),
    ("gravitino", {}, ("team", "sales"), "team:sales"),
    ("gravitino", {"separator": ";"}, ("my.schema", "a:b"), "my.schema;a:b"),
    ("gravitino", {}, (), ""),
    ("gravitino-physical", {}, ("my.schema", "sales"), "my%2Eschema\x01sales"),
    ("gravitino-physical", {}, ("100%", "a\x01b", "a:b é"), "100%25\x01a%01b\x01a:b é"),
    ("gravitino-physical", {}, (), ""),
    ("gravitino-shipped", {}, ("my.schema", "sales"), "my.schema\x01sales"),
    ("gravitino-shipped", {"separator": "::"}, ("a:b", "c"), "a:b\x01c"),
    ("gravitino-shipped", {"separator": "_"}, ("a", "b"), "a\x01b"),
    ("gravitino-shipped", {}, (), ""),
    ("spark", {}, ("a", "b c", "d.e", "f`g"), "a.`b c`.`d.e`.`f``g`"),
    ("spark", {}, ("_a1", "1a", "12", "select", ""), "_a1.`1a`.`12`.select.``"),
    ("spark", {}, ("é", "a-b", "`"), "`é`.`a-b`.````"),
    ("flink", {}, ("cat", "my.db"), "`cat`.`my.db`"),
    ("flink", {}, ("c`t", "\u00a0"), "`c``t`.`\u00a0`"),
    ("trino", {}, ("a", "b", "c"), '"a.b.c"'),
    ("trino", {}, ('a"b', "a b"), '"a""b.a b"'),
    ("lance", {}, ("cat2", "cat5"), "cat2$cat5"),
    ("lance", {"separator": "."}, ("cat2", "cat5"), "cat2.cat5"),
    ("lance", {"separator": "::"}, ("a:b", "c"), "a:b::c"),
    ("lance", {}, (), ""),
    ("lance", {}, ("a", ""), "a$"),
    ("lance-hive", {}, ("catalog", "database"), "catalog$database"),
    ("lance-hive", {}, ("catalog",), "catalog"),
    ("lance-hive", {}, (), ""),
    ("hive", {}, ("hive", "sales"), "@hive#sales"),
    ("hive", {}, ("@c", "a#b!c@d.e"), "@@c#a#b!c@d.e"),
    ("jdbc", {}, ("a", "b"), "a.b"),
    ("jdbc", {}, (), ""),
]


@pytest.mark.parametrize(("name", "options", "levels", "text"), WRITTEN, ids=str)
def test_levels_are_written_as(name: str, options: dict[str, str], levels: Levels, text: str) -> None:
    d = dialect(name, **options)
    assert d.encode(levels) == text
    assert d.render(levels) == text
    assert d.decode(text) == levels


TABLES: list[tuple[str, Levels, str, str]] = [
    ("iceberg-rest", ("a b", "c"), "t/1", "a%20b%1Fc/tables/t%2F1"),
    ("gravitino", ("A", "B"), "t", "A:B.t"),
    ("gravitino", ("my.schema",), "t", "my.schema.t"),
    ("gravitino-physical", ("a.b", "c"), "t.1", "a%2Eb\x01c.t%2E1"),
    ("gravitino-shipped", ("a.b", "c"), "t", "a.b\x01c.t"),
    ("spark", ("a", "b c"), "t.1", "a.`b c`.`t.1`"),
    ("spark", (), "t", "t"),
    ("flink", ("c", "d"), "t", "`c`.`d`.`t`"),
    ("trino", ("a", "b"), "t.1", '"a.b"."t.1"'),
    ("lance", ("cat4",), "t3", "cat4$t3"),
    ("lance", (), "t3", "t3"),
    ("lance-hive", ("catalog", "database"), "table", "catalog$database$table"),
    ("hive", ("hive", "my.db"), "t", "@hive#my.db.t"),
    ("jdbc", ("a", "b"), "t", "a.b.t"),
    ("jdbc", (), "t", "t"),
]


@pytest.mark.parametrize(("name", "levels", "table", "text"), TABLES, ids=str)
def test_a_table_is_written_as(name: str, levels: Levels, table: str, text: str) -> None:
    d = dialect(name)
    assert d.encode_table(levels, table) == text
    assert d.render_table(levels, table) == text
    assert d.decode_table(text) == (levels, table)


READ: list[tuple[str, dict[str, str], str, Levels]] = [
    ("iceberg-rest", {}, "a%20%6a", ("a j",)),
    ("iceberg-rest", {}, "a+b", ("a+b",)),
    ("iceberg-rest", {}, "a b", ("a b",)),
    ("iceberg-rest", {"separator": "."}, "a%1Fb", ("a", "b")),
    ("iceberg-rest-query", {}, "a+b%1fc", ("a b", "c")),
    ("iceberg-rest-query", {"separator": "."}, "a%1Fb", ("a", "b")),
    ("iceberg-rest-query", {"separator": "."}, "a%2Eb", ("a", "b")),
    ("gravitino-physical", {}, "my%2eschema\x01a.b%3A", ("my.schema", "a.b:")),
    ("gravitino-shipped", {}, "a:b\x01c", ("a", "b", "c")),
    ("spark", {}, " `a` .\tb\n", ("a", "b")),
    ("spark", {}, "12b.`12`", ("12b", "12")),
    ("flink", {}, "a.`b`", ("a", "b")),
    ("trino", {}, '"A.B"', ("a", "b")),
    ("trino", {}, "Sales", ("sales",)),
    ("trino", {}, '" a .. b "', ("a", "b")),
    ("lance", {}, "$", ()),
    ("lance", {"separator": "::"}, "::", ()),
    ("hive", {}, "sales", ("hive", "sales")),
    ("hive", {"default_catalog": "spark"}, "sales", ("spark", "sales")),
    ("hive", {}, "a#b", ("hive", "a#b")),
]


@pytest.mark.parametrize(("name", "options", "text", "levels"), READ, ids=str)
def test_other_texts_are_read_as(name: str, options: dict[str, str], text: str, levels: Levels) -> None:
    assert dialect(name, **options).decode(text) == levels


REFUSED: list[tuple[str, dict[str, str], Levels, int | None, str | None, str, str]] = [
    ("iceberg-rest", {}, ("",), 0, None, "root", "round-trip-loss"),
    ("iceberg-rest", {}, ("a", "b\x1fc"), 1, "\x1f", "separator", "separator-conflict"),
    ("iceberg-rest", {"separator": "."}, ("a", "b\x1fc"), 1, "\x1f", "every server", "separator-conflict"),
    ("iceberg-rest", {"separator": "."}, ("a.b",), 0, ".", "separator of the server", "separator-conflict"),
    ("iceberg-rest", {"separator": "::"}, ("a:", "b"), 0, ":", "runs into", "round-trip-loss"),
    ("iceberg-rest-query", {}, ("",), 0, None, "root", "round-trip-loss"),
    ("iceberg-rest-query", {"separator": "."}, ("a.b",), 0, ".", "separator of the server", "separator-conflict"),
    ("gravitino", {}, ("a", "b:c"), 1, ":", "separator of the hierarchy", "separator-conflict"),
    ("gravitino", {}, ("a", ""), 1, None, "empty level", "empty-level"),
    ("gravitino", {}, ("",), 0, None, "empty level", "empty-level"),
    ("gravitino-physical", {}, ("a", ""), 1, None, "empty level", "empty-level"),
    ("gravitino-shipped", {}, ("a:b",), 0, ":", "separator of the hierarchy", "separator-conflict"),
    ("gravitino-shipped", {}, ("a\x01b",), 0, "\x01", "joins levels in the store", "separator-conflict"),
    ("gravitino-shipped", {"separator": "::"}, ("a:", "b"), 0, ":", "runs into", "round-trip-loss"),
    ("gravitino-shipped", {}, ("a", ""), 1, None, "empty level", "empty-level"),
    ("spark", {}, (), None, None, "root", "round-trip-loss"),
    ("flink", {}, (), None, None, "catalog and database", "too-deep"),
    ("flink", {}, ("a",), None, None, "catalog and database", "too-deep"),
    ("flink", {}, ("c", "a", "b"), 2, None, "one level too many", "too-deep"),
    ("flink", {}, ("c", ""), 1, None, "empty level", "empty-level"),
    ("flink", {}, ("c", " \t"), 1, " ", "whitespace", "round-trip-loss"),
    ("flink", {}, ("c", "\x1c"), 1, "\x1c", "whitespace", "round-trip-loss"),
    ("flink", {}, ("c", "a\nb"), 1, "\n", "line break", "round-trip-loss"),
    ("flink", {}, ("c", "a\rb"), 1, "\r", "line break", "round-trip-loss"),
    ("flink", {}, ("c", "x" * 257), 1, None, "256 UTF-16 units", "too-long"),
    ("flink", {}, ("c", "😀" * 129), 1, None, "256 UTF-16 units", "too-long"),
    ("trino", {}, (), None, None, "root", "round-trip-loss"),
    ("trino", {}, ("a", ""), 1, None, "addresses its parent", "round-trip-loss"),
    ("trino", {}, ("a", " "), 1, None, "addresses its parent", "round-trip-loss"),
    ("trino", {}, ("a", "\u00a0"), 1, None, "addresses its parent", "round-trip-loss"),
    ("trino", {}, ("a", "."), 1, None, "addresses its parent", "round-trip-loss"),
    ("trino", {}, ("a", ".."), 1, None, "addresses its parent", "round-trip-loss"),
    ("trino", {}, ("a.b",), 0, ".", "joins levels", "round-trip-loss"),
    ("trino", {}, (" a",), 0, " ", "blank at its edge", "round-trip-loss"),
    ("trino", {}, ("a\t",), 0, "\t", "blank at its edge", "round-trip-loss"),
    ("trino", {}, ("sAles",), 0, "A", "lower case", "round-trip-loss"),
    ("trino", {}, ("a\x1fb",), 0, "\x1f", "fail to list", "reserved-character"),
    ("trino", {}, ("system",), 0, None, "shadowed", "round-trip-loss"),
    ("trino", {}, ("information_schema",), 0, None, "shadowed", "round-trip-loss"),
    ("lance", {}, ("a", "b$c"), 1, "$", "joins levels", "separator-conflict"),
    ("lance", {}, ("",), 0, None, "root", "round-trip-loss"),
    ("lance", {}, ("", ""), 0, None, "root", "round-trip-loss"),
    ("lance", {"separator": "::"}, ("a:", "b"), 0, ":", "runs into", "round-trip-loss"),
    ("lance-hive", {}, ("c", "d", "e"), 2, None, "one level too many", "too-deep"),
    ("lance-hive", {}, ("c", "d$e"), 1, "$", "joins levels", "separator-conflict"),
    ("lance-hive", {}, ("c", ""), 1, None, "empty level", "empty-level"),
    ("hive", {}, (), None, None, "catalog and database", "too-deep"),
    ("hive", {}, ("sales",), None, None, "catalog and database", "too-deep"),
    ("hive", {}, ("a", "b", "c"), 2, None, "one level too many", "too-deep"),
    ("hive", {}, ("c#d", "e"), 0, "#", "ends the catalog", "separator-conflict"),
    ("hive", {}, ("c", ""), 1, None, "empty database", "empty-level"),
    ("hive", {}, ("c", "d#"), 1, "#", "ends in '#'", "reserved-character"),
    ("hive", {}, ("c", "d!"), 1, "!", "ends in '!'", "reserved-character"),
    ("jdbc", {}, ("a", "b.c"), 1, ".", "joins levels", "separator-conflict"),
    ("jdbc", {}, ("",), 0, None, "root", "round-trip-loss"),
]


@pytest.mark.parametrize(
    ("name", "options", "levels", "index", "character", "reason", "rule"), REFUSED, ids=lambda value: ascii(value)[:40]
)
def test_a_refusal_blames_the_level_and_the_character(
    name: str, options: dict[str, str], levels: Levels, index: int | None, character: str | None, reason: str, rule: str
) -> None:
    d = dialect(name, **options)
    refusal = d.refusal(levels)
    assert refusal is not None
    assert refusal.level_index == index
    assert refusal.level == (None if index is None else levels[index])
    assert refusal.character == character
    assert character is None or character in levels[index or 0]
    assert reason in refusal.reason
    assert refusal.accepted
    assert refusal.rule == rule
    with pytest.raises(NameRefused) as caught:
        d.encode(levels)
    assert caught.value.refusal == refusal


TABLES_REFUSED: list[tuple[str, Levels, str, int | None, str]] = [
    ("iceberg-rest", (), "t", None, "table in the root"),
    ("iceberg-rest", ("a\x1fb",), "t", 0, "separator"),
    ("iceberg-rest-query", ("a",), "t", None, "namespaces only"),
    ("gravitino", (), "t", None, "table in the root"),
    ("gravitino", ("a",), "t.u", 1, "parts schema and table"),
    ("gravitino", ("a:b",), "t", 0, "separator"),
    ("gravitino-physical", (), "t", None, "table in the root"),
    ("gravitino-shipped", ("a",), "t.u", 1, "parts schema and table"),
    ("flink", ("c", "d"), "t\nu", 2, "line break"),
    ("flink", ("c",), "t", None, "catalog and database"),
    ("trino", ("a",), "t$files", 1, "cannot be opened"),
    ("trino", ("a",), "t@1", 1, "cannot be opened"),
    ("trino", ("a",), "Tab", 1, "lower case"),
    ("trino", (), "t", None, "root"),
    ("lance", ("a",), "t$u", 1, "joins levels"),
    ("lance-hive", ("c",), "t", None, "catalog$database$table"),
    ("lance-hive", ("c", "d"), "t$u", 2, "joins levels"),
    ("hive", ("c", "d"), "t.u", 2, "parts database and table"),
    ("hive", ("c",), "t", None, "catalog and database"),
    ("jdbc", ("a",), "t.u", 1, "joins levels"),
    *[(name, ("a", "b"), "", 2, "is empty") for name in ("iceberg-rest", "gravitino", "spark", "trino", "lance")],
]


@pytest.mark.parametrize(("name", "levels", "table", "index", "reason"), TABLES_REFUSED, ids=str)
def test_a_refused_table_blames_its_name_or_a_level(
    name: str, levels: Levels, table: str, index: int | None, reason: str
) -> None:
    refusal = dialect(name).table_refusal(levels, table)
    assert refusal is not None
    assert refusal.level_index == index
    assert reason in refusal.reason
    assert refusal.character is None or refusal.character in (refusal.level or "")


UNREADABLE: list[tuple[str, dict[str, str], str, str]] = [
    ("iceberg-rest", {}, "100%", "two hexadecimal digits"),
    ("iceberg-rest", {}, "%zz", "two hexadecimal digits"),
    ("iceberg-rest", {}, "%FF", "not UTF-8"),
    ("iceberg-rest", {}, "a/b", "ends it"),
    ("iceberg-rest", {}, "a?b", "ends it"),
    ("iceberg-rest", {}, "a%1fb", "separator"),  # servers look for %1F as it stands, before they decode
    ("iceberg-rest", {}, "a\x1fb", "separator"),
    ("iceberg-rest", {"separator": "."}, "a.b", "separator"),
    ("iceberg-rest", {"separator": "."}, "a%1Fb%2Ec", "separator"),
    ("iceberg-rest-query", {}, "100%", "two hexadecimal digits"),
    ("iceberg-rest-query", {}, "a&pageToken=", "is not one parameter's value: '&' ends it"),
    ("iceberg-rest-query", {}, "a#b", "is not one parameter's value: '#' ends it"),
    ("iceberg-rest-query", {"separator": "."}, "a%1Fb.c", "separator"),
    ("gravitino", {}, "A::B", "contains an empty segment after splitting by ':'"),
    ("gravitino", {}, ":A", "contains an empty segment after splitting by ':'"),
    ("gravitino", {}, "A:", "contains an empty segment after splitting by ':'"),
    ("gravitino-physical", {}, "A\x01\x01B", "contains an empty segment after splitting by U+0001"),
    ("gravitino-physical", {}, "100%", "two hexadecimal digits"),
    ("gravitino-shipped", {}, "A\x01", "contains an empty segment"),
    ("spark", {}, "", "no multi-part name"),
    ("spark", {}, "a..b", "no multi-part name"),
    ("spark", {}, "a.", "no multi-part name"),
    ("spark", {}, "a b", "no multi-part name"),
    ("spark", {}, "`a", "no multi-part name"),
    ("spark", {}, "a-b", "no multi-part name"),
    ("spark", {}, "é", "no multi-part name"),
    ("spark", {}, "12", "no multi-part name"),
    ("spark", {}, "a.1e5", "no multi-part name"),
    ("spark", {}, "12L", "no multi-part name"),
    ("flink", {}, "1a.b", "no multi-part name"),
    ("flink", {}, "`c`.`a`.`b`", "one level too many"),
    ("flink", {}, "a-b.c", "no multi-part name"),
    ("trino", {}, "a.b", "no schema name"),
    ("trino", {}, '""', "no schema name"),
    ("trino", {}, '"a"b"', "no schema name"),
    ("trino", {}, '"."', "root"),
    ("lance-hive", {}, "a$b$c", "one level too many"),
    ("lance-hive", {}, "a$", "empty level"),
    ("hive", {}, "@cat#", "the request form @catalog#, a catalog without a database"),
    ("hive", {}, "@cat#!", "the request form @catalog#!, an empty database"),
    ("hive", {}, "a#", "ends in '#'"),
    ("hive", {}, "a#b!", "ends in '!'"),
    ("hive", {}, "@sales", "names no catalog"),
    ("hive", {}, "@sales!", "names no catalog"),
    ("hive", {}, "@", "names no catalog"),
    ("hive", {}, "", "empty database"),
]


@pytest.mark.parametrize(("name", "options", "text", "reason"), UNREADABLE, ids=ascii)
def test_a_text_that_means_nothing_is_refused(name: str, options: dict[str, str], text: str, reason: str) -> None:
    with pytest.raises(NameRefused, match=r".") as caught:
        dialect(name, **options).decode(text)
    refusal = caught.value.refusal
    assert reason in refusal.reason
    assert refusal.character is None or refusal.character in (refusal.level or "")
    assert caught.value.where == name


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("iceberg-rest", "a", "no table's path"),
        ("iceberg-rest", "a/tables/t/x", "no table's path"),
        ("iceberg-rest", "a/tables/t?x", "no table's path"),
        ("iceberg-rest", "/tables/t", "table in the root"),
        ("iceberg-rest", "a/tables/", "is empty"),
        ("iceberg-rest", "a/tables/100%", "two hexadecimal digits"),
        ("iceberg-rest-query", "a", "never a table"),
        ("gravitino", "t", "names no table"),
        ("gravitino", ".t", "table in the root"),
        ("gravitino-physical", "a.b.t", "one bare dot"),
        ("gravitino-physical", "t", "one bare dot"),
        ("gravitino-physical", ".t", "table in the root"),
        ("gravitino-physical", "a.100%", "two hexadecimal digits"),
        ("gravitino-shipped", "t", "names no table"),
        ("gravitino-shipped", ".t", "table in the root"),
        ("spark", "a.", "no multi-part name"),
        ("flink", "`d`.`t`", "catalog and database"),
        ("trino", '"a"', "no table name"),
        ("trino", '"a"."t$files"', "cannot be opened"),
        ("trino", '"."."t"', "root"),
        ("lance", "", "no table's text"),
        ("lance", "a$", "is empty"),
        ("lance-hive", "d$t", "catalog$database$table"),
        ("hive", "t", "names no table"),
        ("hive", "@cat#.t", "a catalog without a database"),
        ("hive", "@cat#!.t", "an empty database"),
        ("jdbc", "", "no table's text"),
        ("jdbc", "a.", "is empty"),
    ],
    ids=str,
)
def test_a_text_that_is_no_table_is_refused(name: str, text: str, reason: str) -> None:
    with pytest.raises(NameRefused) as caught:
        dialect(name).decode_table(text)
    assert reason in caught.value.refusal.reason
    assert caught.value.where == name


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("iceberg-rest", {"separator": ""}),
        ("iceberg-rest-query", {"separator": ""}),
        ("lance", {"separator": ""}),
        ("iceberg-rest", {"separator": "\x1f\x1f"}),
        ("iceberg-rest", {"separator": ":\x1f"}),
        ("iceberg-rest-query", {"separator": "\x1f\x1f"}),
        *[(name, {"separator": ":\ud800"}) for name in ("iceberg-rest", "iceberg-rest-query", "lance")],
        *[(name, {"separator": "\ud800"}) for name in ("gravitino", "gravitino-shipped")],
        ("gravitino", {"separator": ""}),
        ("gravitino", {"separator": "."}),
        ("gravitino", {"separator": "/"}),
        ("gravitino", {"separator": "::"}),
        ("gravitino-shipped", {"separator": ""}),
        ("gravitino-shipped", {"separator": " "}),
        ("gravitino-shipped", {"separator": "."}),
        ("gravitino-shipped", {"separator": "a.b"}),
        ("gravitino-shipped", {"separator": "\x01"}),
    ],
    ids=ascii,
)
def test_a_separator_that_cannot_be_is_an_error(name: str, options: dict[str, str]) -> None:
    with pytest.raises(SeparatorRefused) as caught:
        dialect(name, **options)
    assert caught.value.alternatives
    for alternative in caught.value.alternatives:
        assert len(alternative) == 1
        dialect(name, separator=alternative)


def test_a_hive_database_that_is_too_deep_would_be_written_dotted() -> None:
    assert dialect("hive").render(("a", "b", "c")) == "@a#b.c"


def test_a_bare_plus_in_a_path_has_a_second_reading() -> None:
    assert java_reading("a+b%1Fc") == ("a b", "c")
    assert java_reading("a%2Bb") is None


def test_the_full_name_in_gravitino_has_the_path_in_the_schemas_place() -> None:
    d = dialect("gravitino")
    assert d.qualify("metalake", "catalog", ("A", "B"), "t") == "metalake.catalog.A:B.t"
    assert d.qualify("metalake", "catalog", ("team", "sales")) == "metalake.catalog.team:sales"
    for metalake, catalog in [("", "c"), ("m.x", "c"), ("m", ""), ("m", "c.x"), ("m\ud800", "c")]:
        with pytest.raises(NameRefused):
            d.qualify(metalake, catalog, ("A",), "t")
    with pytest.raises(NameRefused, match="is the root, which has no full name"):
        d.qualify("metalake", "catalog", ())
