"""The core against what real servers and engines were seen to do: `tests/engines` asks them, this needs none."""

from __future__ import annotations

import pytest

from tests.engines.asked import ENGINES, right
from tests.engines.cases import NAMES
from tests.engines.page import page
from tests.engines.seen import load

SEEN = load()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_core_says_what_the_engine_did(engine: str) -> None:
    wrong = [one for one in SEEN if one.engine == engine and not right(one)]
    assert not wrong


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "trino-nessie"])
def test_the_engine_was_asked_about_every_kind_of_name(engine: str) -> None:
    names = {one.names[0][-1] for one in SEEN if one.engine == engine}
    assert set(NAMES) <= names


def test_the_page_marks_what_is_wrong_and_shows_what_is_not_kept() -> None:
    text = "\n".join(page(SEEN))
    assert "not so" not in text
    assert all(f"## {engine.title}\n" in text for engine in ENGINES.values())
    assert '`["r", "a.b"]` | read as another `["r", "a", "b"]`' in text
