"""The two real servers: a Hive Metastore 3.1.3 on Derby, and Iceberg's REST catalog reference server 1.10.1."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal
from xml.sax.saxutils import escape

from nestsync.embedded.process import JavaServer
from nestsync.jars import HMS_3, ICEBERG_REST_1_10, folder

Backend = Literal["jdbc", "memory"]


class HiveMetastore(JavaServer):
    """A Hive Metastore 3.1.3 whose Derby database, warehouse and log are kept in `home`.

    `uri` is ``thrift://127.0.0.1:PORT``, binary protocol, no SASL. The schema is Hive's own
    schema tool's.
    """

    name = "Hive Metastore"
    jar_set = HMS_3
    java_class = "LoopbackMetastore"
    memory = "512m"
    schema_tool: ClassVar[str] = "org.apache.hadoop.hive.metastore.tools.MetastoreSchemaTool"

    @property
    def uri(self) -> str:
        return f"thrift://127.0.0.1:{self.port}"

    @property
    def warehouse(self) -> Path:
        """Where databases and tables without a location of their own lie."""
        return self.home / "warehouse"

    def ask(self) -> None:
        from hmsclient import HMSClient

        with HMSClient(host="127.0.0.1", port=self.port) as client:
            client.get_catalogs()

    def run_sql(self, statements: Sequence[str]) -> None:
        """Run `statements` on the metastore's own database, which takes a stopped server.

        The way to names that 3.1.3 serves and does not accept (they come from other versions and from hands in
        the database). Raises `ServerFailed`.
        """
        with self._lock():
            class_path = self._class_path()
            self._prepare(class_path)
            script = self.home / "statements.sql"
            script.write_text("".join(f"{statement};\n" for statement in statements), encoding="utf-8")
            login = ("-u", self._database_url, "-d", _DERBY_DRIVER, "-n", "APP", "-p", "mine")
            program = self._java(class_path, "sqlline.SqlLine", *login, "-f", script.name)
            self._run(program, "SQL on the metastore's database")

    @property
    def _database(self) -> Path:
        return self.home / "metastore_db"

    @property
    def _database_url(self) -> str:
        # relative to the working folder, which is `home`: Hive's tools split what they are told on blanks
        return f"jdbc:derby:;databaseName={self._database.name}"

    @property
    def _conf(self) -> Path:
        return self.home / "conf"

    def _class_path(self) -> list[Path]:
        return [self._conf, *super()._class_path()]

    def _arguments(self) -> Sequence[str]:
        return ()

    def _environment(self) -> Mapping[str, str]:
        return {"METASTORE_CONF_DIR": str(self._conf), "METASTORE_HOME": self._conf.name}

    def _prepare(self, class_path: Sequence[Path]) -> None:
        self._conf.mkdir(exist_ok=True)
        (self._conf / "metastore-site.xml").write_text(self._site(), encoding="utf-8")
        (self._conf / "log4j2.properties").write_text(_LOG4J, encoding="utf-8")
        done = self.home / "schema-made"
        if done.exists():
            return
        shutil.rmtree(self._database, ignore_errors=True)  # half a schema, of a first start that was killed
        template = folder(self.jar_set) / "empty_metastore_db"
        if template.exists():
            shutil.copytree(template, self._database)
        else:
            self._make_schema(class_path)
            _keep_copy(self._database, template)
        done.touch()

    def _make_schema(self, class_path: Sequence[Path]) -> None:
        archive = next(jar for jar in class_path if jar.name.startswith("hive-standalone-metastore-")).parent.parent
        scripts = self._conf / "scripts"  # the schema tool looks for them in METASTORE_HOME
        scripts.unlink(missing_ok=True)
        scripts.symlink_to(archive / "scripts")
        self._run(
            self._java(class_path, self.schema_tool, "-dbType", "derby", "-initSchema"), "making the metastore's schema"
        )

    def _java(self, class_path: Sequence[Path], main: str, *arguments: str | Path) -> list[str]:
        program, *rest = super()._java(class_path, main, *arguments)
        return [program, f"-Dderby.stream.error.file={self.home / 'derby.log'}", *rest]

    def _settings(self) -> dict[str, str]:
        return {
            "metastore.warehouse.dir": f"file://{self.warehouse}",
            "javax.jdo.option.ConnectionURL": f"{self._database_url};create=true",
            "javax.jdo.option.ConnectionDriverName": _DERBY_DRIVER,
            # the defaults of these two name classes of Hive itself, which a standalone metastore does not have
            "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
            "metastore.task.threads.always": "org.apache.hadoop.hive.metastore.events.EventCleanerTask",
        }

    def _site(self) -> str:
        properties = "\n".join(
            f"<property><name>{name}</name><value>{escape(value)}</value></property>"
            for name, value in self._settings().items()
        )
        return f"<configuration>\n{properties}\n</configuration>\n"


class IcebergRest(JavaServer):
    """Iceberg's REST catalog reference server 1.10.1; ``uri`` is ``http://127.0.0.1:PORT``.

    `backend` ``jdbc`` keeps the catalog in an H2 file in `home` (namespaces are stored dotted there: it loses
    `["a.b"]`); ``memory`` keeps it for one start and is exact. Tables lie below `warehouse` in `home`.
    """

    name = "Iceberg REST server"
    jar_set = ICEBERG_REST_1_10
    java_class = "LoopbackIcebergRest"
    memory = "256m"

    def __init__(self, home: Path, *, port: int = 0, backend: Backend = "jdbc") -> None:
        super().__init__(home, port=port)
        self.backend = backend

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def warehouse(self) -> Path:
        """Where tables without a location of their own lie."""
        return self.home / "warehouse"

    def ask(self) -> None:
        with urllib.request.urlopen(f"{self.uri}/v1/config", timeout=10) as answer:  # noqa: S310
            answer.read()

    @property
    def _catalog(self) -> Path:
        return self.home / "catalog.properties"

    def _prepare(self, class_path: Sequence[Path]) -> None:
        lines = (f"{_escaped(key)}={_escaped(value)}" for key, value in self._properties().items())
        self._catalog.write_text("\n".join(lines) + "\n", encoding="ascii")

    def _properties(self) -> dict[str, str]:
        if self.backend == "memory":
            return {"catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog", "warehouse": "memory://warehouse"}
        return {
            "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
            # no write delay: what was answered is on disk, also when the server is killed; lower case: the catalog
            # looks for its tables and columns by lower-case names when it starts again
            "uri": f"jdbc:h2:file:{self.home / 'catalog'};WRITE_DELAY=0;DATABASE_TO_LOWER=TRUE",
            "jdbc.schema-version": "V1",  # the one that has views
            "jdbc.user": "sa",
            "jdbc.password": "",
            "warehouse": f"file://{self.warehouse}",
        }

    def _arguments(self) -> Sequence[str]:
        return (str(self._catalog),)


_DERBY_DRIVER = "org.apache.derby.jdbc.EmbeddedDriver"
_LOG4J = """rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
logger.datanucleus.name = DataNucleus
logger.datanucleus.level = error
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{ISO8601} %5p [%t] %c{2}: %m%n
"""


def _escaped(text: str) -> str:
    """`text` for a Java properties file: backslashes doubled, everything but ASCII as UTF-16 escapes."""
    units = text.replace("\\", "\\\\").encode("utf-16-be")
    pairs = (int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
    return "".join(chr(unit) if 0x20 <= unit < 0x7F else f"\\u{unit:04x}" for unit in pairs)


def _keep_copy(database: Path, template: Path) -> None:
    """Keep a fresh database for later metastores: Hive's script of 800 statements takes as long as a start."""
    with tempfile.TemporaryDirectory(dir=template.parent) as scratch:
        copy = Path(scratch) / template.name
        shutil.copytree(database, copy)
        with contextlib.suppress(OSError):  # another process kept its copy first
            copy.rename(template)
