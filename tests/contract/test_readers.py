"""What every reader promises, held against every catalog in the table of `cases`."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import nestsync
from nestsync.catalogs import room, systems
from nestsync.catalogs.records import SCHEMAS, CatalogObject, ObjectKind, Status, to_batch
from nestsync.core.capabilities import CAPABILITIES
from nestsync.core.dialects import DIALECTS
from nestsync.errors import CatalogUnreachable, NestsyncError
from tests.contract.cases import READERS, Content, ReaderCase
from tests.contract.conftest import Filled
from tests.contract.reading import SOURCE, Key, keyed, listed, read
from tests.faults import answering, free_port, hanging_up, listening, silent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytestmark = pytest.mark.system


def test_every_room_is_in_the_table() -> None:
    assert {case.system for case in READERS} == set(systems())


@pytest.mark.parametrize("system", systems())
def test_a_room_names_things_that_exist(system: str) -> None:
    found = room(system)
    assert (found.system, found.data_source.system, found.data_source.name()) == (
        system,
        system,
        f"nestsync.{system}",
    )
    assert found.dialect in DIALECTS
    assert found.capabilities in CAPABILITIES
    assert found.data_source.options_model is found.options


@pytest.mark.parametrize("system", systems())
def test_a_room_is_entered_without_its_heavy_libraries(system: str) -> None:
    heavy = "{'lance', 'pyiceberg', 'hmsclient', 'thrift', 'pyarrow', 'pandas'}"
    program = (
        f"import sys; from nestsync.catalogs import room; found = room({system!r})\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    source = str(Path(nestsync.__file__).parent.parent)
    answer = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": source},
    )
    assert answer.stdout == "[]\n"


def wanted(content: Content) -> dict[Key, dict[str, str]]:
    """What must be readable, by kind-less key, with the properties that must come."""
    found: dict[Key, dict[str, str]] = {}
    found |= {("", levels, None): dict(properties) for levels, properties in content.namespaces.items()}
    found |= {("", levels, name): dict(properties) for (levels, name), properties in content.tables.items()}
    return found


def without_kind(rows: dict[Key, CatalogObject]) -> dict[Key, CatalogObject]:
    """A view and a table cannot share a name, so levels and name are enough."""
    found = {("", levels, name): row for (_, levels, name), row in rows.items()}
    assert len(found) == len(rows)
    return found


def test_every_object_comes_once_under_its_own_levels_and_name(filled: Filled) -> None:
    rows = without_kind(filled.rows)
    expected = set(wanted(filled.content)) | {("", *key) for key in filled.content.broken}
    assert expected - set(rows) == set()
    for top in filled.content.complete:
        here = {key for key in rows if key[1][: len(top)] == top}
        assert here == {key for key in expected if key[1][: len(top)] == top}


def test_properties_come_to_the_byte(filled: Filled) -> None:
    rows = without_kind(filled.rows)
    for key, properties in wanted(filled.content).items():
        kept = {name: rows[key].properties.get(name) for name in properties}
        assert kept == properties, key


def test_what_can_be_read_is_ok_and_the_rest_says_why(filled: Filled) -> None:
    rows = without_kind(filled.rows)
    assert {key: rows[key].error for key in wanted(filled.content) if rows[key].status is not Status.OK} == {}
    for row in rows.values():
        assert (row.status is Status.OK) == (row.error is None), row
        assert isinstance(row.status, Status)
        assert isinstance(row.object, ObjectKind)
        assert (row.name is None) == (row.object is ObjectKind.NAMESPACE)


def test_what_cannot_be_read_is_a_row_and_the_rest_goes_on(filled: Filled) -> None:
    rows = without_kind(filled.rows)
    found = {key: rows["", *key].status for key in filled.content.broken}
    assert Status.OK not in found.values()
    assert all(rows["", *key].error for key in filled.content.broken)


def test_namespaces_tables_and_all_agree(filled: Filled) -> None:
    system, options = filled.case.system, filled.content.options
    spaces = {key: row for key, row in filled.rows.items() if key[0] == "namespace"}
    others = {key: row for key, row in filled.rows.items() if key[0] != "namespace"}
    assert keyed(listed(system, options, tables=False)) == spaces
    alone = keyed(listed(system, options, namespaces=False))
    assert {key: row for key, row in alone.items() if key[0] != "namespace"} == others
    # a namespace among the tables says that its tables are missing
    assert {row.status for key, row in alone.items() if key[0] == "namespace"} <= {Status.UNREADABLE}


@pytest.mark.parametrize("parallelism", [1, 8])
def test_the_same_rows_come_at_any_parallelism(filled: Filled, parallelism: int) -> None:
    assert read(filled.case.system, filled.content.options, parallelism=parallelism) == filled.rows


@pytest.mark.parametrize("objects", SCHEMAS)
def test_rows_fit_the_declared_schema(filled: Filled, objects: str) -> None:
    from pyspark.sql.pandas.types import to_arrow_schema

    schema = SCHEMAS[objects]
    batch = to_batch(filled.rows.values(), source=SOURCE, system=filled.case.system, schema=schema)
    batch.validate(full=True)
    assert batch.schema == to_arrow_schema(schema)
    required = [column.name for column in schema if not column.nullable]
    assert {name: batch.column(name).null_count for name in required} == dict.fromkeys(required, 0)
    assert batch.num_rows == len(filled.rows)


def test_options_come_back_from_their_text(filled: Filled) -> None:
    options = filled.content.options
    assert type(options).from_spark(options.to_spark()) == options


@contextmanager
def nothing() -> Iterator[int]:
    """A port on which nothing listens."""
    yield free_port()


FAULTS = [
    ("down", nothing),
    ("hangs up", lambda: listening(hanging_up)),
    ("garbage", lambda: listening(answering(b"\x00\x01garbage\xff\n" * 100))),
    ("another protocol", lambda: listening(answering(b"SSH-2.0-OpenSSH_9.9\r\n"))),
    ("silent", lambda: listening(silent)),
]


@pytest.mark.parametrize(("what", "server"), FAULTS, ids=[name for name, _ in FAULTS])
@pytest.mark.proves("exit-5")
def test_a_catalog_that_does_not_answer_is_unreachable(
    reader_case: ReaderCase, what: str, server: Callable[[], AbstractContextManager[int]]
) -> None:
    with server() as port:
        options, address = reader_case.at(port)
        with pytest.raises(CatalogUnreachable) as caught:
            listed(reader_case.system, options)
    message = str(caught.value)
    assert SOURCE in message
    assert address in message
    assert "\n" not in message
    assert caught.value.exit_code == 5
    assert isinstance(NestsyncError.from_text(f"Traceback\n{message}\n"), CatalogUnreachable)
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


def test_a_secret_is_nowhere_to_be_seen(reader_case: ReaderCase, monkeypatch: pytest.MonkeyPatch) -> None:
    if reader_case.secret is None:
        assert not [name for name in room(reader_case.system).options.model_fields if name.endswith("_env")]
        return
    monkeypatch.setenv("NESTSYNC_TEST_SECRET", "hunter2hunter2")
    options = reader_case.secret("NESTSYNC_TEST_SECRET")
    reader = room(reader_case.system).reader(options, SOURCE)
    carried = pickle.dumps(reader)
    assert b"hunter2hunter2" in carried
    shown = [repr(reader), str(reader), repr(options), str(options.to_spark()), repr(pickle.loads(carried))]
    assert [text for text in shown if "hunter2" in text] == []


@pytest.mark.spark
@pytest.mark.parametrize("objects", SCHEMAS)
def test_spark_brings_the_same_rows(spark: SparkSession, filled: Filled, objects: str) -> None:
    options = filled.content.options.to_spark()
    loaded = spark.read.format(f"nestsync.{filled.case.system}").options(**options)
    frame = loaded.option("object", objects).option("source", SOURCE).option("partitions", "3").load()
    assert frame.schema == SCHEMAS[objects]
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    assert {(row["source"], row["system"]) for row in rows} == {(SOURCE, filled.case.system)}
    direct = listed(
        filled.case.system, filled.content.options, namespaces=objects != "tables", tables=objects != "namespaces"
    )
    batch = to_batch(direct, source=SOURCE, system=filled.case.system, schema=SCHEMAS[objects])
    expected = [row | {"properties": dict(row["properties"])} for row in batch.to_pylist()]
    assert sorted(rows, key=_order) == sorted(expected, key=_order)


def _order(row: dict[str, object]) -> str:
    return repr((row["object"], row["levels"], row["name"]))


@pytest.mark.spark
@pytest.mark.proves("exit-5")
def test_spark_carries_the_error_of_a_catalog_that_is_down(spark: SparkSession, reader_case: ReaderCase) -> None:
    from pyspark.errors import PySparkException

    options, address = reader_case.at(free_port())
    frame = spark.read.format(f"nestsync.{reader_case.system}").options(**options.to_spark(), source=SOURCE)
    with pytest.raises(PySparkException) as caught:
        frame.load().collect()
    found = NestsyncError.from_text(str(caught.value))
    assert isinstance(found, CatalogUnreachable)
    assert f"{SOURCE} at {address}" in found.what
    assert found.hint
