"""The wanted tree: who wants which target namespace, with which properties, and what stands in the way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.core.claims import Claimant, PropertyKeys, PropertyKeysClash, SourceObject
from nestsync.core.findings import Finding, Severity
from nestsync.core.hierarchy import ancestors
from nestsync.core.wanted import CLAIMANTS_KEPT, WantedSettings, WantedTree, wanted_tree
from tests.core.claims_cases import blocking, checked_catalogs, members, namespace, settings, table

DEFAULT = WantedSettings()


def tree_of(
    *objects: SourceObject, settings: WantedSettings = DEFAULT, findings: tuple[Finding, ...] = ()
) -> WantedTree:
    return wanted_tree(objects, settings, findings)


def names(tree: WantedTree, *, blocked: bool | None = None) -> list[str]:
    return ["/".join(w.levels) for w in tree.namespaces if blocked is None or w.blocked is blocked]


def slugs(tree: WantedTree) -> list[tuple[str, str]]:
    return sorted((finding.rule, str(finding.severity)) for finding in tree.findings)


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param([namespace("s", "n1/n2/n3")], ["n1", "n1/n2", "n1/n2/n3"], id="a-leaf-alone-closes-its-parents"),
        pytest.param([namespace("s", "a"), namespace("s", "a/b")], ["a", "a/b"], id="a-parent-of-its-own"),
        pytest.param([table("s", "a/b", "t")], ["a", "a/b"], id="a-table-implies-where-it-is"),
        pytest.param([namespace("s", "a", "")], [], id="the-root-is-never-wanted"),
        pytest.param([table("s", "a", "t", "")], [], id="nor-by-a-table"),
        pytest.param([replace(namespace("s", "a"), target_levels=None)], [], id="excluded"),
        pytest.param([table("s", "a", "t", status="unreadable")], [], id="an-unreadable-table-claims-nothing"),
        pytest.param([namespace("s", "a", status="unsupported")], [], id="nor-does-an-unsupported-namespace"),
        pytest.param([], [], id="nothing"),
        pytest.param(
            [namespace("s", "raw:events"), namespace("s", "raw:events2")],
            ["raw:events", "raw:events2"],
            id="a-separator-in-a-level-is-no-boundary",
        ),
    ],
)
def test_the_tree_holds_what_is_claimed_and_its_parents(objects: list[SourceObject], expected: list[str]) -> None:
    assert names(tree_of(*objects)) == expected


def test_what_a_finding_about_several_is_about_is_held_back() -> None:
    one, two, free = namespace("s", "Sales"), namespace("t", "sales"), namespace("t", "free")
    found = replace(blocking(one, "case-collision"), members=tuple(members(one, two, free)))  # the last is there
    tree = tree_of(one, two, free, findings=(found,))
    assert (names(tree, blocked=True), names(tree, blocked=False)) == (["Sales", "sales"], ["free"])


@pytest.mark.parametrize(
    ("item", "keys", "expected"),
    [
        pytest.param(
            namespace("s", "a", properties={"k": "a:b|c"}, owner="ann", comment="c", location="file:/x"),
            PropertyKeys(),
            {"k": "a:b|c", "owner": "ann", "comment": "c", "location": "file:/x"},
            id="fields-beside-properties",
        ),
        pytest.param(
            namespace("s", "a", properties={"owner": "ann"}, owner="ann"),
            PropertyKeys(owner=None),
            {},
            id="left-behind-where-the-system-keeps-it-among-properties",
        ),
        pytest.param(
            namespace("s", "a", properties={"owner": "a parameter"}, owner="ann"),
            PropertyKeys(owner=None),
            {"owner": "a parameter"},
            id="a-parameter-that-only-shares-the-key-stays",
        ),
        pytest.param(
            namespace("s", "a", properties={"owner": "ann"}, owner="ann"),
            PropertyKeys(owner="x-owner"),
            {"x-owner": "ann"},
            id="moved-to-another-key",
        ),
        pytest.param(
            namespace("s", "a", properties={"comment": "old"}, comment="new"),
            PropertyKeys(),
            {"comment": "new"},
            id="a-field-before-a-property-of-its-key",
        ),
        pytest.param(
            namespace("s", "a", properties={"": "", "é": "e\u0301", "n": "\n\x00 "}, comment=""),
            PropertyKeys(),
            {"": "", "é": "e\u0301", "n": "\n\x00 ", "comment": ""},
            id="byte-for-byte-and-empty-is-a-value",
        ),
    ],
)
def test_wanted_properties(item: SourceObject, keys: PropertyKeys, expected: dict[str, str]) -> None:
    (only,) = tree_of(item, settings=WantedSettings(keys)).namespaces
    assert only.properties == expected


@pytest.mark.proves("property-conflict")
@pytest.mark.parametrize(
    ("objects", "order", "severity", "value"),
    [
        pytest.param([("s1", "1"), ("s2", "1")], (), None, "1", id="equal-values-agree"),
        pytest.param([("s1", "1"), ("s2", "2")], (), Severity.BLOCKING, "1", id="nobody-decides"),
        pytest.param([("s1", "1"), ("s2", "2")], ("s2", "s1"), Severity.WARNING, "2", id="the-first-source-decides"),
        pytest.param([("s1", "1"), ("s2", "2")], ("s2",), Severity.WARNING, "2", id="the-only-source-in-the-order"),
        pytest.param([("s1", "1"), ("s2", "2")], ("s3",), Severity.BLOCKING, "1", id="neither-is-in-the-order"),
        pytest.param([("s1", "1"), ("s1", "2")], ("s1",), Severity.BLOCKING, "1", id="the-first-source-disagrees"),
        pytest.param([("s1", None), ("s2", "2")], ("s1", "s2"), None, "2", id="an-absent-key-is-no-value"),
    ],
)
def test_properties_of_merged_namespaces(
    objects: list[tuple[str, str | None]], order: tuple[str, ...], severity: Severity | None, value: str
) -> None:
    claims = [
        namespace(source, f"{source}_{i}", "t", properties={} if held is None else {"k": held})
        for i, (source, held) in enumerate(objects)
    ]
    tree = tree_of(*claims, settings=WantedSettings(source_order=order))
    (only,) = tree.namespaces
    assert only.properties == {"k": value}
    assert [finding.severity for finding in tree.findings] == ([] if severity is None else [severity])
    assert only.blocked is (severity is Severity.BLOCKING)


def test_a_conflict_names_the_key_and_who_differs() -> None:
    sources = [namespace("s", f"x{i}", "t", properties={"k": str(i)}) for i in range(5)]
    (finding,) = tree_of(*sources).findings
    assert (finding.source, finding.levels, finding.target_levels) == ("s", ("x0",), ("t",))
    assert finding.message == (
        'namespaces that become ["t"] hold different values of "k", for example s ["x0"] and s ["x4"]'
    )


@pytest.mark.proves("property-conflict")
def test_a_field_that_takes_the_place_of_another_value_is_a_warning() -> None:
    tree = tree_of(namespace("s", "a", properties={"owner": "a parameter"}, owner="ann"))
    assert slugs(tree) == [("property-conflict", "warning")]
    assert tree.findings[0].message == 'its owner and its property "owner" differ; the owner is wanted under that key'
    assert names(tree, blocked=True) == []


@pytest.mark.proves("missing-parent")
def test_a_parent_that_exists_in_no_source_is_a_warning_about_the_child() -> None:
    tree = tree_of(namespace("s", "sales__emea", "sales/emea"), namespace("s", "sales__apac", "sales/apac"))
    (finding,) = tree.findings
    assert (finding.rule, finding.severity) == ("missing-parent", Severity.WARNING)
    assert (finding.levels, finding.target_levels) == (("sales__apac",), ("sales",))


@pytest.mark.proves("owner-conflict")
@pytest.mark.parametrize(
    ("owners", "taken", "conflict"),
    [
        pytest.param({"s1": "ann", "s2": "ann"}, "ann", False, id="one-owner"),
        pytest.param({"s1": "zoe", "s2": "ann"}, "zoe", True, id="the-smallest-source-decides-not-the-smallest-owner"),
        pytest.param({"s1": None, "s2": "ann"}, "ann", False, id="no-owner-is-no-claim-to-it"),
        pytest.param({"s1": None}, None, False, id="nobody"),
    ],
)
def test_an_implied_parent_gets_the_owner_of_what_it_is_made_for(
    owners: dict[str, str | None], taken: str | None, conflict: bool
) -> None:
    tree = tree_of(*(namespace(source, f"p__{source}", f"p/{source}", owner=owner) for source, owner in owners.items()))
    parent = tree.namespaces[0]
    assert parent.levels == ("p",)
    assert parent.properties == ({} if taken is None else {"owner": taken})
    assert (("owner-conflict", "warning") in slugs(tree)) is conflict


def test_a_parent_is_made_for_the_nearest_claims_only() -> None:
    tree = tree_of(namespace("s", "n1/n2", owner="ann"), namespace("s", "n1/n2/n3", owner="bob"))
    assert tree.namespaces[0].claimants == (Claimant("s", ("n1", "n2")),)
    assert tree.namespaces[0].properties == {"owner": "ann"}
    assert slugs(tree) == [("missing-parent", "warning")]


def test_an_explicit_claim_beats_an_implied_one() -> None:
    tree = tree_of(
        namespace("s1", "a", properties={"k": "v"}, owner="ann"),
        namespace("s2", "a/b", owner="bob"),
        table("s2", "a", "t"),
    )
    assert tree.namespaces[0].explicit
    assert tree.namespaces[0].properties == {"k": "v", "owner": "ann"}
    assert tree.findings == ()


def test_a_parent_of_everything_names_a_few_claimants() -> None:
    tree = tree_of(*(namespace("s", f"n{i:02}", f"lake/n{i:02}") for i in range(30)))
    assert tree.namespaces[0].claimants == tuple(Claimant("s", (f"n{i:02}",)) for i in range(CLAIMANTS_KEPT))


BAD = namespace("s", "bad", "top/bad")
SUBTREE = ["top/bad", "top/bad/mid", "top/bad/mid/below"]
BELOW = namespace("s", "below", "top/bad/mid/below")
BESIDE = namespace("s", "beside", "top/beside")
TABLE = table("s", "x", "t", "odd/place")


@pytest.mark.parametrize(
    ("objects", "about", "blocked"),
    [
        pytest.param([BAD, BELOW, BESIDE], [BAD], SUBTREE, id="the-subtree-and-not-beside"),
        pytest.param([BAD], [BAD], ["top", "top/bad"], id="a-parent-that-only-blocked-things-want"),
        pytest.param([BAD, BESIDE], [BESIDE], ["top/beside"], id="a-parent-that-something-else-wants"),
        pytest.param([namespace("s", "top"), BAD], [BAD], ["top/bad"], id="a-parent-that-is-claimed-itself"),
        pytest.param([TABLE], [TABLE], ["odd", "odd/place"], id="a-table-alone-in-an-implied-namespace"),
        pytest.param([TABLE, table("s", "x", "u", "odd/place")], [TABLE], [], id="another-table-wants-it"),
        pytest.param([namespace("s", "x", "odd/place"), TABLE], [TABLE], [], id="a-table-does-not-block-a-namespace"),
        pytest.param(
            [replace(BAD, status="unreadable"), BELOW, BESIDE], [], SUBTREE, id="an-unreadable-one-and-what-is-below-it"
        ),
        pytest.param(
            [namespace("r", "q", "t"), namespace("s", "t", status="unreadable")],
            [],
            ["t"],
            id="unreadable-in-one-source-of-two",
        ),
    ],
)
def test_what_is_blocked(objects: list[SourceObject], about: list[SourceObject], blocked: list[str]) -> None:
    assert names(tree_of(*objects, findings=tuple(map(blocking, about))), blocked=True) == blocked


def test_a_warning_that_the_configuration_raises_blocks_the_parent_it_is_about() -> None:
    tree = wanted_tree(
        [namespace("s", "a", "p/a"), table("s", "b", "t", "q"), table("s", "b", "u", "q")],
        DEFAULT,
        adjust=lambda finding: replace(finding, severity=Severity.BLOCKING),
    )
    assert names(tree, blocked=True) == ["p", "q", "p/a"]


def test_properties_of_an_unreadable_namespace_are_not_wanted() -> None:
    tree = tree_of(namespace("s", "a", status="unreadable", properties={"k": "v"}, owner="ann"))
    assert tree.namespaces[0].properties == {}


def test_two_fields_under_one_key_are_refused() -> None:
    with pytest.raises(PropertyKeysClash, match="share a key"):
        PropertyKeys(comment="owner")


@given(case=checked_catalogs(), chosen=settings, raised=st.booleans())
def test_a_tree_is_closed_and_blocks_whole_subtrees(
    case: tuple[list[SourceObject], list[Finding]], chosen: WantedSettings, raised: bool
) -> None:
    objects, findings = case
    severity = Severity.BLOCKING if raised else None
    tree = wanted_tree(objects, chosen, findings, lambda f: replace(f, severity=severity or f.severity))
    by_levels = {wanted.levels: wanted for wanted in tree.namespaces}
    assert len(by_levels) == len(tree.namespaces)
    assert () not in by_levels
    for position, wanted in enumerate(tree.namespaces):
        parents = [by_levels[parent] for parent in ancestors(wanted.levels)]
        assert all(tree.namespaces.index(parent) < position for parent in parents)
        if not wanted.blocked:
            assert not any(parent.blocked for parent in parents)
        if wanted.explicit:
            assert {(c.source, c.levels) for c in wanted.claimants} <= {(o.source, o.levels) for o in objects}
