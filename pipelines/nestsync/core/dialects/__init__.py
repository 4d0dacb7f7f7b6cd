"""Dialects: how each system and engine writes an identifier as text, and which names it cannot write.

Text exists here and nowhere else. ``dialect("trino").encode(("a", "b"))`` is ``"a.b"`` in quotes, and every
dialect refuses what would come back as another name.
"""

from __future__ import annotations

from nestsync.core.dialects.backticks import Flink, Spark
from nestsync.core.dialects.base import Dialect, NameRefused, Refusal
from nestsync.core.dialects.gravitino import Gravitino, GravitinoPhysical, GravitinoShipped
from nestsync.core.dialects.hive import Hive
from nestsync.core.dialects.iceberg_rest import IcebergRest, IcebergRestQuery
from nestsync.core.dialects.joined import Jdbc, Lance, LanceHive
from nestsync.core.dialects.trino import Trino
from nestsync.core.errors import UnknownKind

DIALECTS: dict[str, type[Dialect]] = {
    kind.name: kind
    for kind in (
        IcebergRest,
        IcebergRestQuery,
        Gravitino,
        GravitinoPhysical,
        GravitinoShipped,
        Spark,
        Flink,
        Trino,
        Lance,
        LanceHive,
        Hive,
        Jdbc,
    )
}
"""Every dialect by its name."""


_OTHER_WORDS = {"delimiter": "separator"}
"""What Gravitino's design and Lance call an option of ours."""


def dialect(name: str, **options: str) -> Dialect:
    """The dialect called `name`, with its own options (``separator``, also as ``delimiter``; ``default_catalog``).

    Raises `UnknownKind` for a name or an option that does not exist, `SeparatorRefused` for a separator that
    cannot be.
    """
    kind = DIALECTS.get(name)
    if kind is None:
        raise UnknownKind(f"there is no dialect {name!r}", hint=f"the dialects are {', '.join(DIALECTS)}")
    chosen = {_OTHER_WORDS.get(option, option): value for option, value in options.items()}
    unknown = sorted(set(chosen) - set(getattr(kind, "__dataclass_fields__", ())))
    if unknown:
        raise UnknownKind(f"the dialect {name} has no option {unknown[0]!r}", where=name)
    if len(chosen) < len(options):
        raise UnknownKind(f"the dialect {name} is given one option by two words", where=name)
    return kind(**chosen)


__all__ = ["DIALECTS", "Dialect", "NameRefused", "Refusal", "UnknownKind", "dialect"]
