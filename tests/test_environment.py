"""What `make` says on a machine that lacks something: exactly that, and how to install it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
TOOLS = ("bash", "dirname", "sed", "head", "env")
OLD_PYTHON = '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2 && exit 0\nexit 1\n'
NEW_PYTHON = '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.12.1\nexit 0\n'
JAVA = "#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with a shell and little else; what a test puts into the folder is on its PATH."""
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found
        (tmp_path / tool).symlink_to(found)
    return tmp_path


def install(machine: Path, name: str, script: str) -> None:
    file = machine / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(script, encoding="utf-8")
    file.chmod(0o755)


def prepared(machine: Path, **environment: str) -> tuple[int, str]:
    """The exit code and the complaint of a preparation that must not get as far as installing anything."""
    script = ROOT / "tools" / "environment.sh"
    done = subprocess.run(
        [str(machine / "bash"), str(script), "--check"], capture_output=True, text=True, timeout=60, check=False,
        env={"PATH": str(machine), "HOME": os.environ["HOME"]} | environment,
    )  # fmt: skip
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_no_python(machine: Path) -> None:
    code, said = prepared(machine)
    assert code == 2
    assert said.startswith("Python 3.11 or newer is missing (found: none).\n")
    assert "apt-get install python3" in said
    assert "Java" not in said


def test_a_python_that_is_too_old(machine: Path) -> None:
    install(machine, "python3", OLD_PYTHON)
    assert prepared(machine)[1].startswith("Python 3.11 or newer is missing (found: Python 3.9.2).\n")


def test_an_old_python_does_not_hide_a_newer_one(machine: Path) -> None:
    install(machine, "python3", OLD_PYTHON)
    install(machine, "python3.12", NEW_PYTHON)
    install(machine, "java", JAVA.format(version="17.0.15"))
    assert prepared(machine) == (0, "")


@pytest.mark.parametrize("version", ["17.0.15", "21.0.2", "21"])
def test_a_java_that_fits(machine: Path, version: str) -> None:
    install(machine, "python3", NEW_PYTHON)
    install(machine, "java", JAVA.format(version=version))
    assert prepared(machine) == (0, "")


@pytest.mark.parametrize(
    ("version", "found"),
    [(None, "none"), ("1.8.0_382", "Java 8"), ("11.0.2", "Java 11"), ("25", "Java 25")],
    ids=["no-java", "java-8", "java-11", "java-25"],
)
def test_a_java_that_does_not_fit(machine: Path, version: str | None, found: str) -> None:
    install(machine, "python3", NEW_PYTHON)
    if version:
        install(machine, "java", JAVA.format(version=version))
    code, said = prepared(machine)
    assert code == 2
    assert said.startswith(f"Java 17 or 21 is missing (found: {found}).\n")
    assert "apt-get install openjdk-17-jre-headless" in said
    assert "Python" not in said


def test_java_home_is_what_counts_where_it_is_set(machine: Path) -> None:
    install(machine, "python3", NEW_PYTHON)
    install(machine, "java", JAVA.format(version="17.0.15"))
    install(machine, "jdk/bin/java", JAVA.format(version="11.0.2"))
    said = prepared(machine, JAVA_HOME=str(machine / "jdk"))[1]
    assert said.startswith(f"Java 17 or 21 is missing (found: Java 11 in JAVA_HOME={machine / 'jdk'}).\n")


@pytest.mark.parametrize(("pins", "extras"), [("dev.txt", ["dev"]), ("run.txt", [])])
def test_everything_that_is_asked_for_is_pinned(pins: str, extras: list[str]) -> None:
    """Else it is there only on machines on which somebody installed it by hand."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(name for extra in extras for name in project["optional-dependencies"][extra])]
    pinned = dict(line.split("==") for line in (ROOT / "requirements" / pins).read_text(encoding="utf-8").splitlines())
    for requirement in map(Requirement, asked):
        name = canonicalize_name(requirement.name)
        assert name in pinned, f"{requirement} has no pin in requirements/{pins}: `make pins`"
        assert requirement.specifier.contains(pinned[name])
