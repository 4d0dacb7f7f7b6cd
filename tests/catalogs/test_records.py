"""What no table can hold becomes an error row, under its name."""

from __future__ import annotations

import pytest

from nestsync.catalogs.records import SCHEMAS, CatalogObject, ObjectKind, to_batch

CASES = [
    pytest.param({"version": 2**63}, "its version has more than 64 bits", id="version"),
    pytest.param({"row_count": -(2**70)}, "its row_count has more than 64 bits", id="rows"),
    pytest.param({"columns": (("c", None),)}, "a column has no name, or no type", id="no-type"),
    pytest.param({"columns": ((None, "int"),)}, "a column has no name, or no type", id="no-name"),
    pytest.param({"owner": "\ud800"}, "owner holds a lone surrogate", id="surrogate"),
    pytest.param({"properties": {"k": "\udfff"}}, "property 'k' holds a lone surrogate", id="property"),
]


@pytest.mark.parametrize(("odd", "said"), CASES)
def test_what_no_table_can_hold_is_an_error_row_and_the_rest_goes_on(odd: dict[str, object], said: str) -> None:
    rows = [CatalogObject(ObjectKind.TABLE, ("a",), "t", **odd), CatalogObject(ObjectKind.TABLE, ("a",), "u")]  # type: ignore[arg-type]
    first, second = to_batch(rows, source="s", system="x", schema=SCHEMAS["all"]).to_pylist()
    assert (first["levels"], first["name"], first["status"]) == (["a"], "t", "unreadable")
    assert first["error"].startswith(said)
    assert (second["name"], second["status"], second["error"]) == ("u", "ok", None)


@pytest.mark.parametrize("version", [2**63 - 1, -(2**63), 0])
def test_the_widest_numbers_fit(version: int) -> None:
    (row,) = to_batch(
        [CatalogObject(ObjectKind.TABLE, ("a",), "t", version=version)], source="s", system="x", schema=SCHEMAS["all"]
    ).to_pylist()
    assert (row["version"], row["status"]) == (version, "ok")
