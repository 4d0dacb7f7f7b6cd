"""Unicode normalisation: the one thing about names for which Spark has no function of its own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import StringType

from nestsync.schemas import LEVELS


def normalised(frame: DataFrame, levels: str, name: str) -> DataFrame:
    """`frame` with its columns `levels` (``array<string>``) and `name` in NFC.

    Every row leaves the JVM, as Arrow batches: rows of ASCII alone are in NFC, and had better not come here.
    """
    nfc_levels = arrow_udf(_nfc_lists, LEVELS)  # type: ignore[call-overload]
    nfc_name = arrow_udf(_nfc_texts, StringType())  # type: ignore[call-overload]
    return frame.withColumns({levels: nfc_levels(levels), name: nfc_name(name)})


def _nfc_texts(texts: pa.Array) -> pa.Array:
    return pc.utf8_normalize(texts, "NFC")


def _nfc_lists(lists: pa.Array) -> pa.Array:
    offsets: Any = pc.subtract(lists.offsets, lists.offsets[0])
    return pa.ListArray.from_arrays(offsets, pc.utf8_normalize(lists.flatten(), "NFC"))


__all__ = ["normalised"]
