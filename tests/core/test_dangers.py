"""Names that do harm, and what would happen."""

from __future__ import annotations

import pytest
from hypothesis import given

from nestsync.core.dangers import READERS, dangers, one_schema_together
from nestsync.core.dialects import NameRefused, dialect
from nestsync.core.hierarchy import within
from nestsync.core.identifiers import Levels
from tests.core import hostile

DANGEROUS: list[tuple[str, Levels, int, str | None, str]] = [
    ("trino", ("a", ""), 1, None, "DROP SCHEMA of it drops the parent"),
    ("trino", ("a", " "), 1, None, "DROP SCHEMA of it drops the parent"),
    ("trino", ("a", "."), 1, None, "DROP SCHEMA of it drops the parent"),
    ("trino", ("a", ".."), 1, None, "DROP SCHEMA of it drops the parent"),
    ("trino", ("a", "b\x1fc"), 1, "\x1f", "SHOW SCHEMAS fail for the whole catalog"),
    ("gravitino", ("m:n",), 0, ":", "Gravitino keeps it in the backend"),
    ("gravitino", ("d.e",), 0, ".", "Gravitino keeps it in the backend"),
    ("iceberg-rest", (".",), 0, ".", "resolved away"),
    ("iceberg-rest", ("..",), 0, ".", "resolved away"),
    ("locations", ("p#q",), 0, "#", "cut a location"),
    ("locations", ("a", "x?y"), 1, "?", "cut a location"),
    ("locations", ("a%20b",), 0, "%", "cut a location"),
]


@pytest.mark.parametrize(("reader", "levels", "index", "character", "what"), DANGEROUS, ids=ascii)
def test_a_dangerous_name_says_what_would_happen(
    reader: str, levels: Levels, index: int, character: str | None, what: str
) -> None:
    (danger,) = dangers(reader, levels)
    assert danger.level_index == index
    assert danger.level == levels[index]
    assert danger.character == character
    assert what in danger.reason
    assert danger.rule == "dangerous-name"
    assert danger.accepted


@pytest.mark.parametrize(
    ("reader", "levels"),
    [
        ("trino", ("a", "b c")),
        ("trino", ("Sales",)),
        ("trino", ("a.b",)),
        ("gravitino", ("a", "b")),
        ("iceberg-rest", (".", "a")),
        ("iceberg-rest", ("...",)),
        ("locations", ("a b", "é")),
        ("spark", ("", ".", "\x1f")),
    ],
    ids=str,
)
def test_a_harmless_name_is_left_alone(reader: str, levels: Levels) -> None:
    assert dangers(reader, levels) == []


@given(levels=hostile.levels)
def test_whatever_addresses_its_parent_in_trino_is_dangerous(levels: Levels) -> None:
    trino = dialect("trino")
    try:
        back = trino.read(trino.render(levels))
    except NameRefused:
        return
    folded = tuple(level.lower() for level in levels)
    if back != folded and within(folded, back):
        assert dangers("trino", levels)


def test_names_that_trino_shows_as_one_schema() -> None:
    namespaces: list[Levels] = [("c1", "x"), ("c1.x",), ("c1",), ("C2",), ("c2",), ("c1", "x")]
    assert one_schema_together(namespaces) == [[("c1", "x"), ("c1.x",)], [("C2",), ("c2",)]]


def test_the_readers_are_known_by_name() -> None:
    assert list(READERS) == ["trino", "gravitino", "iceberg-rest", "locations"]
