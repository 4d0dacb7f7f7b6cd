"""An explanation as it is printed, and as one document."""

from __future__ import annotations

import io
import json

from nestsync.core.explain import Asked, explain
from nestsync.names.explained import Explained


def written(asked: Asked) -> list[str]:
    stream = io.StringIO()
    Explained(explain(asked)).write(stream)
    return stream.getvalue().splitlines()


def test_what_is_printed() -> None:
    assert written(Asked("a.b", "jdbc"))[:4] == [
        'jdbc reads a.b as the namespace ["a","b"]',
        "",
        "dialect             way back  written  because",
        "iceberg-rest        lossless  a%1Fb",
    ]
    lines = written(Asked("Sales:`x.", "gravitino", ":"))
    assert lines[0] == 'gravitino reads Sales:`x. as the namespace ["Sales","`x."]'
    assert [line.split()[:2] for line in lines[3:15]] == [
        ["iceberg-rest", "lossless"],
        ["iceberg-rest-query", "lossless"],
        ["gravitino", "lossless"],
        ["gravitino-physical", "lossless"],
        ["gravitino-shipped", "lossless"],
        ["spark", "lossless"],
        ["flink", "lossless"],
        ["trino", "lossy"],
        ["lance", "lossless"],
        ["lance-hive", "lossless"],
        ["hive", "lossless"],
        ["jdbc", "lossy"],
    ]
    assert lines[14].split("  ")[-1].strip() == (
        """comes back as the namespace ["Sales","`x",""]: '`x.' holds '.', which joins levels; """
        "accepted: levels without '.'"
    )
    assert lines[16] == "targets that take it: iceberg-rest, nessie, polaris, hms-4, lance-dir, lance-rest"


def test_a_target_that_takes_it_for_another_name_says_why() -> None:
    lines = written(Asked("Sales.EMEA"))
    at = lines.index("target      takes it for                    because")
    assert lines[at + 1 : at + 4] == [
        'lakekeeper  the namespace ["sales","emea"]  kept, and ignored in comparisons',
        'hms-3       the namespace ["sales","emea"]  stored in lower case',
        'hms-4       the namespace ["sales","emea"]  stored in lower case',
    ]


def test_what_is_dangerous_comes_last() -> None:
    trino = "'' addresses its parent in Trino: a DROP SCHEMA of it drops the parent; accepted: a level that can be seen"
    assert written(Asked("a.``"))[-4:-2] == ["read by    dangerous", f"trino      {trino}"]


def test_what_a_terminal_would_act_on_is_shown_as_an_escape() -> None:
    text = "\n".join(written(Asked("`\x1b[31m\u202e`")))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_bare_plus_is_warned_of_before_anything_else() -> None:
    first, warning, blank, *_ = written(Asked("a+b", "iceberg-rest"))
    assert (first, blank) == ('iceberg-rest reads a+b as the namespace ["a+b"]', "")
    assert warning == (
        "warning: a bare + is a plus in a path (RFC 3986), and Iceberg's Java clients and servers mean a blank by it: "
        'they read the namespace ["a b"]. Write %2B or %20.'
    )


def test_a_path_is_one_line() -> None:
    assert written(Asked("prod.`s3://b/t`", table=True, catalogs=("prod",))) == [
        'spark reads prod.`s3://b/t` as the table "t" by its path s3://b/t, in which no dialect and no target has a say'
    ]


def test_a_catalog_and_its_root_are_told_in_words() -> None:
    inside, root = (written(Asked(text, catalogs=("prod",)))[0] for text in ("prod.a", "prod"))
    assert inside == 'spark reads prod.a as the namespace ["a"] of the catalog prod'
    assert root == "spark reads prod as the root of the catalog prod"


def test_machines_get_one_document() -> None:
    document = Explained(explain(Asked("a+b%1FC", "iceberg-rest"))).as_json()
    assert json.loads(json.dumps(document)) == document
    head = {key: document[key] for key in ("text", "from", "separator", "catalog", "path", "levels", "name")}
    assert head == {
        "text": "a+b%1FC",
        "from": "iceberg-rest",
        "separator": None,
        "catalog": None,
        "path": None,
        "levels": ["a+b", "C"],
        "name": None,
    }
    assert document["other_reading"] == {"levels": ["a b", "C"], "name": None}
    assert len(document["warnings"]) == 1
    trino = next(each for each in document["dialects"] if each["dialect"] == "trino")
    assert trino == {
        "dialect": "trino",
        "separator": None,
        "fate": "lossy",
        "text": '"a+b.c"',
        "reads": {"levels": ["a+b", "c"], "name": None},
        "refusal": {
            "level_index": 1,
            "level": "C",
            "character": "C",
            "reason": "is not in lower case",
            "accepted": "c",
        },
    }
    lakekeeper, hms = (
        next(each for each in document["targets"] if each["target"] == name) for name in ("lakekeeper", "hms-4")
    )
    assert (lakekeeper["takes_it"], [each["character"] for each in lakekeeper["refusals"]]) == (False, ["+"])
    assert (lakekeeper["evidence"], lakekeeper["where"]) == (
        "documented only",
        "source of its namespace validation and its schema",
    )
    assert hms["takes_it_for"] == {"levels": ["a+b", "c"], "name": None}
    assert [each["reader"] for each in document["dangers"]] == ["gravitino"]
