"""What is asked of Spark's JVM over and over while columns are put together, asked once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py4j import protocol

_LOOKUP = protocol.REFLECTION_COMMAND_NAME
_LASTING = (protocol.SUCCESS_CLASS, protocol.SUCCESS + protocol.METHOD_TYPE)
"""Answers that stay true: a name is that of a class, or of one of its methods. A package may get a class later."""


def remember_lookups(client: Any) -> None:
    """Let `client`, py4j's own, remember which names are classes and methods.

    pyspark looks up the class and then the method for every single column function: two of the three round trips
    that each takes, a third of the time in which the check's columns are put together.
    """
    ask: Callable[..., str] = client.send_command
    if isinstance(ask, _Remembering):
        return
    client.send_command = _Remembering(ask)


class _Remembering:
    """`ask`, with the lasting answers to look-ups remembered."""

    def __init__(self, ask: Callable[..., str]) -> None:
        self._ask = ask
        self._known: dict[str, str] = {}

    def __call__(self, command: str, *args: Any, **options: Any) -> str:
        if not command.startswith(_LOOKUP):
            return self._ask(command, *args, **options)
        known = self._known.get(command)
        if known is None:
            known = self._ask(command, *args, **options)
            if known.startswith(_LASTING):
                self._known[command] = known
        return known


__all__ = ["remember_lookups"]
