"""The signals that end a process: none of them is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BEGIN = """
import io, os, signal, time
from nestsync import signals

def signalled():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)

class Finalized:
    def __del__(self):
        signalled()

class File(io.RawIOBase):
    def close(self):
        if not self.closed:
            super().close()
            signalled()

def write(file, text):
    with open(file, "w") as opened:
        opened.write(text)

def clean_up():
    os.kill(os.getpid(), signal.SIGTERM)
    try:
        int("no number")
    except ValueError:
        time.sleep(1)
    print("cleaned up")
"""
"""Then what the main thread does when the signal comes; it would take longer than this test waits."""


@pytest.mark.parametrize(
    "work",
    [
        pytest.param("signalled()", id="while-it-works"),
        pytest.param("Finalized(); time.sleep(60)", id="in-a-finalizer"),
        pytest.param("File(); time.sleep(60)", id="while-a-file-is-closed"),
        pytest.param("File(); File(); time.sleep(60)", id="twice-while-a-file-is-closed"),
    ],
)
def test_sigterm_ends_what_runs_wherever_it_comes_and_lets_it_clean_up(work: str) -> None:
    program = f"{BEGIN}\nwith signals.answered():\n    try:\n        {work}\n    finally:\n        clean_up()\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, "cleaned up\n")


def test_a_driver_ends_with_the_spark_submit_that_it_belongs_to(tmp_path: Path) -> None:
    driver = f"""{BEGIN}
signals.end_with_parent()
with signals.answered():
    try:
        write({str(tmp_path / "started")!r}, "yes")
        time.sleep(60)
    except SystemExit as ended:
        write({str(tmp_path / "ended")!r}, str(ended))
"""
    submit = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {driver!r}]); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", submit]) as process:
        awaited(tmp_path / "started")
        process.kill()
    assert awaited(tmp_path / "ended") == str(128 + signal.SIGTERM)


def awaited(file: Path) -> str:
    """What `file` holds, when it holds something."""
    deadline = time.monotonic() + 30
    while not file.exists() or not file.read_text():
        assert time.monotonic() < deadline, f"no {file.name}"
        time.sleep(0.05)
    return file.read_text()


def test_a_signal_that_was_heard_is_not_told_again() -> None:
    program = f"""{BEGIN}
with signals.answered():
    try:
        signalled()
    except SystemExit as ended:
        signals.heard()
        code = ended.code
    time.sleep(1)
    print("told", code)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"told {128 + signal.SIGTERM}\n", "")
