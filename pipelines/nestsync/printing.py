"""Lines and tables for people: drawn on a terminal, plain text anywhere else, and no name acts on the terminal."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {"ok": "green", "blocked": "yellow", "failed": "red", "blocking": "red", "warning": "yellow"}
STYLES |= {"lossless": "green", "refused": "yellow", "lossy": "red"}
"""How a word that says how something went looks on a terminal."""


def is_terminal(stream: TextIO) -> bool:
    """Whether `stream` is a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def visible(text: object) -> str:
    r"""`text` with all that a terminal hides or acts on written as an escape (``\x1b``, ``\u202e``, ``\ud800``).

    Names are hostile until proven otherwise: one may hold a colour, a line break or a change of direction.
    """
    return "".join(_visible(character) for character in str(text))


def _visible(character: str) -> str:
    point = ord(character)
    if character.isprintable():
        return character
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def counted(counts: dict[str, int]) -> str:
    """`counts` in a few words: ``namespaces 45, tables 1,160``."""
    return ", ".join(f"{visible(name)} {number:,}" for name, number in counts.items())


def print_table(stream: TextIO, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table on `stream`: drawn on a terminal, aligned columns of plain text, never cut, anywhere else."""
    cells = [[visible(cell) for cell in row] for row in rows]
    numeric = [_numeric([row[index] for row in cells]) for index in range(len(columns))]
    if is_terminal(stream):
        _draw_table(stream, title, columns, cells, numeric)
    else:
        _write_table(stream, title, columns, cells, numeric)


def _numeric(cells: Sequence[str]) -> bool:
    return bool(cells) and all(cell.replace(",", "").replace(".", "").isdigit() for cell in cells)


def _draw_table(
    stream: TextIO, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title) if title else None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for name, number in zip(columns, numeric, strict=True):
        table.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))  # Text: a name is no markup
    console(stream).print(table)


def _write_table(
    stream: TextIO, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]
) -> None:
    from rich.cells import cell_len

    lines = [list(columns), *rows]
    widths = [max(cell_len(line[index]) for line in lines) for index in range(len(columns))]
    if title:
        write_line(stream, title)
    for line in lines:
        padded = (
            " " * (width - cell_len(cell)) + cell if number else cell + " " * (width - cell_len(cell))
            for cell, width, number in zip(line, widths, numeric, strict=True)
        )
        write_line(stream, "  ".join(padded).rstrip())
    write_line(stream, "")


def write_line(stream: TextIO, text: str) -> None:
    """`text` as a line, flushed; characters that the stream's encoding lacks are written as escapes."""
    stream.write(_encodable(stream, text) + "\n")
    stream.flush()


def _encodable(stream: TextIO, text: str) -> str:
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def write_styled(stream: TextIO, *parts: tuple[str, str]) -> None:
    """A line of `parts`, each a text and its style: never cut nor wrapped on a terminal, plain anywhere else."""
    if not is_terminal(stream):
        write_line(stream, "".join(text for text, _ in parts))
        return
    from rich.text import Text

    shown = Text.assemble(*((_encodable(stream, text), style) for text, style in parts))
    console(stream).print(shown, soft_wrap=True)


def console(stream: TextIO) -> Console:
    """A Rich console on `stream` that takes text as it is: no markup, no emoji codes, no guessed colours."""
    from rich.console import Console

    return Console(file=stream, markup=False, emoji=False, highlight=False, soft_wrap=False)


__all__ = [
    "STYLES",
    "console",
    "counted",
    "is_terminal",
    "print_table",
    "visible",
    "write_line",
    "write_styled",
]
