"""What a configuration that is right says of itself: its catalogs, and the folders that runs leave things in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from nestsync.config import Config
from nestsync.config.consistency import also_the_target
from nestsync.core.separators import SeparatorRefused, check_separator
from nestsync.printing import print_table, visible, write_line


@dataclass(frozen=True)
class Validated:
    """The answer of ``nestsync validate``."""

    config: Config

    def as_json(self) -> dict[str, Any]:
        """The folders, and the catalogs in the order in which the inventory reads them."""
        return {
            "config": str(self.config.path),
            "workspace": str(self.config.workspace),
            "reports": str(self.config.report_folder),
            "catalogs": [{"name": name, "role": role, "system": system} for name, role, system in self._catalogs()],
            "warnings": self._warnings(),
        }

    def write(self, stream: TextIO) -> None:
        """One line a catalog, after the verdict."""
        write_line(stream, visible(f"{self.config.path} is a valid configuration"))
        print_table(stream, "", ("catalog", "role", "system"), self._catalogs())
        for warning in self._warnings():
            write_line(stream, visible(f"warning: {warning}"))

    def _warnings(self) -> list[str]:
        """What is well written, and what may nevertheless be meant otherwise, or blocked on by the check."""
        return [*self._of_separator(), *self._of_one_catalog()]

    def _of_separator(self) -> Iterator[str]:
        said = self.config.separator
        try:
            if said.value is not None:
                check_separator(said.value, policy=said.policy, allowed=said.allowed)
        except SeparatorRefused as refused:
            yield f"separator.value: {refused.what}"

    def _of_one_catalog(self) -> Iterator[str]:
        for source in also_the_target(self.config):
            yield (
                f"{source.name} is the target as well: what a run writes there, the next one reads and maps again; "
                "let its rules' include or exclude leave that out"
            )

    def _catalogs(self) -> list[tuple[str, str, str]]:
        found = [(source.name, "source", source.system) for source in self.config.sources]
        target = self.config.target
        return found if target is None else [*found, (target.name, "target", target.system)]


__all__ = ["Validated"]
