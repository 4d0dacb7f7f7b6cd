"""Every example of the documents that the rules come from, in their order and with their own names.

The documents: "[Iceberg REST] Supported Nested Namespace Design" of Gravitino, "SPIP: Identifiers for multi-catalog
Spark", and the Lance namespace specification. The SPIP's tables of resolution and of ``USE`` and ``SHOW`` are in
`test_resolution`.
"""

from __future__ import annotations

import pytest

from nestsync.core.dialects import NameRefused, dialect
from nestsync.core.gravitino import read_new_name
from nestsync.core.hierarchy import Node, ancestors, children, close_parents, scopes, tree, within
from nestsync.core.identifiers import Levels
from nestsync.core.resolution import Current, Resolved, resolve
from nestsync.core.separators import SeparatorRefused, check_separator

GRAVITINO = dialect("gravitino", separator=":")
PHYSICAL = dialect("gravitino-physical")

SCHEMAS = ["A", "B", "A:B", "A:B:C", "A:B:D"]


def logical(*paths: str) -> list[Levels]:
    return [GRAVITINO.decode(path) for path in paths]


# ---- Gravitino: identifier rules


@pytest.mark.parametrize(
    ("levels", "path"),
    [(("A", "B"), "A:B"), (("A", "B", "C"), "A:B:C"), (("team", "sales"), "team:sales"), (("my.schema",), "my.schema")],
    ids=str,
)
def test_a_nested_namespace_is_a_logical_path(levels: Levels, path: str) -> None:
    assert GRAVITINO.encode(levels) == path
    assert GRAVITINO.decode(path) == levels


def test_an_identifier_has_the_path_in_the_schemas_place() -> None:
    assert GRAVITINO.qualify("metalake", "catalog", ("A", "B"), "table1") == "metalake.catalog.A:B.table1"
    assert GRAVITINO.qualify("metalake", "catalog", ("team", "sales"), "table2") == "metalake.catalog.team:sales.table2"


def test_a_path_is_stored_reversibly() -> None:
    assert PHYSICAL.encode(("my.schema", "sales")) == "my%2Eschema\x01sales"
    assert PHYSICAL.decode("my%2Eschema\x01sales") == ("my.schema", "sales")


# ---- Gravitino: delimiters


@pytest.mark.parametrize("separator", [":", ";", "$"])
def test_a_delimiter_of_the_design_is_allowed(separator: str) -> None:
    check_separator(separator)


@pytest.mark.parametrize("policy", ["restricted", "unrestricted"])
@pytest.mark.parametrize("separator", ["", "::", ".", "\x01", "/"], ids=ascii)
def test_a_delimiter_that_the_design_names_as_bad_is_refused(separator: str, policy: str) -> None:
    with pytest.raises(SeparatorRefused):
        check_separator(separator, policy=policy)  # type: ignore[arg-type]


def test_the_error_of_the_design() -> None:
    said = "Delimiter '/' is not allowed because it conflicts with path parsing. Try ':', ';', or '$'."
    with pytest.raises(SeparatorRefused) as caught:
        check_separator("/")
    assert caught.value.what == said


def test_option_1_rejects_a_flat_name_of_hive_and_option_2_takes_it() -> None:
    assert read_new_name("A:B", policy="restricted", nested_aware=True) == ("A", "B")
    with pytest.raises(NameRefused):
        read_new_name("A:B", policy="restricted", nested_aware=False)
    assert read_new_name("A:B", policy="unrestricted", nested_aware=False) == ("A:B",)
    assert read_new_name("A:B", policy="unrestricted", nested_aware=True) == ("A", "B")


# ---- Gravitino: creating, listing, privileges


def test_creating_a_leaf_ensures_its_chain_parents_first() -> None:
    chain = close_parents(logical("A:B:C"))
    assert [PHYSICAL.encode(levels) for levels in chain] == ["A", "A\x01B", "A\x01B\x01C"]
    assert close_parents(logical("A:B:C")) == logical("A", "A:B", "A:B:C")


@pytest.mark.parametrize(
    ("parent", "below"), [("", ["A", "B"]), ("A", ["A:B"]), ("A:B", ["A:B:C", "A:B:D"]), ("A:B:C", [])], ids=str
)
def test_a_list_has_the_direct_children_as_full_paths(parent: str, below: list[str]) -> None:
    assert children(GRAVITINO.decode(parent), logical(*SCHEMAS)) == logical(*below)


def test_the_hierarchical_view_of_flat_schemas() -> None:
    assert tree(logical("A", "B", "A:B", "A:B:C")) == [
        Node(("A",), True, below=2),
        Node(("A", "B"), True, below=1),
        Node(("A", "B", "C"), True),
        Node(("B",), True),
    ]


def test_the_scopes_of_a_privilege() -> None:
    (levels,) = logical("A:B:C")
    assert [*ancestors(levels), levels] == logical("A", "A:B", "A:B:C")
    assert scopes(levels) == logical("A:B:C", "A:B", "A")
    assert within(("A", "B"), ("A",))
    assert not within(("A",), ("A", "B"))


# ---- Gravitino: connectors


@pytest.mark.parametrize(
    ("engine", "text"), [("spark", "a.b.c"), ("trino", '"a.b.c"')], ids=["Spark connector", "Trino connector"]
)
def test_an_engine_keeps_its_own_style_of_names(engine: str, text: str) -> None:
    found = dialect(engine)
    schema = GRAVITINO.encode(found.decode(text))
    assert schema == "a:b:c"
    assert found.encode(GRAVITINO.decode(schema)) == text


def test_the_conversion_flow() -> None:
    levels, name = dialect("spark").decode_table("A.B.C.t1")
    assert (levels, name) == (("A", "B", "C"), "t1")
    assert GRAVITINO.encode(levels) == "A:B:C"
    assert dialect("spark").encode_table(GRAVITINO.decode("A:B:C"), name) == "A.B.C.t1"


# ---- the SPIP


@pytest.mark.parametrize(
    ("text", "levels", "name"),
    [
        ("a.t1", ("a",), "t1"),
        ("a.b.t2", ("a", "b"), "t2"),
        ("a.b.c.t3", ("a", "b", "c"), "t3"),
        ("database.table", ("database",), "table"),
        ("database.schema.table", ("database", "schema"), "table"),
    ],
)
def test_any_hierarchy_of_a_catalog_is_taken(text: str, levels: Levels, name: str) -> None:
    assert dialect("spark").decode_table(text) == (levels, name)
    assert dialect("spark").encode_table(levels, name) == text


def test_a_complete_and_a_partial_name() -> None:
    complete = dialect("spark").decode("catalog.space.table")
    assert resolve(complete, catalogs={"catalog"}) == Resolved("catalog", ("space",), "table")
    assert resolve(("table",), catalogs={"catalog"}, current_catalog="default") == Resolved("default", (), "table")


def test_a_namespace_never_hides_a_catalog() -> None:
    now = Current(frozenset({"foo", "default"}), "default").use(("foo",))
    assert now.resolve(("foo", "table")) == Resolved("foo", (), "table")


def test_a_path_in_a_query() -> None:
    parts = dialect("spark").decode("catalogName.`scheme://auth/location/name/`")
    found = resolve(parts, catalogs={"catalogName"})
    assert (found.catalog, found.levels, found.name) == ("catalogName", ("scheme://auth/location/name/",), "name")
    assert (found.is_path, found.path) == (True, "scheme://auth/location/name/")


# ---- Lance


@pytest.mark.parametrize(
    ("separator", "listed", "text"),
    [(".", ("cat2", "cat5"), "cat2.cat5"), (".", ("cat2",), "cat2"), (".", (), ""), ("$", (), "")],
    ids=str,
)
def test_a_list_identifier_is_a_string_identifier(separator: str, listed: Levels, text: str) -> None:
    found = dialect("lance", separator=separator)
    assert found.encode(listed) == text
    assert found.decode(text) == listed


@pytest.mark.parametrize(
    ("separator", "listed", "text"),
    [(".", ("cat2", "cat5", "t1"), "cat2.cat5.t1"), ("$", ("cat4", "t3"), "cat4$t3")],
    ids=str,
)
def test_a_table_is_the_last_of_its_list_identifier(separator: str, listed: Levels, text: str) -> None:
    found = dialect("lance", separator=separator)
    assert found.encode_table(listed[:-1], listed[-1]) == text
    assert found.decode_table(text) == (listed[:-1], listed[-1])
