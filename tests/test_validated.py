"""What `nestsync validate` warns of: what is well written, and perhaps meant otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from nestsync.config import load
from nestsync.validated import Validated

SOURCE = "sources: [{name: prod, system: iceberg_rest, uri: 'http://127.0.0.1:8181'}]\n"
TARGET = "target: {{name: lake, system: iceberg_rest, uri: 'http://127.0.0.1:{port}'}}\n"


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        pytest.param(TARGET.format(port=8182), [], id="two catalogs"),
        pytest.param(
            TARGET.format(port=8181), ["prod is the target as well: what a run writes there, the next one"], id="one"
        ),
        pytest.param("separator: {value: '::'}\n", ["separator.value: Delimiter '::' is not allowed"], id="separator"),
        pytest.param("separator: {value: null}\n", [], id="no separator"),
    ],
)
def test_what_may_be_meant_otherwise_is_a_warning(tmp_path: Path, text: str, warnings: list[str]) -> None:
    file = tmp_path / "nestsync.yaml"
    file.write_text(SOURCE + text, encoding="utf-8")
    told = Validated(load(file)).as_json()["warnings"]
    assert len(told) == len(warnings)
    assert all(said.startswith(start) for said, start in zip(told, warnings, strict=True))
