"""The SPIP's five rules, all of its examples, and what USE and SHOW ask for."""

from __future__ import annotations

import pytest

from nestsync.core.dialects import NameRefused
from nestsync.core.identifiers import Levels
from nestsync.core.resolution import (
    Current,
    Listing,
    NotAPath,
    NotSupported,
    Resolved,
    ambiguity,
    demand_support,
    like_prefix,
    path_identifier,
    resolve,
    resolve_namespace,
)

EXAMPLES: list[tuple[str, Levels, set[str], Resolved]] = [
    ("table", ("table",), {"foo"}, Resolved("default", ("now",), "table")),
    ("foo.table, foo a catalog", ("foo", "table"), {"foo"}, Resolved("foo", (), "table")),
    ("foo.table, foo no catalog", ("foo", "table"), set(), Resolved("default", ("foo",), "table")),
    ("foo.bar.table, foo a catalog", ("foo", "bar", "table"), {"foo"}, Resolved("foo", ("bar",), "table")),
    ("foo.bar.table, no catalog", ("foo", "bar", "table"), set(), Resolved("default", ("foo", "bar"), "table")),
    ("a catalog alone is a table", ("foo",), {"foo"}, Resolved("default", ("now",), "foo")),
    ("only the first part can be a catalog", ("a", "foo", "t"), {"foo"}, Resolved("default", ("a", "foo"), "t")),
    ("catalogs are matched exactly", ("Foo", "t"), {"foo"}, Resolved("default", ("Foo",), "t")),
]


@pytest.mark.parametrize(("parts", "catalogs", "meant"), [e[1:] for e in EXAMPLES], ids=[e[0] for e in EXAMPLES])
def test_the_five_rules(parts: Levels, catalogs: set[str], meant: Resolved) -> None:
    assert resolve(parts, catalogs=catalogs, current_catalog="default", current_levels=("now",)) == meant


def test_without_a_current_catalog_none_is_made_up() -> None:
    assert resolve(("a", "t"), catalogs=()) == Resolved(None, ("a",), "t")
    assert resolve(("t",), catalogs=()) == Resolved(None, (), "t")


def test_no_parts_are_no_identifier() -> None:
    with pytest.raises(NameRefused, match="no parts"):
        resolve((), catalogs=())


@pytest.mark.parametrize(
    ("catalogs", "meant"),
    [({"iceberg_nyc"}, ("iceberg_nyc", ("nyc_taxi",))), (set(), ("current", ("iceberg_nyc", "nyc_taxi")))],
    ids=["registered", "not registered"],
)
def test_a_namespace_is_catalog_plus_levels_when_that_catalog_is_registered(
    catalogs: set[str], meant: tuple[str, Levels]
) -> None:
    assert resolve_namespace(("iceberg_nyc", "nyc_taxi"), catalogs=catalogs, current_catalog="current") == meant


def test_no_parts_are_the_root_of_the_current_catalog() -> None:
    assert resolve_namespace((), catalogs={"a"}, current_catalog="current") == ("current", ())


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("s3://bucket/location/name/", "name"),
        ("s3://bucket/location/name", "name"),
        ("s3://bucket/location/name//", "name"),
        ("s3://bucket", "bucket"),
        ("/warehouse/a b/t.lance", "t.lance"),
        ("file:/tmp/t", "t"),
        ("/data/t:", "t:"),
        ("hdfs://host/data/t:/", "t:"),
        ("t", "t"),
    ],
)
def test_a_path_is_named_by_its_last_directory_that_is_not_empty(path: str, name: str) -> None:
    found = path_identifier(path)
    assert found == Resolved(None, (path,), name, is_path=True)
    assert found.path == path


@pytest.mark.parametrize("path", ["", "/", "//", "file:/", "file:///", "s3://"])
def test_a_path_without_a_directory_is_refused(path: str) -> None:
    with pytest.raises(NameRefused, match="names no directory"):
        path_identifier(path)


def test_a_catalogs_path_is_a_path_identifier() -> None:
    uri = "s3://bucket/location/name/"
    assert resolve(("cat", uri), catalogs={"cat"}) == path_identifier(uri, catalog="cat")
    assert resolve(("foo", uri), catalogs={"cat"}) == Resolved(None, ("foo",), uri)
    assert resolve(("cat", "no/scheme"), catalogs={"cat"}) == Resolved("cat", (), "no/scheme")
    assert resolve(("cat", "ns", uri), catalogs={"cat"}) == Resolved("cat", ("ns",), uri)


def test_only_a_path_identifier_has_a_path() -> None:
    with pytest.raises(NotAPath) as caught:
        _ = Resolved("cat", ("a",), "t").path
    assert caught.value.exit_code == 2


def test_a_target_without_namespaces_or_paths_refuses_them() -> None:
    nested, bare, path = Resolved("c", ("a",), "t"), Resolved("c", (), "t"), path_identifier("s3://b/t", catalog="c")
    assert demand_support(nested) is nested
    assert demand_support(bare, namespaces=False) is bare
    assert demand_support(path, namespaces=False) is path
    assert demand_support(nested, paths=False) is nested
    with pytest.raises(NotSupported, match=r"c: .*is a namespace") as caught:
        demand_support(nested, namespaces=False)
    assert caught.value.exit_code == 2
    with pytest.raises(NotSupported, match=r"c: .*is a path"):
        demand_support(path, paths=False)
    with pytest.raises(NotSupported, match=r"^\[not-supported\] 's3://b/t' is a path"):
        demand_support(path_identifier("s3://b/t"), paths=False)


@pytest.mark.parametrize(
    ("parts", "namespaces", "warned"),
    [
        (("foo", "t"), [("foo",)], True),
        (("foo", "t"), [("foo", "bar")], True),
        (("foo", "t"), [("bar", "foo")], False),
        (("foo", "t"), [("food",)], False),
        (("bar", "t"), [("bar",)], False),
        (("foo",), [("foo",)], False),
        (["foo", "t"], [["foo"]], True),
    ],
    ids=str,
)
def test_a_first_part_that_is_both_is_warned_about(parts: Levels, namespaces: list[Levels], warned: bool) -> None:
    warning = ambiguity(parts, catalogs={"foo"}, namespaces=namespaces)
    assert (warning is not None) is warned
    if warning is not None:
        assert "'foo' is a catalog and a namespace" in warning


NOW = Current(frozenset({"foo", "cat", "default"}), "default")


def test_use_catalog_sets_the_catalog() -> None:
    assert NOW.use_catalog("foo").resolve(("t",)) == Resolved("foo", (), "t")
    with pytest.raises(NameRefused, match="is no catalog") as caught:
        NOW.use_catalog("nowhere")
    assert caught.value.refusal.accepted == "cat, default, foo"


@pytest.mark.parametrize("parts", [("foo",), ("bar",), ("foo", "bar")], ids=str)
def test_use_sets_the_namespace_and_never_the_catalog(parts: Levels) -> None:
    assert NOW.use(parts).resolve(("t",)) == Resolved("default", parts, "t")


def test_use_in_a_catalog_is_remembered_for_that_catalog() -> None:
    now = NOW.use(("here",)).use(("foo", "bar"), catalog="cat")
    assert now.resolve(("t",)) == Resolved("default", ("here",), "t")
    assert now.use_catalog("cat").resolve(("t",)) == Resolved("cat", ("foo", "bar"), "t")
    assert now.use(("there",), catalog="cat").levels("cat") == ("there",)
    with pytest.raises(NameRefused, match="is no catalog"):
        now.use(("a",), catalog="nowhere")


def test_the_current_namespace_is_not_used_with_a_named_catalog() -> None:
    now = NOW.use(("here",)).use(("there",), catalog="cat")
    assert now.resolve(("cat", "t")) == Resolved("cat", (), "t")


def test_show_asks_one_listing_and_never_walks() -> None:
    now = NOW.use(("here",)).use(("there",), catalog="cat")
    assert now.show_namespaces() == Listing("default")
    assert now.show_namespaces(catalog="foo") == Listing("foo")
    assert now.show_namespaces(catalog="foo", like="a%") == Listing("foo", (), "a")
    assert now.show_namespaces(like="a%") == Listing("default", (), "a")
    assert now.show_tables() == Listing("default", ("here",))
    assert now.show_tables(catalog="cat") == Listing("cat", ("there",))
    assert now.show_tables(catalog="foo") == Listing("foo", ())
    with pytest.raises(NameRefused, match="is no catalog"):
        now.show_tables(catalog="nowhere")


@pytest.mark.parametrize(("pattern", "prefix"), [("a%", "a"), ("%", ""), ("ns_1%", "ns_1"), ("a*%", "a*")])
def test_like_is_a_prefix_and_underscore_no_wildcard(pattern: str, prefix: str) -> None:
    assert like_prefix(pattern) == prefix


@pytest.mark.parametrize("pattern", ["a", "", "%a", "a%b", "a%%"])
def test_like_without_a_prefix_is_refused(pattern: str) -> None:
    with pytest.raises(NameRefused, match="no prefix pattern") as caught:
        like_prefix(pattern)
    assert (caught.value.refusal.level, caught.value.refusal.character) == (pattern, "%")
