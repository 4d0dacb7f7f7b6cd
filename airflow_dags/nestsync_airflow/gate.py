"""The gate before anything is written: findings stop the run, a small plan passes, a person decides on the rest."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import BaseNotifier, Context

from nestsync_airflow.jobs import READS_CONFIGURATION, page_to_come
from nestsync_airflow.links import FindingsLink, PlanLink
from nestsync_airflow.outcomes import BLOCKING, DONE, UNEXPECTED, USAGE, Stopped
from nestsync_airflow.settings import Settings

CREATES, SENDS_NOTHING = "create_namespace", ("noop", "left different", "blocked")
KINDS = {CREATES: "create", "set_properties": "change properties of"}
_KNOWN = (*KINDS, *SENDS_NOTHING)
SHOWN = 25
"""How many actions a person is shown; the plan's page and file have them all."""
_LONGEST_CELL = 120


class Gate(ApprovalOperator):
    """Lets a plan pass, stops it, or parks the run until a person has decided; no decision in time is a no.

    Waiting takes no worker: Airflow parks the task. A person's no skips what would follow, as the approval operator
    does. Where nobody answered, the task fails: a sync that did not take place, and nobody wanted it so.
    """

    operator_extra_links = (FindingsLink(), PlanLink())
    ui_color = "#fbe8c8"

    def __init__(self, *, nestsync_run: str, settings: Settings, alert: BaseNotifier | None, **kwargs: Any) -> None:
        users = [{"id": each, "name": each} for each in settings.approvers]
        super().__init__(
            subject="Write to the target?",
            body="What would be done is shown here when the plan is there.",
            defaults=self.REJECT,
            response_timeout=timedelta(hours=settings.approval_hours),
            assigned_users=users or None,
            notifiers=[alert] if alert else [],
            **kwargs,
        )
        self.nestsync_run = nestsync_run
        self.settings = settings
        self.alert = alert
        self.report_page: str | None = None

    template_fields = (*ApprovalOperator.template_fields, "nestsync_run")

    def execute(self, context: Context) -> Any:
        self.report_page = page_to_come(context, self.nestsync_run, self.settings.reports_url)
        checked = self._ended("check", context, (DONE, BLOCKING))
        if checked["exit_code"] == BLOCKING:
            raise self._blocked(checked)
        plan = self._ended("plan", context, (DONE,))
        counts = plan["counts"]["plan"]
        if context["params"]["dry_run"]:
            self.log.info("This is a dry run: %s Nothing is written.", plan["verdict"])
            return self.skip(ti=context["ti"], tasks=context["task"].get_direct_relatives(upstream=False))
        reason = why_to_ask(counts, context["params"]["approve_above"], always=context["params"]["always_ask"])
        if reason is None:
            self.log.info("%s No person has to be asked.", plan["verdict"])
            return {"chosen_options": [self.APPROVE], "params_input": {}, "asked": False}
        self.subject = f"Write to the target? {reason}"
        self.body = self._what_would_be_done(context, plan)
        self.log.info("%s %s Waiting for a person, %s at most.", plan["verdict"], reason, self.response_timeout)
        return super().execute(context)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> Any:
        self.report_page = page_to_come(context, self.nestsync_run, self.settings.reports_url)
        if event.get("timedout"):
            raise self._stopped(
                f"Nobody answered within {self.settings.approval_hours:g} hours, which is a no. Nothing was written.",
                "next: clear this task, and it asks again",
            )
        if self.alert is not None and event.get("chosen_options") == [self.REJECT]:
            who = (event.get("responded_by_user") or {}).get("name") or "a person"
            told = Stopped(f"The plan was rejected by {who}. Nothing was written.")
            self.alert(cast("Context", {**context, "exception": told}))
        return super().execute_complete(context, event)  # which raises what skips the rest

    def _ended(self, task: str, context: Context, codes: Collection[int]) -> Mapping[str, Any]:
        """What `task` left, whose job ended with one of `codes`."""
        found: Mapping[str, Any] = self._told_by(task, context)
        if found["exit_code"] not in codes:
            raise self._undecidable(task, f"its job ended with exit {found['exit_code']}")
        return found

    def _told_by(self, task: str, context: Context, key: str = "return_value") -> Any:
        found = context["ti"].xcom_pull(task_ids=task, key=key)
        if found is None:
            raise self._undecidable(task, "its job did not run")
        return found

    def _undecidable(self, task: str, why: str) -> Stopped:
        return self._stopped(
            f"The task {task} left nothing to decide on: {why}. Was it marked a success by hand?",
            f"next: clear the task {task}, so that it and what follows run",
            code=USAGE,
        )

    def _blocked(self, checked: Mapping[str, Any]) -> Stopped:
        lines = [checked["verdict"] or "Blocking findings must be resolved first. Nothing was written."]
        lines += [f"next: {step}" for step in checked["next_steps"]]
        lines += [f"findings: {self.report_page}#findings"] if self.report_page else []
        return self._stopped(*lines, code=BLOCKING)

    def _stopped(self, *lines: str, code: int = UNEXPECTED) -> Stopped:
        message = "\n".join(lines)
        self.log.error(message)
        return Stopped(message, code)

    def _what_would_be_done(self, context: Context, plan: Mapping[str, Any]) -> str:
        workspace = self._told_by(READS_CONFIGURATION, context, key="workspace")
        file = Path(workspace) / "plans" / self.nestsync_run / "plan.csv"
        return what_would_be_done(plan, file)


def why_to_ask(counts: Mapping[str, int], approve_above: int, *, always: bool) -> str | None:
    """Why a person has to be asked about a plan of `counts`; None where it only creates, and little."""
    created = counts.get(CREATES, 0)
    changed = sum(number for kind, number in counts.items() if kind in KINDS and kind != CREATES)
    unknown = [f"{kind} ({number:,})" for kind, number in counts.items() if number and kind not in _KNOWN]
    if unknown:
        return f"It does what nobody here knows: {', '.join(unknown)}."
    if changed:
        return f"It changes what the target holds ({changed:,})."
    if created > approve_above:
        return f"It creates {created:,} namespaces, more than {approve_above:,}."
    return "The run was asked to wait for an approval." if always and created else None


def what_would_be_done(plan: Mapping[str, Any], file: Path) -> str:
    """The plan as Markdown for the person who decides: counts, and the first actions with the reason for each."""
    counts = plan["counts"]["plan"]
    told = [f"{number:,} to {KINDS[kind]}" for kind, number in counts.items() if kind in KINDS and number]
    told += [f"{counts[kind]:,} {kind}" for kind in SENDS_NOTHING if counts.get(kind)]
    lines = [f"**{plan['verdict']}** ({', '.join(told)})", ""]
    try:
        actions = _first(file)
    except (OSError, ValueError, KeyError) as error:
        return "\n".join([*lines, f"The plan's file cannot be read from here: {error}"])
    lines += ["| what | namespace | properties | why |", "| --- | --- | --- | --- |", *actions, ""]
    every = sum(counts.get(kind, 0) for kind in KINDS)
    lines += [f"{len(actions):,} of {every:,}, what changes before what is created. The whole plan: `{file}`"]
    return "\n".join(lines)


def _first(file: Path) -> list[str]:
    """The first actions: what is there already and would change matters more than what would be new."""
    changes: list[str] = []
    creations: list[str] = []
    for kind, line in _actions(file):
        of_kind = creations if kind == CREATES else changes
        if len(of_kind) < SHOWN:
            of_kind.append(line)
    return [*changes, *creations][:SHOWN]


def _actions(file: Path) -> Iterator[tuple[str, str]]:
    with file.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            if row["kind"] in KINDS:
                levels = json.dumps(json.loads(row["levels"]), ensure_ascii=False)
                cells = (KINDS[row["kind"]], levels, row["properties"], row["reason"])
                yield row["kind"], f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """`text` as a cell of a Markdown table in which nothing of it is acted on."""
    shown = "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)
    shown = shown if len(shown) <= _LONGEST_CELL else f"{shown[: _LONGEST_CELL - 1]}…"
    return "".join(f"&#{ord(each)};" if each in "|`*_<>[]&\\~!" else each for each in shown)


__all__ = ["Gate", "what_would_be_done", "why_to_ask"]
