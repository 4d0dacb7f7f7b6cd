"""Who ran what: the user and the host of each process that worked on a run."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

NOT_KNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Actor:
    """A user on a host, and the commands that they worked on a run with, in their order."""

    user: str | None
    """None where an older version did not keep it."""
    host: str | None
    commands: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As people write it: ``user@host``; ``unknown`` where neither is known."""
        if self.user is None and self.host is None:
            return NOT_KNOWN
        return f"{self.user or NOT_KNOWN}@{self.host or NOT_KNOWN}"

    def as_json(self) -> dict[str, Any]:
        """The actor as JSON types."""
        return {"user": self.user, "host": self.host, "commands": list(self.commands)}


def this_process() -> Actor:
    """The user and the host of this process."""
    return Actor(_user(), socket.gethostname())


def _user() -> str:
    """The user's name, or its number where no name is known: in a container, users need not have one."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the latter from Python 3.13 on
        return f"uid {os.getuid()}"


def actors_of(begun: Iterable[Mapping[str, Any]]) -> tuple[Actor, ...]:
    """Who worked on a run, in the order in which they came to it, out of the lines with which its commands began."""
    found: dict[tuple[str | None, str | None], dict[str, None]] = {}
    for line in begun:
        commands = found.setdefault((_text(line.get("user")), _text(line.get("host"))), {})
        commands[str(line.get("command"))] = None
    return tuple(Actor(user, host, tuple(commands)) for (user, host), commands in found.items())


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


__all__ = ["Actor", "actors_of", "this_process"]
