"""What is in a folder: a local one by the operating system, any other by pyarrow's or fsspec's file systems."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nestsync.catalogs.lance_dir.options import Access, Root
from nestsync.errors import ConfigurationError

if TYPE_CHECKING:
    import pyarrow.fs as pafs

_PYARROW_SCHEMES = frozenset({"gs", "gcs", "abfs", "abfss", "hdfs", "viewfs"})
"""What pyarrow opens from a URI with the machine's own credentials; S3 is given the storage options below."""

_GCS_SECONDS = 30  # pyarrow would try for 15 minutes

_S3_OPTIONS = {
    "access_key": ("aws_access_key_id", "access_key_id"),
    "secret_key": ("aws_secret_access_key", "secret_access_key"),
    "session_token": ("aws_session_token", "session_token", "token", "aws_token"),
    "region": ("aws_region", "region", "aws_default_region"),
    "endpoint_override": ("aws_endpoint", "endpoint", "aws_endpoint_url", "endpoint_url"),
}
"""pyarrow's S3 arguments and the storage options of Lance (object_store's names) that say the same."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a folder."""

    name: str
    is_folder: bool


class Storage(ABC):
    """One namespace directory, listed folder by folder. Raises OSError where the storage does."""

    @abstractmethod
    def entries(self, *parts: str) -> list[Entry]:
        """What is directly in the folder at `parts` below the root, in no particular order."""

    @abstractmethod
    def read_bytes(self, *parts: str) -> bytes:
        """The content of one file."""

    def holds_a_file(self, *parts: str) -> bool:
        """Whether there is a file in the folder or anywhere below it; stops at the first one."""
        waiting = [parts]
        while waiting:
            here = waiting.pop()
            entries = self.entries(*here)
            if any(not entry.is_folder for entry in entries):
                return True
            waiting.extend((*here, entry.name) for entry in entries)
        return False


class LocalStorage(Storage):
    """A folder of this machine."""

    def __init__(self, root: str) -> None:
        self._root = root

    def entries(self, *parts: str) -> list[Entry]:
        with os.scandir(os.path.join(self._root, *parts)) as found:
            return [Entry(entry.name, _is_folder(entry)) for entry in found]

    def read_bytes(self, *parts: str) -> bytes:
        return Path(self._root, *parts).read_bytes()


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """A link that leads nowhere counts as a folder: it may have been a table, and its row then says what it is."""
    try:
        return entry.is_dir() or (entry.is_symlink() and not os.path.exists(entry.path))
    except OSError:
        return entry.is_symlink()


class ArrowStorage(Storage):
    """A folder of any file system that pyarrow can speak to."""

    def __init__(self, file_system: pafs.FileSystem, root: str) -> None:
        self._file_system = file_system
        self._root = root

    def entries(self, *parts: str) -> list[Entry]:
        import pyarrow.fs as pafs

        found = self._file_system.get_file_info(pafs.FileSelector(self._path(parts)))
        return [Entry(info.base_name, info.type == pafs.FileType.Directory) for info in found]

    def read_bytes(self, *parts: str) -> bytes:
        with self._file_system.open_input_stream(self._path(parts)) as stream:
            content: bytes = stream.read()
            return content

    def _path(self, parts: tuple[str, ...]) -> str:
        return "/".join((self._root, *parts))


def open_storage(access: Access) -> Storage:
    """The storage behind `access`; it may not answer yet.

    Raises `ConfigurationError` for a scheme that neither pyarrow nor an installed fsspec package knows, or whose
    options do not fit, and OSError where the file system wants to speak to its server first and cannot.
    """
    root = access.root
    if root.local:
        return LocalStorage(root.path)
    try:
        if root.scheme == "s3":
            return ArrowStorage(_s3(access.storage_options), root.path)
        if root.scheme in _PYARROW_SCHEMES:
            return _from_pyarrow(root)
        return _from_fsspec(access)
    except (ImportError, ValueError, TypeError) as error:
        raise ConfigurationError(
            f"no file system can be opened for the scheme {root.scheme!r}: {error}",
            where=root.uri,
            hint="use a path, file://, s3://, gs://, abfss://, hdfs://, or install the fsspec package for the scheme",
        ) from error


def _s3(options: dict[str, str]) -> pafs.FileSystem:
    import pyarrow.fs as pafs

    arguments: dict[str, Any] = {
        argument: next(options[name] for name in names if name in options)
        for argument, names in _S3_OPTIONS.items()
        if any(name in options for name in names)
    }
    endpoint = arguments.get("endpoint_override", "")
    if "://" in endpoint:
        arguments["scheme"], arguments["endpoint_override"] = endpoint.rstrip("/").split("://", 1)
    if any(options.get(name, "").lower() == "true" for name in ("aws_skip_signature", "skip_signature")):
        arguments["anonymous"] = True
    for argument, name in (("connect_timeout", "connect_timeout"), ("request_timeout", "timeout")):
        if name in options:
            arguments[argument] = _seconds(name, options[name])
    if "client_max_retries" in options:
        attempts = int(options["client_max_retries"]) + 1
        arguments["retry_strategy"] = pafs.AwsStandardS3RetryStrategy(max_attempts=attempts)
    return pafs.S3FileSystem(**arguments)


def _seconds(name: str, text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?(?:s|secs?|seconds?)", text)
    if found is None:
        raise ValueError(f"the storage option {name!r} is {text!r}; write it in seconds, as in '30s'")
    return float(found[1])


def _from_pyarrow(root: Root) -> Storage:
    import pyarrow.fs as pafs

    query = f"?retry_limit_seconds={_GCS_SECONDS}" if root.scheme in ("gs", "gcs") else ""
    return ArrowStorage(*pafs.FileSystem.from_uri(root.uri + query))


def _from_fsspec(access: Access) -> Storage:
    import fsspec
    import pyarrow.fs as pafs

    root = access.root
    if "::" in root.path:
        raise ValueError("'::' in a root would chain file systems")
    file_system, path = fsspec.url_to_fs(f"{root.scheme}://{root.path}", **access.storage_options)
    return ArrowStorage(pafs.PyFileSystem(pafs.FSSpecHandler(file_system)), path)


def newest_manifest(entries: list[Entry]) -> str | None:
    """The name of the manifest of the newest version in a listing of ``_versions``, or None.

    Lance has two namings (its format specification, "manifest naming scheme"): ``<version>.manifest``, and
    ``<2^64 - 1 - version, 20 digits>.manifest``, which sorts newest first.
    """
    stems = [entry.name.removesuffix(".manifest") for entry in entries if entry.name.endswith(".manifest")]
    numbered = [stem for stem in stems if stem.isascii() and stem.isdigit()]
    newest_first = [stem for stem in numbered if len(stem) == len(str(2**64 - 1))]
    if newest_first:
        return f"{min(newest_first)}.manifest"
    return f"{max(numbered, key=int)}.manifest" if numbered else None


def folder_names(storage: Storage) -> Iterator[str]:
    """The names of the sub-folders of the root; regular files are no tables, whatever they are called."""
    return (entry.name for entry in storage.entries() if entry.is_folder)
