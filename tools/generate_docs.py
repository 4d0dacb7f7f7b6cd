"""Writes the pages of docs/ that are generated from the code; `make docs` calls it, a test fails when one is stale."""

from __future__ import annotations

import ast
import builtins
import json
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "pipelines"), str(ROOT)]

from nestsync.catalogs import room, systems  # noqa: E402
from nestsync.config import Config  # noqa: E402
from nestsync.core.expectations import SUITES, Expected, of_suite  # noqa: E402
from nestsync.core.findings import RULES  # noqa: E402
from nestsync.errors import EXIT_CODES  # noqa: E402
from nestsync.reports import summary  # noqa: E402
from nestsync.schemas import OBJECT_COLUMNS, TABLES  # noqa: E402
from tests.engines.page import page as engines_page  # noqa: E402
from tests.engines.seen import load as seen_by_engines  # noqa: E402
from tools.machines import page as machines_page  # noqa: E402
from tools.names import page as names_page  # noqa: E402
from tools.reports import page as reports_page  # noqa: E402

GENERATED = "<!-- Generated from the code by `make docs`; a test fails when it is stale. -->\n"


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [list(columns)]
    lines.append(["---"] * len(lines[0]))
    lines += [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def code(text: str) -> str:
    """`text` as Markdown code."""
    return f"`{text}`"


# ---- the workspace


_WORKSPACE = """\
The folder `workspace` of the configuration holds one Delta table for each of these, in `delta/<table>`. Every row
carries the run that wrote it; levels are always arrays, outermost first, never a joined text.

Beside them, for whoever looks without Spark: `runs-json/<run_id>.json` is what the stages of a run left for each other,
and `listings/<run_id>/` holds the namespaces of its inventory as JSON lines (`source`, `role`, `levels`, `status`,
`error`), in the folder that the run's summary names for each catalog. `nestsync tree` and `nestsync separators` read
both. `separators.json` remembers by target the separator that it was written with last: another one is a finding
(`separator-changed`) for every name that reads differently then, and blocks until `separator.replaces` says that it is
wanted. `history/<run_id>.jsonl` has a line for each command that began and each that ended: `nestsync history` lists
them, also of runs whose rows were removed. A line for each stage that begins says where a command died. `diffs/` holds
what `nestsync diff` found, a CSV file for two runs.

Runs are kept until the configuration's `retention` lets them go, at the end of a report or with `nestsync prune`. Then
their rows in `namespaces`, `tables`, `mapped`, `findings` and `actions` go, and their summary, listings, plan and
report. `ledger`, `runs`, the journal and the history stay: who made what, when, and from which source. A line in the
history says that the run was removed.
"""


def workspace() -> str:
    """The Delta tables and their columns."""
    parts = [
        "# The workspace\n",
        GENERATED,
        _WORKSPACE,
    ]
    for name, schema in TABLES.items():
        rows = [
            (code(column.name), code(column.dataType.simpleString()), _meaning(column.name, column.metadata))
            for column in schema
        ]
        parts += [f"## {name}\n", table(("column", "type", "meaning"), rows)]
    return "\n".join(parts)


def _meaning(column: str, metadata: dict[str, Any]) -> str:
    found: str = metadata.get("comment") or OBJECT_COLUMNS[column]
    return found


# ---- what tests prove


@cache
def proofs() -> dict[str, list[str]]:
    """The tests (`path::name`) that are marked as proving each finding slug, expectation and exit code."""
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                for proven in _proven(node.decorator_list):
                    found.setdefault(proven, []).append(f"{file.relative_to(ROOT)}::{node.name}")
    return {proven: sorted(set(tests)) for proven, tests in found.items()}


def _proven(decorators: Iterable[ast.expr]) -> Iterator[str]:
    """The arguments of every ``pytest.mark.proves(...)``, those on single parameters included."""
    for decorator in decorators:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "proves":
                yield from (argument.value for argument in node.args if isinstance(argument, ast.Constant))


def _links(tests: Iterable[str]) -> str:
    links = []
    for test in tests:
        path, _, name = test.partition("::")
        links.append(f"[`{name}`](../{path})")
    return "<br>".join(links) or "**none**"


_FINDINGS = """\
A finding is one thing wrong with one object, or with several that come to one. Of several, it is told of the first, and
its message names a few; all of them are in the Delta table `finding_members` and in `finding_members.csv` beside the
report, and all of them are held back by it. Its slug never changes: it is in reports, tests and dashboards. The
configuration may raise a severity (`severities`), and lower one for a single object with a reason (`lowered`).
"""


def findings() -> str:
    """Every finding, and the tests that prove it."""
    proven = proofs()
    rows = [
        (code(rule.slug), str(rule.severity), rule.meaning, _links(proven.get(rule.slug, ())))
        for rule in RULES.values()
    ]
    return "\n".join(
        [
            "# Findings\n",
            GENERATED,
            _FINDINGS,
            table(("slug", "by default", "meaning", "proven by"), rows),
        ]
    )


_EXPECTATIONS = """\
Great Expectations holds each of these against every row of the run's own Spark frames, a suite a stage that ran; the
report names the first rows that are not as expected, and its Data Docs, which open offline, have the full results. An
expectation that is not met is told by the page, JUnit XML, JSON, Markdown and the metrics under its name, which never
changes. Only one of severity `blocking` decides the exit code: 3 where nothing was written, 4 once apply has sent a
write.

`report.expectations.<name>` in the configuration sets what a name takes below; what it does not say is as declared
here. A parameter that an expectation does not take is refused.

- `severity`: any can be raised. To lower one, say why with `reason`. Those that take no `reason` stand for what the
  run itself stops at, whatever its report says: they cannot be lowered. What they stand for can be accepted object by
  object, with `lowered`; a finding that was lowered there is as expected here.
- `reason`: why it is held otherwise than by default; it can be given for a threshold, too. Page, Data Docs and JSON
  tell of each expectation what it is held to otherwise than by default, met or not, with the reason.
- `mostly`: the least part of the rows that has to be as expected (0.95: one in twenty may not be).
- `max_fall`, `max_rise`: by which part of its last count the count of a source may fall or rise; a change by exactly
  that part is as expected, and null sets no limit. The last count is that of the latest earlier run that read the
  source, as the history has it, also where the run's rows are gone; without one there is nothing to compare with.
- `min_change`: a change by fewer objects than this does not count, unless nothing is left.

```yaml
report:
  expectations:
    namespaces-steady: { severity: blocking, max_fall: 0.05, min_change: 3 }
    tables-readable: { mostly: 0.99, reason: the archive has had broken tables since 2019 }
    parents-planned: { severity: warning, reason: the platform team makes parents by hand }
```
"""


def expectations() -> str:
    """Every expectation, what the configuration may say of it, and the tests that prove it."""
    proven = proofs()
    parts = ["# Expectations\n", GENERATED, _EXPECTATIONS]
    for suite in SUITES:
        rows = [
            (
                code(each.name),
                f"{each.sentence}{_of_rules(each.rules)}",
                str(each.severity),
                ", ".join(_key(key, each) for key in each.keys),
                _links(proven.get(each.name, ())),
            )
            for each in of_suite(suite)
        ]
        parts += [f"## {suite}\n", table(("name", "what is expected", "by default", "takes", "proven by"), rows)]
    return "\n".join(parts)


def _of_rules(rules: Iterable[str]) -> str:
    named = ", ".join(map(code, rules))
    return f" ({named})" if named else ""


def _key(key: str, expected: Expected) -> str:
    """`key` as the configuration has it, with its default where it is a threshold."""
    default = getattr(expected.settings({}), key)
    return code(key if key in ("severity", "reason") else f"{key}: {default:g}")


def errors() -> dict[str, int]:
    """The exit code of every error by its own code, as the classes of the package declare both."""
    classes: dict[str, ast.ClassDef] = {}
    for file in (ROOT / "pipelines").rglob("*.py"):
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        classes |= {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    found = {_declared(node, "code", classes): _declared(node, "exit_code", classes) for node in classes.values()}
    return {code: number for code, number in sorted(found.items(), key=str) if code is not None}


def _declared(node: ast.ClassDef, attribute: str, classes: dict[str, ast.ClassDef]) -> Any:
    """The constant that the class, or else one that it inherits from, gives to `attribute`; None without one."""
    for statement in node.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        named = [target.id for target in targets if isinstance(target, ast.Name)]
        if attribute in named and isinstance(statement.value, ast.Constant):  # type: ignore[attr-defined]
            return statement.value.value  # type: ignore[attr-defined]
    bases = [classes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in classes]
    return next((value for base in bases if (value := _declared(base, attribute, classes)) is not None), None)


_EXIT_CODES = """\
Of `nestsync` and of every job in `jobs/`. An error's own code stands in brackets at the beginning of its message, and
in `--json`. A command that a signal ends has the shell's own code: 130 after Ctrl-C, 143 after SIGTERM.
"""


def exit_codes() -> str:
    """Every exit code, the errors that end with it, and the tests that prove it."""
    proven = proofs()
    rows = [
        (
            code(str(number)),
            meaning,
            ", ".join(code(name) for name, ends_with in errors().items() if ends_with == number),
            _links(proven.get(f"exit-{number}", ())),
        )
        for number, meaning in EXIT_CODES.items()
    ]
    return "\n".join(
        [
            "# Exit codes\n",
            GENERATED,
            _EXIT_CODES,
            table(("code", "meaning", "errors", "proven by"), rows),
        ]
    )


# ---- the configuration


_CONFIGURATION = """\
YAML; `conf/` has examples to start from. Unknown keys are refused. Relative paths start from the file's own folder.
Secrets are never in it: keys that end in `_env` hold the *name* of an environment variable. `${NAME}` is text like
any other.
"""


def configuration() -> str:
    """Every key of the configuration file, and the options of every system."""
    parts = [
        "# The configuration file\n",
        GENERATED,
        _CONFIGURATION,
        _keys(Config.model_fields),
    ]
    for title, model in _sections("", Config):
        parts += [f"## {title}\n", f"{_one_line(model.__doc__)}\n", _keys(_own_fields(model))]
    parts += ["# Systems\n", _SYSTEMS]
    for system in systems():
        found = room(system)
        can = "a source or a target" if found.writer is not None else "a source"
        parts += [f"## {system}\n", f"Can be {can}.\n", _keys(found.options.model_fields)]
    return "\n".join(parts)


_SYSTEMS = """\
The options of a catalog stand flat beside its `name` and `system`. The same options work on Spark's own reader,
without a configuration file:

```python
from nestsync.catalogs import register

register(spark)
spark.read.format("nestsync.iceberg_rest").option("uri", "http://127.0.0.1:8181").option("object", "namespaces").load()
```

There, every system also takes `object` (`namespaces`, `tables` or `all`; `all` by default), `source` (the name in the
column `source`; the system by default) and `partitions` (how many tasks to aim for; 8 by default). Lists and maps are
JSON text there, because Spark lower-cases the names of options.
"""


def _own_fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {name: field for name, field in model.model_fields.items() if name != "options"}


def _sections(prefix: str, model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    for name, field in _own_fields(model).items():
        inner = _model_in(field.annotation)
        if inner is not None:
            title = f"{prefix}{name}"
            yield title, inner
            yield from _sections(f"{title}.", inner)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def _keys(fields: dict[str, FieldInfo]) -> str:
    rows = [
        (code(name), _kind(field.annotation), _default(field), _one_line(field.description))
        for name, field in fields.items()
    ]
    return table(("key", "value", "default", "meaning"), rows)


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


_WORDS: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Path: "path",
    Any: "values",
}


def _kind(annotation: Any) -> str:
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return " or ".join(code(value) for value in annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "group of keys, below"
    inner = get_args(annotation)
    match get_origin(annotation):
        case typing.Annotated:
            kind = _kind(inner[0])
        case typing.Literal:
            kind = " or ".join(code(str(value)) for value in inner)
        case typing.Union | types.UnionType:
            kind = " or ".join("null" if part is types.NoneType else _kind(part) for part in inner)
        case builtins.tuple | builtins.list | builtins.frozenset:
            kind = f"list of {_plural(_kind(inner[0]))}"
        case builtins.dict:
            kind = f"map of texts to {_plural(_kind(inner[1]))}"
        case _:
            kind = _WORDS[annotation]
    return kind


def _plural(kind: str) -> str:
    if kind.startswith("list of"):
        return kind.replace("list", "lists", 1)
    return {"text": "texts", "group of keys, below": "groups of keys, below"}.get(kind, kind)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined or value is None or isinstance(value, BaseModel):
        return "" if isinstance(value, BaseModel) else "null"
    if isinstance(value, Path):
        return code(str(value))
    return code(json.dumps(list(value) if isinstance(value, tuple | frozenset) else value, ensure_ascii=False))


# ---- reports


def reports() -> str:
    """What is in a report, for whom, and what it costs."""
    return "\n".join(["# Reports\n", GENERATED, *reports_page(table)])


# ---- what machines are told


def machines() -> str:
    """The formats for machines, and every metric."""
    return "\n".join(["# For machines\n", GENERATED, *machines_page(table)])


def summary_schema() -> str:
    """The JSON Schema of `summary.json`, as the package has it."""
    return json.dumps(summary.schema(), indent=1, ensure_ascii=False) + "\n"


# ---- names


def names() -> str:
    """Every dialect, the separators that are refused, and what every system holds."""
    return "\n".join(["# Names\n", GENERATED, *names_page(table)])


# ---- what engines do


def engines() -> str:
    """What engines were seen to do with names, beside what the core says of them."""
    return "\n".join(["# What engines do with names\n", GENERATED, *engines_page(seen_by_engines())])


PAGES: dict[str, Callable[[], str]] = {
    "workspace.md": workspace,
    "findings.md": findings,
    "expectations.md": expectations,
    "exit-codes.md": exit_codes,
    "configuration.md": configuration,
    "names.md": names,
    "engines.md": engines,
    "reports.md": reports,
    "machines.md": machines,
    "summary.schema.json": summary_schema,
}
"""Every generated page of docs/, by its file name."""


def main() -> None:
    """Write every page that has changed."""
    for name, page in PAGES.items():
        file = ROOT / "docs" / name
        text = page()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            sys.stdout.write(f"docs/{name} written\n")


if __name__ == "__main__":
    main()
