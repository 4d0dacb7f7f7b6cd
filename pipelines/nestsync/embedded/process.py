"""A Java server as a child process: started until it answers, stopped for certain, never left behind."""

from __future__ import annotations

import fcntl
import os
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import TracebackType
from typing import IO, ClassVar, Self

from nestsync.core.errors import NestsyncError
from nestsync.jars import JarSet, fetch, java

JVM_FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true")
"""A small, quick JVM: these servers live for minutes, and share a laptop with Spark."""
_START_SECONDS = 180.0
_LOCK_SECONDS = 20.0
_STOP_SECONDS = 10.0
_LOG_LINES_SHOWN = 5


class ServerFailed(NestsyncError):
    """An embedded server did not start, or died."""

    code = "server-failed"


def lock_folder(folder: Path, who: str) -> IO[bytes]:
    """Take the lock on `folder`, which is given back when what is returned closes, here and in child processes.

    Waits for a holder that is about to end. Raises `ServerFailed`; `who` says what holds it ("another demo").
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("wb")
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                lock.close()
                raise ServerFailed(
                    f"{who} runs on this folder",
                    where=str(folder),
                    hint="wait until the other run has ended, or use another folder",
                ) from error
            time.sleep(0.1)
        else:
            return lock


class JavaServer(ABC):
    """One server over one folder, which holds its state, its configuration and its log.

    Its Java source (`embedded/java`) is compiled in the JVM that runs it, by the Janino that Spark ships; so a
    Java runtime is enough. The server ends when the pipe to its standard input closes, which it does when this
    process ends, killed or not. A file lock, inherited by the server, keeps a second one off the same folder.
    Not for use by several threads at once.
    """

    name: ClassVar[str]
    jar_set: ClassVar[JarSet]
    java_class: ClassVar[str]
    memory: ClassVar[str]
    java_folder: ClassVar[Traversable] = files("nestsync.embedded") / "java"
    """Where the source of `java_class` is."""

    def __init__(self, home: Path, *, port: int = 0) -> None:
        self.home = Path(home).absolute()
        self._wanted_port = port
        self._port: int | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        """Where it listens on 127.0.0.1. Raises `ServerFailed` when it is not running."""
        if self._port is None:
            raise ServerFailed(f"the {self.name} is not running", where=str(self.home))
        return self._port

    @property
    def pid(self) -> int | None:
        """The process, while it runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    @property
    def log(self) -> Path:
        """What the server said, over all its starts."""
        return self.home / "server.log"

    @property
    @abstractmethod
    def uri(self) -> str:
        """The address that a client takes."""

    @abstractmethod
    def ask(self) -> None:
        """One cheap question that only a healthy server answers. Raises whatever the client raises."""

    @abstractmethod
    def _prepare(self, class_path: Sequence[Path]) -> None:
        """Write the configuration; create the state where there is none yet."""

    @abstractmethod
    def _arguments(self) -> Sequence[str]:
        """The arguments of the Java class, without the port and the port file, which follow them."""

    def _class_path(self) -> list[Path]:
        return fetch(self.jar_set)

    def _environment(self) -> Mapping[str, str]:
        return {}

    def fetch(self, report: Callable[[str], None] = lambda text: None) -> None:
        """Get the jars, which `start` does too; `report` hears what is being fetched."""
        fetch(self.jar_set, report)

    def start(self) -> Self:
        """Start it and wait until it answers. Raises `ServerFailed` with the end of its log when it does not."""
        if self.pid is not None:
            return self
        with self._lock() as lock:
            class_path = self._class_path()
            self._prepare(class_path)
            self._port_file.unlink(missing_ok=True)
            self._process = self._spawn(
                self._main(class_path, self.java_class, *self._arguments(), str(self._wanted_port), self._port_file),
                pass_fds=(lock.fileno(),),
            )
        try:
            self._wait_until_healthy()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop it: politely first, by force when it does not listen. Harmless when it is not running."""
        process, self._process, self._port = self._process, None, None
        if process is None:
            return
        if process.stdin:
            process.stdin.close()  # the lifeline: the server closes its database and exits
        for escalate in (process.terminate, process.kill, None):
            try:
                process.wait(_STOP_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if escalate:
                    escalate()
        self._port_file.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def _port_file(self) -> Path:
        return self.home / "port"

    def _main(self, class_path: Sequence[Path], java_class: str, *arguments: str | Path) -> list[str]:
        """The command that compiles and runs one of our Java sources."""
        source = self.home / f"{java_class}.java"
        parts = (self.java_folder / f"{java_class}.java", JavaServer.java_folder / "Lifeline.java")
        source.write_text("".join(part.read_text("utf-8") for part in parts), encoding="utf-8")
        return self._java(class_path, "org.codehaus.janino.SimpleCompiler", source, java_class, *arguments)

    def _java(self, class_path: Sequence[Path], main: str, *arguments: str | Path) -> list[str]:
        jvm = [str(java()), *JVM_FLAGS, f"-Xmx{self.memory}", "-cp", os.pathsep.join(map(str, class_path))]
        return [*jvm, main, *map(str, arguments)]

    def _spawn(self, command: Sequence[str], pass_fds: Sequence[int] = ()) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.home,
                env=os.environ | self._environment(),
                pass_fds=pass_fds,
                start_new_session=True,  # Ctrl-C is for us: we stop the servers in order
            )

    def _run(self, command: Sequence[str], doing: str) -> None:
        """Run a program of the server to its end. Raises `ServerFailed` when it fails."""
        process = self._spawn(command)
        try:
            process.communicate(timeout=_START_SECONDS)
        finally:
            process.kill()
        if process.returncode != 0:
            raise self._failed(f"{doing} failed")

    def _lock(self) -> IO[bytes]:
        return lock_folder(self.home, f"another {self.name}")

    def _wait_until_healthy(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        refused = "it never said where it listens"
        while time.monotonic() < deadline:
            if self.pid is None:
                raise self._failed(f"the {self.name} ended while it was starting")
            try:
                self._port = int(self._port_file.read_text("utf-8"))
                self.ask()
            except FileNotFoundError:
                pass
            except Exception as error:  # every client has its own errors; the last one is shown
                refused = str(error)
            else:
                return
            time.sleep(0.05)
        raise self._failed(f"the {self.name} does not answer after {_START_SECONDS:.0f} s: {refused}")

    def _failed(self, what: str) -> ServerFailed:
        lines = self.log.read_text("utf-8", errors="replace").splitlines()
        said = [line.strip() for line in lines if not line.lstrip().startswith(("at ", "..."))]  # no stack frames
        shown = " | ".join(said[-_LOG_LINES_SHOWN:])
        return ServerFailed(f"{what}: {shown}", where=str(self.home), hint=f"the whole log is {self.log}")
