"""One identifier explained: what its text means, every dialect, every target, and what would be dangerous."""

from __future__ import annotations

import pytest
from hypothesis import given

from nestsync.core.capabilities import CAPABILITIES
from nestsync.core.dialects import DIALECTS, NameRefused, UnknownKind, dialect
from nestsync.core.explain import Asked, explain, written
from nestsync.core.identifiers import Identifier
from nestsync.core.matrix import Fate, outcome
from nestsync.core.separators import SeparatorRefused
from tests.core import hostile

SPARK_CATALOGS = ("iceberg_nyc", "prod")

MEANINGS: list[tuple[Asked, Identifier, str | None]] = [
    (Asked("sales.emea"), Identifier(("sales", "emea")), None),
    (Asked("sales.emea", table=True), Identifier(("sales",), "emea"), None),
    (Asked("t", table=True), Identifier((), "t"), None),
    (Asked("A:B", "gravitino"), Identifier(("A", "B")), None),
    (Asked("A:B", "gravitino", separator=";"), Identifier(("A:B",)), None),
    (Asked("a%2Eb", "iceberg-rest", separator="."), Identifier(("a", "b")), None),
    (Asked("a%2Eb", "iceberg-rest"), Identifier(("a.b",)), None),
    (Asked("@hive#sales.t", "hive", table=True), Identifier(("hive", "sales"), "t"), None),
    (Asked("iceberg_nyc.nyc_taxi"), Identifier(("iceberg_nyc", "nyc_taxi")), None),
    (Asked("iceberg_nyc.nyc_taxi", catalogs=SPARK_CATALOGS), Identifier(("nyc_taxi",)), "iceberg_nyc"),
    (Asked("prod.a.t", table=True, catalogs=SPARK_CATALOGS), Identifier(("a",), "t"), "prod"),
    (Asked("other.a", catalogs=SPARK_CATALOGS), Identifier(("other", "a")), None),
    (Asked("prod", catalogs=SPARK_CATALOGS), Identifier(()), "prod"),
]


@pytest.mark.parametrize(("asked", "identifier", "catalog"), MEANINGS, ids=lambda part: getattr(part, "text", ""))
def test_what_a_text_means(asked: Asked, identifier: Identifier, catalog: str | None) -> None:
    found = explain(asked)
    assert (found.identifier, found.catalog, found.path) == (identifier, catalog, None)
    assert [each.dialect.name for each in found.written] == list(DIALECTS)
    assert [each.target.name for each in found.held] == list(CAPABILITIES)


def test_a_path_identifier_is_no_name_in_a_catalog() -> None:
    found = explain(Asked("prod.`s3://b/sales/t/`", table=True, catalogs=SPARK_CATALOGS))
    assert (found.catalog, found.path, found.identifier.name) == ("prod", "s3://b/sales/t/", "t")
    assert (found.written, found.held, found.dangers) == ((), (), ())


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        (Asked("a+b%1Fc", "iceberg-rest"), Identifier(("a b", "c"))),
        (Asked("a+b/tables/t+1", "iceberg-rest", table=True), Identifier(("a b",), "t 1")),
        (Asked("a%2Bb", "iceberg-rest"), None),
        (Asked("a+b", "iceberg-rest-query"), None),
        (Asked("`a+b`"), None),
    ],
    ids=lambda part: getattr(part, "text", ""),
)
def test_a_bare_plus_has_two_readings_in_a_path(asked: Asked, other: Identifier | None) -> None:
    assert explain(asked).other == other


@pytest.mark.parametrize(
    ("asked", "kind", "says"),
    [
        (Asked("a", "nope"), UnknownKind, "there is no dialect 'nope' Hint: the dialects are iceberg-rest, "),
        (Asked("a", "nope", separator=":"), UnknownKind, "there is no dialect 'nope' Hint: the dialects are"),
        (Asked("a", "jdbc", separator=":"), UnknownKind, "jdbc has a separator of its own Hint: a separator can be"),
        (Asked("a", "gravitino", separator="/"), SeparatorRefused, "'/' is not allowed because it conflicts with path"),
        (Asked("a", "trino", catalogs=("x",)), UnknownKind, "no question in trino Hint: name catalogs for spark only"),
        (Asked("a..b"), NameRefused, "spark: 'a..b' is no multi-part name from character 2 on"),
        (Asked("@hive#", "hive"), NameRefused, "hive: '@hive#' is the request form @catalog#"),
        (Asked("a", "iceberg-rest-query", table=True), NameRefused, "names a namespace, never a table"),
        (Asked("A::B", "gravitino"), NameRefused, "contains an empty segment after splitting by ':'"),
    ],
    ids=lambda part: getattr(part, "text", ""),
)
def test_what_cannot_be_explained_says_what_and_what_to_try(asked: Asked, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind) as refused:
        explain(asked)
    assert says in str(refused.value)
    assert refused.value.exit_code == 2  # type: ignore[attr-defined]


def test_a_separator_is_shared_by_the_dialects_that_take_it_from_one_place() -> None:
    def separators(asked: Asked) -> dict[str, str]:
        found = {each.dialect.name: getattr(each.dialect, "separator", None) for each in explain(asked).written}
        return {name: own for name, own in found.items() if own is not None}

    defaults = {
        "iceberg-rest": "\x1f",
        "iceberg-rest-query": "\x1f",
        "gravitino": ":",
        "gravitino-shipped": ":",
        "lance": "$",
    }
    assert separators(Asked("a")) == defaults
    assert separators(Asked("a", "gravitino", ";")) == defaults | {"gravitino": ";", "gravitino-shipped": ";"}
    assert separators(Asked("a", "iceberg-rest-query", ".")) == defaults | {
        "iceberg-rest": ".",
        "iceberg-rest-query": ".",
    }
    assert separators(Asked("a", "lance", ".")) == defaults | {"lance": "."}
    # Only the shipped server takes several characters: the design's dialect stays with its default.
    assert separators(Asked("a", "gravitino-shipped", "::")) == defaults | {"gravitino-shipped": "::"}


TABLES: list[tuple[str, Identifier, Fate, str | None, Identifier | None]] = [
    ("spark", Identifier(("a",), "t"), Fate.LOSSLESS, "a.t", Identifier(("a",), "t")),
    ("jdbc", Identifier(("a",), "b.t"), Fate.LOSSY, "a.b.t", Identifier(("a", "b"), "t")),
    ("trino", Identifier(("a.b",), "T"), Fate.LOSSY, '"a.b"."t"', Identifier(("a", "b"), "t")),
    ("trino", Identifier(("a",), "t$x"), Fate.REFUSED, None, None),
    ("gravitino", Identifier((), "t"), Fate.REFUSED, None, None),
    ("gravitino", Identifier(("a",), "b.t"), Fate.LOSSY, "a.b.t", Identifier(("a.b",), "t")),
    ("iceberg-rest", Identifier((), "t"), Fate.REFUSED, None, None),
    ("iceberg-rest-query", Identifier(("a",), "t"), Fate.REFUSED, None, None),
    ("hive", Identifier(("a",), "t"), Fate.REFUSED, None, None),
    ("lance-hive", Identifier(("a", "b"), "c$t"), Fate.LOSSY, "a$b$c$t", Identifier(("a", "b", "c"), "t")),
]


@pytest.mark.parametrize(("name", "identifier", "fate", "text", "back"), TABLES, ids=str)
def test_a_table_in_a_dialect(
    name: str, identifier: Identifier, fate: Fate, text: str | None, back: Identifier | None
) -> None:
    found = written(dialect(name), identifier)
    assert (found.fate, found.text, found.back) == (fate, text, back)
    assert (found.refusal is None) is (fate is Fate.LOSSLESS)


@given(levels=hostile.any_levels)
def test_a_namespace_in_a_dialect_is_as_the_matrix_has_it(levels: tuple[str, ...]) -> None:
    for name in DIALECTS:
        found, cell = written(dialect(name), Identifier(levels)), outcome(dialect(name), levels)
        assert (found.fate, found.text, found.refusal) == (cell.fate, cell.text, cell.refusal)
        assert found.back == (None if cell.read_back is None else Identifier(cell.read_back))


def test_targets_refuse_with_a_reason_or_take_it_for_another_name() -> None:
    found = {each.target.name: each for each in explain(Asked("Sales.`EM EA`")).held}
    takes_it = [name for name, each in found.items() if not each.refusals]
    assert takes_it == [
        *("iceberg-rest", "iceberg-rest-1.11", "jdbc", "nessie", "polaris", "lakekeeper", "hms-4", "lance-dir")
    ]
    assert [str(refusal) for refusal in found["unity"].refusals] == [
        "'EM EA' is one level too many: this is one level, a schema in the catalog of the prefix",
        "'EM EA' holds ' ', which is refused",
    ]
    assert found["hms-4"].key == found["lakekeeper"].key == Identifier(("sales", "em ea"))
    assert found["nessie"].key == Identifier(("Sales", "EM EA"))


@pytest.mark.parametrize(
    ("text", "dangerous"),
    [
        ("sales.emea", []),
        ("a.``", ["trino", "gravitino"]),
        ("a.`.`", ["trino", "gravitino"]),
        ("`..`", ["trino", "gravitino", "iceberg-rest"]),
        ("`a\x1fb`", ["trino", "gravitino"]),
        ("`a?b`", ["gravitino", "locations"]),
    ],
    ids=ascii,
)
def test_names_that_are_not_merely_lossy(text: str, dangerous: list[str]) -> None:
    assert [each.reader for each in explain(Asked(text)).dangers] == dangerous
