"""Digests as runs leave them: a blocked one with hostile names, a finished one, one that never reached a catalog."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from nestsync.core.findings import Severity
from nestsync.history.actors import Actor
from nestsync.history.choosing import Past
from nestsync.history.records import FINISHED, RunRecord
from nestsync.outcome import RunOutcome, StageOutcome
from nestsync.reports.changes import ChangeRow, Changes
from nestsync.reports.facts import (
    ActionRow,
    Capped,
    CatalogFacts,
    CatalogRow,
    Digest,
    FindingRow,
    MatrixExample,
    MatrixRow,
    RuleCase,
    SeparatorRow,
    Subject,
    TreeRow,
)
from nestsync.reports.settled import ExpectationResult

STARTED = datetime(2026, 11, 28, 1, 2, 3, 456789, tzinfo=UTC)
CATALOGS = (
    CatalogFacts("hms_main", "hms", "source", "thrift://127.0.0.1:9083"),
    CatalogFacts("lake", "iceberg_rest", "source", "http://127.0.0.1:8181"),
    CatalogFacts("lance_files", "lance_dir", "source", "/data/lance"),
    CatalogFacts("target", "iceberg_rest", "target", "http://127.0.0.1:8182"),
)
CONFIGURATION = {
    "separator": ":",
    "separator policy": "restricted",
    "strategy": "create-only",
    "on_blocking": "stop",
}
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "a\x1fb",
    "\u202eevil",
    "e\u0301t\u00e9",
    " edges ",
    "",
    "a&b;$x${y}{{ 7*7 }}",
    '"quoted" \\u001F',
    "עברית",
    "日本語データ",
    "x" * 300,
    "</script><script>alert(2)</script>",
)


def finding(
    levels: tuple[str, ...], rule: str = "separator-conflict", severity: str = "blocking", **more: object
) -> FindingRow:
    """A finding of the source `hms_main` on a namespace or, with `name`, a table."""
    name = more.get("name")
    return FindingRow(
        subject=Subject("hms_main", levels, name, "table" if name else "namespace"),  # type: ignore[arg-type]
        system="hms",
        rule=rule,
        severity=severity,
        target_levels=levels[1:],
        message=str(more.get("message", f"the level {levels[-1]!r} holds the separator ':'")),
        hint=str(more.get("hint", "choose ';', which no name holds, or rename it in the mapping file")),
    )


def cases(rows: tuple[FindingRow, ...]) -> tuple[RuleCase, ...]:
    """The rows grouped as the digest groups them."""
    groups: dict[tuple[str, str, str], list[FindingRow]] = {}
    for row in rows:
        groups.setdefault((row.rule, row.subject.source, row.severity), []).append(row)
    return tuple(RuleCase(*key, count=len(found), examples=tuple(found[:20])) for key, found in sorted(groups.items()))


DEEP_PATH = "spark > gravitino > trino"
MATRIX = (
    MatrixRow("hms_main", "source", "hive", "hive", "lossless", 44),
    MatrixRow("lake", "source", "iceberg-rest", "iceberg-rest", "lossless", 27),
    MatrixRow("hms_main", "target", DEEP_PATH, "trino", "lossless", 42),
    MatrixRow(
        "hms_main",
        "target",
        DEEP_PATH,
        "trino",
        "lossy",
        1,
        MatrixExample(("hive", "a.b"), ("a.b",), ("a", "b"), 0, "holds '.', which Trino reads as two levels"),
    ),
    MatrixRow(
        "hms_main",
        "target",
        DEEP_PATH,
        "gravitino",
        "refused",
        1,
        MatrixExample(("hive", HOSTILE[0]), (HOSTILE[0],), None, None, "holds ':', the separator"),
    ),
)


def blocked() -> Digest:
    """Hostile names, blocking findings, nothing planned."""
    rows = (
        finding(("hive", "team:sales")),
        *(finding(("hive", text), "round-trip-loss", message=f"{text} reads back as another name") for text in HOSTILE),
        finding(
            ("hive", "raw"), "collision", message='two sources want ["raw"]: hms_main ["hive","raw"] and lake ["raw"]'
        ),
        finding(
            ("hive", "old"), "missing-parent", "warning", message="the parent exists in no source; it will be made"
        ),
        finding(
            ("hive", "raw"), "unreadable-table", "warning", name="broken", message="the dataset's manifest is truncated"
        ),
        finding(("hive", "raw"), "not-a-table", "info", name="_tmp", message="an underscore folder beside the tables"),
    )
    tree = (
        TreeRow(("hms_main", "hive"), "source"),
        *sorted(
            (TreeRow(("hms_main", "hive", text), "source", blocking=1, rules=("round-trip-loss",)) for text in HOSTILE),
            key=lambda t: t.levels,
        ),
        TreeRow(("lake", "raw"), "source", warnings=2, rules=("missing-parent", "owner-conflict")),
        TreeRow(("lake", "raw", "events"), "unreadable", note="404 from http://127.0.0.1:8181/v1/namespaces/raw"),
    )
    return Digest(
        outcome=RunOutcome(
            "20261128T010203-4f1c",
            "run",
            3,
            "13 names would become other names in the target, so nothing was written.",
            stages=(
                StageOutcome("inventory", "ok", 9.31, {"namespaces": 71, "tables": 212}),
                StageOutcome("check", "blocked", 6.02, {"blocking": 14, "warning": 2, "info": 1}),
            ),
            next_steps=(
                '# conf/demo.yaml\nseparator: ";"',
                "nestsync run -c conf/demo.yaml",
            ),
        ),
        started_at=STARTED,
        actors=(Actor("ann", "host-1", ("inventory",)), Actor(HOSTILE[0], None, ("inventory", "check"))),
        configuration=CONFIGURATION,
        catalogs=(
            CatalogRow(CATALOGS[0], True, {"namespace": 44, "table": 151}),
            CatalogRow(CATALOGS[1], True, {"namespace": 27, "table": 40, "view": 3}),
            CatalogRow(CATALOGS[2], True, {"namespace": 1, "table": 21}, {"empty": 1, "unreadable": 1}),
            CatalogRow(CATALOGS[3], True, {"namespace": 0}),
        ),
        findings=Capped(rows, len(rows), "findings.csv"),
        cases=cases(rows),
        separator=":",
        separators=(
            SeparatorRow(";", 0, (), True, None, True),
            SeparatorRow("$", 1, (Subject("hms_main", ("hive", "a$b")),), True, None, False),
            SeparatorRow(":", 3, (Subject("hms_main", ("hive", "team:sales")),), True, None, False),
            SeparatorRow(
                "_", 181, (Subject("hms_main", ("hive", "sales__emea")),), False, "not in the allowed list", False
            ),
            SeparatorRow("\x1f", 1, (), False, "a control character cannot be typed", False),
        ),
        actions=None,
        action_counts={},
        tree=Capped(tree, len(tree), "namespaces.csv"),
        expectations=(
            ExpectationResult(
                "inventory",
                "catalogs-answered",
                "every catalog answered",
                Severity.BLOCKING,
                True,
                283,
                0,
                (),
                "data_docs/validations/inventory.html",
            ),
            ExpectationResult(
                "inventory",
                "tables-readable",
                "every table and view could be read",
                Severity.WARNING,
                False,
                283,
                1,
                ('lance_files [] "broken": no manifest',),
                "data_docs/validations/inventory.html",
            ),
            ExpectationResult(
                "names",
                "separator-free",
                "no name is in conflict with the separator",
                Severity.BLOCKING,
                False,
                17,
                14,
                ('separator-conflict hms_main ["hive","team:sales"]',),
                "data_docs/validations/names.html",
            ),
        ),
        matrix=MATRIX,
    )


def finished() -> Digest:
    """A run that wrote everything but what was there already."""
    regions = {"sales": ("amer", "apac", "emea"), "finance": ("ledger", "tax"), "ops": ()}
    tree: list[TreeRow] = []
    for top, children in sorted(regions.items()):
        owner = Subject("lake", (top,)) if top == "ops" else None
        tree.append(TreeRow((top,), "unchanged" if top == "ops" else "created", claimants=(owner,) if owner else ()))
        for child in children:
            flat = Subject("hms_main", ("hive", f"{top}__{child}"))
            tree.append(TreeRow((top, child), "created", claimants=(flat,), warnings=int(child == "tax")))
            tree += [
                TreeRow(
                    (top, child, leaf), "created", claimants=(Subject("hms_main", ("hive", f"{top}__{child}__{leaf}")),)
                )
                for leaf in ("daily", "orders", "returns")
            ]
    tree.append(TreeRow(("scratch",), "existing"))
    actions = tuple(
        ActionRow(
            "noop" if row.state == "unchanged" else "create_namespace",
            row.levels,
            "none" if row.state == "unchanged" else "applied",
            "the target holds it with the wanted properties"
            if row.state == "unchanged"
            else "the target does not hold it",
            None,
            row.claimants,
            None if row.state == "unchanged" else STARTED,
            None if row.state == "unchanged" else Actor("ann", "host-1"),
        )
        for row in tree
        if row.state != "existing"
    )
    created = sum(row.outcome == "applied" for row in actions)
    warning = (
        finding(("hive", "finance__tax"), "owner-conflict", "warning", message="two owners could own it; anna decided"),
    )
    return Digest(
        outcome=RunOutcome(
            "20261128T020000-9a02",
            "run",
            0,
            f"The target now holds all {len(actions)} namespaces; {created} were created, each property is as planned.",
            stages=(
                StageOutcome("inventory", "ok", 9.3, {"namespaces": 71, "tables": 212}),
                StageOutcome("check", "ok", 6.0, {"warning": 1}),
                StageOutcome("plan", "ok", 3.2, {"create_namespace": created, "noop": 1}),
                StageOutcome("apply", "ok", 2.1, {"applied": created}),
                StageOutcome("verify", "ok", 2.4, {"missing": 0}),
            ),
            plan_hash="9f2c4be07d6a1f35aa",
        ),
        started_at=STARTED,
        actors=(Actor("ann", "host-1", ("run",)),),
        configuration=CONFIGURATION,
        configuration_changed=False,
        catalogs=blocked().catalogs,
        findings=Capped(warning, 1, "findings.csv"),
        cases=cases(warning),
        separators=blocked().separators,
        actions=Capped(actions, len(actions), "actions.csv"),
        action_counts={("create_namespace", "applied"): created, ("noop", "none"): 1},
        tree=Capped(tuple(tree), len(tree), "namespaces.csv"),
        expectations=(
            ExpectationResult(
                "inventory",
                "catalogs-answered",
                "every catalog answered",
                Severity.BLOCKING,
                True,
                283,
                0,
                (),
                "data_docs/validations/inventory.html",
            ),
            ExpectationResult(
                "reconciliation",
                "target-equals-plan",
                "the target holds what was planned",
                Severity.BLOCKING,
                True,
                len(actions),
                0,
                (),
                "data_docs/validations/reconciliation.html",
            ),
        ),
    )


def unreachable() -> Digest:
    """A run that ended at the first catalog."""
    error = "[catalog-unreachable] hms_main at thrift://127.0.0.1:9083: connection refused by get_catalogs"
    silent = CatalogFacts("hms_main", "hms", "source", "thrift://127.0.0.1:9083", "connection refused by get_catalogs")
    return Digest(
        outcome=RunOutcome(
            "20261128T030000-77b1",
            "run",
            5,
            "hms_main did not answer, so nothing was read and nothing was written.",
            stages=(StageOutcome("inventory", "failed", 30.2, {}, error),),
            next_steps=("nc -vz 127.0.0.1 9083", "nestsync run -c conf/demo.yaml"),
        ),
        started_at=STARTED,
        configuration=CONFIGURATION,
        catalogs=(CatalogRow(silent, False), *(CatalogRow(catalog, False) for catalog in CATALOGS[1:])),
        findings=None,
        cases=(),
        separators=None,
        actions=None,
        action_counts={},
        tree=None,
    )


def large() -> Digest:
    """What the page shows of 100,000 identifiers with 2,000 findings: so many findings, and the tree's first 10,000."""
    places = [(f"team_{number % 97}", f"ns_{number}") for number in range(10_000)]
    findings: list[FindingRow] = [
        finding(("hive", f"{team}__{name}"), message=f"{name} holds ':', which the target reads as hierarchy")
        for team, name in places[:2_000]
    ]
    tops = {team for team, _ in places}
    tree = [
        *(TreeRow((team,), "created") for team in tops),
        *(TreeRow(place, "created", claimants=(Subject("hms_main", ("hive", "__".join(place))),)) for place in places),
    ]
    tree.sort(key=lambda row: row.levels)
    return replace(
        blocked(),
        findings=Capped(tuple(findings), len(findings), "findings.csv"),
        cases=cases(tuple(findings)),
        tree=Capped(tuple(tree[:10_000]), len(tree), "namespaces.csv"),
    )


def earlier(days: int, namespaces: int, blocking: int, exit_code: int = 0) -> RunRecord:
    """A run that was so many days before."""
    began = STARTED - timedelta(days=days)
    return RunRecord(
        f"{began:%Y%m%dT%H%M%S}-aaaa",
        FINISHED,
        began,
        seconds=61.0,
        commands=("run",),
        exit_code=exit_code,
        exit_codes=(exit_code,),
        configuration="conf/demo.yaml",
        catalogs={
            "hms_main": {"role": "source", "system": "hms", "counts": {"namespaces": namespaces, "tables": 200}},
            "target": {"role": "target", "system": "iceberg_rest", "counts": {"namespaces": 12}},
        },
        stages={"inventory": {}, "check": {"blocking": blocking, "warning": 2}},
    )


def continued() -> Digest:
    """A finished run that has a past: hostile names moved, vanished, appeared, and were found wrong."""
    runs = tuple(earlier(days, 60 + days, days % 3) for days in range(9, 0, -1))
    source, target = ("source", "hms_main", "namespace"), ("target", "target", "namespace")
    rows = (
        *(
            ChangeRow("finding", "new", *source, ("hive", text), None, "collision", "blocking", text)
            for text in HOSTILE
        ),
        ChangeRow("table", "vanished", *source[:2], "table", ("raw",), HOSTILE[0], None, None, None),
        ChangeRow("namespace", "moved", *source, ("a.b",), None, None, None, 'target ["a.b"] → ["a"]'),
        ChangeRow("namespace", "appeared", *target, ("a",), None, None, None, None),
    )
    counts = {
        ("source", "finding", "new", "blocking"): len(HOSTILE),
        ("source", "table", "vanished", ""): 1,
        ("source", "namespace", "moved", ""): 1,
        ("target", "namespace", "appeared", ""): 1_234,
    }
    digest = finished()
    now = replace(earlier(0, 71, 0), run_id=digest.outcome.run_id)
    notes = ("run x died on its way: what it had not read yet is not in it",)
    return replace(
        digest,
        past=Past(runs, {0: 8, 3: 1}, runs[-1].started_at),
        changes=Changes(runs[-1], now, rows, counts, "/reports/r/changes.csv", notes),
    )


EVERY = (blocked, finished, unreachable, continued)
