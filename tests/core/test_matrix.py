"""What becomes of levels in each dialect and on whole paths; and the known cases, with their right answers."""

from __future__ import annotations

import pytest
from hypothesis import given

from nestsync.core.capabilities import capabilities
from nestsync.core.dialects import DIALECTS, UnknownKind, dialect
from nestsync.core.hierarchy import children
from nestsync.core.identifiers import Levels
from nestsync.core.matrix import DEFAULT_PATH, Fate, Outcome, first_loss, matrix, outcome, parse_path, travel
from nestsync.core.resolution import resolve_namespace
from tests.core import hostile

LOSSLESS, REFUSED, LOSSY = Fate.LOSSLESS, Fate.REFUSED, Fate.LOSSY

CELLS: list[tuple[str, Levels, Fate, Levels | None, int | None]] = [
    ("iceberg-rest", ("a b", "c"), LOSSLESS, ("a b", "c"), None),
    ("iceberg-rest", ("a", "b\x1fc"), LOSSY, ("a", "b", "c"), 1),
    ("iceberg-rest", ("",), LOSSY, (), 0),
    ("iceberg-rest", ("\ud800",), LOSSY, ("?",), 0),
    ("gravitino", ("a:b",), LOSSY, ("a", "b"), 0),
    ("gravitino", ("a", ""), REFUSED, None, None),
    ("gravitino-physical", ("my.schema",), LOSSLESS, ("my.schema",), None),
    ("gravitino-shipped", ("a", "b:c"), LOSSY, ("a", "b", "c"), 1),
    ("spark", ("a.b", "`"), LOSSLESS, ("a.b", "`"), None),
    ("spark", ("\ud800",), REFUSED, None, None),
    ("flink", ("c", "a", "b"), REFUSED, None, None),
    ("trino", ("a.b",), LOSSY, ("a", "b"), 0),
    ("trino", ("a", "."), LOSSY, ("a",), 1),
    ("trino", ("Sales",), LOSSY, ("sales",), 0),
    ("trino", ("a\x1fb",), REFUSED, None, None),
    ("lance", ("a$b",), LOSSY, ("a", "b"), 0),
    ("lance", ("", ""), LOSSY, (), 0),
    ("lance-hive", ("a", "b", "c"), REFUSED, None, None),
    ("hive", ("a", "b", "c"), REFUSED, None, None),
    ("hive", ("c", "d!"), LOSSY, ("c#", ""), 0),
    ("hive", ("c", "d#"), LOSSY, ("c#d",), 0),
    ("jdbc", ("a.b",), LOSSY, ("a", "b"), 0),
]


@pytest.mark.parametrize(("name", "levels", "fate", "back", "difference"), CELLS, ids=ascii)
def test_a_cell(name: str, levels: Levels, fate: Fate, back: Levels | None, difference: int | None) -> None:
    cell = outcome(dialect(name), levels)
    assert (cell.dialect, cell.levels, cell.fate) == (name, levels, fate)
    assert cell.read_back == back
    assert cell.first_difference == difference
    assert (cell.refusal is None) is (fate is LOSSLESS)
    assert (cell.text is None) is (fate is REFUSED)


def test_the_matrix_has_a_row_for_every_dialect() -> None:
    assert [cell.dialect for cell in matrix(("a", "b"))] == list(DIALECTS)
    assert [cell.dialect for cell in matrix(("a",), [dialect("jdbc")])] == ["jdbc"]


@given(levels=hostile.any_levels)
def test_a_cell_says_what_encode_does(levels: Levels) -> None:
    for cell in matrix(levels):
        found = dialect(cell.dialect)
        assert (cell.fate is LOSSLESS) is (found.refusal(levels) is None)
        assert (cell.fate is LOSSY) is (cell.read_back not in (None, levels))


@pytest.mark.parametrize(
    ("levels", "hops", "lost_at"),
    [
        (("a", "b"), 5, None),
        (("a:b",), 2, "gravitino"),
        (("a.b",), 5, "trino"),
        (("Sales",), 5, "trino"),
        (("a", ""), 2, "gravitino"),
        (("a\x1fb",), 4, "iceberg-rest"),
        ((), 1, "spark"),
    ],
    ids=str,
)
def test_a_path_stops_at_the_first_hop_that_loses(levels: Levels, hops: int, lost_at: str | None) -> None:
    path = parse_path()
    assert len(travel(levels, path)) == hops
    loss = first_loss(levels, path)
    assert (None if loss is None else loss.dialect) == lost_at


def test_a_path_is_configured_by_name_and_options() -> None:
    assert DEFAULT_PATH == "spark > gravitino > gravitino-physical > iceberg-rest > trino"
    path = parse_path("spark>gravitino", {"gravitino": {"separator": ";"}})
    assert first_loss(("a:b",), path) is None
    with pytest.raises(UnknownKind, match="no dialect 'sprak'"):
        parse_path("sprak > trino")


def test_two_names_that_one_separator_makes_one() -> None:
    """`["a:b"]` and `["a","b"]` under ``:``."""
    d = dialect("gravitino", separator=":")
    assert d.render(("a:b",)) == d.render(("a", "b"))
    assert d.refusal(("a:b",)) is not None


@pytest.mark.parametrize("name", ["trino", "jdbc"])
def test_a_dotted_level_is_lossy_and_meets_its_nested_twin(name: str) -> None:
    d = dialect(name)
    assert outcome(d, ("a.b",)).fate is LOSSY
    assert d.render(("a.b",)) == d.render(("a", "b"))


def test_names_that_differ_in_case_meet_in_a_folding_target() -> None:
    assert capabilities("glue").key("Sales") == capabilities("glue").key("sales")


def test_nfc_and_nfd_meet_where_the_target_normalises_and_nowhere_else() -> None:
    assert capabilities("lakekeeper").key("é") == capabilities("lakekeeper").key("e\u0301")
    assert capabilities("nessie").key("é") != capabilities("nessie").key("e\u0301")


def test_an_advertised_dot_joins_and_is_then_in_conflict() -> None:
    d = dialect("iceberg-rest", separator=".")
    assert d.encode(("a", "b")) == "a%2Eb"
    refusal = d.refusal(("x", "a.b"))
    assert refusal is not None
    assert (refusal.level_index, refusal.character, refusal.rule) == (1, ".", "separator-conflict")


def test_a_registered_catalog_takes_the_first_part() -> None:
    parts = dialect("spark").decode("iceberg_nyc.nyc_taxi")
    assert resolve_namespace(parts, catalogs={"iceberg_nyc"}) == ("iceberg_nyc", ("nyc_taxi",))
    assert resolve_namespace(parts, catalogs=set()) == (None, ("iceberg_nyc", "nyc_taxi"))


def test_a_parent_does_not_list_what_only_begins_like_it() -> None:
    namespaces: list[Levels] = [("processed", "datapile", "a"), ("processed", "datapile_en", "common")]
    assert children(("processed", "datapile"), namespaces) == [("processed", "datapile", "a")]


def test_trino_reads_a_quoted_dot_as_two_levels() -> None:
    assert dialect("trino").decode('"a.b"') == ("a", "b")


@pytest.mark.parametrize("name", ["hms-3", "hms-4"])
def test_three_levels_to_a_metastore_are_refused(name: str) -> None:
    (refusal,) = capabilities(name).refusals(("a", "b", "c"))
    assert refusal.rule == "too-deep"
    assert outcome(dialect("hive"), ("a", "b", "c")).fate is REFUSED


def test_an_outcome_is_a_plain_record() -> None:
    cell = outcome(dialect("jdbc"), ("a.b",))
    assert cell == Outcome("jdbc", ("a.b",), LOSSY, "a.b", ("a", "b"), cell.refusal)
