"""Two runs side by side: what appeared, vanished, moved or changed between them, a row each.

An object is the same in both runs where its catalog, its kind, its levels and its name are. It *moved* where its
source identifier is the same and its target identifier is another. Absence counts only where it was seen: an object
that is missing below a namespace that could not be read may be there all the same, and is ``unknown``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from nestsync.core.findings import Severity
from nestsync.schemas import CHANGE_FIELDS, LEVELS
from nestsync.stages.columns import as_declared, by_key, quoted, scopes, shown

KEY = ("role", "source", "object", "levels", "name")
_BEFORE, _AFTER = 0, 1
_FIELDS = ("status", "owner", "comment", "location", "format", "columns", "properties")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs. `mapped` and `findings` are None where its check did not run, or left none."""

    objects: DataFrame
    """``role`` and ``SCHEMAS["all"]``."""
    mapped: DataFrame | None = None
    """`schemas.TABLES["mapped"]`."""
    findings: DataFrame | None = None
    """`schemas.FINDING_FIELDS`."""


def compare(
    before: Side,
    after: Side,
    catalogs: Collection[tuple[str, str]],
    *,
    ignored: Collection[str] = (),
    unread: bool = True,
    keep: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> DataFrame:
    """What is another in `after` than in `before` (`schemas.CHANGE_FIELDS`), in no order. Lazy.

    Only `catalogs`, as (role, source), are compared: those that both runs read. Properties under the keys `ignored`
    change no object. `unread` False says that no namespace was unreadable in either run, which spares a join. `keep`
    may persist a frame that is read more than once.
    """
    held = _in(catalogs, ("role", "source"))
    parts = [_objects(before.objects.where(held), after.objects.where(held), ignored, keep if unread else None)]
    sources = {source for role, source in catalogs if role == "source"}
    of_sources = F.col("source").isin(*sources)
    if before.mapped is not None and after.mapped is not None:
        parts.append(_moved(before.mapped.where(of_sources), after.mapped.where(of_sources)))
    if before.findings is not None and after.findings is not None:
        known = F.col("source").isin(*(source for _, source in catalogs))
        parts.append(_findings(before.findings.where(known), after.findings.where(known)))
    return reduce(DataFrame.unionByName, parts)


def _in(catalogs: Collection[tuple[str, str]], columns: tuple[str, str]) -> Column:
    pairs = (F.struct(F.lit(role), F.lit(source)) for role, source in sorted(catalogs))
    return F.struct(*columns).isin(*pairs) if catalogs else F.lit(False)


def _sides(before: DataFrame, after: DataFrame, key: tuple[str, ...], *facts: Column) -> DataFrame:
    """`key`, ``before`` and ``after``: the facts of each side as a struct, null where the key is not there.

    One shuffle, where a join would take two. A catalog can list a name twice: the largest row speaks for both.
    """
    parts = [
        frame.select(*key, F.lit(side).alias("_side"), F.struct(*facts).alias("_facts"))
        for side, frame in ((_BEFORE, before), (_AFTER, after))
    ]
    both = parts[0].unionAll(parts[1]).groupBy(*key)
    of = {name: F.when(F.col("_side") == side, F.col("_facts")) for name, side in (("before", 0), ("after", 1))}
    return both.agg(*(F.max(facts).alias(name) for name, facts in of.items()))


# ---- objects


def _objects(
    before: DataFrame, after: DataFrame, ignored: Collection[str], keep: Callable[[DataFrame], DataFrame] | None
) -> DataFrame:
    """Those that appeared, vanished or changed."""
    counted = F.map_filter("properties", lambda key, value: value.isNotNull() & ~key.isin(*ignored))
    properties = by_key(counted if ignored else F.map_filter("properties", lambda _, value: value.isNotNull()))
    facts = [properties.alias(name) if name == "properties" else F.col(name) for name in _FIELDS]
    sides = _sides(before, after, KEY, *facts)
    there, here = F.col("before").isNotNull(), F.col("after").isNotNull()
    detail = _difference()
    change = F.when(~there, "appeared").when(~here, "vanished").when(detail != "", "changed")
    found = sides.select(*KEY, change.alias("change"), F.when(there & here, detail).alias("detail"))
    found = found.where(F.col("change").isNotNull())
    return _declared(found if keep is None else _where_seen(keep(found), before, after))


def _difference() -> Column:
    """What is another, in words; an object that could not be read once tells only that."""
    status = F.when(_differs("status"), _turned("status"))
    readable = (F.col("before.status") == "ok") & (F.col("after.status") == "ok")
    parts = [
        F.when(_differs("owner"), _turned("owner", quoted)),
        F.when(_differs("location"), _turned("location", quoted)),
        F.when(_differs("comment"), F.lit("another comment")),
        F.when(_differs("format"), _turned("format")),
        F.when(_differs("columns"), _columns()),
        F.when(_differs("properties"), _properties()),
    ]
    return F.concat_ws("; ", status, *(F.when(readable, part) for part in parts))


def _differs(name: str) -> Column:
    return ~F.col(f"before.{name}").eqNullSafe(F.col(f"after.{name}"))


def _turned(name: str, told: Callable[[Column], Column] = lambda text: text) -> Column:
    """``owner "ann" → "bob"``."""
    before, after = (
        F.when(F.col(f"{side}.{name}").isNull(), "none").otherwise(told(F.col(f"{side}.{name}")))
        for side in ("before", "after")
    )
    return F.concat(F.lit(f"{name} "), before, F.lit(" → "), after)


def _columns() -> Column:
    before, after = (
        F.coalesce(
            F.transform(f"{side}.columns", lambda column: F.concat_ws(" ", column["name"], column["type"])),
            F.array().cast(LEVELS),
        )
        for side in ("before", "after")
    )
    said = _lists(("removed", F.array_except(before, after)), ("added", F.array_except(after, before)))
    return F.concat(F.lit("columns "), F.when(said == "", "in another order").otherwise(said))


def _properties() -> Column:
    """The keys alone: a value may be long, and may be nobody's business."""
    keys = {side: F.transform(f"{side}.properties", lambda entry: entry["key"]) for side in ("before", "after")}
    changed = F.array_except(
        F.transform(F.array_except("before.properties", "after.properties"), lambda entry: entry["key"]),
        F.array_except(keys["before"], keys["after"]),
    )
    return F.concat(
        F.lit("properties "),
        _lists(
            ("changed", changed),
            ("removed", F.array_except(keys["before"], keys["after"])),
            ("added", F.array_except(keys["after"], keys["before"])),
        ),
    )


def _lists(*parts: tuple[str, Column]) -> Column:
    return F.concat_ws(
        ", ", *(F.when(F.size(found) > 0, F.concat(F.lit(f"{word} "), shown(found))) for word, found in parts)
    )


def _where_seen(found: DataFrame, before: DataFrame, after: DataFrame) -> DataFrame:
    """`found` with ``unknown`` for what is missing below a namespace that could not be read there."""
    unread = [
        frame.where((F.col("object") == "namespace") & (F.col("status") == "unreadable"))
        .select(F.lit(change).alias("change"), "role", "source", F.col("levels").alias("_above"))
        .distinct()
        for change, frame in (("appeared", before), ("vanished", after))
    ]
    absent = found.where(F.col("change").isin("appeared", "vanished"))
    root = F.array(F.array().cast(LEVELS))
    above = F.explode(F.concat(root, F.coalesce(scopes(F.col("levels")), F.array().cast("array<array<string>>"))))
    hidden = (
        absent.select(*KEY, "change", above.alias("_above"))
        .join(unread[0].unionAll(unread[1]), ["change", "role", "source", "_above"], "left_semi")
        .select(*KEY, F.lit(True).alias("_hidden"))
        .distinct()
    )
    same = reduce(lambda a, b: a & b, (F.col(f"f.{name}").eqNullSafe(F.col(f"h.{name}")) for name in KEY))
    joined = found.alias("f").join(hidden.alias("h"), same, "left")
    why = F.concat(
        F.when(F.col("f.change") == "appeared", "there now").otherwise("missing now"),
        F.lit("; a namespace above it could not be read "),
        F.when(F.col("f.change") == "appeared", "before").otherwise("this time"),
    )
    return joined.select(
        *(f"f.{name}" for name in KEY),
        F.when(F.col("_hidden"), "unknown").otherwise(F.col("f.change")).alias("change"),
        F.when(F.col("_hidden"), why).otherwise(F.col("f.detail")).alias("detail"),
    )


# ---- targets and findings


def _moved(before: DataFrame, after: DataFrame) -> DataFrame:
    """Those whose target identifier is another."""
    key = ("source", "object", "levels", "name")
    sides = _sides(before, after, key, F.col("target_levels"), F.col("target_name"))
    both = F.col("before").isNotNull() & F.col("after").isNotNull()
    place = {side: F.struct(f"{side}.target_levels", f"{side}.target_name") for side in ("before", "after")}
    moved = sides.where(both & ~place["before"].eqNullSafe(place["after"]))
    detail = F.concat(F.lit("target "), _identifier("before"), F.lit(" → "), _identifier("after"))
    return _declared(
        moved.select(F.lit("source").alias("role"), *key, F.lit("moved").alias("change"), detail.alias("detail"))
    )


def _identifier(side: str) -> Column:
    levels, name = F.col(f"{side}.target_levels"), F.col(f"{side}.target_name")
    return F.when(levels.isNull(), "none").otherwise(
        F.concat_ws(" ", shown(levels), F.when(name.isNotNull(), quoted(name)))
    )


def _findings(before: DataFrame, after: DataFrame) -> DataFrame:
    """Those that are new, gone, or of another severity; messages count things, and may change every night."""
    key = ("source", "object", "levels", "name", "rule")
    severities = F.array(*(F.lit(str(severity)) for severity in reversed(Severity)))
    weight = F.array_position(severities, F.col("severity")).alias("weight")
    sides = _sides(before, after, key, weight, F.col("severity"), F.col("message"))
    there, here = F.col("before").isNotNull(), F.col("after").isNotNull()
    differs = F.col("before.severity") != F.col("after.severity")
    change = F.when(~there, "new").when(~here, "gone").when(differs, "changed")
    turned = F.concat(F.lit("severity "), "before.severity", F.lit(" → "), "after.severity")
    found = sides.select(
        F.lit("source").alias("role"),
        *key,
        change.alias("change"),
        F.coalesce("after.severity", "before.severity").alias("severity"),
        F.when(there & here, turned).otherwise(F.coalesce("after.message", "before.message")).alias("detail"),
    )
    return _declared(found.where(F.col("change").isNotNull()), finding=True)


def _declared(found: DataFrame, *, finding: bool = False) -> DataFrame:
    absent = F.lit(None).cast("string")
    given = {
        "what": F.lit("finding") if finding else F.col("object"),
        "rule": F.col("rule") if finding else absent,
        "severity": F.col("severity") if finding else absent,
    }
    return as_declared(found, CHANGE_FIELDS, given)


__all__ = ["Side", "compare"]
