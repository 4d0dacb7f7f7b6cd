"""Who is told when a run fails, or waits for a person."""

from __future__ import annotations

from importlib import import_module

from airflow.sdk import BaseNotifier, Context


class Alert(BaseNotifier):
    """Calls the function that the configuration names (``airflow.alert``) with Airflow's context.

    ``context["exception"]`` is what stopped the task, in the words of the log; there is none where a person is
    waited for. The function is imported when it is called: the scheduler needs nothing of it.
    """

    def __init__(self, function: str) -> None:
        super().__init__()
        self.function = function

    def notify(self, context: Context) -> None:
        module, _, name = self.function.rpartition(".")
        getattr(import_module(module), name)(context)


__all__ = ["Alert"]
