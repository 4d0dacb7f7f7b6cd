"""Names as text in reports: shown as they are, with everything that a reader cannot see made visible.

Levels stay apart everywhere: chips in HTML, JSON lists (`core.identifiers.shown`) in CSV, XML and Data Docs.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from nestsync.core.identifiers import HIDDEN, Levels, quoted, shown

CHANGED_SINCE = (
    "The configuration has changed since this run: what is said of it here, and how strictly expectations are held, is "
    "of the file as it was when this report was written."
)
_UNSEEN = re.compile(f"[\\u0000-\\u001f{HIDDEN}\\ud800-\\udfff]")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def visible(text: str) -> Markup:
    r"""`text` as HTML, with hidden characters as marked escapes: ``<u>\u001F</u>``.

    The mark tells an escape from a name that really is spelled ``\u001F``.
    """
    parts: list[Markup] = []
    end = 0
    for found in _UNSEEN.finditer(text):
        parts += (escape(text[end : found.start()]), _marked(f"\\u{ord(found[0]):04X}"))
        end = found.end()
    parts.append(escape(text[end:]))
    return Markup("").join(parts)


def plain(text: str) -> str:
    r"""`text` on one line, with hidden characters as escapes: ``\u001F``."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04X}", text)


def visible_lines(text: str) -> Markup:
    """As `visible`, with line breaks and tabs left to do their work: for commands of several lines."""
    return Markup("\n").join(Markup("\t").join(map(visible, line.split("\t"))) for line in text.splitlines())


def visible_name(text: str) -> Markup:
    """A level or a name as HTML: as `visible`, with blanks at its edges marked and an empty one said to be empty."""
    if not text:
        return Markup("<u>empty</u>")
    core = text.strip(" ")
    lead, trail = (len(text), 0) if not core else (len(text) - len(text.lstrip(" ")), len(text) - len(text.rstrip(" ")))
    return Markup("").join((_marked("␣" * lead), visible(core), _marked("␣" * trail)))


def _marked(text: str) -> Markup:
    return Markup("<u>{}</u>").format(text) if text else Markup("")


def subject_text(source: str, levels: Levels, name: str | None) -> str:
    """An object on one line of text: the source, the levels as a JSON list, the name as a JSON string."""
    return f"{source} {shown(levels)}" + (f" {quoted(name)}" if name is not None else "")


def xml_text(text: str) -> str:
    r"""`text` with every character that XML 1.0 cannot carry escaped as ``\uXXXX``."""
    return _NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04X}", text)


def csv_cell(text: str | None) -> str:
    """`text` for a CSV cell: what a spreadsheet would run as a formula is made text by an apostrophe.

    Only for sentences; names are JSON in CSV files, so that a reader gets them back exactly.
    """
    if text is None:
        return ""
    return f"'{text}" if text.startswith(_FORMULA) else text


__all__ = ["CHANGED_SINCE", "csv_cell", "plain", "subject_text", "visible", "visible_lines", "visible_name", "xml_text"]
