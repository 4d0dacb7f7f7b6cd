"""The commands themselves: their options, and how the workspace is found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nestsync.completion import complete_catalogs, complete_dialects, complete_run_ids
from nestsync.configfile import workspace_of
from nestsync.core.dialects import NameRefused
from nestsync.core.explain import Asked
from nestsync.core.explain import explain as explained
from nestsync.core.separators import typed_separator
from nestsync.errors import ConfigurationError
from nestsync.names.explained import Explained
from nestsync.names.separators import Separators, read_separators
from nestsync.names.tree import Tree, read_tree
from nestsync.runfiles import RunFiles
from nestsync.shell import Manner, carry_out
from nestsync.ui import Confirm, Ui

ConfigFile = Annotated[
    Path | None,
    typer.Option("-c", "--config", metavar="FILE", help="The configuration file; only its `workspace` is looked at."),
]
WorkspaceFolder = Annotated[
    Path | None, typer.Option("--workspace", metavar="DIR", help="The workspace itself, instead of a configuration.")
]
RunId = Annotated[
    str | None,
    typer.Option(
        "--run-id",
        metavar="ID",
        help="The run to look at. The latest inventory by default.",
        autocompletion=complete_run_ids,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the answer only, without progress.")]
Debug = Annotated[bool, typer.Option("--debug", help="Print the traceback of an unexpected failure.")]


def explain(
    text: Annotated[
        str, typer.Argument(metavar="IDENTIFIER", help="A namespace (or a table), as its dialect writes it.")
    ],
    dialect: Annotated[
        str,
        typer.Option(
            "--from", metavar="DIALECT", help="The dialect that it is written in.", autocompletion=complete_dialects
        ),
    ] = "spark",
    table: Annotated[bool, typer.Option("--table", help="It names a table, not a namespace.")] = False,
    separator: Annotated[
        str | None,
        typer.Option(
            "--separator",
            metavar="TEXT",
            help="What joins levels in that dialect, where one can choose: `;`, or %1F, \\x1f, \\u001f or U+001F for "
            "what cannot be typed.",
            show_default="the dialect's own",
        ),
    ] = None,
    catalog: Annotated[
        list[str] | None,
        typer.Option(
            "--catalog", metavar="NAME", help="A catalog that Spark knows, so that a first part may be it. Repeatable."
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """One identifier in every dialect, where each way back leads, and which targets refuse it."""

    def work(_ui: Ui, _confirm: Confirm) -> Explained:
        chosen = None if separator is None else typed_separator(separator)
        try:
            return Explained(explained(Asked(text, dialect, chosen, table, tuple(catalog or ()))))
        except NameRefused as error:
            error.hint = f"accepted: {error.hint}; --from names the dialect that the text is written in"
            raise

    carry_out("explain", Manner(json=json, debug=debug), work)


def tree(
    config: ConfigFile = None,
    workspace: WorkspaceFolder = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            metavar="NAME",
            help="A catalog of the inventory, may be given again. All by default.",
            autocompletion=complete_catalogs,
        ),
    ] = None,
    run_id: RunId = None,
    depth: Annotated[
        int | None, typer.Option("--depth", metavar="N", min=1, help="How many levels to show. All by default.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """The namespaces of the last inventory, as the hierarchy that they are."""

    def work(_ui: Ui, _confirm: Confirm) -> Tree:
        return read_tree(workspace_files(config, workspace), run_id=run_id, names=tuple(source or ()), depth=depth)

    carry_out("tree", Manner(json=json, quiet=quiet, debug=debug), work, config_file=config)


def separators(
    config: ConfigFile = None,
    workspace: WorkspaceFolder = None,
    run_id: RunId = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """The candidates for the separator, ranked: which names hold them, and what each would change."""

    def work(_ui: Ui, _confirm: Confirm) -> Separators:
        return read_separators(workspace_files(config, workspace), run_id=run_id)

    carry_out("separators", Manner(json=json, quiet=quiet, debug=debug), work, config_file=config)


def workspace_files(config: Path | None, workspace: Path | None) -> RunFiles:
    """The files of the workspace that either names. Raises `ConfigurationError` unless it is one of the two."""
    if (config is None) == (workspace is None):
        what = "the workspace is not named" if config is None else "the workspace is named twice"
        raise ConfigurationError(what, hint="name it with either -c FILE or --workspace DIR")
    return RunFiles(workspace if config is None else workspace_of(config))  # type: ignore[arg-type]


__all__ = [
    "ConfigFile",
    "Debug",
    "Json",
    "Quiet",
    "WorkspaceFolder",
    "explain",
    "separators",
    "tree",
    "workspace_files",
]
