"""From mapped source rows to the wanted target tree; `core.wanted.wanted_tree` is the oracle."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from nestsync.core.findings import Severity
from nestsync.core.wanted import CLAIMANTS_KEPT, WantedSettings
from nestsync.schemas import WANTED_FIELDS
from nestsync.stages.claims import SUBJECT, implied_claims, namespace_claims, table_claims
from nestsync.stages.columns import as_declared, as_findings, no_properties, quoted, scopes, shown

_BLOCKING = str(Severity.BLOCKING)
_WARNING = str(Severity.WARNING)
ABOUT = ("severity", "source", "object", "levels", "name", "target_levels")
"""Of a finding, what has to be known to hold back what it is about."""
_DISPUTE = ("key", "decided", "winner", "least", "greatest")


def wanted(
    mapped: DataFrame,
    findings: Callable[[], DataFrame],
    settings: WantedSettings,
    *,
    adjust: Callable[[DataFrame], DataFrame] = lambda found: found,
    keep: Callable[[str, DataFrame], DataFrame] = lambda _, frame: frame,
) -> tuple[DataFrame, DataFrame]:
    """The target tree that the sources claim (`schemas.WANTED_FIELDS`), and its findings (`FINDING_FIELDS`).

    `mapped` holds the rows of the sources, namespaces and tables, in `schemas.NAMESPACE_FIELDS` and
    `MAPPED_FIELDS` (more columns are left alone). `findings` gives what those of the check are about, in `ABOUT`, a row
    for each object of each, severities as configured; it is asked last: they may be in the making. `adjust` gives the
    findings made here their configured severity before they block anything. Lazy; `mapped` and the frame given to
    `keep`, which may persist it, are read several times.

    - A readable namespace claims its target explicitly, a readable table implies the namespace that it is in,
      and both imply the parents above, up to the nearest that is claimed explicitly. The root is never wanted.
    - Wanted properties are the namespace's own, byte for byte, and its comment, owner and location under the
      configured keys (`core.claims.wanted_properties`). Several explicit claims on one target (whether that is
      a collision, the check has said) put theirs together: values that differ are a `property-conflict`,
      blocking, or a warning where the first source in the configured order decides.
    - An implied parent gets the owner of the namespace that it is made for; of several owners, that of the
      smallest (source, levels), with an `owner-conflict` warning. Every implied parent is a `missing-parent`
      warning about the smallest claim that needs it.
    - ``blocked`` is everything at and below a target that a blocking finding stands on, and a parent that only
      blocked claims ask for.
    - A namespace that could not be read claims its target and blocks it: created without its properties, it
      would stay without them (create-only never alters what exists), and what is below it would stand under an
      owner that nobody chose. The next run that can read it goes on from there.
    """
    claims = namespace_claims(mapped, settings.keys)
    tables = table_claims(mapped)
    tree = keep("wanted_targets", _targets(claims, implied_claims(claims, tables), settings))
    found = adjust(
        _shadow_findings(claims)
        .unionByName(_conflict_findings(tree))
        .unionByName(_missing_parents(tree))
        .unionByName(_owner_conflicts(tree))
    )
    asked = _asked(claims, tables, findings().where(_is_blocking()), found.where(_is_blocking()))
    owned = F.create_map(F.lit(settings.keys.owner or ""), F.col("owner.owner"))
    columns = {
        "levels": F.col("target"),
        "properties": F.coalesce("merged", F.when(F.col("owner").isNotNull(), owned), no_properties()),
        "blocked": F.col("asked").isNull(),
    }
    marked = tree.join(asked.withColumn("asked", F.lit(True)), "target", "left")
    return as_declared(marked, WANTED_FIELDS, columns), found


def _is_blocking() -> Column:
    return F.col("severity") == _BLOCKING


def _targets(claims: DataFrame, implied: DataFrame, settings: WantedSettings) -> DataFrame:
    """One row a wanted namespace, in the columns that everything else is made of.

    ``target``, ``explicit``, ``claimants``; ``subject``, the smallest claim; ``owner``, with the claim that it is of,
    and whether the ``owners_differ`` (both of an implied parent only); ``merged``, the explicit claims' properties;
    ``disputes`` about those.
    """
    members = (
        claims.withColumn("owner", F.lit(None).cast("string"))
        .withColumn("explicit", F.lit(True))
        .select("target", "explicit", *SUBJECT, "owner")
        .unionByName(implied.withColumn("explicit", F.lit(False)))
    )
    place = F.dense_rank().over(Window.partitionBy("target").orderBy("source", "levels"))
    claimant = F.when(place <= CLAIMANTS_KEPT, F.struct("source", "levels"))
    # The empty name only orders a namespace before its own tables; the name itself stays null.
    by_order = F.struct("source", "levels", "object", F.coalesce("name", F.lit("")).alias("place"), "name", "system")
    by_owner = F.struct("source", "levels", "owner", "system", "object", "name")
    grouped = (
        members.withColumn("claimant", claimant)
        .groupBy("target")
        .agg(
            F.max("explicit").alias("explicit"),
            F.array_sort(F.collect_set("claimant")).alias("claimants"),
            F.min(by_order).alias("subject"),
            F.min(F.when(F.col("owner").isNotNull(), by_owner)).alias("owner"),
            (F.min("owner") != F.max("owner")).alias("owners_differ"),
        )
    )
    return grouped.join(_merged(claims, settings), "target", "left")


def _merged(claims: DataFrame, settings: WantedSettings) -> DataFrame:
    """(target, merged, disputes): what the explicit claims on a target hold together, and where they differ."""
    order = F.array(*map(F.lit, settings.source_order)).cast("array<string>")
    place = F.array_position(order, F.col("source"))
    rank = F.when(place > 0, place - 1).otherwise(len(settings.source_order))
    values = claims.where("readable").select("target", *SUBJECT, rank.alias("rank"), F.explode("properties"))
    of_claim = ("source", "levels", "system", "object", "name")
    by_key = values.groupBy("target", "key").agg(
        F.min(F.struct("rank", "source", "levels", "value")).alias("first"),
        F.min(F.struct(*of_claim)).alias("subject"),
        F.min(F.struct("value", "source", "levels")).alias("least"),
        F.max(F.struct("value", "source", "levels")).alias("greatest"),
        F.min(F.struct("rank", "value")).alias("low"),
        F.max(F.struct(-F.col("rank"), "value")).alias("high"),
    )
    # With equal ranks, the lowest and the highest value of the first source: one voice, or several.
    decided = (F.col("low.rank") < len(settings.source_order)) & (F.col("low.value") == F.col("high.value"))
    dispute = F.struct(
        "subject", "key", decided.alias("decided"), F.get(order, F.col("low.rank")).alias("winner"), "least", "greatest"
    )
    differs = F.col("least.value") != F.col("greatest.value")
    return by_key.groupBy("target").agg(
        F.map_from_entries(F.collect_list(F.struct("key", F.col("first.value").alias("value")))).alias("merged"),
        F.collect_list(F.when(differs, dispute)).alias("disputes"),
    )


def _shadow_findings(claims: DataFrame) -> DataFrame:
    rows = claims.where("readable").withColumn("pair", F.explode("shadowed"))
    name = F.col("pair.field")
    return as_findings(
        rows,
        "property-conflict",
        target_levels=F.col("target"),
        severity=F.lit(_WARNING),
        message=_text(
            "its ", name, " and its property ", quoted(F.col("pair.key")), " differ; the ", name,
            " is wanted under that key",
        ),
        hint=_text("configure another property key for the ", name, ", or null to leave it behind"),
    )  # fmt: skip


def _conflict_findings(tree: DataFrame) -> DataFrame:
    """One finding for each key of a target on whose value its claims differ."""
    rows = tree.select("target", F.explode("disputes").alias("dispute")).select("target", "dispute.*")
    return as_findings(
        rows.select("target", *_DISPUTE, "subject.*"),
        "property-conflict",
        target_levels=F.col("target"),
        severity=F.when(F.col("decided"), _WARNING).otherwise(_BLOCKING),
        message=_text(
            "namespaces that become ", shown(F.col("target")), " hold different values of ", quoted(F.col("key")),
            ", for example ", _named("least"), " and ", _named("greatest"),
        ),
        hint=F.when(
            F.col("decided"), _text(F.col("winner"), " comes first in the configured order of sources and decides")
        ).otherwise("make the values equal, or configure the order of sources that decides"),
    )  # fmt: skip


def _missing_parents(tree: DataFrame) -> DataFrame:
    return as_findings(
        tree.where("NOT explicit").select("target", "subject.*"),
        "missing-parent",
        target_levels=F.col("target"),
        message=_text("it needs ", shown(F.col("target")), " in the target, and no source namespace becomes that"),
        hint=F.lit("it is made, with an owner and nothing else; map a namespace to it where it should hold more"),
    )


def _owner_conflicts(tree: DataFrame) -> DataFrame:
    return as_findings(
        tree.where("owners_differ").select("target", "owner.*"),
        "owner-conflict",
        target_levels=F.col("target"),
        message=_text(
            "several owners could own the implied parent ", shown(F.col("target")), "; ", quoted(F.col("owner")),
            " of this one is taken",
        ),
        hint=F.lit("map a namespace to it that has the right owner"),
    )  # fmt: skip


def _named(claim: str) -> Column:
    return _text(F.col(f"{claim}.source"), " ", shown(F.col(f"{claim}.levels")))


def _text(*parts: Column | str) -> Column:
    return F.concat(*(F.lit(part) if isinstance(part, str) else part for part in parts))


def _asked(claims: DataFrame, tables: DataFrame, checked: DataFrame, found: DataFrame) -> DataFrame:
    """(target): what a sound claim asks for, itself or as a parent; what is wanted and not here is blocked.

    A claim is sound where neither it nor a target above it is unreadable or has a blocking finding.
    """
    found = found.select(*ABOUT)
    spoiled = checked.unionByName(found).select("source", "object", "levels", "name").distinct()
    sound_tables = tables.join(_renamed(spoiled), _same_subject(), "left_anti")
    asking = claims.select("target").union(sound_tables.select("target")).distinct()
    scoped = asking.select("target", F.explode(scopes(F.col("target"))).alias("scope"))
    roots = _roots(claims, spoiled, checked, found).withColumn("spoils", F.lit(True))
    sound = scoped.join(roots, "scope", "left").groupBy("target").agg(F.max("spoils").alias("spoils"))
    return sound.where("spoils IS NULL").select(F.explode(scopes(F.col("target"))).alias("target")).distinct()


def _roots(claims: DataFrame, spoiled: DataFrame, checked: DataFrame, found: DataFrame) -> DataFrame:
    """(scope): the targets that a blocking finding or an unreadable claimant stands on.

    The target of what was found here is the wanted namespace itself; that of a table's check is not.
    """
    namespaces = spoiled.where(F.col("object") == "namespace").select("source", "levels")
    of_checked = checked.where(F.col("object") == "namespace").select("target_levels")
    named = of_checked.unionByName(found.select("target_levels")).where(F.size("target_levels") > 0)
    return (
        claims.where("NOT readable")
        .select("target")
        .union(claims.join(namespaces, ["source", "levels"], "left_semi").select("target"))
        .union(named)
        .select(F.col("target").alias("scope"))
        .distinct()
    )


def _renamed(spoiled: DataFrame) -> DataFrame:
    return spoiled.select(*(F.col(name).alias(f"spoiled_{name}") for name in spoiled.columns))


def _same_subject() -> Column:
    same = F.lit(True)
    for name in ("source", "object", "levels", "name"):
        same &= F.col(name).eqNullSafe(F.col(f"spoiled_{name}"))
    return same


__all__ = ["ABOUT", "wanted"]
