from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from zipfile import ZipFile

import pytest

from nestsync import jars
from nestsync.errors import PrerequisiteMissing
from nestsync.jars import HMS_3, ICEBERG_REST_1_10, SPARK_DELTA, Artifact, JarSet, JarsUnavailable

ALL_SETS = (SPARK_DELTA, HMS_3, ICEBERG_REST_1_10)


def fake_java(folder: Path, says: str, code: int = 0) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {code}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    "says",
    ['openjdk version "17.0.15" 2025-04-15', 'java version "21" 2023-09-19 LTS', 'openjdk version "21.0.1-ea"'],
)
def test_java_17_and_21_are_taken(says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = fake_java(tmp_path, says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert jars.java() == program


@pytest.mark.parametrize(
    ("says", "code", "sentence"),
    [
        pytest.param('java version "1.8.0_402"', 0, "Java 8 does not fit", id="java-8"),
        pytest.param('openjdk version "11.0.2"', 0, "Java 11 does not fit", id="java-11"),
        pytest.param('openjdk version "25" 2025-09-16', 0, "Java 25 does not fit", id="java-25"),
        pytest.param("No Java runtime present", 1, "Java is missing", id="the-macos-stub"),
        pytest.param("hello", 0, "Java is missing", id="something-else-called-java"),
    ],
)
@pytest.mark.proves("exit-2")
def test_another_java_is_refused_with_what_to_install(
    says: str, code: int, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path, says, code)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(PrerequisiteMissing) as refused:
        jars.java()
    text = str(refused.value)
    assert sentence in text
    assert f"JAVA_HOME={tmp_path}" in text
    assert "apt-get install openjdk-17-jre-headless" in text
    assert "brew install openjdk@17" in text
    assert refused.value.exit_code == 2


def test_without_java_home_path_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = fake_java(tmp_path, 'openjdk version "17.0.1"')
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert jars.java() == program
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PrerequisiteMissing, match="Java is missing"):
        jars.java()


def test_the_home_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NESTSYNC_HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert jars.home() == Path.home() / ".cache" / "nestsync"
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert jars.home() == Path("/caches/nestsync")
    monkeypatch.setenv("NESTSYNC_HOME", "/mine")
    assert jars.home() == Path("/mine")


@pytest.mark.parametrize("jar_set", ALL_SETS, ids=lambda s: s.name)
def test_sets_name_each_file_once_and_what_pyspark_ships(jar_set: JarSet) -> None:
    names = [artifact.file_name for artifact in jar_set.artifacts]
    assert len(set(names)) == len(names)
    assert all(jars.pyspark_jar(name).is_file() for name in jar_set.from_pyspark)


def test_under_spark_submit_pyspark_is_a_zip_beside_its_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = jars.pyspark_jar("ivy")
    zipped = expected.parents[1] / "python" / "lib" / "pyspark.zip"
    monkeypatch.setattr(sys, "path", [str(zipped), *sys.path])
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    assert jars.pyspark_jar("ivy") == expected


def test_a_jar_that_pyspark_lacks_is_named() -> None:
    with pytest.raises(PrerequisiteMissing, match="ships no no-such-thing jar"):
        jars.pyspark_jar("no-such-thing")


class CountingHandler(SimpleHTTPRequestHandler):
    """A Maven repository out of a folder that remembers which files it was asked for."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        super().do_GET()

    def log_message(self, *args: object) -> None:
        pass


PACKED = JarSet("packed", (Artifact("com.example.data", "packed", "1.0", extension="zip"),))
TINY = JarSet(
    "tiny", (Artifact("com.example.data", "tiny", "1.0"), Artifact("com.example.data", "tiny", "1.0", "tests"))
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    """A repository on loopback that holds `TINY`, and a home folder that fetches from it."""
    files = tmp_path / "repository" / "com/example/data/tiny/1.0"
    files.mkdir(parents=True)
    for artifact in TINY.artifacts:
        (files / artifact.file_name).write_bytes(b"PK" + artifact.file_name.encode() * 1000)
    packed = tmp_path / "repository/com/example/data/packed/1.0/packed-1.0.zip"
    packed.parent.mkdir(parents=True)
    with ZipFile(packed, "w") as archive:
        archive.writestr("packed-1.0/com...shortened.jar", b"PK")
    handler = partial(CountingHandler, directory=str(tmp_path / "repository"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.asked = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="mine"/><resolvers><ibiblio name="mine" m2compatible="true" '
        f'usepoms="false" root="http://127.0.0.1:{server.server_port}/"/></resolvers></ivysettings>'
    )
    monkeypatch.setenv("NESTSYNC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NESTSYNC_IVY_SETTINGS", str(settings))
    yield server
    server.shutdown()
    server.server_close()


def downloads(server: ThreadingHTTPServer) -> list[str]:
    return sorted(path for path in server.asked if path.endswith(".jar"))  # type: ignore[attr-defined]


@pytest.mark.servers
class TestFetch:
    def test_fetches_once_and_tells(self, repository: ThreadingHTTPServer) -> None:
        told: list[str] = []
        first = jars.fetch(TINY, told.append)
        assert [jar.name for jar in first] == ["tiny-1.0-tests.jar", "tiny-1.0.jar"]
        assert {"fetching the jars of tiny", "fetching tiny-1.0.jar"} <= set(told)
        asked = downloads(repository)
        assert jars.fetch(TINY) == first
        assert downloads(repository) == asked
        assert not (jars.home() / "ivy").exists()

    def test_a_zip_comes_unpacked_with_all_that_is_in_it(self, repository: ThreadingHTTPServer) -> None:
        (jar,) = jars.fetch(PACKED)
        assert jar.relative_to(jars.folder(PACKED)) == Path("packed-1.0/com...shortened.jar")

    @pytest.mark.parametrize("damage", ["marker-gone", "jar-gone", "jar-cut"])
    def test_a_damaged_folder_is_fetched_again(self, damage: str, repository: ThreadingHTTPServer) -> None:
        first = jars.fetch(TINY)
        wanted = first[0].read_bytes()
        if damage == "marker-gone":
            (jars.folder(TINY) / "complete.json").unlink()
        elif damage == "jar-gone":
            first[0].unlink()
        else:
            first[0].write_bytes(wanted[:10])
        assert jars.fetch(TINY) == first
        assert first[0].read_bytes() == wanted

    def test_two_processes_fetch_once(self, repository: ThreadingHTTPServer) -> None:
        program = (
            "import json; from nestsync import jars; from tests.test_jars import TINY;"
            "print(json.dumps([str(j) for j in jars.fetch(TINY)]))"
        )
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", program]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) for _ in range(2)]
        answers = [json.loads(process.communicate(timeout=120)[0]) for process in running]
        assert answers[0] == answers[1]
        assert all(Path(jar).is_file() for jar in answers[0])
        assert len(downloads(repository)) == len(set(downloads(repository)))

    @pytest.mark.proves("exit-5")
    def test_a_file_that_is_not_served_is_named(self, repository: ThreadingHTTPServer) -> None:
        with pytest.raises(JarsUnavailable, match=r"com\.example\.data#tiny;2\.0: not found") as refused:
            jars.fetch(JarSet("gone", (Artifact("com.example.data", "tiny", "2.0"),)))
        assert refused.value.exit_code == 5
        assert not list((jars.home() / "jars").iterdir())

    def test_an_unreachable_repository_is_said(self, repository: ThreadingHTTPServer) -> None:
        repository.shutdown()
        repository.server_close()
        with pytest.raises(JarsUnavailable, match=r"Connection refused.*NESTSYNC_IVY_SETTINGS"):
            jars.fetch(TINY)

    @pytest.mark.parametrize("jar_set", ALL_SETS, ids=lambda s: s.name)
    def test_the_declared_sets_are_served(self, jar_set: JarSet) -> None:
        names = {jar.name for jar in jars.fetch(jar_set)}
        assert {artifact.file_name for artifact in jar_set.artifacts if artifact.extension == "jar"} <= names
