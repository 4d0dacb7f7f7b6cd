"""Reading answers: nothing is lost, and nothing is believed that has another shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.catalogs.iceberg_rest.answers import (
    Malformed,
    children,
    error_message,
    members,
    page,
    shown,
    table_metadata,
    type_text,
    view_metadata,
)

LEVEL = st.sampled_from(["a", "b", "c", ""])
LEVELS = st.lists(LEVEL, max_size=3)
ENTRIES = st.lists(
    st.one_of(LEVELS, LEVEL, st.none(), st.integers(), st.lists(st.one_of(LEVEL, st.none()), max_size=2))
)


@given(parent=LEVELS, entries=ENTRIES)
def test_every_entry_of_a_list_is_accounted_for(parent: list[str], entries: list[Any]) -> None:
    listed = children(tuple(parent), entries)
    itself = sum(entry == parent for entry in entries)
    assert len(listed.names) + len(listed.repeated) + len(listed.strange) + itself == len(entries)
    assert len(set(listed.names)) == len(listed.names)
    assert set(listed.repeated) <= set(listed.names)
    assert {(*parent, name) for name in listed.names} <= {tuple(e) for e in entries if isinstance(e, list)}
    assert not [
        e
        for e in listed.strange
        if isinstance(e, list) and len(e) == len(parent) + 1 and e[:-1] == parent and isinstance(e[-1], str)
    ]


@given(levels=LEVELS, names=st.lists(LEVEL), others=st.lists(st.one_of(st.none(), LEVELS)))
def test_every_member_of_a_list_is_accounted_for(levels: list[str], names: list[str], others: list[Any]) -> None:
    entries: list[Any] = [{"namespace": levels, "name": name} for name in names] + others
    listed = members(tuple(levels), entries)
    assert sorted([*listed.names, *listed.repeated]) == sorted(names)
    assert list(listed.strange) == others


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("long", "long"),
        ("decimal(9,2)", "decimal(9,2)"),
        ({"type": "list", "element-id": 3, "element": "string", "element-required": False}, "list<string>"),
        ({"type": "map", "key-id": 4, "key": "string", "value-id": 5, "value": "int"}, "map<string,int>"),
        (
            {
                "type": "struct",
                "fields": [{"name": "x", "type": "float"}, {"name": "y", "type": {"type": "list", "element": "int"}}],
            },
            "struct<x:float,y:list<int>>",
        ),
    ],
    ids=["primitive", "parameters", "list", "map", "struct"],
)
def test_types_are_written_as_iceberg_calls_them(kind: Any, text: str) -> None:
    assert type_text(kind) == text


@pytest.mark.parametrize("kind", [None, 5, {}, {"type": "tensor"}, {"type": "list"}, {"type": "struct"}, []], ids=repr)
def test_a_type_that_is_none_is_malformed(kind: Any) -> None:
    with pytest.raises(Malformed):
        type_text(kind)


SCHEMA = {"schema-id": 1, "fields": [{"id": 1, "name": "id", "type": "long"}]}
GOOD = {"format-version": 2, "location": "file:///t", "current-schema-id": 1, "schemas": [SCHEMA]}


def test_format_version_1_may_have_one_schema_alone() -> None:
    metadata = {"format-version": 1, "location": "file:///t", "schema": SCHEMA, "properties": {"a": "b"}}
    read = table_metadata({"metadata": metadata})
    assert (read.format_version, read.columns, read.properties) == (1, (("id", "long"),), {"a": "b"})


def test_the_current_schema_is_the_one_that_is_read() -> None:
    older = {"schema-id": 0, "fields": [{"id": 1, "name": "old", "type": "int"}]}
    assert table_metadata({"metadata": GOOD | {"schemas": [older, SCHEMA]}}).columns == (("id", "long"),)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format-version": None}, "no format-version"),
        ({"format-version": True}, "no format-version"),
        ({"format-version": 0}, "no format-version"),
        ({"format-version": 10**20}, "no format-version"),
        ({"location": 5}, "the location is no text"),
        ({"schemas": []}, "no current schema"),
        ({"schemas": [5]}, "no current schema"),
        ({"current-schema-id": 7}, "no current schema"),
        ({"schemas": [{"schema-id": 1}]}, "no fields"),
        ({"schemas": [{"schema-id": 1, "fields": [5]}]}, "no name"),
        ({"properties": {"a": 1}}, "the properties hold a value that is no text, under 'a'"),
        ({"properties": "x"}, "the properties are no object"),
    ],
)
def test_metadata_of_another_shape_is_malformed(change: dict[str, Any], said: str) -> None:
    with pytest.raises(Malformed, match=said):
        table_metadata({"metadata": GOOD | change})


@pytest.mark.parametrize("content", [None, [], {}, {"metadata": None}], ids=repr)
def test_an_answer_without_metadata_is_malformed(content: Any) -> None:
    for read in (table_metadata, view_metadata):
        with pytest.raises(Malformed, match="no metadata"):
            read(content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "holds no list of namespaces"),
        ({"namespaces": None}, "holds no list of namespaces"),
        ({"namespaces": {}}, "holds no list of namespaces"),
        ({"namespaces": [], "next-page-token": 5}, "the next-page-token is no text"),
        ({"namespaces": [], "next-page-token": "\ud800"}, "the next-page-token is no text"),
    ],
)
def test_a_page_of_another_shape_is_malformed(content: Any, said: str) -> None:
    with pytest.raises(Malformed, match=said):
        page(content, "namespaces")


@pytest.mark.parametrize("token", [None, ""], ids=repr)
def test_the_last_page_has_no_token(token: str | None) -> None:
    assert page({"namespaces": [["a"]], "next-page-token": token}, "namespaces") == ([["a"]], None)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "m"}}', "m"),
        (b'{"error": "m"}', "m"),
        (b'{"error": {"message": ""}}', None),
        (b'{"error": {}}', None),
        (b"[]", None),
        (b"<html>", None),
        (b"\xff", None),
        (b"[" * 100_000, None),
    ],
    ids=["model", "text", "blank", "empty", "list", "HTML", "no UTF-8", "deep"],
)
def test_an_error_message_is_found_where_there_is_one(body: bytes, message: str | None) -> None:
    assert error_message(body) == message


def test_a_long_entry_is_cut() -> None:
    assert shown(["x" * 200]).endswith("…")
