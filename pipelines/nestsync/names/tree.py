"""``nestsync tree``: the namespaces of an inventory, catalog by catalog, as the hierarchy that they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from nestsync.core.checking import Subject
from nestsync.core.hierarchy import Node, tree
from nestsync.core.identifiers import Levels, quoted
from nestsync.errors import ConfigurationError
from nestsync.printing import console, counted, is_terminal, visible, write_line
from nestsync.runfiles import RunFiles

if TYPE_CHECKING:
    from rich.tree import Tree as Drawn

OK = "ok"
KINDS = ("namespaces", "tables", "views")


@dataclass(frozen=True, slots=True)
class CatalogTree:
    """One catalog of the inventory."""

    name: str
    system: str
    role: str
    counts: dict[str, int]
    nodes: tuple[Node, ...]
    rows: dict[Levels, Subject]

    def problem(self, levels: Levels) -> str:
        """What is wrong with the namespace, as its row says: ``unreadable: timed out``; empty where nothing is."""
        row = self.rows.get(levels)
        if row is None or row.status == OK:
            return ""
        return row.status if row.error is None else f"{row.status}: {row.error}"

    @property
    def title(self) -> str:
        """The line above the catalog's namespaces."""
        problem = self.problem(())  # the root is no node, and may be unreadable all the same
        of_root = f" [{problem}]" if problem else ""
        kinds = sorted(self.counts, key=lambda kind: (kind not in KINDS, kind))  # then what was wrong with some
        counts = counted({kind: self.counts[kind] for kind in kinds})
        return f"{self.name} ({self.system}, {self.role}): {counts or 'nothing'}{of_root}"


@dataclass(frozen=True, slots=True)
class Tree:
    """The answer of ``nestsync tree``; of what lies deeper than `depth` levels, only how many there are."""

    run_id: str
    catalogs: tuple[CatalogTree, ...]
    depth: int | None = None

    def write(self, stream: TextIO) -> None:
        """One tree a catalog: drawn on a terminal, indented text anywhere else."""
        write_line(stream, f"inventory of run {self.run_id}")
        for catalog in self.catalogs:
            if is_terminal(stream):
                console(stream).print(self._drawn(catalog))
            else:
                lines = (f"{'  ' * len(node.levels)}{self._line(catalog, node)}" for node in self._nodes(catalog))
                write_line(stream, "\n".join((visible(catalog.title), *lines)))

    def _drawn(self, catalog: CatalogTree) -> Drawn:
        from rich.text import Text
        from rich.tree import Tree as Drawn

        above = [Drawn(Text(visible(catalog.title), style="bold"))]
        for node in self._nodes(catalog):
            style = "red" if catalog.problem(node.levels) else "" if node.listed else "dim"
            del above[len(node.levels) :]
            above.append(above[-1].add(Text(self._line(catalog, node), style=style)))
        return above[0]

    def _nodes(self, catalog: CatalogTree) -> Iterator[Node]:
        return (node for node in catalog.nodes if self.depth is None or len(node.levels) <= self.depth)

    def _line(self, catalog: CatalogTree, node: Node) -> str:
        problem = catalog.problem(node.levels)
        said = [
            _word(node.levels[-1]),
            "" if node.listed else "(implied)",
            f"[{problem}]" if problem else "",
            f"(+{node.below:,} below)" if node.below and len(node.levels) == self.depth else "",
        ]
        return visible(" ".join(filter(None, said)))

    def as_json(self) -> dict[str, Any]:
        """Every catalog with its namespaces, parents first."""
        return {
            "run_id": self.run_id,
            "catalogs": [
                {
                    "name": catalog.name,
                    "system": catalog.system,
                    "role": catalog.role,
                    "counts": catalog.counts,
                    "namespaces": [_node_json(catalog, node) for node in self._nodes(catalog)],
                }
                for catalog in self.catalogs
            ],
        }


def read_tree(
    files: RunFiles, *, run_id: str | None = None, names: Sequence[str] = (), depth: int | None = None
) -> Tree:
    """The tree of a run's inventory, of the latest by default; of all its catalogs unless `names` says which.

    Raises `ConfigurationError` for a name that is not in the inventory, and as `RunFiles` does.
    """
    run_id, known = files.inventory(run_id)
    with files.understood(run_id, "`nestsync inventory -c FILE` reads the catalogs again"):
        return _tree(files, run_id, known, names, depth)


def _tree(
    files: RunFiles, run_id: str, known: Mapping[str, Mapping[str, Any]], names: Sequence[str], depth: int | None
) -> Tree:
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise ConfigurationError(
            f"{unknown!r} is not in the inventory of run {run_id}",
            where=str(files.root),
            hint=f"it holds {', '.join(known)}",
        )
    chosen = {name: known[name] for name in (names or known)}
    rows: dict[str, dict[Levels, Subject]] = {name: {} for name in chosen}
    for subject in files.listed_namespaces(run_id, chosen):
        rows[subject.source][subject.levels] = _worse(subject, rows[subject.source].get(subject.levels))
    catalogs = (
        CatalogTree(name, facts["system"], facts["role"], facts.get("counts", {}), tuple(tree(rows[name])), rows[name])
        for name, facts in chosen.items()
    )
    # Sources first, since they are what the run is about.
    return Tree(run_id, tuple(sorted(catalogs, key=lambda catalog: (catalog.role != "source", catalog.name))), depth)


def _worse(one: Subject, other: Subject | None) -> Subject:
    """A catalog can list a name twice: the row that tells of a problem is the one to show."""
    return other if other is not None and other.status != OK else one


def _word(level: str) -> str:
    """The level itself where it is plain to see what it is, in quotes and with escapes where it is not."""
    text = quoted(level)
    plain = text == f'"{level}"' and level != "" and level == level.strip(" ()[]")
    return level if plain else text


def _node_json(catalog: CatalogTree, node: Node) -> dict[str, Any]:
    row = catalog.rows.get(node.levels)
    return {
        "levels": list(node.levels),
        "listed": node.listed,
        "status": None if row is None else row.status,
        "error": None if row is None else row.error,
        "below": node.below,
    }


__all__ = ["CatalogTree", "Tree", "read_tree"]
