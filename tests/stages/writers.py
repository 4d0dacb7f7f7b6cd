"""A catalog in memory for tests of order and concurrency, where a real server could not be told when to fail."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence

from nestsync.catalogs.base import CatalogWriter
from nestsync.core.hierarchy import ancestors
from nestsync.core.identifiers import Levels
from nestsync.errors import AlreadyExists, ObjectError

Request = tuple[str, Levels]


class MemoryWriter(CatalogWriter):
    """Holds namespaces in a dict as a strict catalog would, and remembers every request and how many overlapped.

    `on_write` is called before a write takes effect, and may raise what a catalog would.
    """

    def __init__(
        self,
        held: Mapping[Levels, Mapping[str, str]] | None = None,
        *,
        on_write: Callable[[Levels], None] = lambda levels: None,
        seconds: float = 0.0,
    ) -> None:
        self.held: dict[Levels, dict[str, str]] = {levels: dict(found) for levels, found in (held or {}).items()}
        self.requests: list[Request] = []
        self.most_at_once = 0
        self._on_write = on_write
        self._seconds = seconds
        self._at_once = 0
        self._lock = threading.Lock()

    @property
    def writes(self) -> list[Request]:
        return [request for request in self.requests if request[0] != "read"]

    def namespace_properties(self, levels: Levels) -> Mapping[str, str] | None:
        self.requests.append(("read", levels))
        return self.held.get(levels)

    def create_namespace(self, levels: Levels, properties: Mapping[str, str]) -> None:
        self._write("create", levels)
        if levels in self.held:
            raise AlreadyExists("it is there", where="memory")
        missing = [parent for parent in ancestors(levels) if parent not in self.held]
        if missing:
            raise ObjectError(f"no parent {missing[-1]!r}", where="memory")
        self.held[levels] = dict(properties)

    def update_namespace(self, levels: Levels, updates: Mapping[str, str], removals: Sequence[str] = ()) -> None:
        self._write("update", levels)
        if levels not in self.held:
            raise ObjectError("no such namespace", where="memory")
        self.held[levels] |= updates

    def _write(self, what: str, levels: Levels) -> None:
        with self._lock:
            self.requests.append((what, levels))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            time.sleep(self._seconds)
            self._on_write(levels)
        finally:
            with self._lock:
                self._at_once -= 1
