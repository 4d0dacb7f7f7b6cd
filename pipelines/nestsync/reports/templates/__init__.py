"""The report's templates and styles, read through `importlib.resources`, so that they load from a zip too."""

from __future__ import annotations

from functools import cache
from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined

from nestsync.core.identifiers import shown_json
from nestsync.reports.text import visible, visible_lines, visible_name


def text(name: str) -> str:
    """The text of one file of this package."""
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Jinja with every name escaped, an unknown variable an error, and the filters for names."""
    found = Environment(
        loader=FunctionLoader(text), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters |= {"visible": visible, "lines": visible_lines, "name": visible_name, "json": shown_json}
    return found


__all__ = ["environment", "text"]
