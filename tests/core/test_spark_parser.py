"""The spark dialect against Spark itself: what its parser takes, and what it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nestsync.core.dialects import NameRefused, dialect
from nestsync.core.identifiers import Levels
from tests.core import hostile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SPARK = dialect("spark")
one_session = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

TEXTS = [
    "a.b",
    " a . b ",
    "a\n.b",
    "a\x0b.\x0cb",
    "a\u00a0.\u2003b",
    "`a``b`.c",
    "`a\n`",
    "12b",
    "1a.b_",
    "12",
    "a.12",
    "1e5",
    "a.1e5.b",
    "1e5L",
    "1E5",
    "12L",
    "12s",
    "12Y",
    "1f",
    "1D",
    "1bd",
    "1e5bd",
    "1e",
    "1_0",
    "a..b",
    ".a",
    "a.",
    "",
    " ",
    "a b",
    "`a` `b`",
    "`a`b",
    "`a",
    "a`",
    "```",
    "````",
    "é",
    "a-b",
    "$a",
    "a$b",
    "'a'",
    '"a"',
    "a;",
    "a:b",
    "a!",
    "a*",
    "a\x00",
    "\ufeffa",
    "select.from.not",
]


def parsed(spark: SparkSession, text: str) -> Levels | None:
    """The parts that Spark's parser reads in `text`; None where it refuses it."""
    from py4j.protocol import Py4JJavaError

    parser: Any = spark._jsparkSession.sessionState().sqlParser()  # type: ignore[attr-defined]
    try:
        parts = parser.parseMultipartIdentifier(text)
    except Py4JJavaError:
        return None
    except Exception as error:
        if "PARSE_SYNTAX_ERROR" in str(error) or "ParseException" in type(error).__name__:
            return None
        raise
    return tuple(parts.apply(index) for index in range(parts.size()))


def decoded(text: str) -> Levels | None:
    try:
        return SPARK.decode(text)
    except NameRefused:
        return None


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_the_dialect_reads_what_sparks_parser_reads(spark: SparkSession, text: str) -> None:
    assert decoded(text) == parsed(spark, text)


@one_session
@given(levels=st.lists(hostile.names, min_size=1, max_size=4).map(tuple))
def test_sparks_parser_reads_what_the_dialect_writes(spark: SparkSession, levels: Levels) -> None:
    assert parsed(spark, SPARK.encode(levels)) == levels


@one_session
@given(text=st.text(alphabet="ab1eLdé`._ \t-", max_size=10))
def test_the_dialect_and_sparks_parser_read_the_same(spark: SparkSession, text: str) -> None:
    if "--" not in text:  # a comment: SQL, and no name
        assert decoded(text) == parsed(spark, text)


@one_session
@given(level=hostile.names)
def test_the_dialect_writes_what_spark_prints(spark: SparkSession, level: str) -> None:
    """``SHOW NAMESPACES`` prints each part through `quoteIfNeeded`."""
    package: Any = getattr(spark._jvm.org.apache.spark.sql.catalyst.util, "package$")  # type: ignore[union-attr]
    assert SPARK.encode((level,)) == getattr(package, "MODULE$").quoteIfNeeded(level)
