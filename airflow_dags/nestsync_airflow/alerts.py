"""Who is told when a run fails, or waits for a person."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from airflow.sdk import BaseNotifier, Context

from nestsync_airflow.outcomes import Stopped


class Alert(BaseNotifier):
    """Calls the function that the configuration names (``airflow.alert``) with Airflow's context.

    ``context["exception"]`` is what stopped the task or the run, in the words of the log; None where a person is
    waited for. The function is imported when it is called: the scheduler needs nothing of it. One that fails is told in
    the log and changes nothing else: a person can answer, though nobody could be told of the question.
    """

    def __init__(self, function: str) -> None:
        super().__init__()
        self.function = function

    def notify(self, context: Context) -> None:
        try:
            module, _, name = self.function.rpartition(".")
            getattr(import_module(module), name)({"exception": None, **context})
        except Exception as error:  # the function is the configuration's, and may raise whatever there is
            self.log.error(
                "Nobody was told: airflow.alert (%s) ended with %s: %s\nhint: it has to be importable, and to work, "
                "wherever tasks run and DAGs are parsed",
                self.function,
                type(error).__name__,
                error,
            )


class TimeoutAlert:
    """Tells of a run that took too long as a whole. Of any other that fails, its task has told already.

    No notifier, which would need the DAG's templates: they are not there where the scheduler's part of Airflow calls.
    """

    def __init__(self, function: str) -> None:
        self.function = function

    def __call__(self, context: Context) -> None:
        if context.get("reason") == "timed_out":
            told = Stopped(f"The run {context.get('run_id')} took too long (airflow.timeout_hours), and was stopped.")
            Alert(self.function).notify(cast("Context", {**context, "exception": told}))


__all__ = ["Alert", "TimeoutAlert"]
