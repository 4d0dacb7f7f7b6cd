"""The catalogs that the scenarios are about, each write counted at the server's door, and their configurations."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyiceberg.catalog.rest import RestCatalog

from nestsync.embedded.proxy import CountingProxy
from nestsync.embedded.servers import IcebergRest
from tests.faults import HoldingProxy, free_port
from tools.airflow_up import ARCHIVE, QUICK_JVM, ROOT, environment

SECRET = "s3cr3t-of-the-lakehouse-42"
NAMESPACES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "clean": (("clean",), ("clean", "emea"), ("clean", "emea", "orders")),
    "conflict": (("conflict",), ("conflict", "emea:orders")),
    "eventful": (("eventful",), *(("eventful", f"n{number}") for number in range(9))),
}
"""What the source holds, by the configuration that takes it."""
HELD_AT = 5
"""The write request at which apply is held, to be killed half way."""

CONFIGURATION = """
workspace: {workspace}
sources:
  - {{name: lake, system: iceberg_rest, uri: "{source}"}}
target: {{name: platform, system: iceberg_rest, uri: "{target}"{extra}}}
strategy: upsert
mapping: {{rules: [{{source: lake, include: [["{name}", "**"]]}}]}}
property_keys: {{location: null}}
apply: {{concurrency: 1}}
airflow:
  retry_seconds: 30
  {block}
"""
TOKEN = "environment: [{name: LAKEHOUSE_TOKEN, connection: lakehouse}]"
BLOCKS = {
    "clean": TOKEN,
    "conflict": "alert: told.tell",
    "eventful": "approve_above: 9",
}


class Estate:
    """One source, a target for each scenario that writes, and a folder of configurations."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.conf = home / "conf"
        self.spark = home / "spark"
        names = ("source", "clean", "eventful")
        self._servers = {name: IcebergRest(home / name, backend="memory") for name in names}

    def start(self) -> None:
        with ThreadPoolExecutor(len(self._servers)) as pool:
            list(pool.map(lambda server: server.start(), self._servers.values()))
        lake = self.catalog("source")
        for levels in (levels for scenario in NAMESPACES.values() for levels in scenario):
            lake.create_namespace(levels, {"tier": "gold"})
        uris = {name: server.uri for name, server in self._servers.items()}
        self.source = CountingProxy(uris["source"]).start()
        self.down = CountingProxy(uris["source"], port=free_port())  # a source that is down until it is started
        self.targets = {
            "clean": CountingProxy(uris["clean"]).start(),
            "eventful": HoldingProxy(uris["eventful"], HELD_AT).start(),
        }
        self._write_configurations()

    def archive_classes(self) -> subprocess.Popen[bytes]:
        """Begin to archive the classes that an assessment loads; every job that starts later has less to do."""
        file = self.home / "classes.yaml"
        text = (self.conf / "conflict.yaml").read_text(encoding="utf-8")
        file.write_text(text.replace(str(self.workspace("conflict")), str(self.workspace("classes"))), encoding="utf-8")
        job = [
            Path(sys.prefix) / "bin" / "spark-submit",
            "--master",
            "local[2]",
            ROOT / "jobs" / "assess.py",
            "-c",
            file,
        ]
        archive = self.spark / ARCHIVE
        draft = archive.with_suffix(".draft")
        settings = environment(self.home / "classes", self.conf, spark=self.spark)
        settings["SPARK_SUBMIT_OPTS"] = " ".join((*QUICK_JVM, f"-XX:ArchiveClassesAtExit={draft}"))
        shell = ["sh", "-c", f'"$@"; test $? = 3 && mv {draft} {archive}', "-"]
        with (self.home / "classes.log").open("wb") as log:
            return subprocess.Popen([*shell, *map(str, job)], env=settings, stdout=log, stderr=subprocess.STDOUT)

    def stop(self) -> None:
        for proxy in (self.source, self.down, *self.targets.values()):
            if isinstance(proxy, HoldingProxy):
                proxy.release()
            proxy.stop()
        for server in self._servers.values():
            server.stop()

    def catalog(self, name: str) -> RestCatalog:
        """A plain client of a server, past the proxies."""
        return RestCatalog(name, uri=self._servers[name].uri)

    def held_by(self, name: str) -> dict[tuple[str, ...], str]:
        """The namespaces that the target `name` holds for its scenario, with their tier."""
        catalog = self.catalog(name)
        found = {(name,)} if catalog.namespace_exists((name,)) else set()
        for levels in list(found):
            found |= _below(catalog, levels)
        return {levels: catalog.load_namespace_properties(levels)["tier"] for levels in found}

    def workspace(self, name: str) -> Path:
        return self.home / "workspaces" / name

    def process_that_applies(self, name: str) -> int:
        """The process that holds the lease on the workspace of `name`."""
        said = (self.workspace(name) / "locks" / "apply.lease").read_text(encoding="utf-8")
        found = re.search(r"process (\d+)", said)
        assert found, said
        return int(found[1])

    def _write_configurations(self) -> None:
        self.conf.mkdir()
        for name, block in BLOCKS.items():
            text = CONFIGURATION.format(
                name=name,
                workspace=self.workspace(name),
                source=(self.down if name == "eventful" else self.source).uri,
                target=self.targets.get(name, self.targets["clean"]).uri,
                extra=", token_env: LAKEHOUSE_TOKEN" if name == "clean" else "",
                block=block,
            )
            (self.conf / f"{name}.yaml").write_text(text, encoding="utf-8")
        clean = (self.conf / "clean.yaml").read_text(encoding="utf-8")
        for name, (old, new) in WRONG.items():
            assert old in clean
            (self.conf / f"{name}.yaml").write_text(clean.replace(old, new), encoding="utf-8")


def _below(catalog: RestCatalog, levels: tuple[str, ...]) -> set[tuple[str, ...]]:
    children = {tuple(child) for child in catalog.list_namespaces(levels)}
    return children | {each for child in children for each in _below(catalog, child)}


WRONG = {
    "no-connection": ("retry_seconds: 30", "spark: spark_of_yesterday"),
    "no-spark-submit": ("retry_seconds: 30", "spark: spark2"),
    "no-master": ("retry_seconds: 30", "spark: web"),
    "no-secret": ("connection: lakehouse", "connection: lakehouse_of_yesterday"),
    "typo": ("strategy: upsert", "stratgey: upsert"),
    "no-yaml": ("strategy: upsert", "strategy: [upsert"),
    "no-schedule": ("retry_seconds: 30", "schedule: every night"),
}
"""Configurations with one mistake each: what of the clean one is replaced, and by what."""

_CONNECTIONS: dict[str, dict[str, object]] = {
    "LAKEHOUSE": {"conn_type": "http", "host": "lakehouse", "password": SECRET},
    "SPARK2": {"conn_type": "spark", "host": "local[2]", "extra": {"spark-binary": "spark2-submit"}},
    "WEB": {"conn_type": "http", "host": "127.0.0.1", "port": 80},
}
CONNECTIONS = {f"AIRFLOW_CONN_{name}": json.dumps(said) for name, said in _CONNECTIONS.items()}
"""Airflow's connections beside the one to Spark, as its environment holds them."""
