"""Java and the jars: what Spark with Delta and the embedded servers need, fetched once into a folder.

The Ivy that PySpark ships does the fetching, from its own central repository. Nothing is resolved transitively:
a set names every jar it needs, so what runs is what is written here. Jars that PySpark ships already are used
from there.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any
from xml.sax.saxutils import quoteattr
from zipfile import ZipFile

from nestsync.errors import NestsyncError, PrerequisiteMissing

JAVA_VERSIONS = (17, 21)
"""The Java versions that Spark 4.1 runs on."""
_INSTALL_JAVA = (
    "install Java 17 or 21: `sudo apt-get install openjdk-17-jre-headless` on Debian and Ubuntu, "
    "`brew install openjdk@17` on macOS; then set JAVA_HOME to it or put it on PATH"
)
_FETCH_SECONDS = 900.0
_MARKER = "complete.json"
_SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""How an archive is unpacked: the first patches of Python 3.11 have no filters."""


class JarsUnavailable(NestsyncError):
    """The jars cannot be fetched: the registry does not answer, or does not have one of them."""

    code = "jars-unavailable"
    exit_code = 5


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file of a Maven repository."""

    group: str
    artifact: str
    version: str
    classifier: str | None = None
    extension: str = "jar"

    @property
    def file_name(self) -> str:
        """The name under which it is kept, which is its name in the repository."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{classifier}.{self.extension}"


@dataclass(frozen=True, slots=True)
class JarSet:
    """The files that one Java program needs: fetched ones, and those that PySpark ships (by artifact name)."""

    name: str
    artifacts: tuple[Artifact, ...]
    from_pyspark: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The folder's name: another content is another folder, so an upgrade never meets old jars."""
        return f"{self.name}-{sha256(repr(self.artifacts).encode()).hexdigest()[:12]}"


def _jars(group: str, version: str, *artifacts: str) -> tuple[Artifact, ...]:
    return tuple(Artifact(group, artifact, version) for artifact in artifacts)


SPARK_DELTA = JarSet(
    "spark-delta",
    (Artifact("io.delta", "delta-spark_4.1_2.13", "4.4.0"), Artifact("io.delta", "delta-storage", "4.4.0")),
)
"""What a Spark 4.1 session with Delta needs beside PySpark's own jars (write, merge, delete, optimize, vacuum)."""

HMS_3 = JarSet(
    "hms-3.1.3",
    (
        Artifact("org.apache.hive", "hive-standalone-metastore", "3.1.3", classifier="bin", extension="tar.gz"),
        Artifact("commons-cli", "commons-cli", "1.5.0"),
        Artifact("commons-codec", "commons-codec", "1.17.1"),
        Artifact("commons-collections", "commons-collections", "3.2.2"),
        Artifact("commons-io", "commons-io", "2.16.1"),
        Artifact("commons-logging", "commons-logging", "1.2"),
        Artifact("org.codehaus.jackson", "jackson-core-asl", "1.9.13"),
        Artifact("org.codehaus.jackson", "jackson-mapper-asl", "1.9.13"),
        Artifact("org.slf4j", "slf4j-api", "1.7.36"),
    ),
    from_pyspark=("hadoop-client-api", "hadoop-client-runtime", "janino", "commons-compiler"),
)
"""The Hive Metastore 3.1.3 server: Hive's own archive (its jars and the SQL scripts) and what it lacks."""

ICEBERG_REST_1_10 = JarSet(
    "iceberg-rest-1.10.1",
    (
        Artifact("org.apache.iceberg", "iceberg-open-api", "1.10.1", classifier="test-fixtures"),
        Artifact("org.apache.iceberg", "iceberg-core", "1.10.1", classifier="tests"),
        *_jars("org.apache.iceberg", "1.10.1", "iceberg-core", "iceberg-api", "iceberg-common"),
        *_jars("org.apache.iceberg", "1.10.1", "iceberg-bundled-guava"),
        Artifact("org.apache.avro", "avro", "1.12.0"),
        *_jars("com.fasterxml.jackson.core", "2.19.2", "jackson-annotations", "jackson-core", "jackson-databind"),
        Artifact("com.github.ben-manes.caffeine", "caffeine", "2.9.3"),
        Artifact("org.apache.httpcomponents.client5", "httpclient5", "5.5"),
        *_jars("org.apache.httpcomponents.core5", "5.3.4", "httpcore5", "httpcore5-h2"),
        *_jars("org.eclipse.jetty", "11.0.26", "jetty-http", "jetty-io", "jetty-security", "jetty-server"),
        *_jars("org.eclipse.jetty", "11.0.26", "jetty-servlet", "jetty-util"),
        Artifact("org.eclipse.jetty.toolchain", "jetty-jakarta-servlet-api", "5.0.2"),
        Artifact("com.h2database", "h2", "2.4.240"),
        *_jars("org.slf4j", "2.0.17", "slf4j-api", "slf4j-simple"),
    ),
    from_pyspark=("hadoop-client-api", "hadoop-client-runtime", "janino", "commons-compiler"),
)
"""Iceberg's REST catalog reference server 1.10.1 on Jetty 11, with H2 for its JDBC catalog."""


def home() -> Path:
    """Where nestsync keeps what it fetches: NESTSYNC_HOME, else ``nestsync`` in the user's cache folder."""
    named = os.environ.get("NESTSYNC_HOME")
    if named:
        return Path(named).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nestsync"


def java() -> Path:
    """The ``java`` to run: of JAVA_HOME where it is set (Spark takes that one too), else the one on PATH.

    Raises `PrerequisiteMissing` when there is none, or it is neither Java 17 nor 21.
    """
    java_home = os.environ.get("JAVA_HOME")
    if java_home:
        program: str | None = str(Path(java_home) / "bin" / "java")
        where = f"JAVA_HOME={java_home}"
    else:
        program, where = shutil.which("java"), "PATH"
    version = java_version(program) if program else None
    if program is None or version is None:
        raise PrerequisiteMissing("Java is missing: there is no java that runs", where=where, hint=_INSTALL_JAVA)
    if version not in JAVA_VERSIONS:
        raise PrerequisiteMissing(
            f"Java {version} does not fit: it takes Java 17 or 21", where=f"{where} ({program})", hint=_INSTALL_JAVA
        )
    return Path(program)


@cache
def java_version(program: str) -> int | None:
    """The major version of `program`, or None where it does not run (macOS has a `java` that only complains)."""
    try:
        run = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', run.stderr + run.stdout)
    return int(found[1]) if run.returncode == 0 and found else None


def fetch(jar_set: JarSet, report: Callable[[str], None] = lambda text: None) -> list[Path]:
    """The jars of `jar_set` in class path order, fetched unless they are there; archives come unpacked.

    `report` hears what is being fetched. Two processes may call this at once: one fetches, the other waits.
    Raises `PrerequisiteMissing` without a fitting Java, `JarsUnavailable` when a file cannot be had.
    """
    target = folder(jar_set)
    if not _complete(target):
        program = java()
        with _locked(home()):
            if not _complete(target):
                _install(jar_set, target, program, report)
    return sorted(target.rglob("*.jar")) + [pyspark_jar(name) for name in jar_set.from_pyspark]


def folder(jar_set: JarSet) -> Path:
    """Where `fetch` puts the files of `jar_set`."""
    return home() / "jars" / jar_set.key


def pyspark_jar(artifact: str) -> Path:
    """The jar called `artifact` that PySpark ships. Raises `PrerequisiteMissing` when it has none."""
    spec = find_spec("pyspark")  # located, not imported: that takes a second
    package = Path(spec.origin).parent if spec and spec.origin else Path("pyspark")
    if package.parent.suffix == ".zip":  # under spark-submit: SPARK_HOME/python/lib/pyspark.zip/pyspark
        package = package.parents[3]
    shipped = package / "jars"
    found = [jar for jar in shipped.glob(f"{artifact}-*.jar") if re.fullmatch(r"[\d.]+", jar.stem[len(artifact) + 1 :])]
    if not found:
        raise PrerequisiteMissing(
            f"PySpark ships no {artifact} jar here",
            where=str(shipped),
            hint="install the full `pyspark` package (not `pyspark-client`) in the version that nestsync pins",
        )
    return found[0]


def _complete(target: Path) -> bool:
    """Whether the marker is there and every file it names still has its size."""
    try:
        sizes = json.loads((target / _MARKER).read_text(encoding="utf-8"))
        return all((target / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError):
        return False


@contextmanager
def _locked(where: Path) -> Iterator[None]:
    where.mkdir(parents=True, exist_ok=True)
    with (where / "jars.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # given back when the file closes, also when the process dies
        yield


def _install(jar_set: JarSet, target: Path, program: Path, report: Callable[[str], None]) -> None:
    report(f"fetching the jars of {jar_set.name}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{jar_set.name}-") as scratch:
        fetched = Path(scratch) / "files"
        _run_ivy(jar_set, Path(scratch), program, report)
        _check_all_there(jar_set, fetched)
        for archive in fetched.glob("*.tar.gz"):
            with tarfile.open(archive) as packed:
                packed.extractall(fetched, **_SAFELY)  # noqa: S202  # Ivy compared its checksum
            archive.unlink()
        for archive in fetched.glob("*.zip"):
            with ZipFile(archive) as members:
                members.extractall(fetched)  # noqa: S202  # it keeps what it writes below the folder
            archive.unlink()
        sizes = {str(f.relative_to(fetched)): f.stat().st_size for f in fetched.rglob("*") if f.is_file()}
        (fetched / _MARKER).write_text(json.dumps(sizes, indent=1), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)  # an incomplete one, from a disk that was full or a hand that deleted
        fetched.rename(target)
    shutil.rmtree(_ivy_cache(), ignore_errors=True)


def _ivy_cache() -> Path:
    """Ivy's own downloads: kept over a failure, so that the next try goes on; gone once a set is complete."""
    return home() / "ivy"


def _run_ivy(jar_set: JarSet, scratch: Path, program: Path, report: Callable[[str], None]) -> None:
    settings, module = scratch / "settings.xml", scratch / "ivy.xml"
    settings.write_text(_SETTINGS, encoding="utf-8")
    module.write_text(_module(jar_set), encoding="utf-8")
    own = os.environ.get("NESTSYNC_IVY_SETTINGS")
    command = [str(program), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", str(pyspark_jar("ivy"))]
    command += ["org.apache.ivy.Main", "-settings", own or str(settings), "-cache", str(_ivy_cache())]
    command += ["-ivy", str(module), "-retrieve", f"{scratch}/files/[artifact]-[revision](-[classifier]).[ext]"]
    output: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as ivy:  # noqa: S603
        watchdog = Timer(_FETCH_SECONDS, ivy.kill)
        watchdog.start()
        try:
            for line in ivy.stdout or ():
                output.append(line.rstrip())
                if line.startswith("downloading "):
                    report(f"fetching {line.rstrip().removesuffix(' ...').rpartition('/')[2]}")
            code = ivy.wait()
        finally:
            watchdog.cancel()
            ivy.kill()
    if code != 0:
        reasons = [line.strip(" \t:") for line in output if "access error" in line] or [
            line.strip(" \t:") for line in output if line.endswith(": not found") or "[FAILED" in line
        ]
        raise JarsUnavailable(
            f"the jars of {jar_set.name} could not be fetched: {'; '.join(reasons[:3] or output[-1:])}",
            where="the Maven repository that Ivy knows as central",
            hint="check the network and try again; behind a mirror, name your own Ivy settings file in "
            "NESTSYNC_IVY_SETTINGS, and a proxy in JAVA_TOOL_OPTIONS (-Dhttps.proxyHost=... -Dhttps.proxyPort=...)",
        )


def _check_all_there(jar_set: JarSet, fetched: Path) -> None:
    """Ivy's exit code is 0 for some failures; what counts is that each file is there."""
    missing = [artifact.file_name for artifact in jar_set.artifacts if not (fetched / artifact.file_name).is_file()]
    if missing:
        raise JarsUnavailable(
            f"the repository did not serve {', '.join(missing)}",
            where=f"the jars of {jar_set.name}",
            hint="try again; a mirror must hold these very versions",
        )


# `usepoms="false"`: nothing is transitive, so no POM has to be read, which is most of the waiting.
_SETTINGS = """<ivysettings><settings defaultResolver="central"/><resolvers>
<ibiblio name="central" m2compatible="true" usepoms="false"/>
</resolvers></ivysettings>
"""


def _module(jar_set: JarSet) -> str:
    """The Ivy module file that asks for the artifacts, one dependency a (group, artifact, version)."""
    modules: dict[tuple[str, str, str], list[Artifact]] = {}
    for artifact in jar_set.artifacts:
        modules.setdefault((artifact.group, artifact.artifact, artifact.version), []).append(artifact)
    dependencies = "\n".join(
        f"<dependency org={quoteattr(group)} name={quoteattr(name)} rev={quoteattr(version)}"
        f' transitive="false" conf="default-&gt;default">{"".join(map(_artifact, files))}</dependency>'
        for (group, name, version), files in modules.items()
    )
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven"><info organisation="nestsync" '
        f'module="jars"/><configurations><conf name="default"/></configurations>\n'
        f"<dependencies>\n{dependencies}\n</dependencies></ivy-module>\n"
    )


def _artifact(artifact: Artifact) -> str:
    extension, classifier = quoteattr(artifact.extension), artifact.classifier
    marked = f" m:classifier={quoteattr(classifier)}" if classifier else ""
    return f"<artifact name={quoteattr(artifact.artifact)} type={extension} ext={extension}{marked}/>"
