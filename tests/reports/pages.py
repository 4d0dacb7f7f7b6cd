"""What tests ask of an HTML page: that its tags pair up, and what it would load."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

_VOID = frozenset({"meta", "br", "input", "hr", "img", "link", "rect"})


class Page(HTMLParser):
    """A page as a browser sees it: its elements, its text, and every address that it names."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.unpaired: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        self.unpaired += self._open

    @classmethod
    def read(cls, path: Path) -> Page:
        return cls(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.unpaired.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def addresses(self) -> list[str]:
        named = [attrs.get(name) for _, attrs in self.elements for name in ("href", "src")]
        return [address for address in named if address]

    @property
    def remote(self) -> list[str]:
        return [address for address in self.addresses if "//" in address or address.split("#")[0].count(":")]

    @property
    def handlers(self) -> list[str]:
        return [name for _, attrs in self.elements for name in attrs if name.startswith("on")]

    def tags(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for found, attrs in self.elements if found == tag]
