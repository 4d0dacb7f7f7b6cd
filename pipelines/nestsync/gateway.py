"""How Spark's JVM is asked: once what it would be asked over and over, and again after a question was broken off."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from py4j import protocol

_LOOKUP = protocol.REFLECTION_COMMAND_NAME
_LASTING = (protocol.SUCCESS_CLASS, protocol.SUCCESS + protocol.METHOD_TYPE)
"""Answers that stay true: a name is that of a class, or of one of its methods. A package may get a class later."""


def mend(client: Any) -> None:
    """Let `client`, py4j's own, remember which names are classes and methods, and survive a signal.

    pyspark looks up the class and then the method for every single column function: two of the three round trips
    that each takes, a third of the time in which the check's columns are put together.
    """
    if not isinstance(client.send_command, _Mended):
        client.send_command = _Mended(client)
    logging.getLogger().addFilter(_is_not_of_py4j)
    logging.getLogger("py4j").setLevel(logging.CRITICAL)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """It tells the root logger, and its own, with a stack trace, what it raises all the same."""
    return Path(record.pathname).parent.name != "py4j"


class _Mended:
    """The questions of `client`, with the lasting answers to look-ups remembered."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._ask: Callable[..., str] = client.send_command
        self._known: dict[str, str] = {}

    def __call__(self, command: str, *args: Any, **options: Any) -> Any:
        if not command.startswith(_LOOKUP):
            return self._asked(command, *args, **options)
        known = self._known.get(command)
        if known is None:
            known = self._asked(command, *args, **options)
            if known.startswith(_LASTING):
                self._known[command] = known
        return known

    def _asked(self, command: str, *args: Any, **options: Any) -> Any:
        try:
            return self._ask(command, *args, **options)
        except SystemExit:
            # The answer is still to come on this thread's connection, where the next question would take it for its
            # own. py4j itself gives the connection up after Ctrl-C alone.
            self._client.thread_connection.connection = None
            raise


__all__ = ["mend"]
