"""Hive Metastores: which databases, catalogs and tables they take, keep and find again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nestsync.core.identifiers import Levels
from nestsync.embedded.servers import HiveMetastore
from tests.engines.asked import CATALOG, NAME, TABLE, right
from tests.engines.cases import NAMES
from tests.engines.conftest import Record
from tests.engines.metastore import TABLES, Metastore
from tests.engines.seen import Seen

ASKED: list[tuple[str, Levels]] = [
    *((NAME, ("hive", name)) for name in (*NAMES, "x" * 128, "x" * 129, "Ä", "default_")),
    *((CATALOG, (name,)) for name in (*NAMES, "x" * 256, "x" * 257)),
    *((TABLE, ("hive", TABLES, name)) for name in (*NAMES, "x" * 256, "x" * 257)),
]


@pytest.fixture(scope="module", params=["hms-3", "hms-4"])
def engine(request: pytest.FixtureRequest) -> str:
    """One metastore after the other, not in turns."""
    return str(request.param)


@pytest.fixture(scope="module")
def metastore(
    engine: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Metastore]:
    server: HiveMetastore = request.getfixturevalue({"hms-3": "hms_server", "hms-4": "hms_4_server"}[engine])
    found = Metastore(server.port, tmp_path_factory.mktemp(f"{engine}-places"))
    yield found
    found.close()


@pytest.mark.parametrize(("question", "levels"), ASKED, ids=lambda value: ascii(value)[:40])
def test_the_metastore_does_what_nestsync_says(
    engine: str, metastore: Metastore, question: str, levels: Levels, record: Record
) -> None:
    attempt = {NAME: metastore.try_database, CATALOG: metastore.try_catalog, TABLE: metastore.try_table}
    answer = attempt[question](levels)
    record(engine, question, (levels,), answer)
    assert right(Seen(engine, question, (levels,), answer)), answer
