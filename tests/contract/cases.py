"""The table of catalogs that the behaviour suite is held against: adding one adds a function and a line here.

A case makes content in its catalog, and says what of it a reader must bring back.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests

from nestsync.catalogs.base import CatalogOptions
from nestsync.catalogs.hms import HmsOptions
from nestsync.catalogs.iceberg_rest import IcebergRestOptions
from nestsync.catalogs.lance_dir import LanceDirOptions
from nestsync.core.identifiers import Levels
from nestsync.embedded.servers import IcebergRest
from tests.catalogs.hms.content import FORMATS, HOSTILE_PROPERTIES, READABLE, UNREADABLE, Metastore
from tests.catalogs.lance_dir.folders import HOSTILE as HOSTILE_FOLDERS
from tests.catalogs.lance_dir.folders import lose_data, write

Properties = Mapping[str, str]
Table = tuple[Levels, str]

HOSTILE_NAMES = (
    "a b",
    "a+b",
    "a%20b",
    "a/b",
    "a?b#c&d=e",
    "a:b",
    "a$b",
    "é",
    "e\u0301",
    "日本",
    "🧊",
    "'\"`*",
    "%1F",
    "Sales",
    "sales",
)


@dataclass(frozen=True)
class Content:
    """What a catalog holds. `namespaces` and `tables` are readable, with properties that must come to the byte."""

    options: CatalogOptions
    address: str
    namespaces: Mapping[Levels, Properties]
    tables: Mapping[Table, Properties]
    broken: frozenset[tuple[Levels, str | None]] = frozenset()
    """What is listed and must be an error row: a namespace where the name is None."""
    complete: tuple[Levels, ...] = ()
    """At and below these levels there is nothing but the above."""


@dataclass(frozen=True)
class ReaderCase:
    """A catalog to read. `at` gives the options for whatever listens on a port, and the address in its errors."""

    system: str
    label: str
    fill: Callable[[pytest.FixtureRequest], Content]
    at: Callable[[int], tuple[CatalogOptions, str]]
    secret: Callable[[str], CatalogOptions] | None = None
    """Options whose secret is in the environment variable of this name; None where a system has no secrets yet."""
    marks: tuple[pytest.MarkDecorator, ...] = field(default=(pytest.mark.servers,))


@dataclass(frozen=True)
class WriterCase:
    """A catalog to write."""

    system: str
    label: str
    open: Callable[[pytest.FixtureRequest], CatalogOptions]
    at: Callable[[int], tuple[CatalogOptions, str]]
    secret: Callable[[str], CatalogOptions]
    names: tuple[str, ...] = HOSTILE_NAMES
    """Names that it takes as they are."""


def _hms(request: pytest.FixtureRequest) -> Content:
    metastore: Metastore = request.getfixturevalue("metastore")
    odd = {("odd", name): {"k": name} for name in READABLE}
    lake: dict[Levels, Properties] = {("lake", "sales__emea"): HOSTILE_PROPERTIES}
    plain: dict[Levels, Properties] = {("lake", name): {} for name in ("default", "formats", "nothing")}
    plain |= {("odd", "default"): {}, ("odd", "tables"): {}}
    tables = {(("lake", "formats"), case.name): case.parameters or {} for case in FORMATS}
    tables |= {(("odd", name), f"in_made{READABLE.index(name)}"): {} for name in READABLE}
    tables |= {(("odd", "tables"), name): {} for name in ("with.dot", "日本")}
    broken: set[tuple[Levels, str | None]] = {(("odd", name), None) for name in UNREADABLE}
    broken |= {(("odd", "tables"), "Upper"), (("broken", "bad_tables"), "bad"), (("broken", "bad_owner"), None)}
    return Content(
        options=HmsOptions(uri=metastore.uri, batch_size=7),
        address=metastore.uri,
        namespaces=odd | lake | plain,
        tables=tables,
        broken=frozenset(broken),
        complete=(("lake",), ("odd",)),
    )


def _hms_at(port: int) -> tuple[CatalogOptions, str]:
    uri = f"thrift://127.0.0.1:{port}"
    return HmsOptions(uri=uri, read_timeout=0.5, max_retries=1), uri


def _lance(request: pytest.FixtureRequest) -> Content:
    root: Path = request.getfixturevalue("tmp_path_factory").mktemp("lance") / "root"
    tables = {((), name): HOSTILE_PROPERTIES | {"k": name} for name in HOSTILE_FOLDERS}
    for (_, name), properties in tables.items():
        write(root, name, metadata=properties)
    (root / "empty").mkdir()
    lose_data(write(root, "gone.lance"))
    shutil.copytree(root / "plain", root / "_hidden")
    (root / "file.lance").write_bytes(b"a regular file")
    return Content(
        options=LanceDirOptions(root=str(root)),
        address=root.as_uri(),
        namespaces={(): {}},
        tables=tables,
        broken=frozenset({((), "empty"), ((), "gone.lance"), ((), "_hidden")}),
        complete=((),),
    )


def _lance_at(port: int) -> tuple[CatalogOptions, str]:
    endpoint = f"http://127.0.0.1:{port}"
    storage = {"aws_endpoint": endpoint, "aws_region": "us-east-1", "aws_skip_signature": "true"}
    storage |= {"timeout": "1s", "client_max_retries": "0"}
    return LanceDirOptions(root="s3://box/lake", storage_options=storage), f"s3://box/lake ({endpoint})"


def _lance_secret(variable: str) -> CatalogOptions:
    return LanceDirOptions(root="s3://box", storage_options_env={"aws_secret_access_key": variable})


def _post(uri: str, path: str, content: Any) -> None:
    answer = requests.post(f"{uri}{path}", json=content, timeout=30)
    answer.raise_for_status()


def _fill_iceberg(uri: str, namespaces: Mapping[Levels, Properties], tables: Iterable[Table]) -> None:
    """By plain HTTP, which shares no code with ours; parents first."""
    columns = [{"id": 1, "name": "größe", "required": True, "type": "long"}]
    for levels in sorted(namespaces):
        _post(uri, "/v1/namespaces", {"namespace": levels, "properties": namespaces[levels]})
    for levels, name in tables:
        path = f"/v1/namespaces/{quote(chr(0x1F).join(levels), safe='')}/tables"
        _post(uri, path, {"name": name, "schema": {"type": "struct", "fields": columns}})


def _iceberg_memory(request: pytest.FixtureRequest) -> Content:
    server: IcebergRest = request.getfixturevalue("iceberg_memory_server")
    top = "contract"
    names = (*HOSTILE_NAMES, "a.b")
    namespaces: dict[Levels, Properties] = {(top,): HOSTILE_PROPERTIES}
    namespaces |= {(top, name): {"k": name} for name in names}
    namespaces |= {(top, name, name): HOSTILE_PROPERTIES | {"k": name} for name in names}
    tables: dict[Table, Properties] = {((top, name), f"t {name}"): {} for name in names}
    _fill_iceberg(server.uri, namespaces, tables)
    return Content(IcebergRestOptions(uri=server.uri), server.uri, namespaces, tables, complete=((top,),))


def _iceberg_jdbc(request: pytest.FixtureRequest) -> Content:
    server: IcebergRest = request.getfixturevalue("iceberg_server")
    top = "contract"
    namespaces: dict[Levels, Properties] = {(top,): {}, (top, "good"): HOSTILE_PROPERTIES, (top, "good", "日本"): {}}
    tables: dict[Table, Properties] = {((top, "good"), "good"): {}, ((top, "good", "日本"), "t"): {}}
    bad: Table = ((top, "good"), "bad")
    _fill_iceberg(server.uri, namespaces, [*tables, bad])
    (folder,) = server.warehouse.rglob("bad")
    shutil.rmtree(folder)
    return Content(
        IcebergRestOptions(uri=server.uri), server.uri, namespaces, tables, frozenset({bad}), complete=((top,),)
    )


def _iceberg_at(port: int) -> tuple[CatalogOptions, str]:
    uri = f"http://127.0.0.1:{port}"
    return IcebergRestOptions(uri=uri, read_timeout=0.5, max_retries=1), uri


def _iceberg_secret(variable: str) -> CatalogOptions:
    return IcebergRestOptions(uri="http://127.0.0.1:1", token_env=variable)


def _iceberg_on(server: str) -> Callable[[pytest.FixtureRequest], CatalogOptions]:
    return lambda request: IcebergRestOptions(uri=request.getfixturevalue(server).uri)


READERS = (
    ReaderCase("hms", "hms", _hms, _hms_at),
    ReaderCase("lance_dir", "lance_dir", _lance, _lance_at, _lance_secret, marks=()),
    ReaderCase("iceberg_rest", "iceberg_rest in memory", _iceberg_memory, _iceberg_at, _iceberg_secret),
    ReaderCase("iceberg_rest", "iceberg_rest on JDBC", _iceberg_jdbc, _iceberg_at, _iceberg_secret),
)

WRITERS = (
    WriterCase(
        "iceberg_rest",
        "iceberg_rest in memory",
        _iceberg_on("iceberg_memory_server"),
        _iceberg_at,
        _iceberg_secret,
        (*HOSTILE_NAMES, "a.b"),
    ),
    WriterCase("iceberg_rest", "iceberg_rest on JDBC", _iceberg_on("iceberg_server"), _iceberg_at, _iceberg_secret),
)
