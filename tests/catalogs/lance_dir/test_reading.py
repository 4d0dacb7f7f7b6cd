"""What is a table of a folder, what is none, and why."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nestsync.catalogs.lance_dir import ROOM, LanceDirOptions
from nestsync.catalogs.lance_dir.options import parse_root
from nestsync.catalogs.lance_dir.storage import Entry, newest_manifest
from nestsync.catalogs.records import SCHEMAS, CatalogObject, ObjectKind, Status, to_batch
from nestsync.errors import CatalogUnreachable
from tests.catalogs.lance_dir.folders import HOSTILE, hostile_root, lose_data, read, tables, write

pytestmark = pytest.mark.system


def test_a_dataset_is_a_row_with_all_that_lance_knows(tmp_path: Path) -> None:
    write(tmp_path, "trips.lance", rows=3, metadata={"a:b|c": "x=y", "empty": "", "é": "日本"})
    namespace, table = read(tmp_path)
    assert namespace == CatalogObject(object=ObjectKind.NAMESPACE, levels=(), location=tmp_path.as_uri())
    assert table == CatalogObject(
        object=ObjectKind.TABLE,
        levels=(),
        name="trips.lance",
        properties={"a:b|c": "x=y", "empty": "", "é": "日本"},
        location=(tmp_path / "trips.lance").as_uri(),
        format="lance",
        version=2,
        columns=(("id", "int64"), ("vector", "fixed_size_list<item: float>[2]")),
        row_count=3,
    )


@pytest.mark.parametrize("as_uri", [False, True], ids=["path", "URI"])
def test_no_folder_is_taken_for_another(tmp_path: Path, *, as_uri: bool) -> None:
    root = tmp_path / "a root %20#?"
    rows = hostile_root(root)
    found = tables(read(root.as_uri() if as_uri else root))
    assert {name: row.row_count for name, row in found.items()} == rows
    assert len({row.location for row in found.values()}) == len(HOSTILE)


@pytest.mark.parametrize("name", HOSTILE)
def test_lance_opens_a_folder_by_the_location_in_its_row(tmp_path: Path, name: str) -> None:
    import lance

    decoys = {"plain", "x", "a", "p", "a b", "p#q"} - {name}
    for decoy in decoys:
        write(tmp_path, decoy, rows=1)
    write(tmp_path, name, rows=7)
    assert lance.dataset(tables(read(tmp_path))[name].location).count_rows() == 7


def _empty(folder: Path) -> None:
    folder.mkdir()


def _empty_below(folder: Path) -> None:
    (folder / "_versions").mkdir(parents=True)
    (folder / "data" / "more").mkdir(parents=True)


def _foreign(folder: Path) -> None:
    folder.mkdir()
    (folder / "part-0.parquet").write_bytes(b"PAR1")


def _nested(folder: Path) -> None:
    write(folder, "inner.lance")


def _no_manifest(folder: Path) -> None:
    shutil.rmtree(write(folder.parent, folder.name) / "_versions")
    (folder / "_versions").mkdir()


def _truncated(folder: Path) -> None:
    (manifest,) = (write(folder.parent, folder.name) / "_versions").glob("*.manifest")
    manifest.write_bytes(manifest.read_bytes()[:-20])


def _garbage(folder: Path) -> None:
    (folder / "_versions").mkdir(parents=True)
    (folder / "_versions" / "1.manifest").write_bytes(b"garbage, and more of it than a footer is long")


def _panicking(folder: Path) -> None:
    """A manifest that says of itself that it is longer than its file: Lance's Rust code panics."""
    (manifest,) = (write(folder.parent, folder.name) / "_versions").glob("*.manifest")
    content = bytearray(manifest.read_bytes())
    at = int.from_bytes(content[-16:-8], "little")
    content[at : at + 4] = (1 << 20).to_bytes(4, "little")
    manifest.write_bytes(content)


def _data_gone(folder: Path) -> None:
    lose_data(write(folder.parent, folder.name))


def _dataset(folder: Path) -> None:
    write(folder.parent, folder.name)


def _link_to_nowhere(folder: Path) -> None:
    folder.symlink_to(folder.parent / "not there")


def _link_to_itself(folder: Path) -> None:
    folder.symlink_to(folder)


STATES: list[tuple[str, str, Callable[[Path], None], Status, str]] = [
    ("empty", "t", _empty, Status.EMPTY, "the folder holds no file"),
    ("empty .lance", "t.lance", _empty, Status.EMPTY, "the folder holds no file"),
    ("empty folders below", "t", _empty_below, Status.EMPTY, "the folder holds no file"),
    ("foreign files", "t", _foreign, Status.UNREADABLE, "not a Lance dataset: the folder holds files and no _versions"),
    ("a folder of datasets", "t", _nested, Status.UNREADABLE, "not a Lance dataset"),
    ("no manifest", "t", _no_manifest, Status.UNREADABLE, "Lance cannot open it: "),
    ("cut short", "t", _truncated, Status.UNREADABLE, "Lance cannot open it: "),
    ("garbage", "t", _garbage, Status.UNREADABLE, "Lance cannot open it: "),
    ("panic", "t", _panicking, Status.UNREADABLE, "Lance cannot open it: range end index"),
    (
        "data gone",
        "t",
        _data_gone,
        Status.UNREADABLE,
        "1 of the 1 data files of version 1 are missing, the first is da",
    ),
    ("a link that leads nowhere", "t", _link_to_nowhere, Status.UNREADABLE, "was listed and cannot be read"),
    ("a link to itself", "t", _link_to_itself, Status.UNREADABLE, "was listed and cannot be read"),
    ("dot", ".cache", _dataset, Status.NOT_A_TABLE, "a folder that starts with '.' is no table"),
    ("underscore", "_tmp.lance", _dataset, Status.NOT_A_TABLE, "a folder that starts with '_' is no table"),
    ("manifest", "__manifest", _dataset, Status.NOT_A_TABLE, "Lance's own table of nested namespaces"),
    ("control character", "a\tb", _empty, Status.UNREADABLE, "holds U+0009, which Lance takes in no path"),
    ("delete", "a\x7f", _foreign, Status.UNREADABLE, "holds U+007F, which Lance takes in no path"),
]


@pytest.mark.parametrize(("what", "name", "make", "status", "error"), STATES, ids=[case[0] for case in STATES])
def test_what_is_no_readable_dataset_says_why(
    tmp_path: Path, what: str, name: str, make: Callable[[Path], None], status: Status, error: str
) -> None:
    write(tmp_path, "good")
    make(tmp_path / name)
    found = tables(read(tmp_path))
    assert found.keys() == {"good", name}
    assert found["good"].status is Status.OK
    row = found[name]
    assert row.status is status
    assert error in (row.error or "")
    assert ".rs:" not in (row.error or "")
    assert (row.version, row.columns, row.row_count) == (None, None, None)
    assert row.format == (None if status is Status.NOT_A_TABLE else "lance")
    assert row.location == parse_root(str(tmp_path)).location(name)


def test_some_files_gone_is_as_bad_as_all(tmp_path: Path) -> None:
    import lance
    import pyarrow as pa

    dataset = write(tmp_path, "t")
    lance.write_dataset(
        pa.table({"id": [1], "vector": [[0.0, 1.0]]}, lance.dataset(dataset).schema), dataset, mode="append"
    )
    lost = min((dataset / "data").iterdir())
    lost.unlink()
    (row,) = tables(read(tmp_path)).values()
    assert (row.status, row.error) == (
        Status.UNREADABLE,
        f"1 of the 2 data files of version 2 are missing, the first is data/{lost.name}",
    )
    (unchecked,) = tables(read(tmp_path, check_files=False)).values()
    assert (unchecked.status, unchecked.row_count) == (Status.OK, 3)


def test_a_clone_whose_files_are_elsewhere_misses_none(tmp_path: Path) -> None:
    import lance

    lance.dataset(write(tmp_path / "elsewhere", "t", rows=4)).shallow_clone(str(tmp_path / "root" / "clone"), 1)
    (row,) = tables(read(tmp_path / "root")).values()
    assert (row.status, row.row_count) == (Status.OK, 4)


def test_rows_that_were_deleted_are_not_counted(tmp_path: Path) -> None:
    import lance

    lance.dataset(write(tmp_path, "t", rows=5)).delete("id < 2")
    (row,) = tables(read(tmp_path)).values()
    assert (row.row_count, row.version) == (3, 2)


def test_regular_files_are_no_tables(tmp_path: Path) -> None:
    (tmp_path / "x.lance").write_bytes(b"")
    (tmp_path / "README").write_text("read me")
    write(tmp_path, "x")
    (tmp_path / "link").symlink_to("README")
    assert tables(read(tmp_path)).keys() == {"x"}


def test_a_link_to_a_dataset_is_a_table(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", "t", rows=4)
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "linked").symlink_to(tmp_path / "elsewhere" / "t")
    assert tables(read(tmp_path / "root"))["linked"].row_count == 4


def test_a_name_that_is_no_utf8_is_an_error_row_under_its_escaped_name(tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/caf\xe9")
    rows = [row for row in read(tmp_path) if row.name is not None]
    batch = to_batch(rows, source="lake", system="lance_dir", schema=SCHEMAS["tables"]).to_pylist()
    assert [(row["name"], row["status"]) for row in batch] == [("caf\\udce9", "unreadable")]


@pytest.mark.parametrize("parallelism", [1, 2, 3, 8, 100])
def test_shares_hold_every_folder_once(tmp_path: Path, parallelism: int) -> None:
    for name in HOSTILE:
        (tmp_path / name).mkdir()
    reader = ROOM.reader(LanceDirOptions(root=str(tmp_path)), "lake")
    units = reader.units(tables=True, parallelism=parallelism)
    assert len(units) == min(parallelism, len(HOSTILE))
    rows = [row for unit in units for row in reader.read(unit, namespaces=True, tables=True)]
    assert sorted(row.name for row in rows if row.name is not None) == sorted(HOSTILE)
    assert sum(row.object is ObjectKind.NAMESPACE for row in rows) == 1


def test_an_empty_root_is_a_namespace_without_tables(tmp_path: Path) -> None:
    assert [row.object for row in read(tmp_path)] == [ObjectKind.NAMESPACE]


@pytest.mark.parametrize("tables", [True, False])
@pytest.mark.parametrize(
    ("make", "said"),
    [(lambda root: None, "No such file"), (lambda root: root.write_text(""), "Not a directory")],
    ids=["absent", "a file"],
)
@pytest.mark.proves("exit-5")
def test_a_root_that_is_no_folder_is_unreachable(
    tmp_path: Path, make: Callable[[Path], None], said: str, *, tables: bool
) -> None:
    root = tmp_path / "ro ot"
    make(root)
    reader = ROOM.reader(LanceDirOptions(root=str(root)), "lake")
    with pytest.raises(CatalogUnreachable, match=f"lake at {root.as_uri()}: the folder cannot be listed: .*{said}"):
        reader.units(tables=tables, parallelism=2)


def test_a_folder_that_goes_while_it_is_read_is_a_row(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write(tmp_path, name)
    reader = ROOM.reader(LanceDirOptions(root=str(tmp_path)), "lake")
    (unit,) = reader.units(tables=True, parallelism=1)
    shutil.rmtree(tmp_path / "b")
    found = tables(reader.read(unit, namespaces=True, tables=True))
    assert {name: row.status for name, row in found.items()} == {
        "a": Status.OK,
        "b": Status.UNREADABLE,
        "c": Status.OK,
    }
    assert (found["b"].error or "").startswith("the folder was listed and cannot be read: ")


@pytest.mark.proves("exit-5")
def test_a_root_that_goes_while_it_is_read_is_unreachable(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("a", "b", "c"):
        write(root, name)
    reader = ROOM.reader(LanceDirOptions(root=str(root)), "lake")
    (unit,) = reader.units(tables=True, parallelism=1)
    rows = reader.read(unit, namespaces=False, tables=True)
    assert next(rows).name == "a"
    shutil.rmtree(root)
    with pytest.raises(CatalogUnreachable, match=f"lake at {root.as_uri()}: "):
        list(rows)


MANIFESTS = [
    ("none", [], None),
    ("old naming", ["1.manifest", "9.manifest", "10.manifest"], "10.manifest"),
    ("new naming", ["18446744073709551614.manifest", "18446744073709551605.manifest"], "18446744073709551605.manifest"),
    ("both", ["3.manifest", "18446744073709551611.manifest"], "18446744073709551611.manifest"),
    ("others beside", ["d1.manifest", "latest_version_hint.json", "1.manifest.tmp", "2.manifest"], "2.manifest"),
    ("others only", ["d1.manifest", "x.manifest", "²³.manifest"], None),
]


@pytest.mark.parametrize(("what", "names", "newest"), MANIFESTS, ids=[case[0] for case in MANIFESTS])
def test_the_newest_manifest_is_found_in_both_namings(what: str, names: list[str], newest: str | None) -> None:
    assert newest_manifest([Entry(name, is_folder=False) for name in names]) == newest
