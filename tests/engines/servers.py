"""Engines and servers that nestsync meets and does not need: each on loopback, each ended with this process."""

from __future__ import annotations

import re
import socket
import urllib.request
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from nestsync.embedded.process import JavaServer
from nestsync.embedded.servers import HiveMetastore, IcebergRest
from nestsync.jars import fetch, folder
from tests.engines import jars

JAVA_FOLDER = Path(__file__).parent / "java"


def free_port() -> int:
    """A port of the loopback address that nobody listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def read(uri: str) -> bytes:
    with urllib.request.urlopen(uri, timeout=10) as answer:
        found: bytes = answer.read()
    return found


class IcebergRest11(IcebergRest):
    """Iceberg's REST catalog reference server 1.11.0, on the in-memory catalog."""

    name = "Iceberg REST server 1.11"
    jar_set = jars.ICEBERG_REST_1_11
    java_class = "LoopbackIcebergRest11"
    java_folder = JAVA_FOLDER

    def __init__(self, home: Path) -> None:
        super().__init__(home, backend="memory")


class GuardedServer(JavaServer):
    """A program that takes its port from its configuration; `main` is its class."""

    java_class = "Guarded"
    java_folder = JAVA_FOLDER
    main: str
    options: Sequence[str] = ()
    """What its JVM is told beside the usual."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, port=free_port())

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _prepare(self, class_path: Sequence[Path]) -> None:
        pass

    def _arguments(self) -> Sequence[str]:
        return (self.main,)

    def _properties(self) -> dict[str, str]:
        """Java's system properties."""
        return {}

    def _java(self, class_path: Sequence[Path], main: str, *arguments: str | Path) -> list[str]:
        _, *rest = super()._java(class_path, main, *arguments)
        told = [f"-D{key}={value}" for key, value in self._properties().items()]
        return [str(jars.newer_java()), *self.options, *told, *rest]


class Nessie(GuardedServer):
    """Nessie 0.99.0 with its branch `main`, everything in memory; Iceberg REST is at ``/iceberg``."""

    name = "Nessie"
    jar_set = jars.NESSIE
    main = "io.quarkus.runner.GeneratedMain"
    memory = "512m"

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}/iceberg"

    def ask(self) -> None:
        read(f"{self.uri}/v1/config")

    def _properties(self) -> dict[str, str]:
        storage = "nessie.catalog.service.s3.default-options"
        return {
            "quarkus.http.host": "127.0.0.1",
            "quarkus.http.port": str(self._wanted_port),
            "quarkus.management.host": "127.0.0.1",
            "quarkus.management.port": str(free_port()),
            "nessie.version.store.type": "IN_MEMORY",
            "nessie.catalog.default-warehouse": "warehouse",
            "nessie.catalog.warehouses.warehouse.location": "s3://warehouse/",
            f"{storage}.region": "us-east-1",
            f"{storage}.access-key": "urn:nessie-secret:quarkus:key",
            "key.name": "nobody",
            "key.secret": "nothing",
        }


class HiveMetastore4(HiveMetastore):
    """A Hive Metastore 4.0.1 on Derby, which can be told to stay on loopback."""

    name = "Hive Metastore 4"
    jar_set = jars.HMS_4
    java_class = "Guarded"
    java_folder = JAVA_FOLDER
    schema_tool = "org.apache.hadoop.hive.metastore.tools.schematool.MetastoreSchemaTool"

    def __init__(self, home: Path) -> None:
        super().__init__(home, port=free_port())

    def _arguments(self) -> Sequence[str]:
        return ("org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(self._wanted_port))

    def _settings(self) -> dict[str, str]:
        return super()._settings() | {"metastore.thrift.bind.host": "127.0.0.1"}


class Trino(GuardedServer):
    """Trino 476 as coordinator and worker in one, with the Iceberg connector; catalogs are made by SQL."""

    name = "Trino"
    jar_set = jars.TRINO
    main = "io.trino.server.TrinoServer"
    memory = "1g"
    options = (
        "--add-modules=jdk.incubator.vector",
        "--enable-native-access=ALL-UNNAMED",
        "-Djdk.attach.allowAttachSelf=true",
    )

    def ask(self) -> None:
        if not re.search(rb'"starting"\s*:\s*false', read(f"{self.uri}/v1/info")):
            raise TimeoutError("it is still starting")

    @property
    def _kept(self) -> Path:
        return folder(self.jar_set)

    def _class_path(self) -> list[Path]:
        fetch(self.jar_set)
        return [*sorted((self._kept / "trino-server-core-476" / "lib").glob("*.jar")), *jars.compiler()]

    def _prepare(self, class_path: Sequence[Path]) -> None:
        plugins = self.home / "plugin"
        plugins.mkdir(exist_ok=True)
        (plugins / "iceberg").unlink(missing_ok=True)
        (plugins / "iceberg").symlink_to(self._kept / "trino-iceberg-476")
        (self.home / "etc").mkdir(exist_ok=True)
        (self.home / "etc" / "config.properties").write_text(
            "\n".join(
                [
                    "coordinator=true",
                    "node-scheduler.include-coordinator=true",
                    f"http-server.http.port={self._wanted_port}",
                    f"discovery.uri=http://127.0.0.1:{self._wanted_port}",
                    "catalog.management=dynamic",
                    "query.max-memory=200MB",
                    "query.max-memory-per-node=200MB",
                    "memory.heap-headroom-per-node=200MB",
                    f"plugin.dir={plugins}",
                    "node.environment=test",
                    "node.id=one",
                    "node.internal-address=127.0.0.1",
                    "node.bind-ip=127.0.0.1",
                    "",
                ]
            )
        )

    def _properties(self) -> dict[str, str]:
        return {"config": str(self.home / "etc" / "config.properties")}


__all__ = ["HiveMetastore4", "IcebergRest11", "Nessie", "Trino", "free_port"]
