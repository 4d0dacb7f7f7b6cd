"""The wanted target tree: what the sources claim in the target, with every parent closed.

Pure oracle of `stages.wanted`, which does the same in Spark; a property test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from nestsync.core.claims import Claim, Claimant, PropertyKeys, SourceObject, claim_of, shadowed, wanted_properties
from nestsync.core.findings import RULES, Finding, Member, Severity
from nestsync.core.hierarchy import scopes
from nestsync.core.identifiers import Levels, quoted, shown

CLAIMANTS_KEPT = 10
"""How many claimants a wanted namespace names: the parent of a whole catalog would name all of it otherwise."""


@dataclass(frozen=True, slots=True)
class WantedSettings:
    """What the configuration says about properties; `source_order` names sources, the one to win first."""

    keys: PropertyKeys = field(default_factory=PropertyKeys)
    source_order: tuple[str, ...] = ()

    def rank(self, source: str) -> int:
        """The place of `source` in the configured order; behind the last where it is not in it."""
        return self.source_order.index(source) if source in self.source_order else len(self.source_order)


@dataclass(frozen=True, slots=True)
class WantedNamespace:
    """One namespace of the wanted tree (`schemas.WANTED_FIELDS`)."""

    levels: Levels
    explicit: bool
    properties: Mapping[str, str]
    claimants: tuple[Claimant, ...]
    blocked: bool


@dataclass(frozen=True, slots=True)
class WantedTree:
    """The wanted namespaces, parents first, and what is wrong with the claims on them."""

    namespaces: tuple[WantedNamespace, ...]
    findings: tuple[Finding, ...]


Adjust = Callable[[Finding], Finding]
"""The configuration's word on a finding's severity."""

_Claims = Mapping[Levels, Sequence[Claim]]


def wanted_tree(
    objects: Iterable[SourceObject],
    settings: WantedSettings,
    findings: Iterable[Finding] = (),
    adjust: Adjust = lambda finding: finding,
) -> WantedTree:
    """The target tree that `objects` claim; see `stages.wanted.wanted` for the rules.

    `findings` are those of the check, severities as configured; `adjust` gives this function's own findings
    their configured severity before they block anything.
    """
    claims = [claim for item in objects if (claim := claim_of(item)) is not None]
    explicit = _group((claim.target, claim) for claim in claims if claim.is_namespace)
    implied = _group((parent, claim) for claim in claims for parent in _implied(claim, explicit))
    found = tuple(map(adjust, chain(_property_findings(explicit, settings), _parent_findings(implied, settings))))
    blocked = _blocked(claims, (*explicit, *implied), _blocking(findings), _blocking(found))
    properties = {levels: _merged(group, settings) for levels, group in explicit.items()}
    properties |= {levels: _owned(wishes, settings) for levels, wishes in implied.items()}
    tree = (
        WantedNamespace(
            levels=levels,
            explicit=levels in explicit,
            properties=properties[levels],
            claimants=tuple(sorted({claim.claimant for claim in group}))[:CLAIMANTS_KEPT],
            blocked=levels in blocked,
        )
        for levels, group in (explicit | implied).items()
    )
    return WantedTree(tuple(sorted(tree, key=lambda wanted: (len(wanted.levels), wanted.levels))), found)


def _group(pairs: Iterable[tuple[Levels, Claim]]) -> dict[Levels, list[Claim]]:
    grouped: dict[Levels, list[Claim]] = {}
    for levels, claim in pairs:
        grouped.setdefault(levels, []).append(claim)
    return {levels: sorted(group, key=lambda claim: claim.order) for levels, group in grouped.items()}


def _implied(claim: Claim, explicit: _Claims) -> Iterator[Levels]:
    """The parents that only `claim` and its like ask for: up to the nearest namespace that is claimed itself."""
    for parent in scopes(claim.target[:-1] if claim.is_namespace else claim.target):
        if parent in explicit:
            return
        yield parent


def _values(group: Sequence[Claim], settings: WantedSettings) -> dict[str, list[tuple[int, Claim, str]]]:
    """Every value wanted for each key, with the rank of its source; the first decides."""
    values: dict[str, list[tuple[int, Claim, str]]] = {}
    for claim in group:
        if claim.readable:
            for key, value in wanted_properties(claim.item, settings.keys).items():
                values.setdefault(key, []).append((settings.rank(claim.item.source), claim, value))
    return {key: sorted(held, key=lambda entry: (entry[0], entry[1].order)) for key, held in values.items()}


def _merged(group: Sequence[Claim], settings: WantedSettings) -> dict[str, str]:
    return {key: held[0][2] for key, held in _values(group, settings).items()}


def _owners(wishes: Sequence[Claim], settings: WantedSettings) -> list[tuple[str, Claim]]:
    """The owners that an implied parent could get; the smallest claim's, which decides, first."""
    if settings.keys.owner is None:
        return []
    return [
        (wish.item.owner, wish)
        for wish in wishes
        if wish.is_namespace and wish.readable and wish.item.owner is not None
    ]


def _owned(wishes: Sequence[Claim], settings: WantedSettings) -> dict[str, str]:
    owners = _owners(wishes, settings)
    return {settings.keys.owner: owners[0][0]} if settings.keys.owner is not None and owners else {}


def _property_findings(explicit: _Claims, settings: WantedSettings) -> Iterator[Finding]:
    for target, group in explicit.items():
        for claim in filter(lambda claim: claim.readable, group):
            yield from (_shadow_finding(claim, name, key) for name, key in shadowed(claim.item, settings.keys))
        for key, held in _values(group, settings).items():
            if len({value for _, _, value in held}) > 1:
                yield _conflict_finding(target, key, held, settings)


def _shadow_finding(claim: Claim, name: str, key: str) -> Finding:
    return _finding(
        "property-conflict",
        claim,
        claim.target,
        f"its {name} and its property {quoted(key)} differ; the {name} is wanted under that key",
        f"configure another property key for the {name}, or null to leave it behind",
        Severity.WARNING,
    )


def _conflict_finding(
    target: Levels, key: str, held: Sequence[tuple[int, Claim, str]], settings: WantedSettings
) -> Finding:
    """Blocking, unless the first source in the configured order speaks with one voice."""
    first = held[0][0]
    by_value = sorted((value, claim.claimant) for _, claim, value in held)
    least, greatest = by_value[0][1], by_value[-1][1]
    decided = first < len(settings.source_order) and len({value for rank, _, value in held if rank == first}) == 1
    return _finding(
        "property-conflict",
        min((claim for _, claim, _ in held), key=lambda claim: claim.order),
        target,
        f"namespaces that become {shown(target)} hold different values of {quoted(key)}, "
        f"for example {_named(least)} and {_named(greatest)}",
        f"{settings.source_order[first]} comes first in the configured order of sources and decides"
        if decided
        else "make the values equal, or configure the order of sources that decides",
        Severity.WARNING if decided else Severity.BLOCKING,
    )


def _parent_findings(implied: _Claims, settings: WantedSettings) -> Iterator[Finding]:
    for parent, wishes in implied.items():
        yield _finding(
            "missing-parent",
            wishes[0],
            parent,
            f"it needs {shown(parent)} in the target, and no source namespace becomes that",
            "it is made, with an owner and nothing else; map a namespace to it where it should hold more",
        )
        owners = _owners(wishes, settings)
        if len({owner for owner, _ in owners}) > 1:
            owner, claim = owners[0]
            yield _finding(
                "owner-conflict",
                claim,
                parent,
                f"several owners could own the implied parent {shown(parent)}; {quoted(owner)} of this one is taken",
                "map a namespace to it that has the right owner",
            )


def _named(claimant: Claimant) -> str:
    return f"{claimant.source} {shown(claimant.levels)}"


def _finding(
    rule: str, claim: Claim, target: Levels, message: str, hint: str, severity: Severity | None = None
) -> Finding:
    item = claim.item
    return Finding(
        rule=rule,
        severity=severity or RULES[rule].severity,
        source=item.source,
        object=item.object,
        levels=item.levels,
        name=item.name,
        target_levels=target,
        message=message,
        hint=hint,
    )


def _blocking(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity is Severity.BLOCKING]


def _blocked(
    claims: Sequence[Claim],
    wanted: Iterable[Levels],
    checked: Sequence[Finding],
    found: Sequence[Finding],
) -> set[Levels]:
    """What no sound claim asks for: none that is neither spoiled nor below something that is.

    A claim is spoiled by a blocking finding about it, and an unreadable one always. The target of what was found
    here is the wanted namespace itself; that of a table's check is not.
    """
    about: list[Finding | Member] = [*checked, *(member for finding in checked for member in finding.of_sources)]
    spoiled = {(item.source, item.object, item.levels, item.name) for item in (*about, *found)}

    def sound(claim: Claim) -> bool:
        item = claim.item
        return claim.readable and (item.source, item.object, item.levels, item.name) not in spoiled

    roots = {claim.target for claim in claims if claim.is_namespace and not sound(claim)}
    roots |= {item.target_levels for item in about if item.object == "namespace" and item.target_levels}
    roots |= {finding.target_levels for finding in found if finding.target_levels}
    asking = {claim.target for claim in claims if claim.is_namespace or sound(claim)}
    asked = {scope for levels in asking if roots.isdisjoint(own := scopes(levels)) for scope in own}
    return set(wanted) - asked


__all__ = [
    "CLAIMANTS_KEPT",
    "Adjust",
    "WantedNamespace",
    "WantedSettings",
    "WantedTree",
    "wanted_tree",
]
