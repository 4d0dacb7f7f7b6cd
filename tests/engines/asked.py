"""The engines by name, what is asked of them, and where nestsync's own answer for each comes from."""

from __future__ import annotations

from dataclasses import dataclass

from nestsync.core.capabilities import capabilities
from nestsync.core.dangers import dangers, unlistable_together
from nestsync.core.dialects import Dialect, dialect
from nestsync.core.identifiers import Levels
from tests.engines.answers import Answer, Kind, Says, agree, says
from tests.engines.seen import Seen

NAME, TABLE, CATALOG, DROP, TOGETHER = "name", "table", "catalog", "drop", "together"
QUESTIONS = {
    NAME: "a namespace of this name is made, listed and looked for",
    TABLE: "a table of this name (the last part) is made and looked for",
    CATALOG: "a catalog of this name is made and looked for",
    DROP: "the namespace is dropped by the name that the engine prints",
    TOGETHER: "namespaces of these names are there, and the engine lists all",
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
                return _refused([r.reason for r in target.refusals(levels[:-1], levels[-1])])
            case "catalog":
                return _refused([r.reason for r in target.levels[0].refusals(levels[0], 0)])
            case "drop":
                return _refused([r.reason for r in dangers(self.reader, levels)])
            case "together":
                each = [r.reason for found in names for r in dangers(self.reader, found)]
                groups = ["share one schema name" for _ in unlistable_together(names)]
                return _refused(each + groups)
        raise KeyError(question)

    @property
    def source(self) -> str:
        """Where the answer comes from, for a reader."""
        return f"{', '.join(f'dialect `{found.name}`' for found in self.dialects)}, capabilities `{self.target}`"


def _refused(reasons: list[str]) -> Says:
    return Says(Answer(Kind.REFUSED, None, reasons[0]), guarded=True) if reasons else Says(Answer(Kind.KEPT))


STRICTER = (("",),)
"""What nestsync refuses everywhere and some servers keep: the empty text is the root's."""


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
}
"""Every engine by its short name, in the order of the page."""
