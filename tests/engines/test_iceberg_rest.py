"""Iceberg REST servers: every hostile name made, listed and asked for byte for byte, and held to nestsync's answer."""

from __future__ import annotations

import pytest

from nestsync.core.capabilities import Parents, capabilities
from nestsync.core.dialects import dialect
from nestsync.core.identifiers import Levels
from tests.engines.answers import Answer
from tests.engines.asked import ENGINES, NAME, right
from tests.engines.cases import TRIED, shown, under
from tests.engines.conftest import Record
from tests.engines.rest import Rest
from tests.engines.seen import Seen

SERVERS = {
    "rest-1.10-memory": "rest_memory",
    "rest-1.10-jdbc": "rest_jdbc",
    "rest-1.11-memory": "rest_11",
    "nessie": "nessie",
}
every_server = pytest.mark.parametrize("engine", SERVERS)


@pytest.fixture
def server(engine: str, request: pytest.FixtureRequest) -> Rest:
    found: Rest = request.getfixturevalue(SERVERS[engine])
    return found


@every_server
@pytest.mark.parametrize("levels", TRIED, ids=lambda levels: ascii(levels)[:40])
def test_the_server_does_what_nestsync_says(
    engine: str, server: Rest, levels: Levels, unique: str, record: Record
) -> None:
    did = server.try_name(under(unique, levels))
    answer = Answer(did.kind, None if did.back is None else shown(unique, did.back), did.why)
    record(engine, NAME, (levels,), answer)
    assert right(Seen(engine, NAME, (levels,), answer)), answer


@pytest.mark.parametrize(
    ("engine", "advertised"), [("rest-1.10-memory", None), ("rest-1.11-memory", "%2E"), ("nessie", None)]
)
def test_the_separator_that_a_server_advertises(server: Rest, advertised: str | None) -> None:
    assert server.advertised == advertised


@pytest.mark.parametrize("engine", ["rest-1.11-memory"])
def test_levels_are_joined_by_an_encoded_dot_where_the_server_advertises_it(server: Rest, unique: str) -> None:
    text = dialect("iceberg-rest", separator=".").encode((unique, "b"))
    assert text == f"{unique}%2Eb"
    for levels in ((unique,), (unique, "b")):
        assert server.create(levels) == 200
    assert server.read((unique, "b")) == (unique, "b")
    bare = server.ask(
        "GET", f"{server.namespaces}/{unique}.b"
    )  # what an encoding client makes of "a.b", never "a", "b"
    assert bare[0] == 404


@pytest.mark.parametrize("engine", ["rest-1.10-memory", "rest-1.11-memory"])
def test_a_dotted_sibling_breaks_the_in_memory_catalogs_listing(server: Rest, unique: str) -> None:
    for levels in ((unique,), (unique, "a"), (unique, "a.b")):
        assert server.create(levels) == 200
    assert server.children((unique, "a")) == 500
    assert server.children((unique,)) == [(unique, "a"), (unique, "a.b")]


@pytest.mark.parametrize(
    ("engine", "status", "parent_is_read"),
    [
        ("rest-1.10-memory", 200, False),
        ("rest-1.10-jdbc", 200, True),
        ("rest-1.11-memory", 200, False),
        ("nessie", 404, False),
    ],
)
def test_a_child_without_its_parent(engine: str, server: Rest, unique: str, status: int, parent_is_read: bool) -> None:
    """Where it is made all the same, its parent is listed; whether the parent can be read differs."""
    needed = capabilities(ENGINES[engine].target).parents is Parents.NEEDED
    assert (server.create((unique, "x")) == 404) is needed is (status == 404)
    assert ((unique,) in (server.children() or ())) is not needed  # type: ignore[operator]
    assert server.read((unique,)) == ((unique,) if parent_is_read else 404)


@pytest.mark.parametrize(
    ("engine", "status"),
    [("rest-1.10-memory", 200), ("rest-1.10-jdbc", 200), ("rest-1.11-memory", 409), ("nessie", 409)],
)
def test_dropping_a_parent_over_its_child(server: Rest, unique: str, status: int) -> None:
    """Iceberg 1.10.1 drops it and leaves the child without a parent."""
    for levels in ((unique,), (unique, "x")):
        assert server.create(levels) == 200
    assert server.drop((unique,)) == status
    assert server.read((unique, "x")) == (unique, "x")


@every_server
def test_case_and_normalisation_make_other_names(server: Rest, unique: str) -> None:
    names = ("Sales", "sales", "é", "e\u0301")
    assert [server.create((unique,)), *(server.create((unique, name)) for name in names)] == [200] * 5
    listed = server.children((unique,))
    assert isinstance(listed, list)
    assert sorted(found[1] for found in listed) == sorted(names)
