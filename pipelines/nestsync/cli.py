"""The command line: ``nestsync run -c FILE``, each stage on its own, ``assess``, ``demo``, and looking at names.

Nothing heavy is imported before a command needs it: help, completion and mistakes answer at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from nestsync import __version__, signals
from nestsync.completion import complete_run_ids, complete_sources
from nestsync.errors import EXIT_CODES
from nestsync.names import commands as names
from nestsync.names.parameters import LightCommand, LightGroup
from nestsync.outcome import RunOutcome
from nestsync.past import commands as past
from nestsync.shell import Answer, Manner, carry_out, end, leave_mistake
from nestsync.streams import open_standard_streams
from nestsync.ui import Confirm, Ui

ALL_STAGES = ("inventory", "check", "plan", "apply", "verify", "report")
ASSESSMENT = ("inventory", "check", "report")
STAGES_PANEL = "One stage of a run"
NAMES_PANEL = "Names, without Spark"
PAST_PANEL = "Earlier runs"


class Program(LightGroup):
    """The program itself; for machines, a mistake on the command line is a document as every other failure is."""

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **settings: Any) -> Any:
        words = list(args)
        with _mistakes_told(words):
            context = super().make_context(info_name, args, *more, **settings)
        context.meta[__name__] = words
        return context

    def invoke(self, ctx: Any) -> Any:
        with _mistakes_told(ctx.meta[__name__]):
            return super().invoke(ctx)


@contextmanager
def _mistakes_told(words: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except typer.TyperException as mistake:
        command = next((word for word in words if not word.startswith("-")), "")
        leave_mistake(command, _said(mistake), json="--json" in words)
        raise


def _said(mistake: typer.TyperException) -> str:
    """In the words that a person is told it with; the text of the error itself has the names of the code."""
    formatted = getattr(mistake, "format_message", None)
    return str(mistake) if formatted is None else str(formatted())


app = typer.Typer(
    name="nestsync",
    cls=Program,
    help="Proves that catalog names survive the trip, then makes the trip: namespaces of Hive Metastore, Iceberg REST "
    "and Lance catalogs, reconciled into a target catalog.",
    epilog="Exit codes: " + " · ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + ".",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ConfigFile = Annotated[
    Path, typer.Option("-c", "--config", metavar="FILE", help="The configuration file (YAML).", show_default=False)
]
NewRunId = Annotated[
    str | None,
    typer.Option(
        "--run-id",
        metavar="ID",
        help="The run to go on with, or the name of a new one. A new one by default.",
        autocompletion=complete_run_ids,
    ),
]
RunId = Annotated[
    str | None,
    typer.Option(
        "--run-id", metavar="ID", help="The run to go on with. The latest by default.", autocompletion=complete_run_ids
    ),
]
Sources = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="A source, or the target, to read; may be given again. What else the run has stays. All by default.",
        autocompletion=complete_sources,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking. Off a terminal nothing is asked.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, all else on error.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors and the report's path only.")]
Debug = Annotated[bool, typer.Option("--debug", help="Print the traceback of an unexpected failure.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nestsync {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """What comes before the command."""


@app.command()
def run(
    config: ConfigFile,
    run_id: NewRunId = None,
    yes: Yes = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """All stages: inventory, check, plan, apply, verify, report."""
    _stages("run", ALL_STAGES, config, Manner(json, quiet, debug, yes), run_id)


@app.command()
def assess(
    config: ConfigFile, run_id: NewRunId = None, json: Json = False, quiet: Quiet = False, debug: Debug = False
) -> None:
    """Inventory, check and report: what stands in the way. Needs no target."""
    _stages("assess", ASSESSMENT, config, Manner(json, quiet, debug), run_id)


@app.command()
def validate(config: ConfigFile, json: Json = False, debug: Debug = False) -> None:
    """Whether a configuration is right, and which catalogs it names. Needs neither them nor Spark."""

    def work(_ui: Ui, _confirm: Confirm) -> Answer:
        from nestsync.config import load
        from nestsync.validated import Validated

        return Validated(load(config))

    carry_out("validate", Manner(json, debug=debug), work, config_file=config)


@app.command(rich_help_panel=STAGES_PANEL)
def inventory(
    config: ConfigFile,
    source: Sources = None,
    run_id: NewRunId = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Read the catalogs. Several processes may read different sources of one run at once."""
    _stages("inventory", ("inventory",), config, Manner(json, quiet, debug), run_id, tuple(source or ()) or None)


@app.command(rich_help_panel=STAGES_PANEL)
def check(
    config: ConfigFile, run_id: RunId = None, json: Json = False, quiet: Quiet = False, debug: Debug = False
) -> None:
    """Map every name to the target and find what stands in the way."""
    _stages("check", ("check",), config, Manner(json, quiet, debug), run_id)


@app.command(rich_help_panel=STAGES_PANEL)
def plan(
    config: ConfigFile, run_id: RunId = None, json: Json = False, quiet: Quiet = False, debug: Debug = False
) -> None:
    """Decide what would be written, and write nothing: the dry run."""
    _stages("plan", ("plan",), config, Manner(json, quiet, debug), run_id)


@app.command(rich_help_panel=STAGES_PANEL)
def apply(
    config: ConfigFile,
    run_id: RunId = None,
    yes: Yes = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the plan to the target; on a terminal, ask first."""
    _stages("apply", ("apply",), config, Manner(json, quiet, debug, yes), run_id)


@app.command(rich_help_panel=STAGES_PANEL)
def verify(
    config: ConfigFile, run_id: RunId = None, json: Json = False, quiet: Quiet = False, debug: Debug = False
) -> None:
    """Read the target again and compare it with the plan."""
    _stages("verify", ("verify",), config, Manner(json, quiet, debug), run_id)


@app.command(rich_help_panel=STAGES_PANEL)
def report(
    config: ConfigFile, run_id: RunId = None, json: Json = False, quiet: Quiet = False, debug: Debug = False
) -> None:
    """Write the report of a run: HTML, JUnit, JSON and Data Docs."""
    _stages("report", ("report",), config, Manner(json, quiet, debug), run_id)


@app.command()
def demo(
    home: Annotated[
        Path | None, typer.Option("--home", metavar="DIR", help="Where the demo keeps its catalogs and its workspace.")
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Forget what earlier demos left, and start over.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run on real catalogs that come along: stopped by findings first, then written, then nothing left to do."""

    def work(ui: Ui, _confirm: Confirm) -> RunOutcome:
        from nestsync import demo as on_own_catalogs

        return on_own_catalogs.run(home=home, reset=reset, ui=ui)

    carry_out("demo", Manner(json, quiet, debug, yes=True), work)


for look in (names.explain, names.tree, names.separators):
    app.command(cls=LightCommand, rich_help_panel=NAMES_PANEL)(look)

for look_back in (past.history, past.diff, past.prune):
    app.command(cls=LightCommand, rich_help_panel=PAST_PANEL)(look_back)


def _stages(
    command: str,
    stages: tuple[str, ...],
    config_file: Path,
    manner: Manner,
    run_id: str | None,
    sources: tuple[str, ...] | None = None,
) -> None:
    def work(ui: Ui, confirm: Confirm) -> RunOutcome:
        from nestsync import config

        loaded = config.load(config_file)

        from nestsync import runner  # with Spark, which a configuration that is wrong need not wait for

        return runner.run(loaded, command, stages, run_id=run_id, sources=sources, ui=ui, confirm=confirm)

    carry_out(command, manner, work, config_file=config_file)


def main(arguments: Sequence[str] | None = None, *, program: str = "nestsync") -> None:
    """Run the command line and end the process with its exit code."""
    open_standard_streams()
    with signals.answered():
        try:
            app(args=None if arguments is None else list(arguments), prog_name=program)
        except SystemExit as ended:
            end(ended.code)


def job(command: str) -> None:
    """The entry of ``spark-submit jobs/<command>.py``: the command itself, with the options that follow."""
    if signals.SUBMITTED in os.environ:
        signals.end_with_parent()
    main([command, *sys.argv[1:]], program=f"jobs/{command}.py")


__all__ = ["app", "job", "main"]
