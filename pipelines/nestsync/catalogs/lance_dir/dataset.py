"""Opens one folder with Lance and says what it is."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nestsync.catalogs.lance_dir.options import Access
from nestsync.catalogs.lance_dir.storage import Storage, newest_manifest
from nestsync.catalogs.records import CatalogObject, ObjectKind, Status
from nestsync.core.errors import one_line
from nestsync.core.identifiers import lone_surrogate

if TYPE_CHECKING:
    import lance

FORMAT = "lance"
MANIFEST_FOLDER = "__manifest"
"""Lance's own table of nested namespaces."""

_LANCE_SCHEMES = frozenset({"s3", "s3+ddb", "gs", "az", "abfss", "oss", "cos", "tos", "hf"})
"""The object stores that Lance opens by itself (pylance 14.0; its ``memory`` is not fsspec's)."""

_SOURCE_PLACE = re.compile(r",? ?/[^\s,]*\.rs:\d+:\d+")
_LONGEST_REASON = 300


class Unreadable(Exception):
    """Why a folder is no readable dataset."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def describe(name: str, access: Access, storage: Storage, *, check_files: bool) -> CatalogObject:
    """The row of the sub-folder `name`.

    `name` stays the folder's whole name, ``.lance`` included: the specification's table name is the name of its
    directory, and ``x`` beside ``x.lance`` stay two tables. Raises OSError where not even the folder's listing
    is to be had.
    """
    try:
        return _readable(name, access, storage, check_files=check_files)
    except Unreadable as why:
        return CatalogObject(
            object=ObjectKind.TABLE,
            levels=(),
            name=name,
            location=access.root.location(name),
            status=why.status,
            error=why.reason,
            format=None if why.status is Status.NOT_A_TABLE else FORMAT,
        )


def _readable(name: str, access: Access, storage: Storage, *, check_files: bool) -> CatalogObject:
    _refuse_name(name)
    try:
        with _opened(name, access, storage) as dataset:
            found = CatalogObject(
                object=ObjectKind.TABLE,
                levels=(),
                name=name,
                properties=dict(dataset.metadata),
                location=access.root.location(name),
                format=FORMAT,
                version=dataset.version,
                columns=tuple((column.name, str(column.type)) for column in dataset.schema),
                row_count=dataset.count_rows(),
            )
            files = _own_files(dataset) if check_files else set()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic in Lance's Rust code is no Exception
        raise _diagnosis(name, storage, reason(error, access)) from error
    _refuse_missing(files, name, storage, version=found.version)
    return found


def _refuse_name(name: str) -> None:
    if name == MANIFEST_FOLDER:
        raise Unreadable(Status.NOT_A_TABLE, "Lance's own table of nested namespaces, not one of the tables")
    if name.startswith((".", "_")):
        raise Unreadable(Status.NOT_A_TABLE, f"a folder that starts with {name[0]!r} is no table")
    if lone_surrogate(name) is not None:
        raise Unreadable(Status.UNREADABLE, "the folder's name is not UTF-8, so Lance cannot be pointed at it")
    control = next((character for character in name if ord(character) < 0x20 or character == "\x7f"), None)
    if control is not None:
        raise Unreadable(
            Status.UNREADABLE, f"the folder's name holds U+{ord(control):04X}, which Lance takes in no path"
        )
    if not name:
        raise Unreadable(Status.UNREADABLE, "the folder has no name, so Lance cannot be pointed at it")


@contextmanager
def _opened(name: str, access: Access, storage: Storage) -> Iterator[lance.LanceDataset]:
    """The dataset; of a file system that Lance does not know, a copy of its newest manifest alone.

    The manifest is all that version, columns and row count are in.
    """
    import lance

    root = access.root
    if root.local:  # a plain path: Lance neither decodes it nor cuts it
        yield lance.dataset(str(Path(root.path, name)))
    elif root.scheme in _LANCE_SCHEMES:
        yield lance.dataset(root.location(name), storage_options=access.storage_options)
    else:
        with tempfile.TemporaryDirectory(prefix="nestsync-lance-") as scratch:
            _copy_newest_manifest(name, storage, Path(scratch))
            yield lance.dataset(scratch)


def _copy_newest_manifest(name: str, storage: Storage, to: Path) -> None:
    manifest = newest_manifest(storage.entries(name, "_versions"))
    if manifest is None:
        raise Unreadable(Status.UNREADABLE, "its _versions folder holds no manifest")
    copy = to / "_versions" / manifest
    copy.parent.mkdir()
    copy.write_bytes(storage.read_bytes(name, "_versions", manifest))


def _diagnosis(name: str, storage: Storage, reason: str) -> Unreadable:
    """What a folder is that Lance cannot open. Raises OSError where it cannot be listed either."""
    if not storage.holds_a_file(name):
        return Unreadable(Status.EMPTY, "the folder holds no file")
    if not any(entry.is_folder and entry.name == "_versions" for entry in storage.entries(name)):
        return Unreadable(Status.UNREADABLE, "not a Lance dataset: the folder holds files and no _versions folder")
    return Unreadable(Status.UNREADABLE, f"Lance cannot open it: {reason}")


def _own_files(dataset: lance.LanceDataset) -> set[str]:
    """The data files that the manifest names; a shallow clone keeps its files elsewhere, and they are left out."""
    return {
        file.path
        for fragment in dataset.get_fragments()
        for file in fragment.data_files()
        if file.base_id is None and "/" not in file.path
    }


def _refuse_missing(files: set[str], name: str, storage: Storage, *, version: int | None) -> None:
    """A dataset opens from its manifest alone, even when the data is gone; one listing of ``data`` tells."""
    if not files:
        return
    try:
        present = {entry.name for entry in storage.entries(name, "data")}
    except FileNotFoundError:
        present = set()
    if missing := sorted(files - present):
        raise Unreadable(
            Status.UNREADABLE,
            f"{len(missing)} of the {len(files)} data files of version {version} are missing, "
            f"the first is data/{missing[0]}",
        )


def reason(error: BaseException, access: Access) -> str:
    """What `error` says, in one line, without secrets and without places in Lance's own source."""
    text = _SOURCE_PLACE.sub("", str(error)) or type(error).__name__
    for value in access.secrets:
        text = text.replace(value, "***")
    return one_line(text)[:_LONGEST_REASON]
