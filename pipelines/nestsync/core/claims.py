"""Claims: one source object wanting one target namespace, and the properties that it brings along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from nestsync.core.errors import NestsyncError
from nestsync.core.identifiers import Levels, quoted


class PropertyKeysClash(NestsyncError):
    """Two of the system's own fields are to be copied under one property key."""

    code: ClassVar[str] = "property-keys"
    exit_code: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class PropertyKeys:
    """The property key under which each of a namespace's own fields is wanted; None leaves the field behind.

    A copied location steers new tables of the target into the source's directories.
    Raises `PropertyKeysClash` where two fields share a key.
    """

    comment: str | None = "comment"
    owner: str | None = "owner"
    location: str | None = "location"

    def __post_init__(self) -> None:
        keys = [key for _, key in self.by_field() if key is not None]
        if len(set(keys)) < len(keys):
            raise PropertyKeysClash(
                f"two of comment, owner and location share a key: {', '.join(map(quoted, keys))}",
                where="property keys",
                hint="give each a key of its own, or null to leave it behind",
            )

    def by_field(self) -> tuple[tuple[str, str | None], ...]:
        """Each field with its key, in a fixed order."""
        return ("comment", self.comment), ("owner", self.owner), ("location", self.location)


@dataclass(frozen=True, slots=True)
class SourceObject:
    """A row of a source's inventory after mapping, as far as the wanted tree depends on it."""

    source: str
    object: str
    levels: Levels
    name: str | None
    target_levels: Levels | None
    properties: Mapping[str, str] = field(default_factory=dict)
    owner: str | None = None
    comment: str | None = None
    location: str | None = None
    status: str = "ok"


@dataclass(frozen=True, slots=True, order=True)
class Claimant:
    """The source namespace that wants a target namespace."""

    source: str
    levels: Levels


@dataclass(frozen=True, slots=True)
class Claim:
    """A source object and the target namespace that it, or what it is in, becomes."""

    item: SourceObject
    target: Levels

    @property
    def is_namespace(self) -> bool:
        """Whether the object itself becomes the target; a table only implies the namespace that it is in."""
        return self.item.object == "namespace"

    @property
    def readable(self) -> bool:
        """Whether the object's properties are known."""
        return self.item.status == "ok"

    @property
    def claimant(self) -> Claimant:
        """The source namespace that wants the target."""
        return Claimant(self.item.source, self.item.levels)

    @property
    def order(self) -> tuple[Claimant, str, str]:
        """Where the claim stands among others: the smallest speaks for all in findings."""
        return self.claimant, self.item.object, self.item.name or ""


def claim_of(item: SourceObject) -> Claim | None:
    """The claim of `item`, or None where it makes none: excluded, mapped to the root, or not to be moved.

    An unreadable namespace makes one: what it is not known to hold must not be created without it.
    """
    claims = item.status == "ok" or (item.object == "namespace" and item.status == "unreadable")
    return Claim(item, item.target_levels) if claims and item.target_levels else None


def wanted_properties(item: SourceObject, keys: PropertyKeys) -> dict[str, str]:
    """What `item` wants its target to hold: its properties, and its own fields under the configured keys."""
    return _kept(item, keys) | {key: value for _, key, value in _fields(item, keys) if key is not None}


def shadowed(item: SourceObject, keys: PropertyKeys) -> Iterator[tuple[str, str]]:
    """(field, key) where a property holds another value than the field that is wanted under its key."""
    properties = _kept(item, keys)
    for name, key, value in _fields(item, keys):
        if key is not None and properties.get(key, value) != value:
            yield name, key


def _fields(item: SourceObject, keys: PropertyKeys) -> Iterator[tuple[str, str | None, str]]:
    """Each of the system's own fields that `item` has: the field, its key in the target, its value."""
    for name, key in keys.by_field():
        value = getattr(item, name)
        if value is not None:
            yield name, key, value


def _kept(item: SourceObject, keys: PropertyKeys) -> dict[str, str]:
    """The properties of `item` without the doubles of its fields.

    A system that keeps a field among its properties (Iceberg REST keeps all three) has it there under its
    conventional key with the same value: it moves with the field. Another value is a property of its own.
    """
    moved = {name for name, key, value in _fields(item, keys) if key != name and item.properties.get(name) == value}
    return {key: value for key, value in item.properties.items() if key not in moved}


__all__ = [
    "Claim",
    "Claimant",
    "PropertyKeys",
    "PropertyKeysClash",
    "SourceObject",
    "claim_of",
    "shadowed",
    "wanted_properties",
]
