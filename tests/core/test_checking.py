"""The check as a table: what is in the catalogs, how it is configured, and what is found."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.core.checking import (
    CheckContext,
    DialectUse,
    Lowered,
    SeverityRefused,
    Subject,
    Target,
    adjust,
    check,
    rank_separators,
)
from nestsync.core.findings import Finding, Severity
from nestsync.core.gravitino import separator_changed
from nestsync.core.identifiers import Identifier, Levels
from nestsync.core.mapping import Mapping, MappingRule, Rename
from tests.core import hostile
from tests.core.check_cases import CASES, Case, context, namespace, table, there


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_what_is_found(case: Case) -> None:
    found = check(case.subjects, case.context)
    assert sorted((f.rule, f.source, f.levels, f.name or "") for f in found) == sorted(case.expected)
    for rule, texts in case.says.items():
        spoken = " ".join(f"{f.message} | {f.hint}" for f in found if f.rule == rule)
        for text in texts:
            assert text in spoken


def test_every_finding_says_where_and_what_to_change() -> None:
    for case in CASES:
        for found in check(case.subjects, case.context):
            assert found.message
            assert found.hint
            assert "\n" not in found.message


@given(st.lists(hostile.levels))
def test_a_changed_separator_is_told_of_the_names_that_it_concerns(namespaces: list[Levels]) -> None:
    held = [there(*levels) for levels in namespaces]
    found = check(held, context(separator=";", separator_before=":"))
    concerned = separator_changed([subject.levels for subject in held], before=":", after=";")
    assert {finding.levels for finding in found} == {affected.levels for affected in concerned}


def test_a_change_that_is_wanted_blocks_nothing() -> None:
    for replaces, expected in ((None, Severity.BLOCKING), ("$", Severity.BLOCKING), (":", Severity.INFO)):
        changed = context(separator=";", separator_before=":", replaces=replaces)
        assert _only(check([there("a", "b")], changed)).severity is expected


def _only(found: list[Finding]) -> Finding:
    assert len(found) == 1
    return found[0]


CONFLICT = [namespace("hms", "hive", "team:sales")]


@pytest.mark.parametrize(
    ("severities", "expected"),
    [({}, Severity.WARNING), ({"unreadable-table": Severity.BLOCKING}, Severity.BLOCKING)],
)
def test_the_configuration_raises_a_severity(severities: dict[str, Severity], expected: Severity) -> None:
    broken = [table("lance", "t", status="unreadable", error="no manifest")]
    assert _only(check(broken, CheckContext(severities=severities))).severity is expected


@pytest.mark.parametrize(
    ("severities", "says"),
    [
        ({"separator-conflict": Severity.WARNING}, "separator-conflict is blocking and cannot be lowered to warning"),
        ({"unreadable-table": Severity.INFO}, "unreadable-table is warning and cannot be lowered to info"),
        ({"no-such-rule": Severity.INFO}, "there is no rule 'no-such-rule'"),
    ],
)
def test_the_configuration_lowers_no_rule_as_a_whole(severities: dict[str, Severity], says: str) -> None:
    with pytest.raises(SeverityRefused, match=says):
        CheckContext(severities=severities)


LOWERED = Lowered("separator-conflict", "hms", ("hive", "team:sales"), Severity.WARNING, "nobody reads it by path")


def test_a_severity_is_lowered_for_one_object_with_its_reason_in_the_message() -> None:
    subjects = [*CONFLICT, namespace("hms", "hive", "a:b")]
    found = {f.levels: f for f in check(subjects, context(separator=":", lowered=(LOWERED,)))}
    assert found["hive", "team:sales"].severity is Severity.WARNING
    assert found["hive", "team:sales"].message.endswith("(lowered from blocking: nobody reads it by path)")
    assert found["hive", "a:b"].severity is Severity.BLOCKING


FOLDING = context(capabilities="lakekeeper")
ALIKE = [namespace("one", "Sales"), namespace("two", "sales"), table("one", "t", "SALES"), there("sAles")]


def test_a_finding_lists_all_that_come_to_one() -> None:
    found = _only(check(ALIKE, FOLDING))
    assert (found.rule, found.source, found.object, found.levels) == ("case-collision", "one", "namespace", ("SALES",))
    assert [(each.role, each.source, each.levels, each.name, each.target_levels) for each in found.members] == [
        ("source", "one", ("SALES",), None, ("SALES",)),  # a table implies it
        ("source", "one", ("Sales",), None, ("Sales",)),
        ("target", "lake", ("sAles",), None, ("sAles",)),
        ("source", "two", ("sales",), None, ("sales",)),
    ]
    assert found.of_sources == tuple(each for each in found.members if each.role == "source")


ALIKE_LEVELS = st.sampled_from(("sales", "Sales", "SALES", "caf\u00e9", "cafe\u0301", "CAFE\u0301", "other"))


@given(st.lists(st.tuples(st.sampled_from(("one", "two", "lake")), ALIKE_LEVELS)))
def test_whatever_comes_to_one_is_in_a_finding_with_all_of_it(held: list[tuple[str, str]]) -> None:
    """``lake`` is the target; what it holds under a name that is wanted is that object itself."""
    found = check([namespace(source, level, role=_role(source)) for source, level in held], FOLDING)
    wanted = {level for source, level in held if source != "lake"}
    groups: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for source, level in held:
        if source != "lake" or level not in wanted:
            groups[unicodedata.normalize("NFC", level.lower())].add((source, level))
    together = {
        frozenset(group) for group in groups.values() if len(group) > 1 and any(source != "lake" for source, _ in group)
    }
    listed = [frozenset((each.source, each.levels[0]) for each in finding.members) for finding in found]
    assert {group for group in listed if not any(group < wider for wider in listed)} == together
    for finding in found:
        first = finding.members[0]
        assert (first.source, first.levels, first.target_levels) == (finding.source, finding.levels, finding.levels)
        assert len(set(finding.members)) == len(finding.members)
        assert all(member.role == _role(member.source) for member in finding.members)


def _role(source: str) -> str:
    return "target" if source == "lake" else "source"


def accepted(source: str, level: str, severity: Severity) -> Lowered:
    return Lowered("case-collision", source, (level,), severity, f"{source} agreed")


@pytest.mark.parametrize(
    ("lowered", "severity", "says"),
    [
        ([], Severity.BLOCKING, "where the target folds case"),
        ([accepted("one", "SALES", Severity.INFO)], Severity.BLOCKING, "(lowered for 1 of 3 objects, not for all)"),
        (
            [accepted("one", "SALES", Severity.INFO), accepted("lake", "sAles", Severity.INFO)],
            Severity.BLOCKING,
            "(lowered for 1 of 3 objects, not for all)",
        ),
        (
            [
                accepted("two", "sales", Severity.INFO),
                accepted("one", "SALES", Severity.INFO),
                accepted("one", "Sales", Severity.WARNING),
            ],
            Severity.WARNING,
            "(lowered from blocking: one agreed)",
        ),
    ],
    ids=["for-none", "for-one", "what-is-there-has-no-say", "for-all-as-severe-as-the-most-severe"],
)
def test_what_is_about_several_is_lowered_once_it_is_for_all(
    lowered: list[Lowered], severity: Severity, says: str
) -> None:
    found = _only(check(ALIKE, context(capabilities="lakekeeper", lowered=tuple(lowered))))
    assert found.severity is severity
    assert found.message.endswith(says)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"reason": " "}, "separator-conflict is lowered without a reason"),
        ({"rule": "nope"}, "there is no rule 'nope'"),
    ],
)
def test_a_lowered_severity_needs_a_rule_and_a_reason(change: dict[str, str], says: str) -> None:
    with pytest.raises(SeverityRefused, match=says):
        replace(LOWERED, **change)


def test_findings_of_other_stages_get_their_configured_severity_too() -> None:
    other = Finding("missing-parent", Severity.WARNING, "hms", "namespace", ("a",), None, ("a",), "what", "hint")
    raised = adjust(other, CheckContext(severities={"missing-parent": Severity.BLOCKING}))
    lowered = Lowered("missing-parent", "hms", ("a",), Severity.INFO, "known")
    assert raised.severity is Severity.BLOCKING
    assert adjust(other, CheckContext(lowered=(lowered,))).severity is Severity.INFO


# ---- separators


def test_separators_rank_by_policy_then_conflicts_then_order() -> None:
    subjects = [
        namespace("hms", "hive", "team:sales"),
        table("hms", "t", "hive", "team:sales"),
        namespace("rest", "a;b", "c;d"),
        namespace("rest", "x:y"),
        namespace("lake", "in|target", role="target"),
    ]
    ranked = rank_separators(subjects, CheckContext(candidates=(":", ";", "$", "|"), separator="/"))
    assert [(r.separator, r.conflicts, r.allowed, r.suggested) for r in ranked] == [
        ("$", 0, True, True),
        (";", 1, True, False),
        (":", 2, True, False),
        ("/", 0, False, False),
        ("|", 0, False, False),
    ]
    assert [r.rank for r in ranked] == [1, 2, 3, 4, 5]
    assert ranked[2].examples == (("hms", ("hive", "team:sales")), ("rest", ("x:y",)))
    assert ranked[3].reason == "it conflicts with path parsing"


def test_at_most_five_examples_are_given() -> None:
    subjects = [namespace("hms", "hive", f"a:{i}") for i in range(9)]
    first = next(r for r in rank_separators(subjects, CheckContext()) if r.separator == ":")
    assert (first.conflicts, len(first.examples)) == (9, 5)
    assert first.examples[0] == ("hms", ("hive", "a:0"))


def test_what_the_mapping_brings_in_is_not_free_either() -> None:
    mapping = Mapping(
        rules=(MappingRule("hms", prefix=("lake;one",)),),
        renames=(Rename("hms", Identifier(("x",)), Identifier(("a$b",))),),
    )
    ranked = rank_separators([], CheckContext(mapping=mapping))
    assert [r.separator for r in ranked if r.suggested] == [":"]
    taken = rank_separators([namespace("hms", "a:b")], CheckContext(mapping=mapping))
    assert [r.separator for r in taken if r.suggested] == []


def test_any_safe_separator_is_allowed_where_the_policy_is_unrestricted() -> None:
    ranked = rank_separators([], CheckContext(candidates=("|", "/"), policy="unrestricted"))
    assert [(r.separator, r.allowed) for r in ranked] == [("|", True), ("/", False)]


def test_an_engine_that_begins_with_the_catalog_is_asked_with_it() -> None:
    subjects = [namespace("rest", "a"), namespace("rest", "a", "b")]
    found = _only(check(subjects, context(engines=("flink",))))
    assert (found.rule, found.levels) == ("round-trip-loss", ("a", "b"))
    assert 'flink: level "b" of ["a","b"] is one level too many' in found.message


def test_a_dialect_whose_separator_is_refused_stands_in_with_its_default() -> None:
    assert DialectUse("gravitino", "/").open() == DialectUse("gravitino").open()
    assert DialectUse("spark", "/").open() == DialectUse("spark").open()


def test_nothing_is_asked_of_a_target_that_there_is_not() -> None:
    plain = CheckContext(separator=":")
    assert check([namespace("rest", "x" * 2000, "a.b")], plain) == []
    assert plain.capabilities is None
    assert (plain.folds, plain.normalizes) == (False, False)


def test_the_target_is_asked_by_its_own_capabilities() -> None:
    glue = CheckContext(target=Target("lake", "iceberg_rest", DialectUse("iceberg-rest"), "glue"))
    found = check([Subject("rest", "namespace", ("A", "b"))], glue)
    assert {f.rule for f in found} == {"too-deep"}
