"""What `make mutations` breaks is there to be broken, and its tests exist: the rest is minutes of work."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tools.mutations import PACKAGE, ROOT, mutations

MUTATIONS = mutations()


@cache
def functions_in(file: Path) -> set[str]:
    return {node.name for node in ast.parse(file.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation["rule"])
def test_a_mutation_fits_the_code(mutation: dict[str, str]) -> None:
    text = (PACKAGE / mutation["module"]).read_text("utf-8")
    assert text.count(mutation["text"]) == 1
    ast.parse(text.replace(mutation["text"], mutation["instead"]))
    file, _, test = mutation["test"].partition("::")
    assert not test or test in functions_in(ROOT / file)


def test_every_rule_is_broken_once() -> None:
    assert [rule for rule, count in Counter(each["rule"] for each in MUTATIONS).items() if count > 1] == []
