"""What every command does around its work: output, questions, errors and exit codes."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, Protocol, TextIO

import typer

from nestsync import signals
from nestsync.configfile import workspace_of
from nestsync.errors import NestsyncError, UsageMistake, one_line
from nestsync.outcome import INTERRUPTED, BrokenOff, RunOutcome, ended_by
from nestsync.printing import (
    STYLES,
    counted,
    is_terminal,
    print_table,
    visible,
    write_line,
    write_styled,
)
from nestsync.streams import demand_written
from nestsync.ui import Confirm, Ui, open_ui

OUTCOME_FILE = "NESTSYNC_OUTCOME_FILE"
"""The environment variable with the path of a file that takes the document of ``--json``, whatever is printed.

For schedulers: under spark-submit, standard output belongs to the log.
"""


@dataclass(frozen=True)
class Manner:
    """How a command was asked to behave."""

    json: bool = False
    quiet: bool = False
    debug: bool = False
    yes: bool = False


class Answer(Protocol):
    """What a command answers with that takes no run through stages; it ends with 0."""

    def as_json(self) -> dict[str, Any]:
        """The answer as one document."""

    def write(self, stream: TextIO) -> None:
        """The answer as a person reads it: drawn on a terminal, plain anywhere else."""


Work = Callable[[Ui, Confirm], RunOutcome | Answer]


def carry_out(command: str, manner: Manner, work: Work, *, config_file: Path | None = None) -> NoReturn:
    """Do `work`, show how it went and end with its exit code.

    Raises `typer.Exit`, never anything else: an error becomes a message and its exit code, an unexpected one 1 and
    a file with its traceback in the workspace that `config_file` names.
    """
    # spark-submit joins the two streams of a Python driver: what must not be in the document cannot be said at all.
    joined = signals.SUBMITTED in os.environ
    ui = open_ui(quiet=manner.quiet or (manner.json and joined), machine=manner.json)
    try:
        with closing(ui), _standard_output_kept(manner.json):
            outcome = work(ui, _confirmation(manner, ui))
    except BaseException as error:  # a signal, too, ends in a message and one document
        signals.heard()
        came, cause = _broken_off(error, command)
        failure = _failure(cause, command, manner, config_file)
        told = replace(came, exit_code=failure.exit_code, verdict=failure.what)
    else:
        if not isinstance(outcome, RunOutcome) or outcome.error is None:
            _show(outcome, command, manner)
            raise typer.Exit(outcome.exit_code if isinstance(outcome, RunOutcome) else 0)
        failure, told = Failure.of(outcome.error), outcome
    _show_failure(failure, told, manner, stay_silent=manner.json and joined)
    raise typer.Exit(failure.exit_code)


def _broken_off(error: BaseException, command: str) -> tuple[RunOutcome, BaseException]:
    """How far a command came before `error`, and what is behind it."""
    found: BaseException | None = error
    while found is not None:  # Spark, when it is ended with us, may fail once more on the way out
        if isinstance(found, BrokenOff) and found.__cause__ is not None:
            return found.outcome, found.__cause__
        found = found.__context__
    return RunOutcome("", command, 1, ""), error


def _failure(error: BaseException, command: str, manner: Manner, config_file: Path | None) -> Failure:
    ended = ended_by(error)
    if ended is not None:
        code, said = ended
        return Failure(code, "interrupted" if code == INTERRUPTED else "terminated", said)
    if isinstance(error, NestsyncError):
        return Failure.of(error)
    return _unexpected(error, command, manner, config_file)


@contextmanager
def _standard_output_kept(wanted: bool) -> Iterator[None]:
    """Where `wanted`, send to standard error whatever this process and its children print until the end of the block.

    The document must be alone on standard output, and Spark's JVM inherits the file descriptor.
    """
    if not wanted:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _confirmation(manner: Manner, ui: Ui) -> Confirm:
    def ask(question: str) -> bool:
        if manner.yes or not sys.stdin.isatty():
            return True  # in a script, the command itself is the consent
        if not sys.stderr.isatty():
            return False  # somebody is there and would not see the question
        with ui.suspended():
            sys.stderr.write(f"{visible(question)} [y/N] ")
            sys.stderr.flush()
            return sys.stdin.readline().strip().lower() in {"y", "yes"}

    return ask


# ---- how it went


def _show(outcome: RunOutcome | Answer, command: str, manner: Manner) -> None:
    failed = outcome.failed if isinstance(outcome, RunOutcome) else None
    error = None if failed is None else Failure.of(failed).as_json()
    document = {"command": command, "exit_code": 0} | outcome.as_json() | {"error": error}
    _leave(document)
    if manner.json:
        _print_json(document)
    elif isinstance(outcome, RunOutcome):
        _print_outcome(outcome, manner)
    else:
        outcome.write(sys.stdout)


def _print_outcome(outcome: RunOutcome, manner: Manner) -> None:
    if not manner.quiet:
        if outcome.stages and not (
            is_terminal(sys.stdout) and is_terminal(sys.stderr)
        ):  # there, the lines stand already
            rows = [(s.stage, s.status, f"{s.seconds:.1f}", counted(s.counts)) for s in outcome.stages]
            print_table(sys.stdout, "", ("stage", "status", "seconds", "counted"), rows)
        run = f"run {outcome.run_id}: " if outcome.run_id else ""
        style = STYLES[{0: "ok", 3: "blocked"}.get(outcome.exit_code, "failed")]
        write_styled(sys.stdout, (run, ""), (visible(outcome.verdict), f"bold {style}"))
        if outcome.next_steps:
            write_line(sys.stdout, "next:")
        for step in outcome.next_steps:
            write_styled(sys.stdout, (f"  {visible(step)}", "bold"))
    if outcome.report is not None:
        write_line(sys.stdout, str(outcome.report))


def _print_json(document: dict[str, Any]) -> None:
    sys.stdout.write(_as_line(document))
    sys.stdout.flush()


def _as_line(document: dict[str, Any]) -> str:
    # ASCII: a lone surrogate in a name has no UTF-8.
    return json.dumps(document, ensure_ascii=True) + "\n"


def _leave(document: dict[str, Any]) -> None:
    """Write `document` for a scheduler that asked for it with `OUTCOME_FILE`."""
    wanted = os.environ.get(OUTCOME_FILE)
    if wanted:
        try:
            Path(wanted).write_text(_as_line(document), encoding="ascii")
        except OSError as error:  # what was done is done, and its exit code says how it went
            write_line(sys.stderr, visible(f"{OUTCOME_FILE}={wanted} cannot be written: {error.strerror}"))


@dataclass(frozen=True)
class Failure:
    """A command that could not be carried out, as it is shown."""

    exit_code: int
    code: str
    what: str
    where: str = ""
    hint: str = ""
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: NestsyncError) -> Failure:
        """The failure that `error` is."""
        problems = getattr(error, "problems", ())
        return cls(error.exit_code, error.code, error.what, error.where, error.hint, problems)

    def as_json(self) -> dict[str, Any]:
        """What ``error`` of the document holds."""
        told = {"code": self.code, "what": self.what, "where": self.where, "hint": self.hint}
        return told | {"problems": list(self.problems)}


def end(exit_code: str | int | None) -> NoReturn:
    """End the process with `exit_code`; with an error where that is none, and not all of the output was taken."""
    try:
        demand_written()
    except NestsyncError as error:
        _print_failure(sys.stderr, Failure.of(error))
        exit_code = exit_code or error.exit_code
    raise SystemExit(exit_code)


def leave_mistake(command: str, what: str, *, json: bool) -> None:
    """Leave the document of a command line that cannot be understood, and where `json`, print it."""
    failure = Failure.of(UsageMistake(what, hint="--help tells what a command takes"))
    _show_failure(failure, RunOutcome("", command, failure.exit_code, what), Manner(json), stay_silent=True)


def _show_failure(failure: Failure, told: RunOutcome, manner: Manner, *, stay_silent: bool) -> None:
    """Show `failure`; `told` is how far the command came."""
    document = told.as_json() | {"error": failure.as_json()}
    _leave(document)
    if manner.json:
        _print_json(document)
    if not stay_silent:
        _print_failure(sys.stderr, failure)
        for step in told.next_steps:
            write_line(sys.stderr, f"  go on with: {visible(step)}")


def _print_failure(stream: TextIO, failure: Failure) -> None:
    place = f"{one_line(failure.where)}: " if failure.where else ""
    many = len(failure.problems) > 1
    what = f"{len(failure.problems)} problems" if many else visible(failure.what)
    write_styled(stream, (f"error [{failure.code}] ", "bold red"), (f"{place}{what}", ""))
    for problem in failure.problems if many else ():
        write_line(stream, f"  {visible(problem)}")
    if failure.hint:
        write_line(stream, f"  hint: {visible(failure.hint)}")


def _unexpected(error: BaseException, command: str, manner: Manner, config_file: Path | None) -> Failure:
    text = "".join(traceback.format_exception(error))
    if manner.debug:
        sys.stderr.write(text)
    said = str(error).strip().partition("\n")[0][:300]
    try:
        hint = f"the full traceback is in {_write_log(text, command, config_file)}; --debug shows it"
    except OSError:  # what failed may be the disk
        hint = "--debug shows the full traceback"
    return Failure(
        1,
        "unexpected",
        f"{type(error).__name__}: {said}" if said else type(error).__name__,
        hint=hint,
    )


def _write_log(text: str, command: str, config_file: Path | None) -> Path:
    name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{command}-{os.getpid()}.log"
    if config_file is not None:
        with suppress(NestsyncError, OSError):
            log = workspace_of(config_file) / "logs" / name
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(text, encoding="utf-8", errors="backslashreplace")
            return log
    log = Path(tempfile.mkdtemp(prefix="nestsync-")) / name
    log.write_text(text, encoding="utf-8", errors="backslashreplace")
    return log


__all__ = ["OUTCOME_FILE", "Answer", "Failure", "Manner", "carry_out", "end", "leave_mistake"]
