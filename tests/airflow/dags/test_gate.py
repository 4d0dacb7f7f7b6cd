"""The gate: when a person is asked, and what the person is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from nestsync_airflow.gate import SHOWN, what_would_be_done, why_to_ask

HEADER = "action_id,kind,levels,properties,reason,claimants\n"


@pytest.mark.parametrize(
    ("counts", "always", "asked"),
    [
        ({"create_namespace": 10}, False, None),
        ({"create_namespace": 11}, False, "It creates 11 namespaces, more than 10."),
        ({"create_namespace": 1, "set_properties": 2}, False, "It changes what the target holds (2)."),
        ({"noop": 500, "left different": 2, "blocked": 3}, False, None),
        ({"create_namespace": 1}, True, "The run was asked to wait for an approval."),
        ({"noop": 500}, True, None),  # nothing would be written
        ({"create_namespace": 1, "drop_namespace": 1}, False, "It does what nobody here knows: drop_namespace (1)."),
    ],
)
def test_a_person_is_asked_unless_a_plan_only_creates_and_little(
    counts: dict[str, int], always: bool, asked: str | None
) -> None:
    assert why_to_ask(counts, 10, always=always) == asked


def plan(rows: str, tmp_path: Path) -> str:
    file = tmp_path / "plan.csv"
    file.write_text(HEADER + rows, encoding="utf-8")
    return what_would_be_done({"verdict": "Planned: 1 to write.", "counts": {"plan": {"create_namespace": 1}}}, file)


def test_a_person_sees_what_would_be_done_and_why(tmp_path: Path) -> None:
    rows = '1,noop,"[""kept""]",{},there already,[]\n2,create_namespace,"[""a"",""b""]",{},wanted by lake,[]\n'
    body = plan(rows, tmp_path)
    assert "**Planned: 1 to write.** (1 to create)" in body
    assert '| create | &#91;"a", "b"&#93; | &#123;&#125; | wanted by lake |' in body.replace("{}", "&#123;&#125;")
    assert "kept" not in body
    assert str(tmp_path / "plan.csv") in body


def test_hostile_names_are_shown_and_not_acted_on(tmp_path: Path) -> None:
    body = plan('1,create_namespace,"[""<img src=x>|`\\u202e""]",{},[x](y),[]\n', tmp_path)
    row = next(line for line in body.splitlines() if line.startswith("| create"))
    assert row.count("|") == 5
    assert not {"<", "`", "\u202e", "](", "!"} & set(row)
    assert "\\u202e" in row.replace("&#92;", "\\")


def test_a_large_plan_is_cut_and_its_file_named(tmp_path: Path) -> None:
    rows = "".join(f'{n},create_namespace,"[""n{n}""]",{{}},why,[]\n' for n in range(1000))
    assert plan(rows, tmp_path).count("| create |") == SHOWN


def test_what_changes_is_shown_before_what_is_created(tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    rows = "".join(f'{n},create_namespace,"[""n{n}""]",{{}},why,[]\n' for n in range(30))
    file.write_text(f'{HEADER}{rows}31,set_properties,"[""there""]",{{}},another comment,[]\n', encoding="utf-8")
    counts = {"create_namespace": 30, "set_properties": 1, "noop": 7, "left different": 2, "blocked": 0}
    body = what_would_be_done({"verdict": "V", "counts": {"plan": counts}}, file)
    assert body.startswith("**V** (30 to create, 1 to change properties of, 7 noop, 2 left different)\n")
    shown = [line for line in body.splitlines() if line.startswith("| ")][2:]
    assert len(shown) == SHOWN
    assert "another comment" in shown[0]
    assert f"{SHOWN} of 31, what changes before what is created. The whole plan: `{file}`" in body


def test_a_plan_that_cannot_be_read_from_here_is_said(tmp_path: Path) -> None:
    body = what_would_be_done({"verdict": "V", "counts": {"plan": {}}}, tmp_path / "none.csv")
    assert "The plan's file cannot be read from here" in body
