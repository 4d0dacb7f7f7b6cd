"""The tree of an inventory: indented where it is piped, drawn on a terminal, and no name is lost in it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from nestsync.errors import ConfigurationError, SummaryUnreadable
from nestsync.names.tree import read_tree
from tests.names.inventories import Namespace, inventoried
from tests.terminals import terminal

WAREHOUSE = [
    ("hive",),
    ("hive", "sales"),
    ("hive", "team:sales"),
    Namespace(("hive", "lost"), "unreadable", "no\nanswer"),
]
LAKEHOUSE = [("a",), ("a", "b", "c"), ("z",)]


def written(root: Path, **options: Any) -> list[str]:
    stream = io.StringIO()
    files = inventoried(root, {"platform": [("p",)], "warehouse": WAREHOUSE, "lakehouse": LAKEHOUSE})
    read_tree(files, **options).write(stream)
    return stream.getvalue().splitlines()


def test_a_pipe_gets_indented_text_sources_first(tmp_path: Path) -> None:
    assert written(tmp_path) == [
        "inventory of run r1",
        "lakehouse (iceberg_rest, source): namespaces 3, tables 7",
        "  a",
        "    b (implied)",
        "      c",
        "  z",
        "warehouse (hms, source): namespaces 4, tables 7",
        "  hive",
        "    lost [unreadable: no\\x0aanswer]",
        "    sales",
        "    team:sales",
        "platform (iceberg_rest, target): namespaces 1, tables 7",
        "  p",
    ]


def test_what_lies_deeper_than_asked_for_is_counted(tmp_path: Path) -> None:
    assert written(tmp_path, names=["lakehouse"], depth=1)[2:] == ["  a (+1 below)", "  z"]
    assert written(tmp_path / "2", names=["lakehouse"], depth=2)[2:] == [
        "  a",
        "    b (implied) (+1 below)",
        "  z",
    ]


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        ("a.b c", "a.b c"),
        ("é", "é"),
        ("e\u0301", '"e\\u0301"'),
        ("", '""'),
        (" ", '" "'),
        (" a", '" a"'),
        ("a\u00a0", '"a\\u00A0"'),
        ("a\x1b[31m", '"a\\u001B[31m"'),
        ("\u202ea", '"\\u202Ea"'),
        ('a"', '"a\\""'),
        ("(implied)", '"(implied)"'),
        ("[unreadable]", '"[unreadable]"'),
        ("\ue000", "\\ue000"),
    ],
    ids=ascii,
)
def test_a_level_is_never_taken_for_anything_else(level: str, shown: str, tmp_path: Path) -> None:
    stream = io.StringIO()
    read_tree(inventoried(tmp_path, {"warehouse": [("x", level)]})).write(stream)
    assert stream.getvalue().split("\n")[2:] == ["  x (implied)", f"    {shown}", ""]


def test_a_root_that_could_not_be_read_and_an_empty_catalog_have_a_line(tmp_path: Path) -> None:
    files = inventoried(tmp_path, {"warehouse": [Namespace((), "unreadable", "denied")], "lakehouse": []})
    stream = io.StringIO()
    read_tree(files).write(stream)
    assert stream.getvalue().splitlines()[1:] == [
        "lakehouse (iceberg_rest, source): namespaces 0, tables 7",
        "warehouse (hms, source): namespaces 1, tables 7 [unreadable: denied]",
    ]


def test_of_a_name_that_is_listed_twice_the_problem_is_shown(tmp_path: Path) -> None:
    bad = Namespace(("a",), "unreadable", "denied")
    for number, rows in enumerate([[bad, ("a",)], [("a",), bad]]):
        tree = read_tree(inventoried(tmp_path / str(number), {"warehouse": rows}))
        assert tree.catalogs[0].problem(("a",)) == "unreadable: denied"


def test_a_terminal_gets_a_drawing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = read_tree(inventoried(tmp_path, {"warehouse": WAREHOUSE}))
    with terminal(monkeypatch, for_output=True) as person:
        monkeypatch.setenv("NO_COLOR", "1")
        tree.write(sys.stdout)
        shown = person.shown()
    for line in (
        "└── hive",
        "    ├── lost [unreadable: no\\x0aanswer]",
        "    ├── sales",
        "    └── team:sales",
    ):
        assert f"{line}\r\n" in shown


def test_machines_get_every_namespace_parents_first(tmp_path: Path) -> None:
    files = inventoried(tmp_path, {"warehouse": [("a", "b"), Namespace(("c",), "unreadable", "denied")]})
    assert read_tree(files).as_json() == {
        "run_id": "r1",
        "catalogs": [
            {
                "name": "warehouse",
                "system": "hms",
                "role": "source",
                "counts": {"namespaces": 2, "tables": 7},
                "namespaces": [
                    {"levels": ["a"], "listed": False, "status": None, "error": None, "below": 1},
                    {"levels": ["a", "b"], "listed": True, "status": "ok", "error": None, "below": 0},
                    {"levels": ["c"], "listed": True, "status": "unreadable", "error": "denied", "below": 0},
                ],
            }
        ],
    }


def test_a_catalog_that_was_not_read_is_named_with_those_that_were(tmp_path: Path) -> None:
    files = inventoried(tmp_path, {"warehouse": [], "lakehouse": []})
    with pytest.raises(
        ConfigurationError, match=r"'nope' is not in the inventory of run r1 Hint: it holds lakehouse, w"
    ):
        read_tree(files, names=["nope"])


@pytest.mark.parametrize("inventory", ["x", {"warehouse": "x"}, {"warehouse": {"role": "source"}}])
def test_an_inventory_that_is_broken_is_an_error_of_ours(tmp_path: Path, inventory: object) -> None:
    files = inventoried(tmp_path, {"warehouse": [("a",)]})
    (files.root / "runs-json" / "r1.json").write_text(json.dumps({"inventory": inventory}), encoding="utf-8")
    with pytest.raises(SummaryUnreadable) as said:
        read_tree(files)
    assert "inventory -c FILE" in str(said.value.hint)
