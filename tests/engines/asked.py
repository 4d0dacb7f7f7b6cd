"""The engines by name, what is asked of them, and where nestsync's own answer for each comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nestsync.core.capabilities import Capabilities, capabilities
from nestsync.core.dangers import dangers, one_schema_together
from nestsync.core.dialects import Dialect, Refusal, dialect
from nestsync.core.identifiers import Levels
from tests.engines.answers import Answer, Kind, Says, agree, folded, says
from tests.engines.seen import Seen

NAME, TABLE, CATALOG, DROP, TOGETHER = "name", "table", "catalog", "drop", "together"
QUESTIONS = {
    NAME: "a namespace of this name is made, listed and looked for",
    TABLE: "a table of this name (the last part) is made and looked for",
    CATALOG: "a catalog of this name is made and looked for",
    DROP: "the schema that the engine shows for it is dropped",
    TOGETHER: "namespaces of these names are there together, and the engine lists them",
}


@dataclass(frozen=True)
class Asked:
    """One engine: what its names go through (`dialects`), and the capabilities (`target`) of what keeps them."""

    title: str
    dialects: tuple[Dialect, ...]
    target: str
    reader: str = ""
    """What `nestsync.core.dangers` knows it by."""

    def says(self, question: str, names: tuple[Levels, ...]) -> Says:
        """What nestsync says of `names` there."""
        target = capabilities(self.target)
        (levels, *_) = names
        match question:
            case "name":
                return says(levels, self.dialects, target)
            case "table":
                return _held(levels, target, target.refusals(levels[:-1], levels[-1]))
            case "catalog":
                return _held(levels, target, list(target.levels[0].refusals(levels[0], 0)))
            case "drop":
                return _refused(dangers(self.reader, levels))
            case "together":
                if one_schema_together(names):
                    return Says(Answer(Kind.PARTLY, None, "they are one schema, which means one of them"), guarded=True)
                return _refused(r for found in names for r in dangers(self.reader, found))
        raise KeyError(question)

    @property
    def source(self) -> str:
        """Where the answer comes from, for a reader."""
        return f"{', '.join(f'dialect `{found.name}`' for found in self.dialects)}, capabilities `{self.target}`"


def _held(parts: Levels, target: Capabilities, refusals: list[Refusal]) -> Says:
    return (None if refusals else folded(parts, target)) or _refused(refusals)


def _refused(refusals: Iterable[Refusal]) -> Says:
    first = next(iter(refusals), None)
    return Says(Answer(Kind.KEPT)) if first is None else Says(Answer(Kind.REFUSED, None, first.reason), guarded=True)


STRICTER: dict[Levels, str] = {
    ("",): "the empty text is the root's",
    ("hive", " "): "a metastore takes every name of blanks for this one",
}
"""What nestsync refuses on purpose although some servers keep it."""


def right(seen: Seen) -> bool:
    """Whether nestsync says what was seen, or is stricter where it means to be."""
    said = ENGINES[seen.engine].says(seen.question, seen.names)
    if seen.names[0] in STRICTER and seen.answer.kind is Kind.KEPT:
        return said.answer.kind is not Kind.KEPT
    return agree(seen.answer, said)


_PATH = dialect("iceberg-rest")
_JDBC = dialect("jdbc")

ENGINES: dict[str, Asked] = {
    "rest-1.10-memory": Asked("Iceberg REST 1.10.1, in-memory catalog", (_PATH,), "iceberg-rest"),
    "rest-1.10-jdbc": Asked("Iceberg REST 1.10.1, JDBC catalog on H2", (_PATH, _JDBC), "jdbc"),
    "rest-1.11-memory": Asked(
        "Iceberg REST 1.11.0, in-memory catalog", (dialect("iceberg-rest", separator="."),), "iceberg-rest-1.11"
    ),
    "nessie": Asked("Nessie 0.99.0", (_PATH,), "nessie"),
    "hms-3": Asked("Hive Metastore 3.1.3", (dialect("hive"),), "hms-3"),
    "hms-4": Asked("Hive Metastore 4.0.1", (dialect("hive"),), "hms-4"),
    "spark-memory": Asked(
        "Spark 4.1 on Iceberg REST 1.10.1, in-memory catalog", (_PATH, dialect("spark")), "iceberg-rest"
    ),
    "spark-jdbc": Asked("Spark 4.1 on Iceberg REST 1.10.1, JDBC catalog", (_PATH, _JDBC, dialect("spark")), "jdbc"),
    "trino": Asked(
        "Trino 476 on Iceberg REST 1.10.1, in-memory catalog", (_PATH, dialect("trino")), "iceberg-rest", "trino"
    ),
    "trino-nessie": Asked("Trino 476 on Nessie 0.99.0", (_PATH, dialect("trino")), "nessie", "trino"),
}
"""Every engine by its short name, in the order of the page."""
