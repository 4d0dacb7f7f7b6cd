"""What every writer promises, held against every catalog in the table of `cases`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from nestsync.catalogs import room
from nestsync.catalogs.base import CatalogWriter
from nestsync.core.identifiers import Levels
from nestsync.errors import AlreadyExists, CatalogUnreachable, ObjectError
from tests.catalogs.hms.content import HOSTILE_PROPERTIES
from tests.contract.cases import WriterCase
from tests.contract.reading import SOURCE, read
from tests.faults import answering, free_port, listening

ADDED_BY_SERVERS = {"location"}
"""Keys that a server adds by itself, which are no differences."""


def stored(writer: CatalogWriter, levels: Levels) -> dict[str, str] | None:
    """What the catalog holds, without what it adds by itself."""
    properties = writer.namespace_properties(levels)
    if properties is None:
        return None
    return {name: value for name, value in properties.items() if name not in ADDED_BY_SERVERS}


@pytest.mark.parametrize("properties", [{}, {"k": "v"}, HOSTILE_PROPERTIES], ids=["none", "one", "hostile"])
def test_what_is_created_is_read_back_to_the_byte(
    writer: CatalogWriter, unique: str, properties: dict[str, str]
) -> None:
    writer.create_namespace((unique,), properties)
    assert stored(writer, (unique,)) == properties


def test_hostile_names_are_created_side_by_side(
    writer_case: WriterCase, writer: CatalogWriter, unique: str, request: pytest.FixtureRequest
) -> None:
    writer.create_namespace((unique,), {})
    for name in writer_case.names:
        writer.create_namespace((unique, name), {"k": name})
        writer.create_namespace((unique, name, name), {"k": name})
    for name in writer_case.names:
        assert stored(writer, (unique, name)) == {"k": name}
        assert stored(writer, (unique, name, name)) == {"k": name}
    rows = read(writer_case.system, writer_case.open(request))
    below = {levels: row.properties.get("k") for (_, levels, _), row in rows.items() if levels[0] == unique}
    expected: dict[Levels, str | None] = {(unique,): None}
    expected |= {(unique, name): name for name in writer_case.names}
    expected |= {(unique, name, name): name for name in writer_case.names}
    assert below == expected


def test_creating_twice_is_already_exists_and_changes_nothing(writer: CatalogWriter, unique: str) -> None:
    writer.create_namespace((unique,), {"k": "first"})
    with pytest.raises(AlreadyExists, match="target at "):
        writer.create_namespace((unique,), {"k": "second", "l": "new"})
    assert stored(writer, (unique,)) == {"k": "first"}


def test_what_is_absent_has_no_properties(writer: CatalogWriter, unique: str) -> None:
    assert writer.namespace_properties((unique,)) is None
    writer.create_namespace((unique,), {})
    assert writer.namespace_properties((unique, "below")) is None
    assert writer.namespace_properties((f"{unique}s",)) is None


UPDATES: list[tuple[str, dict[str, str], list[str], dict[str, str]]] = [
    ("set", {"new": "n"}, [], {"kept": "k", "old": "o", "new": "n"}),
    ("change", {"old": "other"}, [], {"kept": "k", "old": "other"}),
    ("remove", {}, ["old"], {"kept": "k"}),
    ("all at once", {"new": "n", "kept": ""}, ["old"], {"kept": "", "new": "n"}),
    ("remove what is not there", {"new": "n"}, ["never"], {"kept": "k", "old": "o", "new": "n"}),
    ("hostile", HOSTILE_PROPERTIES, ["old"], {"kept": "k"} | HOSTILE_PROPERTIES),
    ("nothing", {}, [], {"kept": "k", "old": "o"}),
]


@pytest.mark.parametrize(("what", "updates", "removals", "left"), UPDATES, ids=[case[0] for case in UPDATES])
def test_an_update_sets_and_removes_and_leaves_the_rest(
    writer: CatalogWriter, unique: str, what: str, updates: dict[str, str], removals: list[str], left: dict[str, str]
) -> None:
    writer.create_namespace((unique,), {"kept": "k", "old": "o"})
    writer.update_namespace((unique,), updates, removals)
    assert stored(writer, (unique,)) == left


def test_an_update_of_what_is_not_there_fails_as_an_object(writer: CatalogWriter, unique: str) -> None:
    with pytest.raises(ObjectError, match="target at "):
        writer.update_namespace((unique,), {"k": "v"})


@pytest.mark.parametrize("level", ["\ud800", "a\udfffb"])
def test_a_name_that_no_text_can_carry_is_the_objects_error(writer: CatalogWriter, unique: str, level: str) -> None:
    for act in (
        lambda: writer.create_namespace((unique, level), {}),
        lambda: writer.update_namespace((unique, level), {"k": "v"}),
        lambda: writer.namespace_properties((unique, level)),
    ):
        with pytest.raises(ObjectError):
            act()


def test_eight_threads_may_write_at_once(writer: CatalogWriter, unique: str) -> None:
    writer.create_namespace((unique,), {})
    tree = [(unique, f"n{number}") for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda levels: writer.create_namespace(levels, {"k": levels[1]}), tree))
        found = list(pool.map(lambda levels: stored(writer, levels), tree))
    assert found == [{"k": levels[1]} for levels in tree]


ACTS: list[tuple[str, Callable[[CatalogWriter], object]]] = [
    ("create", lambda writer: writer.create_namespace(("a",), {})),
    ("update", lambda writer: writer.update_namespace(("a",), {"k": "v"})),
    ("read", lambda writer: writer.namespace_properties(("a",))),
]


@pytest.mark.parametrize("garbage", [False, True], ids=["down", "garbage"])
@pytest.mark.parametrize(("what", "act"), ACTS, ids=[name for name, _ in ACTS])
@pytest.mark.proves("exit-5")
def test_a_catalog_that_does_not_answer_is_unreachable(
    writer_case: WriterCase, what: str, act: Callable[[CatalogWriter], object], *, garbage: bool
) -> None:
    open_writer = room(writer_case.system).writer
    assert open_writer is not None
    with listening(answering(b"SSH-2.0-OpenSSH_9.9\r\n")) as port:
        options, address = writer_case.at(port if garbage else free_port())
        writer = open_writer(options, SOURCE)
        with pytest.raises(CatalogUnreachable, match=f"{SOURCE} at {address}: "):
            act(writer)
        writer.close()


def test_a_secret_is_nowhere_to_be_seen(writer_case: WriterCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NESTSYNC_TEST_SECRET", "hunter2hunter2")
    open_writer = room(writer_case.system).writer
    assert open_writer is not None
    writer = open_writer(writer_case.secret("NESTSYNC_TEST_SECRET"), SOURCE)
    assert "hunter2" not in repr(writer) + str(writer)
    writer.close()
