"""Data Docs that open from disk: what Great Expectations builds, with nothing remote left in it.

As generated, styles, scripts, icons and the logo come from CDNs, and the index is drawn by a script from there. Here
every page keeps its content, loses whatever is loaded from elsewhere or runs, and gets one small style sheet; the
index is our own.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from html import escape
from html.parser import HTMLParser
from pathlib import Path

from markupsafe import Markup

from nestsync.reports import templates
from nestsync.reports.settled import ExpectationResult

VALIDATIONS = "validations"
_REMOTE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)
_UP = re.compile(r'(href=")(?:\.\./)+')
"""Every page of ours is one folder below the index, whatever Great Expectations thought of it."""
_ADDRESSES = frozenset({"href", "src", "srcset", "action", "data", "poster"})
_DROPPED = frozenset({"script", "style", "footer"})
"""Elements that go with all that is in them."""
_VOID_DROPPED = frozenset({"link", "img"})
_VOID = frozenset({"br", "hr", "input", "meta"})
"""Elements that have no end tag; as generated, some have."""
_NOT_VALID = frozenset({"autocomplete", "aria-controls"})
"""Attributes that stand where HTML does not have them, or name an element that is not there."""
_ICONS = {"fa-check-circle": "passed", "fa-times": "failed", "fa-exclamation-triangle": "raised an error"}


def page_of(suite: str) -> str:
    """The page of a suite's results, relative to the folder of the Data Docs."""
    return f"{VALIDATIONS}/{suite}.html"


def localise(docs: Path, results: Sequence[ExpectationResult]) -> None:
    """Make the site in `docs` self-contained, under names that do not change, with an index of `results`.

    The parent folder holds the report's own page, which every page links to.
    """
    shutil.rmtree(docs / "static", ignore_errors=True)
    for suite in dict.fromkeys(result.suite for result in results):
        # validations/<suite>/<run>/<time>/<batch>.html: one run is in this folder, so none of it tells anything.
        (built,) = (docs / VALIDATIONS / suite).rglob("*.html")
        built.rename(docs / page_of(suite))
        shutil.rmtree(docs / VALIDATIONS / suite)
    style = templates.text("theme.css") + templates.text("docs.css")
    for page in docs.rglob("*.html"):
        text = _UP.sub(r"\1../", local(page.read_text(encoding="utf-8"), style))
        page.write_text(text, encoding="utf-8")
    template = templates.environment().get_template("docs_index.html.j2")
    index = template.render(results=results, page_of=page_of, style=Markup(style))  # noqa: S704 our own files
    (docs / "index.html").write_text(index, encoding="utf-8")


def local(page: str, style: str) -> str:
    """The HTML text `page` without scripts, styles, images and addresses that leave the folder, styled by `style`."""
    localiser = _Localiser(style)
    localiser.feed(page)
    localiser.close()
    return "".join(localiser.parts)


class _Localiser(HTMLParser):
    """Writes what it reads, but for what is remote or runs. Text and character references pass as they came."""

    def __init__(self, style: str) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self._style = style
        self._inside: str | None = None
        self._titled = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._inside or tag in _VOID_DROPPED:
            return
        if tag in _DROPPED or (tag == "title" and self._titled):  # as generated, a second one, and empty
            self._inside = tag
            return
        self._titled |= tag == "title"
        self._open(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._inside and tag not in _VOID_DROPPED | _DROPPED:
            self._open(tag, attrs)

    def _open(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kept = [(name, value) for name, value in attrs if name not in _NOT_VALID and not _leaves(name, value)]
        if tag == "html" and "lang" not in dict(attrs):
            kept.append(("lang", "en"))
        self.parts.append(f"<{tag}{''.join(map(_attribute, kept))}>")
        if tag == "i":
            classes = (dict(attrs).get("class") or "").split()
            self.parts.append("".join(f"<b>{meaning}</b>" for icon, meaning in _ICONS.items() if icon in classes))

    def handle_endtag(self, tag: str) -> None:
        if self._inside:
            self._inside = None if tag == self._inside else self._inside
            return
        if tag in _VOID_DROPPED | _DROPPED | _VOID:
            return
        if tag == "head":
            self.parts.append(f"<style>{self._style}</style>")
        self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._keep(data)

    def handle_entityref(self, name: str) -> None:
        self._keep(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._keep(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self._keep(f"<!{decl}>")

    def _keep(self, text: str) -> None:
        if not self._inside:
            self.parts.append(text)


def _leaves(name: str, value: str | None) -> bool:
    if name.startswith("on"):
        return True
    if name == "style":
        return "url(" in (value or "")
    return name in _ADDRESSES and _REMOTE.match(value or "") is not None


def _attribute(pair: tuple[str, str | None]) -> str:
    name, value = pair
    return f" {name}" if value is None else f' {name}="{escape(value)}"'


__all__ = ["VALIDATIONS", "local", "localise", "page_of"]
