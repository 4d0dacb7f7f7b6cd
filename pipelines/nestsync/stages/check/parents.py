"""The parents that claims imply, which have to be there whether or not somebody asks for them by name."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from nestsync.core.checking.collisions import EXPLICIT, IMPLIED
from nestsync.core.checking.rules import NAMESPACE
from nestsync.stages.check.claimed import PLACE, STORED, WANTED

_VOICE = ("source", "levels", "system")
FEW_KEYS = 500_000
"""So many keys, each a number or a short text, are handed to every task; more are brought to the rows by a shuffle."""


def implied(claims: DataFrame) -> DataFrame:
    """The namespaces that the explicit ones of `claims` (with `STORED`) want or imply, by each that implies them.

    Also those that are claimed themselves: what says so is louder.
    """
    explicit = claims.where(F.col("tier") == EXPLICIT)
    return implied_by(explicit.select(*PLACE, "stored_levels").distinct(), "target_levels", "stored_levels")


def implied_by(places: DataFrame, *levels: str) -> DataFrame:
    """The namespaces at and above `places` (`PLACE`), by each that implies them; all of their columns of `levels`."""
    each = places.withColumn("depth", F.explode(F.sequence(F.lit(1), F.size("target_levels"))))
    return each.where(F.size("target_levels") > 0).select(
        "source",
        "system",
        F.lit(NAMESPACE).alias("object"),
        "levels",
        F.lit("").alias("name"),
        F.lit(IMPLIED).alias("tier"),
        F.lit(False).alias("is_table"),
        *(F.slice(name, F.lit(1), F.col("depth")).alias(name) for name in levels),
        *(F.lit("").alias(name) for name in _names_of(levels)),
    )


def _names_of(levels: Sequence[str]) -> list[str]:
    """The columns of names beside those of levels."""
    return [name for of_levels, name in (WANTED, STORED) if of_levels in levels]


def handed_around(keys: DataFrame, number: int) -> DataFrame:
    """`keys`, of which there are at most `number`, to join with."""
    return F.broadcast(keys) if number <= FEW_KEYS else keys


def each_parent_once(claims: DataFrame) -> DataFrame:
    """`claims`, each once, with each parent implied by the smallest namespace alone: nobody else will be heard."""
    others, whose = [name for name in claims.columns if name not in _VOICE], F.struct(*_VOICE)
    named = claims.withColumns({"whose": whose, "loud": F.when(F.col("tier") != IMPLIED, whose)})
    return named.groupBy(*others, "loud").agg(F.min("whose").alias("smallest")).select(*others, "smallest.*")


__all__ = ["FEW_KEYS", "each_parent_once", "handed_around", "implied", "implied_by"]
