"""Folders of Lance datasets, made with Lance itself, and how they are read in these tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nestsync.catalogs.lance_dir import ROOM, LanceDirOptions
from nestsync.catalogs.records import CatalogObject

HOSTILE = (
    "plain",
    "x",
    "x.lance",
    "a b",
    "a%20b",
    "p#q",
    "p%23q",
    "p",
    "a?b",
    "a",
    "a+b",
    "a:b",
    "a$b",
    "100%",
    "%2e%2e",
    "a\\b",
    "日本",
    "\u00e9",
    "e\u0301",
    "🧊",
    "file:",
    " edges ",
    'it\'s "quoted"',
)
"""Folder names of which each could be taken for another one of them by something that cuts, decodes or trims."""


def write(root: Path, name: str, rows: int = 2, metadata: Mapping[str, str] | None = None) -> Path:
    """A dataset of `rows` rows with the columns ``id`` and ``vector``, in one fragment."""
    import lance
    import pyarrow as pa

    vectors = pa.FixedSizeListArray.from_arrays(pa.array([0.5] * (2 * rows), pa.float32()), 2)
    dataset = lance.write_dataset(pa.table({"id": pa.array(range(rows), pa.int64()), "vector": vectors}), root / name)
    if metadata:
        dataset.update_metadata(dict(metadata))
    return root / name


def hostile_root(root: Path) -> dict[str, int]:
    """Every name of `HOSTILE`, each with a number of rows of its own: the rows by name."""
    rows = {name: count for count, name in enumerate(HOSTILE, start=1)}
    for name, count in rows.items():
        write(root, name, count)
    return rows


def read(root: str | os.PathLike[str], *, parallelism: int = 2, **options: Any) -> list[CatalogObject]:
    """All rows of the folder at `root`, as source ``lake``."""
    reader = ROOM.reader(LanceDirOptions(root=str(root), **options), "lake")
    units = reader.units(tables=True, parallelism=parallelism)
    return [row for unit in units for row in reader.read(unit, namespaces=True, tables=True)]


def tables(rows: Iterable[CatalogObject]) -> dict[str, CatalogObject]:
    """The tables among `rows` by name; fails where two have one name."""
    found = [row for row in rows if row.name is not None]
    by_name = {row.name: row for row in found if row.name is not None}
    assert len(by_name) == len(found)
    return by_name


def files_below(root: Path) -> dict[str, bytes]:
    """Every file below `root`: its path from there, with slashes, and its content."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def lose_data(dataset: Path) -> None:
    """Delete the data of a dataset, and nothing else."""
    shutil.rmtree(dataset / "data")
