"""The stages around the write: plan, apply and verify."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from nestsync.commands import command
from nestsync.core.plan import ActionKind, Strategy
from nestsync.errors import BlockingFindings, ConfigurationError, NestsyncError, NotConfirmed, PlanOutdated
from nestsync.runner.context import RunContext
from nestsync.runner.reading import demand_read, found
from nestsync.stages.apply import WRITES, ApplyResult, ApplySettings, apply
from nestsync.stages.drift import DRIFT, drift, refuse_drift
from nestsync.stages.inventory import read_catalogs
from nestsync.stages.journal import Journal
from nestsync.stages.plan import DIFFERENCE, plan, plan_hash
from nestsync.stages.plan_files import check_unedited, write_plan_files
from nestsync.stages.verify import verify


def planned(context: RunContext) -> dict[str, int]:
    """Compare the wanted tree with the target's inventory; what is left to do is the plan."""
    _demand_target(context)
    demand_read(context)
    _refuse_moved(context, "check", ConfigurationError)
    if "wanted" not in context.frames:
        found(context)
    actions, differences = plan(context.frames["wanted"], context.target_namespaces(), _strategy(context))
    actions = context.keep("actions", actions)
    context.workspace.replace("actions", actions, run_id=context.run_id)
    differences = context.keep("left-different", differences)
    left_alone = differences.count()
    if left_alone or context.facts("plan"):
        _tell(context, DIFFERENCE, differences)
    counts = _by_kind(actions)
    write_plan_files(actions, context.workspace.folder("plans", context.run_id))
    number = len(list(context.journals.glob("*.jsonl")))  # what was applied of earlier plans is done with
    context.note("plan", counts=counts, hash=plan_hash(actions), number=number, **context.standing_on)
    context.drop("ledger")
    if not left_alone:
        return counts
    noop = str(ActionKind.NOOP)  # as the plan has it, and no bucket for what is not as wanted
    return counts | {noop: counts[noop] - left_alone, "left different": left_alone}


def _by_kind(actions: DataFrame) -> dict[str, int]:
    counted = {row["kind"]: row["count"] for row in actions.groupBy("kind").count().collect()}
    return {str(kind): counted.get(str(kind), 0) for kind in ActionKind}


def applied(context: RunContext) -> dict[str, int]:
    """Write what the plan says, if nothing stands in the way and somebody agrees.

    Raises `BlockingFindings`, `PlanOutdated` (edited, drift, or another configuration), `NotConfirmed`, `LeaseHeld`,
    `CatalogUnreachable`, `ActionsFailed`. An inventory that was read again needs another check, and another plan.
    """
    facts = context.demand("plan")
    _refuse_blocking(context)
    _refuse_moved(context, "plan", PlanOutdated)
    actions = context.actions()
    folder = context.workspace.folder("plans", context.run_id)
    check_unedited(actions, folder, facts["hash"])
    _ask(context, facts["counts"])
    with context.workspace.lease(context.run_id):
        result = _write(context, facts["counts"])
        _remember_separator(context)
    context.note("apply", counts=result.counts)
    for failure in result.failures:
        context.ui.note(f"failed: {failure.detail}")
    return {name: number for name, number in result.counts.items() if number or name in ("applied", "skipped")}


def _ask(context: RunContext, planned_counts: dict[str, int]) -> None:
    """Before the lease and the look for drift: an answer may take hours."""
    writes = _writes(planned_counts)
    if writes and not context.confirm(f"Write {writes:,} changes to {context.target.name}?"):
        raise NotConfirmed("nothing was written", where=context.target.name, hint="answer yes, or give --yes")


def _writes(planned_counts: dict[str, int]) -> int:
    return sum(planned_counts.get(kind, 0) for kind in WRITES)


def _write(context: RunContext, planned_counts: dict[str, int]) -> ApplyResult:
    if not _writes(planned_counts):
        return ApplyResult(skipped=planned_counts.get("noop", 0), blocked=planned_counts.get("blocked", 0))
    _refuse_drift(context)
    writer = context.open_writer()
    settings = ApplySettings(_strategy(context), context.config.apply.concurrency)
    try:
        with Journal(context.journals, context.journal) as journal:
            return apply(
                context.actions(),
                context.ledger(),
                writer,
                journal,
                settings,
                lambda done, total: context.ui.progress(done, total, "written"),
            )
    finally:
        writer.close()
        context.drop("ledger")
        context.workspace.replace("ledger", context.whole_ledger(), run_id=context.run_id)


def _remember_separator(context: RunContext) -> None:
    """What the target is written with from now on, unless it is a change that nobody asked for."""
    said, known = context.config.separator, context.workspace.separator_of(context.target.name)
    if said.value is not None and known in (None, said.replaces):
        context.workspace.remember_separator(context.target.name, said.value)


def _refuse_moved(context: RunContext, stage: str, kind: type[NestsyncError]) -> None:
    """What comes after `stage` is held to what that stage saw; names that nobody checked are not written."""
    moved = context.moved_since(stage)
    if moved is not None:
        raise kind(
            f"{moved} since run {context.run_id} was {'checked' if stage == 'check' else 'planned'}",
            where=str(context.config.path),
            hint=f"{command('check', context.config.path, context.run_id)}, and what follows it",
        )


def _refuse_blocking(context: RunContext) -> None:
    blocking = context.demand("check")["counts"]["blocking"]
    if blocking and context.config.on_blocking == "stop":
        raise BlockingFindings(
            f"{blocking:,} blocking findings stand in the way; nothing was written",
            where=f"run {context.run_id}",
            hint="resolve them as their hints say, or configure on_blocking: skip",
        )


def _refuse_drift(context: RunContext) -> None:
    """A plan that no longer fits what is there is refused, but for what this run changed itself."""
    now = read_catalogs(context.spark, context.catalogs(), objects="namespaces")
    moved = context.keep("drift", drift(context.objects(), now, context.ledger()))
    found_some = not moved.isEmpty()
    if found_some or context.facts(DRIFT).get("found"):
        _tell(context, DRIFT, moved)
        context.note(DRIFT, found=found_some)
    refuse_drift(moved)


def _tell(context: RunContext, rule: str, findings: DataFrame) -> None:
    """Let `findings` be what this run has under `rule`: a stage that is taken again tells of nothing twice."""
    others = context.findings().where(F.col("rule") != rule)
    context.workspace.replace("findings", context.keep("findings", others.unionByName(findings)), run_id=context.run_id)


def verified(context: RunContext) -> dict[str, int]:
    """Read the target again and count what is not as planned."""
    _demand_target(context)
    target = [catalog for catalog in context.catalogs() if catalog.role == "target"]
    held = read_catalogs(context.spark, target, objects="namespaces")
    wrong = verify(context.actions(), context.ledger(), held, _strategy(context))
    differences = context.keep("differences", wrong)
    counts = context.demand("plan")["counts"]
    number = differences.count()
    if number or context.facts("verify").get("differences"):  # a report of its own reads them
        context.workspace.replace("differences", differences, run_id=context.run_id)
    context.note("verify", differences=number, kept=True)
    held_to = sum(planned for kind, planned in counts.items() if kind != "blocked")
    return {"verified": held_to - number, "differences": number}


def _demand_target(context: RunContext) -> None:
    context.target  # noqa: B018  # raises where there is none


def _strategy(context: RunContext) -> Strategy:
    return Strategy(context.config.strategy)


__all__ = ["applied", "planned", "verified"]
