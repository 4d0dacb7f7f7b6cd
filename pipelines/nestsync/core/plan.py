"""The plan: what apply will do, decided in full before anything is written.

Pure oracle of `stages.plan`, which does the same in Spark; a property test holds the two together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nestsync.core.claims import Claimant
from nestsync.core.findings import RULES, Finding
from nestsync.core.identifiers import Levels, json_text, shown
from nestsync.core.wanted import WantedNamespace


class Strategy(StrEnum):
    """What to do about a namespace that the target holds already."""

    CREATE_ONLY = "create-only"
    """Nothing is ever altered: a difference is a warning and a `noop`."""
    UPSERT = "upsert"
    """The wanted keys are made equal; keys that only the target holds stay."""


class ActionKind(StrEnum):
    """What an action does to its namespace; the last two send nothing."""

    CREATE_NAMESPACE = "create_namespace"
    SET_PROPERTIES = "set_properties"
    NOOP = "noop"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class TargetNamespace:
    """A namespace that the target holds, as its inventory says."""

    source: str
    levels: Levels
    properties: Mapping[str, str] = field(default_factory=dict)
    status: str = "ok"


@dataclass(frozen=True, slots=True)
class Action:
    """One step of the plan (`schemas.ACTION_FIELDS`).

    `properties` are what is set: all wanted ones of a creation, the changed ones of an update.
    """

    kind: ActionKind
    levels: Levels
    properties: Mapping[str, str]
    reason: str
    claimants: tuple[Claimant, ...] = ()

    @property
    def action_id(self) -> str:
        """What the action does, as a hash: two actions that do the same have the same."""
        return action_id(self.kind, self.levels, self.properties)


@dataclass(frozen=True, slots=True)
class Plan:
    """The actions, parents first, and the differences that the strategy leaves in the target."""

    actions: tuple[Action, ...]
    findings: tuple[Finding, ...]


def action_id(kind: str, levels: Levels, properties: Mapping[str, str]) -> str:
    """SHA-256, in hex, of the JSON of what is done; properties as pairs in the order of their keys."""
    pairs = [[key, value] for key, value in sorted(properties.items())]
    text = json_text({"kind": str(kind), "levels": list(levels), "properties": pairs})
    return hashlib.sha256(text.encode()).hexdigest()


def plan_hash(action_ids: Iterable[str]) -> str:
    """SHA-256, in hex, over a set of actions whatever their order.

    The ids are added up in four lanes of 64 bits, and the sums hashed with their number: sums are what Spark
    can make of any number of rows without gathering them.
    """
    count, lanes = 0, [0, 0, 0, 0]
    for digest in action_ids:
        count += 1
        lanes = [lane + int(digest[16 * i : 16 * i + 16], 16) for i, lane in enumerate(lanes)]
    return hash_of_sums(count, lanes)


def hash_of_sums(count: int, lanes: Iterable[int]) -> str:
    """The last step of `plan_hash`."""
    return hashlib.sha256(",".join(map(str, (count, *lanes))).encode()).hexdigest()


def changed_keys(wanted: Mapping[str, str], held: Mapping[str, str]) -> tuple[str, ...]:
    """The wanted keys that are missing or differ in what is held, sorted; other keys are nobody's business."""
    return tuple(sorted(key for key, value in wanted.items() if held.get(key) != value))


def plan_actions(
    wanted: Iterable[WantedNamespace],
    targets: Iterable[TargetNamespace],
    strategy: Strategy,
    key: Callable[[Levels], Hashable] = lambda levels: levels,
) -> Plan:
    """The plan that makes `targets` hold what is `wanted`; see `stages.plan.plan` for the rules.

    `key` says which levels are one namespace where the target folds or normalises.
    """
    held: dict[Hashable, TargetNamespace] = {}
    for target in sorted(targets, key=lambda target: target.levels):
        held.setdefault(key(target.levels), target)
    ordered = sorted(wanted, key=lambda namespace: (len(namespace.levels), namespace.levels))
    pairs = [(namespace, held.get(key(namespace.levels))) for namespace in ordered]
    actions = tuple(_action(namespace, target, strategy) for namespace, target in pairs)
    found = (_difference(namespace, target, strategy) for namespace, target in pairs)
    return Plan(actions, tuple(finding for finding in found if finding is not None))


# The reasons, in pieces: `stages.plan` puts them together in Spark.
ABSENT = "the target does not hold it"
ABSENT_PARENT = "the target does not hold it; it is a parent of what is wanted"
BLOCKED = "a blocking finding or an unreadable source namespace stands on it, above it, or on all that wants it"
EQUAL = "the target holds it with equal properties"
UNREADABLE = "the target holds it and could not read it; its properties were not compared"
DIFFERS = "the target holds it, and it differs in "
SPELLED = ", spelled "
LEFT_ALONE = "; create-only leaves it as it is"
UPSERT_HINT = "configure the strategy upsert to make them equal"
UNREADABLE_HINT = "see the error of this namespace in the inventory"


def _action(wanted: WantedNamespace, target: TargetNamespace | None, strategy: Strategy) -> Action:
    kind, properties, reason = _decide(wanted, target, strategy)
    return Action(kind, wanted.levels, properties, reason, wanted.claimants)


def _decide(
    wanted: WantedNamespace, target: TargetNamespace | None, strategy: Strategy
) -> tuple[ActionKind, Mapping[str, str], str]:
    if wanted.blocked:
        return ActionKind.BLOCKED, {}, BLOCKED
    if target is None:
        return ActionKind.CREATE_NAMESPACE, wanted.properties, ABSENT if wanted.explicit else ABSENT_PARENT
    spelled = "" if target.levels == wanted.levels else SPELLED + shown(target.levels)
    if target.status != "ok":
        return ActionKind.NOOP, {}, UNREADABLE + spelled
    keys = changed_keys(wanted.properties, target.properties)
    if not keys:
        return ActionKind.NOOP, {}, EQUAL + spelled
    if strategy is Strategy.CREATE_ONLY:
        return ActionKind.NOOP, {}, DIFFERS + shown(keys) + LEFT_ALONE + spelled
    return ActionKind.SET_PROPERTIES, {key: wanted.properties[key] for key in keys}, DIFFERS + shown(keys) + spelled


def _difference(wanted: WantedNamespace, target: TargetNamespace | None, strategy: Strategy) -> Finding | None:
    if wanted.blocked or target is None:
        return None
    if target.status != "ok":
        return _finding(target, wanted, UNREADABLE, UNREADABLE_HINT)
    keys = changed_keys(wanted.properties, target.properties)
    if not keys or strategy is not Strategy.CREATE_ONLY:
        return None
    return _finding(target, wanted, DIFFERS + shown(keys) + LEFT_ALONE, UPSERT_HINT)


def _finding(target: TargetNamespace, wanted: WantedNamespace, message: str, hint: str) -> Finding:
    rule = RULES["target-difference"]
    return Finding(
        rule=rule.slug,
        severity=rule.severity,
        source=target.source,
        object="namespace",
        levels=target.levels,
        name=None,
        target_levels=wanted.levels,
        message=message,
        hint=hint,
    )


__all__ = [
    "Action",
    "ActionKind",
    "Claimant",
    "Plan",
    "Strategy",
    "TargetNamespace",
    "action_id",
    "changed_keys",
    "hash_of_sums",
    "plan_actions",
    "plan_hash",
]
