"""The mapping: which target identifier, by which rule, and the file that people edit."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.core.identifiers import Identifier, shown
from nestsync.core.mapping import (
    MappedBy,
    Mapping,
    MappingInvalid,
    MappingRule,
    Rename,
    deepened_again,
    map_identifier,
    read_renames,
    write_renames,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LEVEL = TEXT | st.sampled_from(["", " ", ".", "..", "a:b", "a\x1fb", "é", "e\u0301", "x" * 300, '"', "`", "\\u00ab"])
LEVELS = st.lists(LEVEL, max_size=4).map(tuple)


HMS = MappingRule("hms", include=(("hive", "*"),), exclude=(("hive", "tmp*"),), drop=1, split="__", prefix=("lake",))
RENAMES = (
    Rename("hms", Identifier(("hive", "team:sales")), Identifier(("lake", "team", "sales"))),
    Rename("hms", Identifier(("hive", "a__b"), "t"), Identifier(("elsewhere",), "t2")),
    Rename("hms", Identifier(("hive", "tmp1")), Identifier(("kept",))),
    Rename("other", Identifier(("hive", "plain")), Identifier(("wrong",))),
)


@pytest.mark.parametrize(
    ("source", "identifier", "target", "rule"),
    [
        pytest.param("free", Identifier(("A", "b")), Identifier(("A", "b")), "identity", id="no rule of its source"),
        pytest.param("hms", Identifier(("hive", "x__y__z")), Identifier(("lake", "x", "y", "z")), "split", id="split"),
        pytest.param("hms", Identifier(("hive", "plain")), Identifier(("lake", "plain")), "prefix", id="prefix"),
        pytest.param("hms", Identifier(("hive", "a____b")), Identifier(("lake", "a", "", "b")), "split", id="empty"),
        pytest.param("hms", Identifier(("hive", "__a__")), Identifier(("lake", "", "a", "")), "split", id="edges"),
        pytest.param("hms", Identifier(("hive", "a___b")), Identifier(("lake", "a", "_b")), "split", id="leftmost"),
        pytest.param("hms", Identifier(("spark", "x")), None, "excluded", id="no rule selects it"),
        pytest.param("hms", Identifier(("hive", "tmp")), None, "excluded", id="excluded by name"),
        pytest.param("hms", Identifier(("hive", "tmp1")), None, "excluded", id="exclusion goes before a rename"),
        pytest.param(
            "hms", Identifier(("hive", "team:sales")), Identifier(("lake", "team", "sales")), "rename", id="rename"
        ),
        pytest.param(
            "hms",
            Identifier(("hive", "team:sales"), "orders"),
            Identifier(("lake", "team", "sales"), "orders"),
            "rename",
            id="a namespace's rename moves its tables",
        ),
        pytest.param("hms", Identifier(("hive", "a__b"), "t"), Identifier(("elsewhere",), "t2"), "rename", id="table"),
        pytest.param("hms", Identifier(("hive", "a__b"), "u"), Identifier(("lake", "a", "b"), "u"), "split", id="u"),
        pytest.param("hms", Identifier(("hive", "x"), "a__b"), Identifier(("lake", "x"), "a__b"), "prefix", id="names"),
    ],
)
def test_what_the_mapping_makes(source: str, identifier: Identifier, target: Identifier | None, rule: str) -> None:
    mapped = map_identifier(Mapping(rules=(HMS,), renames=RENAMES), source, identifier)
    assert (mapped.target, mapped.rule) == (target, rule)


def test_a_rename_of_a_namespace_leaves_the_namespaces_below_it() -> None:
    mapping = Mapping(renames=(Rename("lake", Identifier(("a",)), Identifier(("z",))),))
    assert map_identifier(mapping, "lake", Identifier(("a", "b"))).target == Identifier(("a", "b"))


def test_the_first_rule_that_selects_decides() -> None:
    rules = (MappingRule("s", include=(("a*",),), prefix=("first",)), MappingRule("s", prefix=("second",)))
    targets = [map_identifier(Mapping(rules=rules), "s", Identifier((level,))).target for level in ("ab", "b")]
    assert targets == [Identifier(("first", "ab")), Identifier(("second", "b"))]


@pytest.mark.parametrize(
    ("rule", "levels", "target", "decided"),
    [
        pytest.param(MappingRule("s", drop=1), ("hive", "db"), ("db",), MappedBy.DROP, id="drop"),
        pytest.param(MappingRule("s", drop=3), ("hive", "db"), (), MappedBy.DROP, id="drop of more than there is"),
        pytest.param(MappingRule("s", drop=1), (), (), MappedBy.IDENTITY, id="nothing to drop"),
        pytest.param(MappingRule("s", split=":"), ("ab",), ("ab",), MappedBy.IDENTITY, id="nothing to split"),
        pytest.param(
            MappingRule("s", split=":"), ("a:b", "c:d"), ("a", "b", "c", "d"), MappedBy.SPLIT, id="each level"
        ),
        pytest.param(MappingRule("s", split="."), ("a.b",), ("a", "b"), MappedBy.SPLIT, id="the text is no pattern"),
        pytest.param(
            MappingRule("s", flatten="__", depth=2), ("a", "b", "c", "d"), ("a", "b__c__d"), MappedBy.FLATTEN, id="flat"
        ),
        pytest.param(MappingRule("s", flatten="."), ("a", "b"), ("a.b",), MappedBy.FLATTEN, id="to one level"),
        pytest.param(MappingRule("s", flatten="."), ("a", ""), ("a.",), MappedBy.FLATTEN, id="nothing is left out"),
        pytest.param(
            MappingRule("s", flatten="_", depth=2), ("a", "b"), ("a", "b"), MappedBy.IDENTITY, id="nothing to flatten"
        ),
        pytest.param(MappingRule("s", flatten="_"), (), (), MappedBy.IDENTITY, id="the root is flat"),
        pytest.param(
            MappingRule("s", drop=1, split=".", flatten="_", prefix=("p",)),
            ("hive", "a.b", "c"),
            ("p", "a_b_c"),
            MappedBy.FLATTEN,
            id="after the split, before the prefix",
        ),
    ],
)
def test_the_steps_of_a_rule(
    rule: MappingRule, levels: tuple[str, ...], target: tuple[str, ...], decided: MappedBy
) -> None:
    assert rule.apply(levels) == (target, decided)


LAKE = MappingRule("s", prefix=("lake",))


@pytest.mark.parametrize(
    ("rules", "again"),
    [
        pytest.param((LAKE,), 0, id="it takes what it made"),
        pytest.param((MappingRule("s", include=(("raw", "**"),), prefix=("lake",)),), None, id="it takes others only"),
        pytest.param((MappingRule("s", include=(("*",),), prefix=("lake", "x")),), 0, id="another's, of one level"),
        pytest.param((MappingRule("s", exclude=(("lake", "**"),), prefix=("lake",)),), None, id="left out"),
        pytest.param((MappingRule("s", exclude=(("lake", "a"),), prefix=("lake",)),), 0, id="left out in part"),
        pytest.param((MappingRule("s", drop=1, prefix=("lake",)),), None, id="the outermost level is replaced"),
        pytest.param((MappingRule("s", drop=1, prefix=("lake", "x")),), 0, id="one level for two"),
        pytest.param((MappingRule("s", include=(("lake", "**"),)), LAKE), None, id="an earlier rule keeps it"),
        pytest.param((MappingRule("s", include=(("lake", "a"),)), LAKE), 1, id="an earlier rule keeps a part"),
        pytest.param((MappingRule("s", split="__"),), None, id="no prefix"),
        pytest.param((), None, id="no rule"),
    ],
)
def test_which_rule_would_deepen_again_what_is_below_its_prefix(
    rules: tuple[MappingRule, ...], again: int | None
) -> None:
    assert deepened_again(rules, ("lake",)) == (None if again is None else rules[again])


def renames() -> st.SearchStrategy[Rename]:
    source = TEXT.filter(bool)
    name = LEVEL.filter(bool)
    namespace = st.builds(
        Rename, source, st.builds(Identifier, LEVELS), st.builds(Identifier, LEVELS.filter(lambda levels: levels != ()))
    )
    return namespace | st.builds(
        Rename, source, st.builds(Identifier, LEVELS, name), st.builds(Identifier, LEVELS, name)
    )


@given(st.lists(renames(), max_size=4, unique_by=lambda rename: (rename.source, rename.identifier)))
def test_the_mapping_file_reads_back_as_it_was_written(lines: list[Rename]) -> None:
    assert read_renames(write_renames(lines)) == tuple(lines)


@given(LEVELS)
def test_shown_levels_are_json(levels: tuple[str, ...]) -> None:
    assert tuple(json.loads(shown(levels))) == levels


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        pytest.param(("sales", "emea"), '["sales","emea"]', id="plain"),
        pytest.param((), "[]", id="root"),
        pytest.param(("caf\u00e9",), '["café"]', id="one character"),
        pytest.param(("cafe\u0301",), '["cafe\\u0301"]', id="a combining mark shows"),
        pytest.param(("a\x1fb\n",), '["a\\u001Fb\\n"]', id="controls"),
        pytest.param(("\u202e\u2028\x85",), '["\\u202E\\u2028\\u0085"]', id="direction marks and line breaks"),
        pytest.param(("\\u00ab",), '["\\\\u00ab"]', id="a level's own backslash"),
        pytest.param(("日本",), '["日本"]', id="letters stay letters"),
    ],
)
def test_levels_are_shown_so_that_a_person_can_tell_them_apart(levels: tuple[str, ...], text: str) -> None:
    assert shown(levels) == text


def test_a_mapping_file_of_a_person_is_read() -> None:
    text = (
        "\ufeffsource,levels,name,target_levels,target_name\r\n"
        'hms,"[""hive"",""team:sales""]",,"[""team"", ""sales""]",\r\n'
        "\r\n"
        'hms,"[""hive"",""a""]",t,"[""b""]",t2\r\n'
    )
    assert read_renames(text) == (
        Rename("hms", Identifier(("hive", "team:sales")), Identifier(("team", "sales"))),
        Rename("hms", Identifier(("hive", "a"), "t"), Identifier(("b",), "t2")),
    )


HEADER = "source,levels,name,target_levels,target_name\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "the first line is ''", id="empty file"),
        pytest.param("source;levels;name\n", "the first line is 'source;levels;name'", id="semicolons"),
        pytest.param(HEADER + "hms,[]\n", "line 2 has 2 cells", id="too few cells"),
        pytest.param(HEADER + ',"[""a""]",,"[""b""]",\n', "line 2 names no source", id="no source"),
        pytest.param(HEADER + 'hms,a.b,,"[""b""]",\n', "line 2: 'a.b' is no JSON list of texts", id="dotted"),
        pytest.param(HEADER + 'hms,[1],,"[""b""]",\n', "line 2: '[1]' is no JSON list of texts", id="numbers"),
        pytest.param(HEADER + 'hms,"[""a""]",,[],\n', 'the rename of ["a"] makes the root of a namespace', id="root"),
        pytest.param(HEADER + 'hms,"[""a""]",t,"[""b""]",\n', "leaves the table without a name", id="no target name"),
        pytest.param(HEADER + 'hms,"[""a""]",,"[""b""]",t\n', "makes a table of a namespace", id="a table"),
        pytest.param(HEADER + 'hms,"[""a""]"x,,"[""b""]",\n', "line 2: ", id="broken quotes"),
        pytest.param(
            HEADER + 'hms,"[""a""]",,"[""b""]",\nhms,"[""c""]",,"[""d""]",\nhms,"[""a""]",,"[""e""]",\n',
            'hms: line 4: a second rename of ["a"], after that in line 2',
            id="a namespace twice",
        ),
        pytest.param(
            HEADER + 2 * 'hms,"[""a""]",t,"[""b""]",t\n',
            "hms: line 3: a second rename of [\"a\"] 't', after that in line 2",
            id="a table twice, though to one target",
        ),
        pytest.param(HEADER + 'hms,"[""a""]",,"[""\\ud800""]",\n', "holds a lone surrogate", id="surrogate"),
        pytest.param(HEADER + f"hms,{'[' * 100_000},,x,\n", "is no JSON list of texts", id="nested too deeply"),
    ],
)
def test_a_mapping_file_that_cannot_be_meant_is_refused(text: str, says: str) -> None:
    with pytest.raises(MappingInvalid) as refused:
        read_renames(text)
    assert says in str(refused.value)
    assert refused.value.hint


def test_two_renames_of_one_object_are_refused() -> None:
    line = Rename("hms", Identifier(("a",)), Identifier(("b",)))
    with pytest.raises(MappingInvalid, match=r'hms: two renames of \["a"\]'):
        Mapping(renames=(line, Rename("hms", Identifier(("a",)), Identifier(("c",)))))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"split": ""}, "'split' is the empty text"),
        ({"flatten": ""}, "'flatten' is the empty text"),
        ({"drop": -1}, "'drop' is -1 Hint: use a whole number from 0"),
        ({"depth": 2}, "'depth' without 'flatten'"),
        ({"flatten": "_", "depth": 0}, "'depth' is 0 Hint: use a whole number from 1"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(MappingInvalid, match=says):
        MappingRule("hms", **options)  # type: ignore[arg-type]
