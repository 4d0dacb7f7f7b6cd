"""Explaining one identifier: how every dialect writes it, where that leads back to, which targets would refuse it.

What the matrix and the capabilities know of namespaces, here also of tables, and put together for one name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from nestsync.core.capabilities import CAPABILITIES, Capabilities
from nestsync.core.checking.context import DialectUse
from nestsync.core.dangers import READERS, dangers
from nestsync.core.dialects import DIALECTS, Dialect, NameRefused, Refusal, UnknownKind, dialect
from nestsync.core.dialects.iceberg_rest import IcebergRest
from nestsync.core.identifiers import Identifier
from nestsync.core.matrix import Fate
from nestsync.core.resolution import resolve, resolve_namespace

SEPARATED = tuple(name for name, kind in DIALECTS.items() if "separator" in getattr(kind, "__dataclass_fields__", ()))
"""The dialects that let one choose what joins levels."""

_ONE_SEPARATOR = ({"iceberg-rest", "iceberg-rest-query"}, {"gravitino", "gravitino-shipped"})
"""Dialects that take theirs from one place: what a server advertises, or what Gravitino is configured with."""

_CATALOGS_FIRST = "spark"
"""The dialect whose first part may be a catalog; in others it always is one, or never."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An identifier as somebody wrote it."""

    text: str
    dialect: str = "spark"
    separator: str | None = None
    """What joins levels in `dialect`, and in those that share its separator; None for their defaults."""
    table: bool = False
    """Whether the text names a table; a namespace otherwise."""
    catalogs: Collection[str] = ()
    """The catalogs that the engine knows."""


@dataclass(frozen=True, slots=True)
class Written:
    """The identifier in one dialect, and what its own system reads there."""

    dialect: Dialect
    fate: Fate
    text: str | None
    """What the dialect writes or, where that is lossy, what the system writes unguarded; None where refused."""
    back: Identifier | None
    """What the text means: the identifier itself, another one where lossy, None where refused."""
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class Held:
    """What becomes of the identifier in one target."""

    target: Capabilities
    refusals: tuple[Refusal, ...]
    key: Identifier
    """What the target compares (and, where it folds, keeps): another one is a name that collides with ours."""


@dataclass(frozen=True, slots=True)
class Danger:
    """What a reader of the target would do about the identifier's namespace."""

    reader: str
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of one identifier."""

    asked: Asked
    identifier: Identifier
    catalog: str | None
    """The catalog that the first part is, where `Asked.catalogs` has it."""
    other: Identifier | None
    """What Iceberg's Java clients and servers read in the same text, where that is something else."""
    path: str | None
    """The path, where the text is a table by its path: then it is no name in any catalog."""
    written: tuple[Written, ...]
    held: tuple[Held, ...]
    dangers: tuple[Danger, ...]


def explain(asked: Asked) -> Explanation:
    """What `asked` means, and what becomes of it everywhere.

    Raises `UnknownKind` for a dialect or an option that does not exist, `SeparatorRefused`, and `NameRefused` for a
    text that the dialect does not read.
    """
    found = _open(asked)
    identifier = _guarded(found, asked.text, table=asked.table)
    catalog, identifier, path = _resolved(asked, identifier)
    other = _java_reading(found, asked)
    if path is not None:
        return Explanation(asked, identifier, catalog, None, path, (), (), ())
    return Explanation(
        asked=asked,
        identifier=identifier,
        catalog=catalog,
        other=other,
        path=None,
        written=tuple(written(each, identifier) for each in _dialects(found, asked)),
        held=tuple(_held(target, identifier) for target in CAPABILITIES.values()),
        dangers=tuple(Danger(reader, each) for reader in READERS for each in dangers(reader, identifier.levels)),
    )


def written(found: Dialect, identifier: Identifier) -> Written:
    """What becomes of `identifier`, a namespace or a table, in the dialect `found`, as `matrix.outcome` has it."""
    refusal = _refusal(found, identifier)
    if refusal is None:
        return Written(found, Fate.LOSSLESS, _render(found, identifier), identifier, None)
    if found.rejected(identifier.levels) is None:
        try:
            text = _render(found, identifier)
            back = _unguarded(found, text, table=identifier.name is not None)
        except NameRefused:
            return Written(found, Fate.REFUSED, None, None, refusal)
        if back != identifier:
            return Written(found, Fate.LOSSY, text, back, refusal)
    return Written(found, Fate.REFUSED, None, None, refusal)


def _open(asked: Asked) -> Dialect:
    if asked.separator is None:
        found = dialect(asked.dialect)
    elif asked.dialect in DIALECTS and asked.dialect not in SEPARATED:
        raise UnknownKind(
            f"the dialect {asked.dialect} has a separator of its own",
            where=asked.dialect,
            hint=f"a separator can be chosen for {', '.join(SEPARATED)}",
        )
    else:
        found = dialect(asked.dialect, separator=asked.separator)
    if asked.catalogs and asked.dialect != _CATALOGS_FIRST:
        raise UnknownKind(
            f"whether the first part is a catalog is no question in {asked.dialect}",
            where=asked.dialect,
            hint=f"name catalogs for {_CATALOGS_FIRST} only",
        )
    return found


def _dialects(found: Dialect, asked: Asked) -> Iterator[Dialect]:
    """Every dialect, those that share a separator with `found` with that one."""
    sharing = next((names for names in _ONE_SEPARATOR if found.name in names), {found.name})
    for name in DIALECTS:
        yield found if name == found.name else DialectUse(name, asked.separator if name in sharing else None).open()


def _guarded(found: Dialect, text: str, *, table: bool) -> Identifier:
    return Identifier(*found.decode_table(text)) if table else Identifier(found.decode(text))


def _unguarded(found: Dialect, text: str, *, table: bool) -> Identifier:
    return Identifier(*found.read_table(text)) if table else Identifier(found.read(text))


def _render(found: Dialect, identifier: Identifier) -> str:
    if identifier.name is None:
        return found.render(identifier.levels)
    return found.render_table(identifier.levels, identifier.name)


def _refusal(found: Dialect, identifier: Identifier) -> Refusal | None:
    if identifier.name is None:
        return found.refusal(identifier.levels)
    return found.table_refusal(identifier.levels, identifier.name)


def _resolved(asked: Asked, identifier: Identifier) -> tuple[str | None, Identifier, str | None]:
    """The catalog, the identifier in it and, of a path identifier, the path."""
    if not asked.catalogs:
        return None, identifier, None
    if identifier.name is None:
        catalog, levels = resolve_namespace(identifier.levels, catalogs=asked.catalogs)
        return catalog, Identifier(levels), None
    found = resolve((*identifier.levels, identifier.name), catalogs=asked.catalogs)
    return found.catalog, Identifier(found.levels, found.name), found.path if found.is_path else None


def _java_reading(found: Dialect, asked: Asked) -> Identifier | None:
    """As `iceberg_rest.java_reading`, of tables too."""
    if not isinstance(found, IcebergRest) or "+" not in asked.text:
        return None
    return _unguarded(found, asked.text.replace("+", "%20"), table=asked.table)


def _held(target: Capabilities, identifier: Identifier) -> Held:
    levels, name = identifier.levels, identifier.name
    key = Identifier(tuple(map(target.key, levels)), None if name is None else target.key(name))
    return Held(target, tuple(target.refusals(levels, name)), key)


__all__ = ["SEPARATED", "Asked", "Danger", "Explanation", "Held", "Written", "explain", "written"]
