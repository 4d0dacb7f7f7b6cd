"""The ranking of separators as it is read back: the check's own, or one made from the inventory alone."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nestsync.core.checking import CheckContext
from nestsync.core.gravitino import separator_changed
from nestsync.core.identifiers import Levels
from nestsync.errors import SummaryUnreadable
from nestsync.names.separators import Separators, changes, read_separators
from nestsync.runfiles import RunFiles
from tests.core import hostile
from tests.names.inventories import NAMING, Namespace, inventoried

WAREHOUSE = [("hive", "team:sales"), ("hive", "it"), ("hive", "a$b"), ("flat",)]
TARGET = [("in;target",)]


def workspace(root: Path, naming: dict[str, Any] | None = None, **changes: Any) -> RunFiles:
    return inventoried(root, {"warehouse": WAREHOUSE, "platform": TARGET}, naming={**(naming or NAMING), **changes})


def written(separators: Separators) -> list[str]:
    stream = io.StringIO()
    separators.write(stream)
    return stream.getvalue().splitlines()


def test_before_a_check_the_inventory_is_ranked(tmp_path: Path) -> None:
    files = workspace(tmp_path, candidates=[";", "$", "|"])
    wide = "refused: the restricted policy allows ':', ';', and '$' only"
    assert written(read_separators(files)) == [
        "separators of run r1, by its inventory alone, before a check of it",
        f"rank  separator  conflicts  {'verdict':<{len(wide)}}  would change",
        f"   1  ';'                0  {'suggested':<{len(wide)}}  3 texts: hive:it to hive;it",
        f"   2  ':'                1  {'configured, allowed':<{len(wide)}}  nothing",
        f"   3  '$'                1  {'allowed':<{len(wide)}}  2 texts: hive:it to hive$it",
        f"   4  '|'                0  {wide}  3 texts: hive:it to hive|it",
        "",
        """':' is in warehouse ["hive","team:sales"]""",
        """'$' is in warehouse ["hive","a$b"]""",
    ]


CHECKED = [
    {
        "separator": "$",
        "configured": False,
        "conflicts": 9,
        "examples": [{"source": "warehouse", "levels": ["hive", "a$b"]}],
        "allowed": True,
        "reason": None,
        "rank": 1,
        "suggested": False,
    }
]


@pytest.mark.parametrize(
    ("listings", "checked"),
    [({"warehouse": "one", "platform": "one"}, True), ({"warehouse": "before", "platform": "one"}, False), ({}, False)],
    ids=["the-same", "read-again-since", "another-catalog"],
)
def test_the_check_s_ranking_is_taken_while_it_fits_the_inventory(
    tmp_path: Path, listings: dict[str, str], checked: bool
) -> None:
    files = workspace(tmp_path)
    files.update_summary("r1", "check", {"separators": CHECKED, "listings": listings})
    found = read_separators(files)
    assert found.checked is checked
    assert (found.ranked[0].conflicts == 9) is checked


def test_what_the_check_says_is_shown_as_it_is(tmp_path: Path) -> None:
    files = workspace(tmp_path)
    files.update_summary("r1", "check", {"separators": CHECKED, "listings": {"warehouse": "one", "platform": "one"}})
    assert written(read_separators(files)) == [
        "separators of run r1, as its check ranked them",
        "rank  separator  conflicts  verdict  would change",
        "   1  '$'                9  allowed  2 texts: hive:it to hive$it",
        "",
        '\'$\' is in warehouse ["hive","a$b"]',
        "'$' is in 8 more",
    ]


@pytest.mark.parametrize(
    ("configured", "told"),
    [
        ({"separator": None}, {":": None, ";": None, "$": None}),
        ({"separator": ":"}, {":": [0], ";": [3, "hive:it", "hive;it"], "$": [2, "hive:it", "hive$it"]}),
        (
            {"separator": "/", "candidates": [":"]},
            {":": [2, "hive/it", "hive:it"], ";": [3, "hive/it", "hive;it"], "$": [2, "hive/it", "hive$it"], "/": [0]},
        ),
        ({"candidates": ["."]}, {":": [0], ".": None}),
        ({"candidates": [], "separator": None}, {}),
    ],
    ids=["none-configured", "one-of-them", "refused-one-configured", "refused-candidate", "nothing-to-rank"],
)
def test_what_would_change_is_told_against_the_configured_separator(
    tmp_path: Path, configured: dict[str, Any], told: dict[str, list[object] | None]
) -> None:
    rows = read_separators(workspace(tmp_path, **configured)).as_json()["separators"]
    found = {
        row["separator"]: row["changes"] and [each for each in row["changes"].values() if each is not None]
        for row in rows
    }
    assert found == told


@settings(deadline=None)
@given(namespaces=st.lists(hostile.levels), before=st.sampled_from([":", ";", "$", "/"]))
def test_what_would_change_is_what_gravitino_would_change(namespaces: list[Levels], before: str) -> None:
    naming = CheckContext(separator=before, candidates=(":", ";", "$", "|"))
    counted = Counter(namespaces)
    for candidate, change in changes(counted, naming).items():
        if candidate == "/":  # configured and refused: there is no such Gravitino
            continue
        affected = separator_changed(counted, before=before, after=candidate)
        assert change.renamed == sum(counted[each.levels] for each in affected if each.after is not None)
        assert (change.example is None) is (change.renamed == 0)
        assert change.example is None or change.example in {(each.before, each.after) for each in affected}


def test_without_candidates_that_is_what_is_said(tmp_path: Path) -> None:
    files = workspace(tmp_path, candidates=[], separator=None)
    assert written(read_separators(files))[1:] == ["no separator is configured, and no candidate"]


def test_a_name_that_two_sources_have_counts_twice(tmp_path: Path) -> None:
    files = inventoried(
        tmp_path, {"warehouse": [("a", "b")], "lakehouse": [("a", "b"), Namespace(("c", "d"), "unreadable")]}
    )
    assert read_separators(files).changes[";"].renamed == 3


def test_machines_get_the_ranking_best_first(tmp_path: Path) -> None:
    document = read_separators(workspace(tmp_path)).as_json()
    assert {key: value for key, value in document.items() if key != "separators"} == {
        "run_id": "r1",
        "configured": ":",
        "ranked_by": "inventory",
    }
    assert document["separators"][1] == {
        "rank": 2,
        "separator": ":",
        "configured": True,
        "conflicts": 1,
        "examples": [{"source": "warehouse", "levels": ["hive", "team:sales"]}],
        "allowed": True,
        "reason": None,
        "suggested": False,
        "changes": {"texts": 0, "before": None, "after": None},
    }
    assert [row["suggested"] for row in document["separators"]] == [True, False, False]


@pytest.mark.parametrize(
    ("stage", "facts"),
    [
        ("naming", {"candidates": None}),
        ("check", {"listings": {"warehouse": "one", "platform": "one"}}),
        ("check", {"listings": {"warehouse": "one", "platform": "one"}, "separators": [{}]}),
    ],
)
def test_a_summary_that_is_broken_is_an_error_of_ours(tmp_path: Path, stage: str, facts: dict[str, Any]) -> None:
    files = workspace(tmp_path)
    files.update_summary("r1", stage, facts)
    with pytest.raises(SummaryUnreadable, match="the summary of run r1 is broken"):
        read_separators(files)
