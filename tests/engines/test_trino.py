"""Trino: what it shows for namespaces made past it, what it means by what it shows, and what a drop takes away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nestsync.core.identifiers import Levels
from nestsync.embedded.servers import IcebergRest
from tests.engines.answers import Answer
from tests.engines.asked import DROP, NAME, TOGETHER, right
from tests.engines.cases import ROOT, TRIED, shown, under
from tests.engines.conftest import Record
from tests.engines.rest import Rest
from tests.engines.seen import Seen
from tests.engines.servers import Nessie, Trino
from tests.engines.trino import Sql, TrinoSaysNo, World

DROPPED: tuple[Levels, ...] = tuple(
    (ROOT, name) for name in ("", " ", ".", "..", "\u00a0", "\u2028", " . ", "x", "x y", "a.b", "a ", "Sales", "\u200b")
)
TOGETHER_SETS: list[tuple[Levels, ...]] = [
    (("c1",), ("c1", "x")),
    (("c1",), ("c1", "x"), ("c1.x",)),
    (("Cc",), ("cc",)),
    (("c1",), ("c1", "x"), ("C1",), ("C1", "x")),
    (("c1",), ("c1", "x"), ("c1", "x ")),
    (("c1",), ("c1", "é"), ("c1", "e\u0301")),
]


@pytest.fixture(scope="module")
def sql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sql]:
    with Trino(tmp_path_factory.mktemp("trino")) as server:
        yield Sql(server.uri)


class Worlds:
    """A world for every case: the last one emptied, or where that cannot be done a new one."""

    def __init__(self, sql: Sql, places: pytest.TempPathFactory) -> None:
        self.sql, self.places = sql, places
        self.number = 0
        self.server: IcebergRest | None = None
        self.world: World | None = None

    def fresh(self) -> World:
        if self.world is None or not self.world.clear():
            self.stop()
            self.number += 1
            self.server = IcebergRest(self.places.mktemp(f"below-trino-{self.number}"), backend="memory").start()
            name = f"memory{self.number}"
            self.sql.add_catalog(name, self.server.uri)
            self.world = World(self.sql, name, Rest(self.server.uri))
        return self.world

    def stop(self) -> None:
        if self.world and self.server:
            self.world.rest.close()
            self.server.stop()


@pytest.fixture(scope="module")
def worlds(sql: Sql, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    found = Worlds(sql, tmp_path_factory)
    yield found
    found.stop()


@pytest.mark.parametrize(
    ("question", "levels"),
    [*((NAME, levels) for levels in TRIED), *((DROP, levels) for levels in DROPPED)],
    ids=lambda value: ascii(value)[:40],
)
def test_trino_does_what_nestsync_says(
    worlds: Worlds, question: str, levels: Levels, unique: str, record: Record
) -> None:
    world, tried = worlds.fresh(), under(unique, levels)
    did = world.try_name(tried) if question == NAME else world.try_drop(tried)
    answer = Answer(did.kind, None if did.back is None else shown(unique, did.back), did.why.replace(unique, ROOT))
    record("trino", question, (levels,), answer)
    assert right(Seen("trino", question, (levels,), answer)), answer


@pytest.fixture(scope="module")
def exact(sql: Sql, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A catalog that lists exactly what it holds, and that nobody else makes names in."""
    with Nessie(tmp_path_factory.mktemp("nessie-below-trino")) as server:
        rest = Rest(server.uri)
        sql.add_catalog("exact", server.uri)
        yield World(sql, "exact", rest)
        rest.close()


@pytest.mark.parametrize("names", TOGETHER_SETS, ids=ascii)
def test_names_that_trino_shows_as_one(exact: World, names: tuple[Levels, ...], record: Record) -> None:
    answer = exact.try_together(names)
    assert exact.clear()
    record("trino-nessie", TOGETHER, names, answer)
    assert right(Seen("trino-nessie", TOGETHER, names, answer)), answer


def test_a_level_with_the_separator_makes_the_whole_catalog_unlistable(worlds: Worlds, unique: str) -> None:
    world = worlds.fresh()
    assert world.create((unique,)) == 200
    assert unique in world.schemas()
    assert world.create((unique, "a\x1fb")) == 200
    with pytest.raises(TrinoSaysNo, match="Error listing schemas"):
        world.schemas()


def test_a_dotted_sibling_on_the_in_memory_catalog_makes_it_unlistable(worlds: Worlds) -> None:
    """It is that catalog which answers 500 for the children of `c1`; see `test_iceberg_rest`."""
    world = worlds.fresh()
    for levels in (("c1",), ("c1", "x"), ("c1.x",)):
        assert world.create(levels) == 200
    with pytest.raises(TrinoSaysNo, match="Error listing schemas"):
        world.schemas()


def test_trino_finds_no_nested_namespace_on_a_server_that_advertises_another_separator(
    sql: Sql, empty_rest_11: Rest, unique: str
) -> None:
    """It lists them, and then asks for them with U+001F in a path, which Iceberg 1.11.0's server refuses."""
    sql.add_catalog("advertised", empty_rest_11.uri)
    for levels in ((unique,), (unique, "x")):
        assert empty_rest_11.create(levels) == 200
    assert [f"{unique}.x"] in sql.run("SHOW SCHEMAS FROM advertised")
    with pytest.raises(TrinoSaysNo, match="Failed to check namespace"):
        sql.run(f'SHOW CREATE SCHEMA advertised."{unique}.x"')
