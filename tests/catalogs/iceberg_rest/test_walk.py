"""The walk over the tree: complete, each namespace listed once, and no way to lead it astray."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from nestsync.catalogs.iceberg_rest import ROOM, IcebergRestOptions
from nestsync.catalogs.iceberg_rest.listing import DEEPEST
from nestsync.catalogs.records import ObjectKind, Status
from tests.catalogs.iceberg_rest.faulty_server import (
    FaultyServer,
    Reply,
    Seen,
    Tree,
    config,
    empty,
    error,
    members,
    namespace,
    namespaces,
    reply,
)
from tests.catalogs.iceberg_rest.reading import by_identifier, levels_of, read

pytestmark = pytest.mark.servers

Options = Callable[..., IcebergRestOptions]


def tree_of(width: int, depth: int) -> list[tuple[str, ...]]:
    """All namespaces of a tree with `width` children a node, `depth` levels deep."""
    return [levels for level in range(1, depth + 1) for levels in product("abcdefgh"[:width], repeat=level)]


@pytest.mark.parametrize("parallelism", [1, 2, 3, 8, 100])
@pytest.mark.parametrize(
    ("width", "depth"), [(1, 12), (2, 4), (3, 3), (8, 1)], ids=["chain", "binary", "bushy", "flat"]
)
def test_every_namespace_is_read_and_listed_exactly_once(
    server: FaultyServer, options: Options, width: int, depth: int, parallelism: int
) -> None:
    tree = tree_of(width, depth)
    server.fallback = Tree({levels: {"at": "/".join(levels)} for levels in tree})
    rows = by_identifier(read(options(), tables=False, parallelism=parallelism))
    assert sorted(levels for _, levels, _ in rows) == sorted(tree)
    assert all(row.properties == {"at": "/".join(row.levels)} for row in rows.values())
    assert Counter(server.lists()).most_common(1)[0][1] == 1
    assert len(server.lists()) == 1 + len(tree)
    assert Counter(server.targets())["/v1/config"] == 1
    assert len(server.seen) == 1 + (1 + len(tree)) + len(tree)  # config, lists, properties


@pytest.mark.parametrize("parallelism", [1, 3, 8])
def test_shares_are_enough_and_not_more_than_asked_for(
    server: FaultyServer, options: Options, parallelism: int
) -> None:
    server.fallback = Tree(empty(tree_of(2, 4)))
    units = ROOM.reader(options(), "here").units(tables=True, parallelism=parallelism)
    assert len(units) == parallelism


def test_an_empty_catalog_has_no_shares(server: FaultyServer, options: Options) -> None:
    server.get("/v1/namespaces", namespaces())
    assert ROOM.reader(options(), "here").units(tables=True, parallelism=8) == []


def test_the_driver_lists_only_the_root_where_that_is_enough(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree(empty(tree_of(3, 2)))
    ROOM.reader(options(), "here").units(tables=True, parallelism=3)
    assert server.lists() == ["/v1/namespaces"]


def test_tables_alone_ask_for_no_namespace_properties(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a",): {}}, {("a",): ["t", "u"]})
    rows = read(options(), namespaces=False)
    assert [(row.object, row.levels, row.name) for row in rows] == [
        (ObjectKind.TABLE, ("a",), "t"),
        (ObjectKind.TABLE, ("a",), "u"),
    ]
    assert "/v1/namespaces/a" not in server.targets()


def test_pages_are_followed_one_request_a_page(server: FaultyServer, options: Options) -> None:
    server.get("/v1/namespaces", namespaces(["a"], ["b"], token="p=2 &"))
    server.get("/v1/namespaces?pageToken=p%3D2%20%26", namespaces(["c"], token="3"))
    server.get("/v1/namespaces?pageToken=3", namespaces(["d"]))
    server.get("/v1/namespaces?parent=a", namespaces(["a", "x"], token="q"))
    server.get("/v1/namespaces?parent=a&pageToken=q", namespaces(["a", "y"]))
    for parent in ("b", "c", "d", "a%1Fx", "a%1Fy"):
        server.get(f"/v1/namespaces?parent={parent}", namespaces())
    server.get("/v1/namespaces/a/tables", members(["a"], "t", token="r"))
    server.get("/v1/namespaces/a/tables?pageToken=r", members(["a"], "u"))
    rows = read(options())
    assert levels_of(rows) == [("a",), ("a", "x"), ("a", "y"), ("b",), ("c",), ("d",)]
    assert sorted(row.name or "" for row in rows if row.object is ObjectKind.TABLE) == ["t", "u"]
    assert Counter(server.lists()).most_common(1)[0][1] == 1
    assert len(server.lists()) == 10


def test_a_page_size_is_asked_for_with_an_empty_token_first(server: FaultyServer, options: Options) -> None:
    server.get("/v1/namespaces?pageToken=&pageSize=2", namespaces(["a"], ["b"], token="2"))
    server.get("/v1/namespaces?pageToken=2&pageSize=2", namespaces(["c"]))
    for parent in "abc":
        server.get(f"/v1/namespaces?parent={parent}&pageToken=&pageSize=2", namespaces())
    rows = read(options(page_size=2), tables=False)
    assert levels_of(rows) == [("a",), ("b",), ("c",)]
    assert len(server.lists()) == 5


def _endless(below: str) -> Callable[[FaultyServer], object]:
    return lambda server: server.get(f"/v1/namespaces?parent={below}", namespaces([below, "x"], token="again")).get(
        f"/v1/namespaces?parent={below}&pageToken=again", namespaces([below, "y"], token="again")
    )


@pytest.mark.parametrize(
    ("mislead", "found", "said"),
    [
        pytest.param(
            lambda s: s.get("/v1/namespaces?parent=a", namespaces(["a"], ["a", "x"])),
            [("a",), ("a", "x")],
            None,
            id="a parent is its own child",
        ),
        pytest.param(
            lambda s: s.get("/v1/namespaces?parent=a", namespaces(["a"], ["b"], ["c"])),
            [("a",)],
            'holds 2 that do not belong there: ["b"], ["c"]',
            id="the server ignores the parent",
        ),
        pytest.param(
            lambda s: s.get("/v1/namespaces?parent=a", namespaces(["a", "x"])).get(
                "/v1/namespaces?parent=a%1Fx", namespaces(["a"], ["a", "x"])
            ),
            [("a",), ("a", "x")],
            'holds 1 that do not belong there: ["a"]',
            id="a cycle over two levels",
        ),
        pytest.param(
            lambda s: s.get("/v1/namespaces?parent=a", namespaces(["a", "x", "y"], ["a", "z"])),
            [("a",), ("a", "z")],
            '["a", "x", "y"]',
            id="a grandchild among the children",
        ),
        pytest.param(
            lambda s: s.get("/v1/namespaces?parent=a", reply({"namespaces": ["a.x", ["a", 1], None, ["a", "ok"]]})),
            [("a",), ("a", "ok")],
            'holds 3 that do not belong there: "a.x", ["a", 1], null',
            id="entries that are no lists of strings",
        ),
        pytest.param(_endless("a"), [("a",), ("a", "x"), ("a", "y")], "the list never ends", id="a page token repeats"),
    ],
)
@pytest.mark.parametrize("parallelism", [1, 4], ids=["on the executor", "on the driver"])
def test_a_misleading_list_is_said_and_loses_nothing(
    server: FaultyServer,
    options: Options,
    parallelism: int,
    mislead: Callable[[FaultyServer], object],
    found: list[tuple[str, ...]],
    said: str | None,
) -> None:
    server.fallback = Tree({levels: {"kept": "yes"} for levels in [(), *found]})
    mislead(server)
    rows = read(options(), tables=False, parallelism=parallelism)
    assert levels_of(rows) == found
    assert all(row.properties == {"kept": "yes"} for row in rows)
    bad = [row for row in rows if row.status is not Status.OK]
    assert len(bad) == (0 if said is None else 1)
    assert all(row.status is Status.UNREADABLE and said and said in (row.error or "") for row in bad)


def test_pages_that_bring_nothing_new_end(server: FaultyServer, options: Options) -> None:
    tokens = iter(range(10_000))
    server.fallback = lambda seen: (
        namespaces(["a", "x"], token=str(next(tokens))) if "parent=a&" in seen.target else namespaces()
    )
    server.get("/v1/namespaces", namespaces(["a"]))
    server.get("/v1/namespaces?parent=a", namespaces(["a", "x"], token="first"))
    server.get("/v1/namespaces/a", reply({"namespace": ["a"], "properties": {}}))
    server.get("/v1/namespaces/a%1Fx", reply({"namespace": ["a", "x"], "properties": {}}))
    rows = read(options(), tables=False)
    assert "the list never ends" in (next(row for row in rows if row.levels == ("a",)).error or "")
    assert len(server.seen) < 200


@pytest.mark.parametrize("parallelism", [1, 4])
def test_a_child_listed_twice_is_read_once_and_said(server: FaultyServer, options: Options, parallelism: int) -> None:
    server.fallback = Tree(empty([("a",), ("a", "x")]), {("a",): ["t"]})
    server.get("/v1/namespaces?parent=a", namespaces(["a", "x"], ["a", "x"]))
    server.get("/v1/namespaces/a/tables", members(["a"], "t", "t"))
    rows = read(options(), parallelism=parallelism)
    assert sorted((row.object, row.levels, row.name, row.status, row.error) for row in rows if row.error) == [
        (ObjectKind.NAMESPACE, ("a", "x"), None, Status.UNREADABLE, "listed twice in one namespace"),
        (ObjectKind.TABLE, ("a",), "t", Status.UNREADABLE, "listed twice in one namespace"),
    ]
    assert sorted((row.object, row.levels, row.name) for row in rows if not row.error) == [
        (ObjectKind.NAMESPACE, ("a",), None),
        (ObjectKind.NAMESPACE, ("a", "x"), None),
        (ObjectKind.TABLE, ("a",), "t"),
    ]
    assert len(server.lists()) == 3


def test_top_level_entries_of_other_depths_are_error_rows(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a",): {}})
    server.get("/v1/namespaces", namespaces([], ["a"], ["p", "q"]))
    rows = read(options(), tables=False)
    assert [(row.levels, row.status) for row in rows] == [(("p", "q"), Status.UNREADABLE), (("a",), Status.OK)]


UNASKABLE = [
    pytest.param("x\x1fy", "\x1f", id="the default separator"),
    pytest.param("x.y", ".", id="the advertised separator"),
    pytest.param("x\x1fy", ".", id="the default separator where another is advertised"),
    pytest.param("", "\x1f", id="empty"),
    pytest.param(".", "\x1f", id="dot"),
    pytest.param("..", "\x1f", id="dot dot"),
    pytest.param("\ud800", "\x1f", id="lone surrogate"),
    pytest.param("a\udfffz", "\x1f", id="lone surrogate inside"),
]


@pytest.mark.parametrize(("name", "separator"), UNASKABLE)
@pytest.mark.parametrize("parallelism", [1, 4])
def test_a_name_that_would_address_another_is_never_asked_about(
    server: FaultyServer, options: Options, name: str, separator: str, parallelism: int
) -> None:
    server.get("/v1/config", config(namespace_separator="%1F" if separator == "\x1f" else "%2E"))
    server.fallback = Tree({("ok",): {}})
    server.get("/v1/namespaces", namespaces([name], ["ok"]))
    rows = by_identifier(read(options(), tables=False, parallelism=parallelism))
    assert sorted(rows) == sorted([("namespace", (name,), None), ("namespace", ("ok",), None)])
    refused = rows["namespace", (name,), None]
    assert refused.status is Status.UNREADABLE
    assert (refused.error or "").startswith("not asked about: ")
    assert sorted(server.targets()) == sorted(
        ["/v1/config", "/v1/namespaces", "/v1/namespaces?parent=ok", "/v1/namespaces/ok"]
    )


@pytest.mark.parametrize("name", ["", ".", "..", "\ud800"], ids=["empty", "dot", "dot dot", "lone surrogate"])
def test_a_table_name_that_would_address_another_is_never_asked_about(
    server: FaultyServer, options: Options, name: str
) -> None:
    server.fallback = Tree({("a",): {}}, {("a",): ["t"]})
    server.get("/v1/namespaces/a/tables", members(["a"], name, "t"))
    rows = by_identifier(read(options()))
    assert rows["table", ("a",), name].status is Status.UNREADABLE
    assert rows["table", ("a",), "t"].status is Status.OK
    loads = [target for target in server.targets() if "/tables/" in target]
    assert loads == ["/v1/namespaces/a/tables/t?snapshots=refs"]


def test_a_table_may_hold_the_separator(server: FaultyServer, options: Options) -> None:
    server.get("/v1/config", config(namespace_separator="%2E"))
    server.fallback = Tree({("a",): {}}, {("a",): ["t.x"]})
    assert by_identifier(read(options()))["table", ("a",), "t.x"].status is Status.OK


def test_members_of_another_namespace_are_said(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a",): {}}, {("a",): ["t"]})
    mixed = [{"namespace": ["b"], "name": "s"}, {"namespace": ["a"], "name": "t"}, {"namespace": ["a"]}, "u"]
    server.get("/v1/namespaces/a/tables", reply({"identifiers": mixed}))
    rows = by_identifier(read(options()))
    assert "the list of its tables holds 3 that do not belong there" in (rows["namespace", ("a",), None].error or "")
    assert rows["table", ("a",), "t"].status is Status.OK
    assert len(rows) == 2


VIEW = {
    "metadata": {
        "format-version": 1,
        "location": "file:///v",
        "current-version-id": 2,
        "versions": [{"version-id": 1, "schema-id": 0}, {"version-id": 2, "schema-id": 1}],
        "schemas": [
            {"schema-id": 0, "fields": [{"name": "old", "type": "int"}]},
            {"schema-id": 1, "fields": [{"name": "new", "type": "string"}]},
        ],
        "properties": {"comment": "all of it"},
    }
}


def test_views_are_read_with_the_schema_of_their_current_version(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a",): {}})
    server.get("/v1/namespaces/a/views", members(["a"], "v"))
    server.get("/v1/namespaces/a/views/v", reply(VIEW))
    view = by_identifier(read(options()))["view", ("a",), "v"]
    assert (view.status, view.format, view.location, view.comment) == (Status.OK, "view", "file:///v", "all of it")
    assert view.columns == (("new", "string"),)


@pytest.mark.parametrize("status", [400, 404, 405, 406, 501])
def test_a_server_without_views_is_asked_about_them_once(server: FaultyServer, options: Options, status: int) -> None:
    server.fallback = Tree(empty(tree_of(2, 2)))
    for levels in tree_of(2, 2):
        server.get(f"/v1/namespaces/{'%1F'.join(levels)}/views", error(status))
    rows = read(options(connections=1), parallelism=1)
    assert {row.status for row in rows} == {Status.OK}
    assert len([target for target in server.targets() if target.endswith("/views")]) == 1


@pytest.mark.parametrize("parallelism", [1, 4])
def test_a_tree_without_an_end_ends_with_a_row_that_says_so(
    server: FaultyServer, options: Options, parallelism: int
) -> None:
    def one_more(seen: Seen) -> Reply:
        address = urlsplit(seen.target)
        if address.path == "/v1/config":
            return config()
        if address.path == "/v1/namespaces":
            parent = parse_qs(address.query).get("parent", [""])[0]
            return namespaces([*filter(None, parent.split("\x1f")), "x"])
        return namespace(*unquote(address.path).removeprefix("/v1/namespaces/").split("\x1f"))

    server.fallback = one_more
    rows = read(options(), tables=False, parallelism=parallelism)
    assert sorted(len(row.levels) for row in rows) == list(range(1, DEEPEST + 2))
    (last,) = [row for row in rows if row.status is not Status.OK]
    assert (len(last.levels), last.status) == (DEEPEST + 1, Status.UNREADABLE)
    assert "more than 200 levels" in (last.error or "")


LISTED = [
    "GET /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/views",
]


@pytest.mark.parametrize(
    ("listed", "answers"),
    [
        pytest.param(None, [error(404, "gone", "NoSuchNamespaceException")], id="the-namespace-is-gone"),
        pytest.param(None, [members(["a"], "v", token="2"), error(404)], id="after-a-page"),
        pytest.param(LISTED, [error(404)], id="although-it-lists-the-endpoint"),
    ],
)
def test_views_that_could_not_be_listed_are_told_and_others_are_still_asked_for(
    server: FaultyServer, options: Options, listed: list[str] | None, answers: list[Reply]
) -> None:
    if listed is not None:
        server.get("/v1/config", reply({"defaults": {}, "overrides": {}, "endpoints": listed}))
    server.fallback = Tree({("a",): {}, ("b",): {}})
    server.get("/v1/namespaces/a/views", *answers)
    server.get("/v1/namespaces/b/views", members(["b"], "w"))
    server.get("/v1/namespaces/a/views/v", reply(VIEW))
    server.get("/v1/namespaces/b/views/w", reply(VIEW))
    rows = by_identifier(read(options(connections=1), parallelism=1))
    assert "its views could not" in (rows["namespace", ("a",), None].error or "")
    assert rows["view", ("b",), "w"].status is Status.OK


def test_a_server_whose_endpoints_hold_no_views_is_not_asked(server: FaultyServer, options: Options) -> None:
    known = ["GET /v1/{prefix}/namespaces", "GET /v1/{prefix}/namespaces/{namespace}/tables"]
    server.get("/v1/config", reply({"defaults": {}, "overrides": {}, "endpoints": known}))
    server.fallback = Tree({("a",): {}})
    read(options())
    assert not [target for target in server.targets() if target.endswith("/views")]


def test_a_namespace_whose_views_fail_says_so(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a",): {}})
    server.get("/v1/namespaces/a/views", error(500, "boom"))
    row = by_identifier(read(options()))["namespace", ("a",), None]
    assert "its views could not be listed: GET /v1/namespaces/a/views: answered 500" in (row.error or "")


def test_a_lance_table_registered_in_iceberg_is_called_lance(server: FaultyServer, options: Options) -> None:
    from tests.catalogs.iceberg_rest.faulty_server import table

    server.fallback = Tree({("a",): {}}, {("a",): ["t"]})
    server.get("/v1/namespaces/a/tables/t?snapshots=refs", table("s3://bucket/t", table_type="LANCE"))
    row = by_identifier(read(options()))["table", ("a",), "t"]
    assert (row.format, row.location, row.version, row.columns) == ("lance", "s3://bucket/t", None, None)
