"""The declared schemas of the workspace's Delta tables; `docs/workspace.md` is generated from here."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from nestsync.catalogs.records import NAMESPACE_FIELDS, TABLE_FIELDS

LEVELS = ArrayType(StringType(), containsNull=False)
PROPERTIES = MapType(StringType(), StringType())


def _field(name: str, kind: object, meaning: str, *, nullable: bool = True) -> StructField:
    return StructField(name, kind, nullable, {"comment": meaning})  # type: ignore[arg-type]


RUN_ID = _field("run_id", StringType(), "the run that wrote the row", nullable=False)
ROLE = _field("role", StringType(), "`source`, or `target` for what the target held before", nullable=False)

OBJECT_COLUMNS: dict[str, str] = {
    "source": "the configured catalog",
    "system": "its system",
    "object": "`namespace`, `table` or `view`",
    "levels": "the namespace, or that of the table or view",
    "name": "the name of the table or view; null for a namespace",
    "properties": "what the system stores as keys and values, untouched",
    "owner": "the system's own field, or its conventional key",
    "comment": "the system's own field, or its conventional key",
    "location": "the system's own field, or its conventional key",
    "status": "`ok`, `empty`, `unreadable`, `unsupported` or `not-a-table`",
    "error": "why the object could not be read; null where it could",
    "format": "lower case: `hive`, `iceberg`, `delta`, `lance`, `view`, ...",
    "version": "of a Lance dataset, or the Iceberg format version",
    "columns": "names and types, in order",
    "row_count": "rows, where the system knows them",
}
"""What the columns of `catalogs.records` mean: their fields carry no comment, so that frames compare by type alone."""

MAPPED_FIELDS = (
    _field("target_levels", LEVELS, "what the mapping made of the levels; null where it excludes the object"),
    _field("target_name", StringType(), "what the mapping made of the name; null for a namespace"),
    _field("mapping_rule", StringType(), "`identity`, `prefix`, `split`, `flatten`, `drop`, `rename` or `excluded`"),
)

TARGET_FIELDS = (
    _field("source", StringType(), "the configured catalog", nullable=False),
    _field("object", StringType(), "`namespace`, `table` or `view`", nullable=False),
    _field("levels", LEVELS, "the source's own levels", nullable=False),
    _field("name", StringType(), "the object's name; null for a namespace"),
    *MAPPED_FIELDS,
)

CHANGE_FIELDS = (
    _field("what", StringType(), "`namespace`, `table`, `view` or `finding`", nullable=False),
    _field(
        "change",
        StringType(),
        "`appeared`, `vanished`, `moved`, `changed` or `unknown`; of a finding `new`, `gone` or `changed`",
        nullable=False,
    ),
    _field("role", StringType(), "`source`, or `target` for what the target held before", nullable=False),
    _field("source", StringType(), "the configured catalog", nullable=False),
    _field("object", StringType(), "`namespace`, `table` or `view`", nullable=False),
    _field("levels", LEVELS, "the object's own levels", nullable=False),
    _field("name", StringType(), "the object's name; null for a namespace"),
    _field("rule", StringType(), "the finding's rule; null for an object"),
    _field("severity", StringType(), "the finding's severity; null for an object"),
    _field("detail", StringType(), "what is another, or the finding's message"),
)

_OF_OBJECT = (
    _field("source", StringType(), "the configured catalog", nullable=False),
    _field("system", StringType(), "its system", nullable=False),
    _field("object", StringType(), "`namespace`, `table` or `view`", nullable=False),
    _field("levels", LEVELS, "the source's own levels", nullable=False),
    _field("name", StringType(), "the object's name; null for a namespace"),
)
_RULE = _field("rule", StringType(), "the finding's stable slug", nullable=False)

FINDING_FIELDS = (
    *_OF_OBJECT,
    _RULE,
    _field("severity", StringType(), "`blocking`, `warning` or `info`", nullable=False),
    _field("target_levels", LEVELS, "what the mapping made of the levels"),
    _field("message", StringType(), "what is wrong", nullable=False),
    _field("hint", StringType(), "what to change", nullable=False),
)

FINDING_SUBJECT = StructType(
    [
        StructField("source", StringType(), False),
        StructField("object", StringType(), False),
        StructField("levels", LEVELS, False),
        StructField("name", StringType()),
        StructField("target_levels", LEVELS, False),
    ]
)

MEMBER_FIELDS = (
    _field(
        "finding",
        FINDING_SUBJECT,
        "the object that the finding is told of, the first one, and what becomes of its levels",
        nullable=False,
    ),
    _RULE,
    _field("severity", StringType(), "the finding's: `blocking`, `warning` or `info`", nullable=False),
    ROLE,
    *_OF_OBJECT,
    _field("target_levels", LEVELS, "what the mapping made of the levels", nullable=False),
)
"""An object of a finding that is about several: what comes to one. The first one is among them."""

CLAIMANT = StructType(
    [
        StructField("source", StringType(), False),
        StructField("levels", LEVELS, False),
    ]
)

WANTED_FIELDS = (
    _field("levels", LEVELS, "the target namespace", nullable=False),
    _field(
        "explicit", BooleanType(), "whether a source object claims it (else it is an implied parent)", nullable=False
    ),
    _field(
        "properties", PROPERTIES, "the wanted keys and values, comment, owner and location among them", nullable=False
    ),
    _field("claimants", ArrayType(CLAIMANT), "the ten smallest source namespaces that want it", nullable=False),
    _field("blocked", BooleanType(), "whether a blocking finding stands on it or above it", nullable=False),
)

ACTION_FIELDS = (
    _field("action_id", StringType(), "SHA-256 of kind, levels and properties", nullable=False),
    _field("kind", StringType(), "`create_namespace`, `set_properties`, `noop` or `blocked`", nullable=False),
    _field("levels", LEVELS, "the target namespace", nullable=False),
    _field(
        "properties",
        PROPERTIES,
        "what is set: all wanted keys of a creation, the changed ones of an update",
        nullable=False,
    ),
    _field("reason", StringType(), "why this action, in a sentence", nullable=False),
    _field("claimants", ArrayType(CLAIMANT), "the ten smallest source namespaces that want it", nullable=False),
)

LEDGER_FIELDS = (
    _field("action_id", StringType(), "the action", nullable=False),
    _field("kind", StringType(), "the action's kind", nullable=False),
    _field("levels", LEVELS, "the target namespace", nullable=False),
    _field(
        "event",
        StringType(),
        "`intent`, before the request; `applied`, `skipped` or `failed`, after it",
        nullable=False,
    ),
    _field("properties", PROPERTIES, "the properties that the request carried", nullable=False),
    _field("detail", StringType(), "the error, or why it was skipped"),
    _field("at", TimestampType(), "when, in UTC", nullable=False),
    _field("user", StringType(), "who ran the process that wrote the entry; null where an older version did"),
    _field("host", StringType(), "where that process ran; null where an older version wrote the entry"),
)

DIFFERENCE_FIELDS = (
    _field("levels", LEVELS, "the target namespace", nullable=False),
    _field("detail", StringType(), "what is not as planned", nullable=False),
)

SEPARATOR_FIELDS = (
    _field("separator", StringType(), "the candidate", nullable=False),
    _field("conflicts", LongType(), "identifiers with a level that holds it", nullable=False),
    _field("examples", ArrayType(CLAIMANT), "up to five of them", nullable=False),
    _field("allowed", BooleanType(), "whether the separator policy takes it", nullable=False),
    _field("reason", StringType(), "why not, or null"),
    _field("rank", LongType(), "1 is the best", nullable=False),
    _field("suggested", BooleanType(), "the free, allowed candidate to use", nullable=False),
)

RUN_FIELDS = (
    _field("command", StringType(), "what was asked for: `run`, `assess`, or a stage", nullable=False),
    _field("stage", StringType(), "the stage that the row is about", nullable=False),
    _field(
        "status",
        StringType(),
        "`started` (of the first stage; alone, the run died), `ok`, `blocked` or `failed`",
        nullable=False,
    ),
    _field("started_at", TimestampType(), "UTC", nullable=False),
    _field("seconds", DoubleType(), "wall time of the stage", nullable=False),
    _field("counts", MapType(StringType(), LongType()), "what the stage counted", nullable=False),
    _field("plan_hash", StringType(), "the hash of the plan, from the plan stage on"),
    _field("error", StringType(), "the error's text form"),
    _field("user", StringType(), "who ran the process that took the stage; null where an older version wrote the row"),
    _field("host", StringType(), "the machine that it ran on"),
)

TABLES: dict[str, StructType] = {
    "runs": StructType([RUN_ID, *RUN_FIELDS]),
    "namespaces": StructType([RUN_ID, ROLE, *NAMESPACE_FIELDS]),
    "tables": StructType([RUN_ID, ROLE, *TABLE_FIELDS]),
    "mapped": StructType([RUN_ID, *TARGET_FIELDS]),
    "findings": StructType([RUN_ID, *FINDING_FIELDS]),
    "finding_members": StructType([RUN_ID, *MEMBER_FIELDS]),
    "actions": StructType([RUN_ID, *ACTION_FIELDS]),
    "ledger": StructType([RUN_ID, *LEDGER_FIELDS]),
    "differences": StructType([RUN_ID, *DIFFERENCE_FIELDS]),
}
"""Every Delta table of the workspace: `namespaces` and `tables` by (run_id, source), the others by run_id."""


def contract(*fields: StructField) -> StructType:
    """The schema that a stage promises: `fields` in this order, no more and no less."""
    return StructType(list(fields))
