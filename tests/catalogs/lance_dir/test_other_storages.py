"""Folders that are not on this machine: an S3, and file systems that fsspec knows and Lance does not."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from nestsync.catalogs.lance_dir import ROOM, LanceDirOptions
from nestsync.catalogs.lance_dir.reader import LanceDirReader
from nestsync.catalogs.records import CatalogObject, ObjectKind, Status
from nestsync.errors import CatalogUnreachable
from tests.catalogs.lance_dir.folders import files_below, hostile_root, lose_data, tables, write
from tests.catalogs.lance_dir.s3_server import S3Server, s3_server

pytestmark = pytest.mark.system

STATES = {
    "good": Status.OK,
    "gone": Status.UNREADABLE,
    "foreign": Status.UNREADABLE,
    "cut": Status.UNREADABLE,
    "_tmp": Status.NOT_A_TABLE,
    "a\tb": Status.UNREADABLE,
}


def every_state(root: Path) -> None:
    """One folder of each kind that an object store can hold (it holds no empty ones)."""
    for name in ("good", "gone", "cut", "_tmp"):
        write(root, name, rows=3)
    lose_data(root / "gone")
    (manifest,) = (root / "cut" / "_versions").glob("*.manifest")
    manifest.write_bytes(manifest.read_bytes()[:-20])
    for name in ("foreign", "a\tb"):
        (root / name).mkdir()
        (root / name / "file").write_bytes(b"content")


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("NESTSYNC_TEST_ID", "id-of-mine")
    monkeypatch.setenv("NESTSYNC_TEST_KEY", "hunter2hunter2")
    return {"aws_access_key_id": "NESTSYNC_TEST_ID", "aws_secret_access_key": "NESTSYNC_TEST_KEY"}


def s3_reader(server: S3Server, secrets: dict[str, str], root: str = "s3://box/lake") -> LanceDirReader:
    quick = {"client_max_retries": "0", "client_retry_timeout": "1"}
    options = LanceDirOptions(root=root, storage_options=server.storage_options | quick, storage_options_env=secrets)
    reader = ROOM.reader(options, "lake")
    assert isinstance(reader, LanceDirReader)
    return reader


def read(reader: LanceDirReader) -> list[CatalogObject]:
    units = reader.units(tables=True, parallelism=2)
    return [row for unit in units for row in reader.read(unit, namespaces=True, tables=True)]


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[S3Server]:
    """A bucket ``box`` that holds, below ``lake/``, a folder of each kind."""
    every_state(tmp_path)
    objects = {f"box/lake/{path}": content for path, content in files_below(tmp_path).items()}
    objects |= {"box/lake/x.lance": b"a file", "box/lakes/other/file": b"a sibling", "box/lake/": b""}
    with s3_server(objects) as server:
        yield server


def test_s3_folders_say_what_they_are(s3: S3Server, secrets: dict[str, str]) -> None:
    namespace, *rest = read(s3_reader(s3, secrets))
    assert (namespace.object, namespace.levels, namespace.location) == (ObjectKind.NAMESPACE, (), "s3://box/lake")
    found = tables(rest)
    assert {name: row.status for name, row in found.items()} == STATES
    assert (found["good"].row_count, found["good"].version) == (3, 1)
    assert found["good"].location == "s3://box/lake/good"
    assert found["a\tb"].location == "s3://box/lake/a%09b"
    assert "1 of the 1 data files" in (found["gone"].error or "")


def test_no_s3_folder_is_taken_for_another(tmp_path: Path, secrets: dict[str, str]) -> None:
    rows = hostile_root(tmp_path)
    objects = {f"box/a root#/{path}": content for path, content in files_below(tmp_path).items()}
    with s3_server(objects) as server:
        found = tables(read(s3_reader(server, secrets, "s3://box/a root%23")))
    assert {name: row.row_count for name, row in found.items()} == rows


def test_a_folder_that_s3_denies_is_a_row(s3: S3Server, secrets: dict[str, str]) -> None:
    s3.fails = lambda key: key.startswith("box/lake/good")
    found = tables(read(s3_reader(s3, secrets)))
    assert {name: row.status for name, row in found.items()} == STATES | {"good": Status.UNREADABLE}
    assert "the folder was listed and cannot be read: " in (found["good"].error or "")
    assert "hunter2" not in str(found)


@pytest.mark.parametrize(
    ("root", "denied", "said"),
    [
        ("s3://box/nothing", False, "Path does not exist"),
        ("s3://otherbox", False, "NO_SUCH_BUCKET|does not exist"),
        ("s3://box/lake", True, "ACCESS_DENIED"),
    ],
    ids=["no prefix", "no bucket", "denied"],
)
@pytest.mark.proves("exit-5")
def test_an_s3_root_that_is_not_there_is_unreachable(
    s3: S3Server, secrets: dict[str, str], root: str, *, denied: bool, said: str
) -> None:
    s3.fails = lambda key: denied
    with pytest.raises(CatalogUnreachable, match=said) as caught:
        read(s3_reader(s3, secrets, root))
    assert f"lake at {root} ({s3.endpoint}): the folder cannot be listed" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.proves("exit-5")
def test_an_s3_that_goes_while_it_is_read_is_unreachable(s3: S3Server, secrets: dict[str, str]) -> None:
    reader = s3_reader(s3, secrets)
    (unit,) = reader.units(tables=True, parallelism=1)
    rows = reader.read(unit, namespaces=False, tables=True)
    next(rows)
    s3.fails = lambda key: True
    with pytest.raises(CatalogUnreachable):
        list(rows)


def test_reading_s3_only_reads(s3: S3Server, secrets: dict[str, str]) -> None:
    read(s3_reader(s3, secrets))
    assert {method for method, _ in s3.seen} <= {"GET", "HEAD"}


def test_what_only_fsspec_knows_is_read_through_it(tmp_path: Path) -> None:
    import fsspec

    every_state(tmp_path)
    rows = {name: STATES[name] for name in STATES}
    box = uuid.uuid4().hex
    memory = fsspec.filesystem("memory")
    for path, content in files_below(tmp_path).items():
        memory.pipe_file(f"/{box}/la ke/{path}", content)
    memory.mkdirs(f"/{box}/la ke/empty/below")
    reader = ROOM.reader(LanceDirOptions(root=f"memory://{box}/la%20ke"), "lake")
    assert isinstance(reader, LanceDirReader)
    found = tables(read(reader))
    assert {name: row.status for name, row in found.items()} == rows | {"empty": Status.EMPTY}
    assert (found["good"].row_count, found["good"].version) == (3, 1)
    assert found["good"].columns == (("id", "int64"), ("vector", "fixed_size_list<item: float>[2]"))
    assert found["good"].location == f"memory://{box}/la%20ke/good"
    memory.rm(f"/{box}", recursive=True)


def test_no_fsspec_folder_is_taken_for_another(tmp_path: Path) -> None:
    rows = hostile_root(tmp_path)
    reader = ROOM.reader(LanceDirOptions(root=f"local://{tmp_path}"), "lake")
    assert isinstance(reader, LanceDirReader)
    assert {name: row.row_count for name, row in tables(read(reader)).items()} == rows
