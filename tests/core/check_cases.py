"""The table of cases that the core and Spark are both held to."""

from __future__ import annotations

from collections.abc import Mapping as Lookup
from dataclasses import dataclass, field, replace
from typing import Any

from nestsync.core.checking import CheckContext, DialectUse, Subject, Target
from nestsync.core.identifiers import Identifier, Levels
from nestsync.core.mapping import Mapping, MappingRule, Rename

Expected = tuple[str, str, Levels, str]
"""rule, source, levels, name (empty for a namespace)."""


def namespace(source: str, *levels: str, **more: Any) -> Subject:
    return Subject(source, "namespace", levels, **more)


def table(source: str, name: str, *levels: str, **more: Any) -> Subject:
    return Subject(source, "table", levels, name, **more)


def there(*levels: str) -> Subject:
    return namespace("lake", *levels, role="target")


def context(
    dialect: str = "iceberg-rest", capabilities: str = "iceberg-rest", advertised: str | None = None, **more: Any
) -> CheckContext:
    target = Target("lake", "iceberg_rest", DialectUse(dialect, advertised), capabilities)
    return CheckContext(target=target, **more)


@dataclass(frozen=True)
class Case:
    name: str
    subjects: list[Subject]
    context: CheckContext
    expected: list[Expected] = field(default_factory=list)
    says: Lookup[str, list[str]] = field(default_factory=dict)
    """By rule, what message and hint say."""


HMS = Mapping(rules=(MappingRule("hms", drop=1, split="__"),))
FLAT = Mapping(rules=(MappingRule("rest", flatten="__", depth=2),))
RAW = Mapping(rules=(MappingRule("rest", include=(("raw", "events", "**"),)),))
RENAMED = Mapping(renames=(Rename("hms", Identifier(("hive", "team:sales")), Identifier(("team", "sales"))),))
TABLE_RENAMED = Mapping(renames=(Rename("rest", Identifier(("a",), "t"), Identifier(("b:c",), "t")),))
TEAM = ("hive", "team:sales")
NFC, NFD = "caf\u00e9", "cafe\u0301"

CASES = [
    # ---- the separator
    Case(
        "a flat name holds the separator: blocking, and a free one is suggested",
        [namespace("hms", *TEAM), table("hms", "orders", *TEAM), namespace("hms", "hive", "a;b")],
        context(separator=":"),
        [("separator-conflict", "hms", TEAM, "")],
        {
            "separator-conflict": [
                """level "team:sales" of ["hive","team:sales"] holds ':'""",
                """choose separator '$' (free here) or add a rename of ["hive","team:sales"] to the mapping file""",
            ]
        },
    ),
    Case(
        "where no candidate is free, a rename is all that helps",
        [namespace("hms", *TEAM), namespace("hms", "hive", "a;b$c")],
        context(separator=":"),
        [("separator-conflict", "hms", TEAM, "")],
        {"separator-conflict": ["no candidate is free here: add a rename"]},
    ),
    Case("a rename clears the conflict", [namespace("hms", *TEAM)], context(separator=":", mapping=RENAMED)),
    Case(
        "a rename of the namespace clears it for its tables",
        [namespace("hms", *TEAM), table("hms", "t", *TEAM)],
        context(separator=":", mapping=RENAMED),
    ),
    Case(
        "a table that is renamed into a conflict is told itself",
        [namespace("rest", "a"), table("rest", "t", "a")],
        context(separator=":", mapping=TABLE_RENAMED),
        [("separator-conflict", "rest", ("a",), "t")],
    ),
    Case(
        "the conflict of a namespace that only its table shows is the namespace's",
        [table("hms", "t", *TEAM), table("hms", "u", *TEAM)],
        context(separator=":"),
        [("separator-conflict", "hms", TEAM, "")],
    ),
    Case("a table's own name may hold the separator", [table("rest", "a:b", "x")], context(separator=":")),
    Case(
        "a first level that is a catalog's name too",
        [namespace("rest", "lake", "a"), table("rest", "t", "lake", "a"), namespace("rest", "a", "lake")],
        context(engines=("spark",)),
        [("ambiguous-first-part", "rest", ("lake", "a"), "")],
        {"ambiguous-first-part": ['the first level "lake" of ["lake","a"] is the name of a catalog too']},
    ),
    Case(
        "a first level that is a catalog's name does not matter where Spark does not read",
        [namespace("rest", "lake", "a")],
        context(engines=("gravitino-physical",)),
    ),
    Case(
        "what the server advertises joins levels too",
        [namespace("rest", "a.b"), namespace("rest", "a:b")],
        context(advertised="."),
        [("separator-conflict", "rest", ("a.b",), "")],
        {"separator-conflict": ["iceberg-rest: level", "holds '.', the separator of the server"]},
    ),
    Case(
        "the unit separator is Iceberg's own",
        [namespace("rest", "a\x1fb")],
        context(),
        [("separator-conflict", "rest", ("a\x1fb",), ""), ("reserved-character", "rest", ("a\x1fb",), "")],
        {"separator-conflict": ['["a\\u001Fb"]', 'comes back as ["a","b"]']},
    ),
    Case(
        "the configured separator is said once where it is the target's too",
        [namespace("rest", "a-b")],
        context("gravitino", "gravitino", "-", separator="-", policy="unrestricted"),
        [("separator-conflict", "rest", ("a-b",), "")],
        {"separator-conflict": ["choose separator"]},
    ),
    Case(
        "a refused separator is a finding about the target",
        [namespace("hms", "a:b")],
        context(separator="/"),
        [("separator-refused", "lake", (), "")],
        {"separator-refused": ["Delimiter '/' is not allowed because it conflicts with path parsing", "';'"]},
    ),
    Case(
        "what is offered in its place is free, also where it is no candidate",
        [namespace("hms", "a|b"), namespace("hms", "c:d")],
        context(separator="/", candidates=("~",), allowed=("|", ":", ";")),
        [("separator-refused", "lake", (), "")],
        {"separator-refused": ["Try ';'.", "set separator to ';'"]},
    ),
    Case(
        "what is offered is free where any safe one is allowed",
        [namespace("hms", "a:b")],
        context(separator="/", candidates=("~",), policy="unrestricted"),
        [("separator-refused", "lake", (), "")],
        {"separator-refused": ["Try ';', '$', or '|'."]},
    ),
    Case(
        "without a target, the configuration is told",
        [],
        CheckContext(separator="."),
        [("separator-refused", "configuration", (), "")],
    ),
    # ---- the mapping
    Case("a split makes levels", [namespace("hms", "hive", "sales__emea__orders")], context(mapping=HMS)),
    Case(
        "an empty segment is no level",
        [namespace("hms", "hive", "a____b")],
        context(mapping=HMS),
        [("empty-level", "hms", ("hive", "a____b"), "")],
        {"empty-level": ['a level of ["a","","b"] is empty']},
    ),
    Case(
        "three levels to a metastore",
        [namespace("rest", "a", "b", "c")],
        context("hive", "hms-4"),
        [("too-deep", "rest", ("a", "b", "c"), "")],
    ),
    Case("a rule says how they become two", [namespace("rest", "a", "b", "c")], context("hive", "hms-4", mapping=FLAT)),
    Case(
        "two that become one are a collision",
        [namespace("rest", "a", "b", "c"), namespace("rest", "a", "b__c")],
        context("hive", "hms-4", mapping=FLAT),
        [("collision", "rest", ("a", "b", "c"), "")],
    ),
    Case(
        "a namespace of which nothing is left",
        [namespace("hms", "hive")],
        context(mapping=HMS),
        [("empty-level", "hms", ("hive",), "")],
        {"empty-level": ['the mapping leaves no level of ["hive"]']},
    ),
    Case(
        "what is excluded is not found fault with",
        [namespace("rest", "raw", "events2:"), table("rest", "t", "other", status="unreadable")],
        context(separator=":", mapping=RAW),
    ),
    Case(
        "a subtree is its root and what is below it, and nothing that starts alike",
        [namespace("rest", "raw", "events", "20:24"), namespace("rest", "raw", "events2", "20:24")],
        context(separator=":", mapping=RAW),
        [("separator-conflict", "rest", ("raw", "events", "20:24"), "")],
    ),
    # ---- round trips
    Case(
        "dotted storage reads a dot as two levels",
        [namespace("rest", "a.b")],
        context(engines=("jdbc",)),
        [("round-trip-loss", "rest", ("a.b",), "")],
        {
            "round-trip-loss": [
                """jdbc: level "a.b" of ["a.b"] holds '.', which joins levels; it comes back as ["a","b"]"""
            ]
        },
    ),
    Case(
        "Trino reads lower case",
        [namespace("rest", "Sales")],
        context(engines=("trino", "spark")),
        [("round-trip-loss", "rest", ("Sales",), "")],
        {"round-trip-loss": ['it comes back as ["sales"]', "trino refuses"]},
    ),
    Case(
        "a table's name is lost where its namespace is not",
        [namespace("rest", "a"), table("rest", "T@1", "a")],
        context(engines=("trino",)),
        [("round-trip-loss", "rest", ("a",), "T@1")],
        {"round-trip-loss": ['trino: the table "T@1" in ["a"] holds', 'add a rename of the table "T@1" in ["a"]']},
    ),
    Case(
        "the source's own dialect is a warning",
        [namespace("hms", "hive", "a!")],
        context(sources={"hms": DialectUse("hive")}),
        [("round-trip-loss", "hms", ("hive", "a!"), "")],
        {"round-trip-loss": ["in the source's own hive, "]},
    ),
    Case(
        "a table in the root has no path in Iceberg REST",
        [table("lance", "images")],
        context(sources={"lance": DialectUse("lance")}),
        [("round-trip-loss", "lance", (), "images")],
        {"round-trip-loss": ["is a table in the root"]},
    ),
    Case("Spark takes a table in the root", [table("lance", "images")], CheckContext(engines=("spark",))),
    # ---- what the target holds
    Case(
        "dots are what Glue reserves",
        [namespace("rest", "a.b")],
        context(capabilities="glue"),
        [("reserved-character", "rest", ("a.b",), "")],
        {"reserved-character": ["AWS Glue: level", "holds '.'"]},
    ),
    Case(
        "line breaks are what Glue refuses",
        [namespace("rest", "a\nb"), namespace("rest", "a\tb"), namespace("rest", "😀")],
        context(capabilities="glue"),
        [("character-refused", "rest", ("a\nb",), "")],
        {"character-refused": ['holds "\\n"', "characters of [^"]},
    ),
    Case(
        "characters, lengths and depth, each once a namespace",
        [namespace("rest", "x" * 129 + "é!"), namespace("rest", "a", "b", "c d"), table("rest", "t", "a", "b", "c d")],
        context("hive", "hms-3"),
        [
            ("character-refused", "rest", ("x" * 129 + "é!",), ""),
            ("too-deep", "rest", ("x" * 129 + "é!",), ""),
            ("character-refused", "rest", ("a", "b", "c d"), ""),
            ("too-deep", "rest", ("a", "b", "c d"), ""),
        ],
        {"character-refused": ['holds "é"', 'holds " "'], "too-deep": ["catalog and database"]},
    ),
    Case(
        "a level is too long",
        [namespace("rest", "x" * 65)],
        context(capabilities="gravitino"),
        [("too-long", "rest", ("x" * 65,), "")],
        {"too-long": ["Gravitino: level", "is longer than 64 characters"]},
    ),
    Case(
        "a whole path is too long",
        [namespace("rest", *["x" * 43] * 3)],
        context(capabilities="gravitino"),
        [("too-long", "rest", ("x" * 43,) * 3, "")],
        {"too-long": ["is too long in all", "at most 128 characters in all"]},
    ),
    Case(
        "a table's name has limits of its own",
        [namespace("hms", "hive", "a"), table("hms", "t-1", "hive", "a"), table("hms", "x" * 257, "hive", "a")],
        context("hive", "hms-3"),
        [("character-refused", "hms", ("hive", "a"), "t-1"), ("too-long", "hms", ("hive", "a"), "x" * 257)],
    ),
    # ---- collisions
    Case(
        "two sources, one target: one finding lists both",
        [namespace("one", "sales"), namespace("two", "sales")],
        context(),
        [("collision", "one", ("sales",), "")],
        {"collision": ['["sales"] is wanted by two ["sales"] too', 'list ["sales"] under merge']},
    ),
    Case(
        "a merge is what was meant",
        [namespace("one", "sales"), namespace("two", "sales")],
        context(mapping=Mapping(merge=frozenset({("sales",)}))),
    ),
    Case(
        "a merge of namespaces merges no tables",
        [table("one", "t", "sales"), table("two", "t", "sales"), table("two", "u", "sales")],
        context(mapping=Mapping(merge=frozenset({("sales",)}))),
        [("collision", "one", ("sales",), "t")],
    ),
    Case(
        "many claimants: three are named, the rest are counted",
        [namespace(f"s{i}", "x") for i in range(6)],
        context(),
        [("collision", "s0", ("x",), "")],
        {"collision": ['wanted by s1 ["x"], s2 ["x"], s3 ["x"] and 2 more too']},
    ),
    Case(
        "parents are made for all who need them",
        [namespace("one", "a", "b"), namespace("two", "a", "c"), namespace("two", "a")],
        context(),
    ),
    Case(
        "one level that holds the separator, and two levels",
        [namespace("one", "a:b"), namespace("two", "a", "b")],
        context(separator=":"),
        [
            ("separator-conflict", "one", ("a:b",), ""),
            ("collision", "two", ("a", "b"), ""),
        ],
        {"collision": ['["a","b"] is written in the target as is one ["a:b"]']},
    ),
    Case(
        "a dot and two levels in dotted storage",
        [namespace("one", "a.b"), namespace("two", "a", "b")],
        context("jdbc", "jdbc"),
        [
            ("separator-conflict", "one", ("a.b",), ""),
            ("reserved-character", "one", ("a.b",), ""),
            ("collision", "two", ("a", "b"), ""),
        ],
    ),
    Case(
        "a dot and two levels where a database behind the target joins them with dots",
        [namespace("one", "a.b"), namespace("two", "a", "b"), table("one", "t", "a.b"), table("two", "t", "a", "b")],
        context(capabilities="jdbc"),
        [
            ("reserved-character", "one", ("a.b",), ""),
            ("collision", "two", ("a", "b"), ""),
            ("collision", "two", ("a", "b"), "t"),
        ],
        {"collision": ['["a","b"] is written in the target as is one ["a.b"]']},
    ),
    Case(
        "a dot that a database behind the target has as two levels already",
        [namespace("one", "a.b"), there("a", "b")],
        context(capabilities="jdbc"),
        [("reserved-character", "one", ("a.b",), ""), ("collision", "one", ("a.b",), "")],
        {"collision": ['lake ["a","b"] (already there)']},
    ),
    Case(
        "upper and lower case where the target folds",
        [namespace("one", "Sales"), namespace("two", "sales")],
        context(capabilities="glue"),
        [("case-collision", "one", ("Sales",), "")],
        {"case-collision": ['["Sales"] is one with two ["sales"] where the target folds case']},
    ),
    Case(
        "upper and lower case where it does not",
        [namespace("one", "Sales"), namespace("two", "sales")],
        context(),
    ),
    Case(
        "é in one character and in two where the target normalises",
        [namespace("one", NFC), namespace("two", NFD)],
        context(capabilities="lakekeeper"),
        [("normalization-collision", "one", (NFC,), "")],
        {"normalization-collision": ['["café"] is one with two ["cafe\\u0301"] where the target normalises to NFC']},
    ),
    Case("é in one character and in two where it does not", [namespace("one", NFC), namespace("two", NFD)], context()),
    Case(
        "a parent that several imply speaks with the voice of the smallest",
        [namespace("one", "Sales", "b"), namespace("one", "Sales", "a"), namespace("two", "sales", "c")],
        context(capabilities="lakekeeper"),
        [("case-collision", "one", ("Sales", "a"), "")],
        {"case-collision": ['["Sales"] is one with two ["sales","c"] where the target folds case']},
    ),
    Case(
        "implied parents that the target folds into one",
        [namespace("one", "Sales", "a"), namespace("two", "sales", "b")],
        context(capabilities="lakekeeper"),
        [("case-collision", "one", ("Sales", "a"), "")],
        {"case-collision": ['["Sales"] is one with two ["sales","b"]']},
    ),
    Case(
        "what the target holds under another spelling",
        [namespace("one", "Sales"), there("sales"), there("Other")],
        context(capabilities="lakekeeper"),
        [("case-collision", "one", ("Sales",), "")],
        {"case-collision": ['lake ["sales"] (already there)']},
    ),
    Case(
        "letters that have a small one only since Unicode 16, and a sigma within such a word",
        [namespace("one", name) for name in ("\u1c89", "AΣ\u1c8a")]
        + [namespace("two", name) for name in ("\u1c8a", "aσ\u1c8a", "aς\u1c8a")],
        context(capabilities="lakekeeper"),
        [("case-collision", "one", (name,), "") for name in ("\u1c89", "AΣ\u1c8a")],
    ),
    Case(
        "a table whose name is the empty text is a table, not its namespace",
        [table("one", "", "A"), namespace("one", "a"), table("two", "", "a")],
        context(capabilities="lakekeeper"),
        [
            *(("empty-level", source, (level,), "") for source, level in [("one", "A"), ("two", "a")] * 2),
            *[("case-collision", "one", ("A",), "")] * 2,
        ],
        {
            "case-collision": [
                '"" in ["A"] is one with two ["a"] where the target folds case',
                '["A"] is one with one ["a"] where the target folds case',
            ]
        },
    ),
    Case("what the target holds under the wanted name", [namespace("one", "sales"), there("sales")], context()),
    # ---- a separator that is another now
    Case(
        "what is nested, or holds the new separator, reads differently",
        [there("a", "b"), there("x;y"), there("flat"), there("old:one"), namespace("rest", "flat")],
        context(separator=";", separator_before=":"),
        [("separator-changed", "lake", ("a", "b"), ""), ("separator-changed", "lake", ("x;y",), "")],
        {
            "separator-changed": [
                "[\"a\",\"b\"] is written with ';' between its levels, and was written with ':'",
                "level \"x;y\" of [\"x;y\"] would be read as two levels: the separator is ';', and was ':'",
                "keep separator ':', or set separator.replaces to ':'",
            ]
        },
    ),
    Case(
        "tables are where their namespaces are",
        [there("a", "b"), replace(there("a", "b"), object="table", name="t")],
        context(separator=";", separator_before=":", replaces=":"),
        [("separator-changed", "lake", ("a", "b"), "")],
    ),
    # ---- dangerous, not merely lossy
    Case(
        "a level of which Trino sees nothing",
        [namespace("rest", "a", " "), namespace("rest", "a")],
        context(engines=("trino",)),
        [("round-trip-loss", "rest", ("a", " "), ""), ("dangerous-name", "rest", ("a", " "), "")],
        {"dangerous-name": ["a DROP SCHEMA of it drops the parent"]},
    ),
    Case(
        "a level that makes a whole catalog fail in Trino",
        [namespace("rest", "a\x1fb")],
        context("jdbc", "jdbc", engines=("trino",)),
        [(rule, "rest", ("a\x1fb",), "") for rule in ("reserved-character", "round-trip-loss", "dangerous-name")],
        {"dangerous-name": ["makes SHOW SCHEMAS fail for the whole catalog"]},
    ),
    Case(
        "a dot and two levels, which Trino shows as one schema",
        [namespace("r", "c1", "x"), namespace("r", "c1.x"), namespace("r", "c1"), table("r", "t", "c1.x")],
        context(engines=("trino",)),
        [
            ("round-trip-loss", "r", ("c1.x",), ""),
            ("dangerous-name", "r", ("c1", "x"), ""),
        ],
        {
            "dangerous-name": [
                '["c1","x"] is one schema with r ["c1.x"] in Trino, which means one of them by that name',
                "SHOW SCHEMAS then fails for the whole catalog | add a rename of one of them",
            ]
        },
    ),
    Case(
        "nothing is hidden where no engine joins levels",
        [namespace("r", "c1", "x"), namespace("r", "c1.x")],
        context(engines=("spark",)),
    ),
    Case(
        "upper and lower case in Trino, where the target keeps both",
        [namespace("one", "Sales"), namespace("two", "sales")],
        context(engines=("trino",)),
        [
            ("round-trip-loss", "one", ("Sales",), ""),
            ("dangerous-name", "one", ("Sales",), ""),
        ],
        {"dangerous-name": ['["Sales"] is one schema with two ["sales"] in Trino']},
    ),
    Case(
        "what is one in the target already hides nothing in Trino",
        [namespace("one", "Sales"), namespace("two", "sales")],
        context(capabilities="glue", engines=("trino",)),
        [
            ("round-trip-loss", "one", ("Sales",), ""),
            ("case-collision", "one", ("Sales",), ""),
        ],
    ),
    Case(
        "parents that Trino shows as one schema",
        [table("one", "t", "a", "b"), namespace("one", "a", "b", "c"), namespace("two", "a.b", "d"), there("a.b")],
        context(engines=("trino",)),
        [
            ("round-trip-loss", "two", ("a.b", "d"), ""),
            ("dangerous-name", "one", ("a", "b"), ""),
        ],
        {"dangerous-name": ['["a","b"] is one schema with two ["a.b","d"]']},
    ),
    Case(
        "what the target holds already and Trino shows as one schema",
        [namespace("one", "a", "b"), namespace("one", "c"), there("a.b"), there("C"), there("d", "e"), there("d.e")],
        context(engines=("trino",)),
        [("dangerous-name", "one", ("a", "b"), ""), ("dangerous-name", "one", ("c",), "")],
        {"dangerous-name": ['["a","b"] is one schema with lake ["a.b"] (already there) in Trino']},
    ),
    Case(
        "many that Trino shows as one schema: three are named, the rest are counted",
        [
            *(namespace(source, "a.b.c") for source in ("one", "two", "three", "four", "five")),
            *(namespace("one", dotted) for dotted in ("A.b.c", "a.B.c", "a.b.C")),
        ],
        context(engines=("trino",), mapping=Mapping(merge=frozenset({("a.b.c",)}))),
        [
            *(("round-trip-loss", source, ("a.b.c",), "") for source in ("one", "two", "three", "four", "five")),
            *(("round-trip-loss", "one", (dotted,), "") for dotted in ("A.b.c", "a.B.c", "a.b.C")),
            ("dangerous-name", "one", ("A.b.c",), ""),
        ],
        {
            "dangerous-name": [
                '["A.b.c"] is one schema with one ["a.B.c"], one ["a.b.C"], five ["a.b.c"] and 4 more in Trino',
            ]
        },
    ),
    Case(
        "the root is no schema",
        [namespace("r", ""), namespace("r")],
        CheckContext(engines=("trino",)),
        [
            ("empty-level", "r", (), ""),
            ("round-trip-loss", "r", (), ""),
            ("empty-level", "r", ("",), ""),
            ("round-trip-loss", "r", ("",), ""),
            ("dangerous-name", "r", ("",), ""),
        ],
        {"dangerous-name": ["a DROP SCHEMA of it drops the parent"]},
    ),
    Case(
        "what Gravitino refuses and keeps",
        [namespace("rest", "x y")],
        context(engines=("gravitino",)),
        [("dangerous-name", "rest", ("x y",), "")],
        {"dangerous-name": ["keeps it in the backend all the same"]},
    ),
    Case(
        "a path segment that clients resolve away",
        [namespace("rest", "."), namespace("rest", ".."), namespace("rest", "a", "..")],
        context(),
        [("dangerous-name", "rest", (level,), "") for level in (".", "..")],
        {"dangerous-name": ["a request for it goes to what is above"]},
    ),
    # ---- what could not be read
    Case(
        "by status",
        [
            table("lance", "corrupt", "a", status="unreadable", error="no manifest"),
            table("lance", "hollow", "a", status="empty"),
            table("lance", "_tmp", "a", status="not-a-table", error="starts with an underscore"),
            table("hms", "avro", "a", status="unsupported", error="avro"),
            namespace("rest", "closed", status="unreadable", error="403"),
        ],
        context(),
        [
            ("unreadable-table", "lance", ("a",), "corrupt"),
            ("unreadable-table", "lance", ("a",), "hollow"),
            ("not-a-table", "lance", ("a",), "_tmp"),
            ("unsupported-table", "hms", ("a",), "avro"),
            ("unreadable-namespace", "rest", ("closed",), ""),
        ],
        {
            "unreadable-table": ["could not be read: no manifest", "could not be read: no reason was given"],
            "unreadable-namespace": ["403"],
        },
    ),
    Case(
        "what is not moved has no name in the target",
        [
            table("one", "t", "a", status="unsupported", error="view"),
            table("two", "t", "a", status="ok"),
            table("lance", ".x", "a:b", status="not-a-table", error="dot"),
        ],
        context(separator=":"),
        [("unsupported-table", "one", ("a",), "t"), ("not-a-table", "lance", ("a:b",), ".x")],
    ),
]
