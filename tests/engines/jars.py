"""What the engines and the further servers run on: pinned, fetched once, and not needed by nestsync itself."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from nestsync.errors import PrerequisiteMissing
from nestsync.jars import Artifact, JarSet, java_version, pyspark_jar

_COMPILER = ("janino", "commons-compiler")


def jars_of(group: str, version: str, *artifacts: str) -> tuple[Artifact, ...]:
    return tuple(Artifact(group, artifact, version) for artifact in artifacts)


ICEBERG_REST_1_11 = JarSet(
    "iceberg-rest-1.11.0",
    (
        Artifact("org.apache.iceberg", "iceberg-open-api", "1.11.0", classifier="test-fixtures"),
        Artifact("org.apache.iceberg", "iceberg-core", "1.11.0", classifier="tests"),
        *jars_of("org.apache.iceberg", "1.11.0", "iceberg-core", "iceberg-api", "iceberg-common"),
        *jars_of("org.apache.iceberg", "1.11.0", "iceberg-bundled-guava"),
        Artifact("org.apache.avro", "avro", "1.12.0"),
        *jars_of("com.fasterxml.jackson.core", "2.19.2", "jackson-annotations", "jackson-core", "jackson-databind"),
        Artifact("com.github.ben-manes.caffeine", "caffeine", "2.9.3"),
        Artifact("org.apache.httpcomponents.client5", "httpclient5", "5.5"),
        *jars_of("org.apache.httpcomponents.core5", "5.3.4", "httpcore5", "httpcore5-h2"),
        *jars_of("org.eclipse.jetty", "12.1.5", "jetty-http", "jetty-io", "jetty-security", "jetty-server"),
        *jars_of("org.eclipse.jetty", "12.1.5", "jetty-session", "jetty-util"),
        Artifact("org.eclipse.jetty.ee10", "jetty-ee10-servlet", "12.1.5"),
        Artifact("jakarta.servlet", "jakarta.servlet-api", "6.0.0"),
        *jars_of("org.slf4j", "2.0.17", "slf4j-api", "slf4j-simple"),
    ),
    from_pyspark=("hadoop-client-api", "hadoop-client-runtime", *_COMPILER),
)
"""Iceberg's REST catalog reference server 1.11.0 on Jetty 12."""

NESSIE = JarSet(
    "nessie-0.99.0",
    (Artifact("org.projectnessie.nessie", "nessie-quarkus", "0.99.0", classifier="runner"),),
    from_pyspark=_COMPILER,
)
"""Nessie 0.99.0, which answers as an Iceberg REST catalog too."""

HMS_4 = JarSet(
    "hms-4.0.1",
    (
        Artifact("org.apache.hive", "hive-standalone-metastore-server", "4.0.1", classifier="bin", extension="tar.gz"),
        Artifact("com.google.code.gson", "gson", "2.9.0"),
        Artifact("commons-collections", "commons-collections", "3.2.2"),
        Artifact("commons-io", "commons-io", "2.16.1"),
        Artifact("javax.servlet", "javax.servlet-api", "3.1.0"),
        Artifact("org.apache.hadoop", "hadoop-hdfs", "3.4.2"),
        Artifact("org.apache.httpcomponents", "httpclient", "4.5.13"),
        Artifact("org.slf4j", "slf4j-api", "1.7.36"),
    ),
    from_pyspark=("hadoop-client-api", "hadoop-client-runtime", *_COMPILER),
)
"""The Hive Metastore 4.0.1 server: Hive's own archive and what it lacks."""

SPARK_ICEBERG = JarSet("spark-iceberg", (Artifact("org.apache.iceberg", "iceberg-spark-runtime-4.1_2.13", "1.12.0"),))
"""Iceberg's catalogs for Spark 4.1."""

TRINO = JarSet(
    "trino-476",
    (
        Artifact("io.trino", "trino-server-core", "476", extension="tar.gz"),
        Artifact("io.trino", "trino-iceberg", "476", extension="zip"),
    ),
)
"""The Trino 476 server with its Iceberg connector."""

NEEDED_JAVA = 24
"""Trino 476 needs Java 24 with `jdk.incubator.vector`; Nessie is content with 21 and runs on the same one."""


def newer_java() -> Path:
    """The ``java`` for Trino and Nessie: of NESTSYNC_ENGINES_JAVA, else one where JDKs are usually installed.

    Raises `PrerequisiteMissing`.
    """
    named = os.environ.get("NESTSYNC_ENGINES_JAVA") or os.environ.get("JAVA_HOME")
    usual = (*Path("/usr/lib/jvm").glob("*"), *Path("/Library/Java/JavaVirtualMachines").glob("*/Contents/Home"))
    programs = [Path(home) / "bin" / "java" for home in (*filter(None, [named]), *sorted(usual))]
    on_path = shutil.which("java")
    for program in [*programs, *map(Path, filter(None, [on_path]))]:
        version = java_version(str(program))
        if version is not None and version >= NEEDED_JAVA:
            return program
    raise PrerequisiteMissing(
        f"there is no Java {NEEDED_JAVA} or newer, which Trino 476 needs",
        where="NESTSYNC_ENGINES_JAVA, JAVA_HOME, /usr/lib/jvm, PATH",
        hint="install a full JDK 25 and name its folder in NESTSYNC_ENGINES_JAVA",
    )


def compiler() -> list[Path]:
    """The jars of the compiler that `JavaServer` starts its programs with."""
    return [pyspark_jar(name) for name in _COMPILER]
