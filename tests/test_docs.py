"""The generated pages are as the code is, and what they promise is proven."""

from __future__ import annotations

from pathlib import Path

import pytest

from nestsync.core.expectations import EXPECTATIONS
from nestsync.core.findings import RULES
from nestsync.errors import EXIT_CODES
from tools.generate_docs import PAGES, ROOT, proofs

pytestmark = pytest.mark.system


@pytest.mark.parametrize("page", PAGES)
def test_a_generated_page_is_as_the_code_is(page: str) -> None:
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == PAGES[page](), "run `make docs`"


PROMISES = [*RULES, *EXPECTATIONS, *(f"exit-{code}" for code in EXIT_CODES)]


@pytest.mark.parametrize("promise", PROMISES)
def test_every_finding_expectation_and_exit_code_is_proven_by_a_test(promise: str) -> None:
    assert proofs().get(promise), f"mark the test that proves it: @pytest.mark.proves({promise!r})"


def test_only_what_exists_is_proven() -> None:
    assert set(proofs()) <= set(PROMISES)


@pytest.mark.parametrize("example", sorted((ROOT / "conf").glob("*.yaml")), ids=lambda file: file.name)
def test_an_example_configuration_is_valid(example: Path) -> None:
    from nestsync.config import load

    assert load(example).sources
