"""Reads a folder of Lance datasets: the driver lists the names once, executors open them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nestsync.catalogs.base import CatalogReader
from nestsync.catalogs.lance_dir.dataset import describe, reason
from nestsync.catalogs.lance_dir.options import Access
from nestsync.catalogs.lance_dir.storage import Storage, folder_names, open_storage
from nestsync.catalogs.records import CatalogObject, ObjectKind, Status
from nestsync.errors import CatalogUnreachable


@dataclass(frozen=True, slots=True)
class Share:
    """Some of the sub-folders; one share also stands for the root namespace."""

    folders: tuple[str, ...]
    root: bool


@dataclass(frozen=True)
class LanceDirReader(CatalogReader[Share]):
    """One namespace directory. Its levels are always ``()``: the directory is the root namespace itself.

    Nested namespaces, which Lance keeps in a ``__manifest`` table, are not read: that folder is a
    ``not-a-table`` row, and this class is where their levels would come from.
    """

    source: str
    access: Access
    check_files: bool = True

    def units(self, *, tables: bool, parallelism: int) -> Sequence[Share]:
        """`parallelism` shares at most, the same number of folders in each, in the order of their names."""
        names = sorted(self._listed(self._storage()))
        if not tables or not names:
            return [Share((), root=True)]
        count = min(parallelism, len(names))
        bounds = [len(names) * i // count for i in range(count + 1)]
        return [Share(tuple(names[bounds[i] : bounds[i + 1]]), root=i == 0) for i in range(count)]

    def read(self, unit: Share, *, namespaces: bool, tables: bool) -> Iterator[CatalogObject]:
        """The root namespace and the tables of one share."""
        if namespaces and unit.root:
            yield CatalogObject(object=ObjectKind.NAMESPACE, levels=(), location=self.access.root.uri)
        if not tables:
            return
        storage = self._storage()
        for name in unit.folders:
            yield self._described(name, storage)

    def _described(self, name: str, storage: Storage) -> CatalogObject:
        try:
            return describe(name, self.access, storage, check_files=self.check_files)
        except OSError as error:
            self._listed(storage)  # raises when it is not this folder alone
            return CatalogObject(
                object=ObjectKind.TABLE,
                levels=(),
                name=name,
                location=self.access.root.location(name),
                status=Status.UNREADABLE,
                error=f"the folder was listed and cannot be read: {reason(error, self.access)}",
                format="lance",
            )

    def _storage(self) -> Storage:
        try:
            return open_storage(self.access)
        except OSError as error:
            raise self._unreachable("the file system cannot be opened", error) from error

    def _listed(self, storage: Storage) -> list[str]:
        try:
            return list(folder_names(storage))
        except OSError as error:
            raise self._unreachable("the folder cannot be listed", error) from error

    def _unreachable(self, what: str, error: OSError) -> CatalogUnreachable:
        return CatalogUnreachable(
            f"{what}: {reason(error, self.access)}",
            where=f"{self.source} at {self.access.address}",
            hint="check that the root exists, is a folder, and that this machine may read it",
        )
