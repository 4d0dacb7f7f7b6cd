"""Every dialect of `core` as native column expressions; a property test holds each to its dialect."""

from __future__ import annotations

from typing import Any

from nestsync.core.dialects import Dialect
from nestsync.stages.check import native_joined as joined
from nestsync.stages.check import native_quoted as quoted
from nestsync.stages.check.native import Native

NATIVES: dict[str, type[Native[Any]]] = {
    "iceberg-rest": joined.NativeIcebergRest,
    "iceberg-rest-query": joined.NativeIcebergRestQuery,
    "gravitino": joined.NativeGravitino,
    "gravitino-physical": joined.NativeGravitinoPhysical,
    "gravitino-shipped": joined.NativeGravitinoShipped,
    "lance": joined.NativeLance,
    "lance-hive": joined.NativeLanceHive,
    "jdbc": joined.NativeJoined,
    "spark": quoted.NativeSpark,
    "flink": quoted.NativeFlink,
    "trino": quoted.NativeTrino,
    "hive": quoted.NativeHive,
}
"""Every dialect's native form by the dialect's name."""


def native(dialect: Dialect) -> Native[Any]:
    """The native form of `dialect`, with its options."""
    return NATIVES[dialect.name](dialect)


__all__ = ["NATIVES", "native"]
