"""Namespaces that Trino shows as one schema, as column expressions; `core.checking.together` is the oracle."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from nestsync.core.checking.together import ENGINE
from nestsync.core.dialects import dialect
from nestsync.stages.check.columns import native

SCHEMA = "schema"
"""The text by which Trino knows a namespace."""


def is_schema() -> Column:
    """Whether a claim is of a namespace that Trino shows. The root is no schema."""
    return ~F.col("is_table") & (F.size("target_levels") > 0)


def schema() -> Column:
    """`SCHEMA` of a claim on a namespace."""
    return native(dialect(ENGINE)).render(F.col("stored_levels"))


def loses_its_text() -> Column:
    """Whether Trino could show another namespace under this one's text, which then is not of its own levels.

    Two that keep their own text there, having no dot and no upper case, never meet.
    """
    text = F.array_join("stored_levels", ".")
    return F.array_join("stored_levels", "").contains(".") | (F.lower(text) != text)


__all__ = ["SCHEMA", "is_schema", "loses_its_text", "schema"]
