"""Spark on a real catalog: names made in the dialect's text, and ``SHOW NAMESPACES`` read back with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from nestsync.core.dialects import dialect
from nestsync.core.identifiers import Levels, lone_surrogate
from nestsync.embedded.servers import Backend, IcebergRest
from tests.engines.answers import Answer, Kind
from tests.engines.asked import NAME, right
from tests.engines.cases import TRIED, shown, under
from tests.engines.conftest import Record
from tests.engines.rest import CHILD, Rest
from tests.engines.seen import Seen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SPARK = dialect("spark")
FAILURES = (PySparkException, Py4JJavaError)
BACKENDS: dict[str, Backend] = {"spark-memory": "memory", "spark-jdbc": "jdbc"}


class Catalog:
    """One catalog of the session, over one REST server."""

    def __init__(self, session: SparkSession, name: str, uri: str) -> None:
        self.session, self.name = session, name
        for key, value in {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "rest",
            ".uri": uri,
            ".cache-enabled": "false",
        }.items():
            session.conf.set(f"spark.sql.catalog.{name}{key}", value)

    def create(self, levels: Levels) -> None:
        self.session.sql(f"CREATE NAMESPACE {self.name}.{SPARK.encode(levels)}")

    def show(self, parent: Levels = ()) -> list[str]:
        within = f"{self.name}.{SPARK.encode(parent)}" if parent else self.name
        return [row.namespace for row in self.session.sql(f"SHOW NAMESPACES IN {within}").collect()]

    def leaf(self, top: Levels) -> Levels:
        """What a walk down from `top` ends at, following the first child."""
        below = [found for text in self.show(top) if len(found := SPARK.decode(text)) > len(top)]
        return self.leaf(below[0]) if below else top

    def try_name(self, levels: Levels) -> Answer:
        """Make the namespace `levels` and a child in it; look for both in what Spark shows."""
        if any(lone_surrogate(level) is not None for level in levels):
            return Answer(Kind.REFUSED, why="Spark takes UTF-8 alone")
        try:
            self.create(levels)
        except FAILURES as error:
            return Answer(Kind.REFUSED, why=_reason(error))
        try:
            self.create((*levels, CHILD))
            printed, below = self.show(levels[:-1]), self.show(levels)
        except FAILURES as error:
            return Answer(Kind.PARTLY, why=_reason(error))
        child = SPARK.encode((*levels, CHILD))
        if SPARK.encode(levels) in printed and below == [child]:
            return Answer(Kind.KEPT)
        back = self.leaf(levels[:1])[:-1]
        if back not in (levels, levels[: len(back)]):
            return Answer(Kind.OTHER, back)
        return Answer(Kind.PARTLY, why="its child is not shown" if SPARK.encode(levels) in printed else "not shown")


def _reason(error: PySparkException | Py4JJavaError) -> str:
    if isinstance(error, Py4JJavaError):
        return str(error.java_exception.getClass().getSimpleName())
    return error.getCondition() or type(error).__name__


@pytest.fixture(scope="module", params=BACKENDS)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    """A server that nobody else makes names in."""
    with IcebergRest(tmp_path_factory.mktemp(engine), backend=BACKENDS[engine]) as started:
        found = Rest(started.uri)
        yield found
        found.close()


@pytest.fixture(scope="module")
def catalog(engine: str, server: Rest, spark: SparkSession) -> Catalog:
    return Catalog(spark, engine.replace("-", "_"), server.uri)


@pytest.mark.parametrize("levels", TRIED, ids=lambda levels: ascii(levels)[:40])
def test_spark_shows_what_nestsync_says(
    engine: str, catalog: Catalog, server: Rest, levels: Levels, unique: str, record: Record
) -> None:
    tried = under(unique, levels)
    for depth in range(1, len(tried)):
        server.create(tried[:depth])
    did = catalog.try_name(tried)
    answer = Answer(did.kind, None if did.back is None else shown(unique, did.back), did.why.replace(unique, "r"))
    record(engine, NAME, (levels,), answer)
    assert right(Seen(engine, NAME, (levels,), answer)), answer


def test_every_name_that_spark_shows_is_decoded_and_written_the_same(
    engine: str, catalog: Catalog, server: Rest
) -> None:
    """Names that came from elsewhere: as the server has them, as Spark prints them, and back."""
    if engine != "spark-memory":
        return
    found = server.children()
    assert isinstance(found, list)
    printed = catalog.show()
    assert sorted(map(SPARK.decode, printed)) == sorted(found)
    assert printed == [SPARK.encode(SPARK.decode(text)) for text in printed]
