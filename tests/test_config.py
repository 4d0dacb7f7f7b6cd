"""A configuration is read as it was meant, or refused in one message that names the key and what was meant."""

from __future__ import annotations

import pickle
from pathlib import Path
from textwrap import dedent

import pytest
from pydantic import ValidationError

from nestsync.config import Config, ConfigurationInvalid, load
from nestsync.config.consistency import also_the_target
from nestsync.configfile import source_names, workspace_of
from nestsync.core.checking.context import Lowered
from nestsync.core.expectations import Settings, defaults
from nestsync.core.findings import Severity
from nestsync.core.identifiers import Identifier
from nestsync.core.mapping import MappingInvalid, MappingRule, Rename
from nestsync.errors import ConfigurationError

SOURCE = "{name: prod, system: iceberg_rest, uri: 'http://127.0.0.1:8181'}"
MINIMAL = f"sources: [{SOURCE}]\n"
FULL = """
workspace: ./space
sources:
  - name: prod
    system: iceberg_rest
    uri: http://127.0.0.1:8181
    warehouse: w
    token_env: PROD_TOKEN
  - name: lake
    system: lance_dir
    root: datasets
target:
  name: lakehouse
  system: iceberg_rest
  uri: https://example.org/catalog
  capabilities: jdbc
strategy: upsert
on_blocking: skip
separator: {value: ";", replaces: ":", policy: unrestricted, allowed: [";"], candidates: [";", "|", =]}
engines: [spark, trino]
mapping:
  rules:
    - {source: prod, include: [["hive", "*"]], exclude: [["hive", "tmp_*", "**"]], drop: 1, split: "__", prefix: [a, b],
       flatten: ".", depth: 2}
  file: renames.csv
  merge: [["sales"], ["sales", "emea"]]
property_keys: {comment: description, location: null}
source_order: [lake, prod]
severities: {missing-parent: blocking}
lowered:
  - {rule: collision, source: prod, levels: [sales], reason: agreed with the owners}
  - {rule: too-long, levels: [x], name: t, severity: info, reason: archived}
apply: {concurrency: 2}
report: {folder: out}
spark: {master: "local[2]", conf: {spark.ui.enabled: false, spark.sql.shuffle.partitions: 2}}
"""
RENAMES = 'source,levels,name,target_levels,target_name\nprod,"[""hive"",""x""]",,"[""y""]",\n'


def write(folder: Path, text: str, name: str = "nestsync.yaml") -> Path:
    file = folder / name
    file.write_text(dedent(text), encoding="utf-8")
    return file


@pytest.fixture
def full(tmp_path: Path) -> Config:
    write(tmp_path, RENAMES, "renames.csv")
    return load(write(tmp_path, FULL))


# ---- what is read


def test_everything_that_can_be_said_is_read(full: Config, tmp_path: Path) -> None:
    assert full.workspace == tmp_path / "space"
    assert [(source.name, source.system) for source in full.sources] == [
        ("prod", "iceberg_rest"),
        ("lake", "lance_dir"),
    ]
    assert full.source("prod").options.model_dump(exclude_unset=True) == {
        "uri": "http://127.0.0.1:8181",
        "warehouse": "w",
        "token_env": "PROD_TOKEN",
    }
    assert full.target is not None
    assert full.target.capabilities_name(".") == "jdbc"
    assert (full.strategy, full.on_blocking) == ("upsert", "skip")
    assert full.separator.model_dump() == {
        "value": ";",
        "replaces": ":",
        "policy": "unrestricted",
        "allowed": (";",),
        "candidates": (";", "|", "="),
    }
    assert full.engines == ("spark", "trino")
    assert full.property_keys.model_dump() == {"comment": "description", "owner": "owner", "location": None}
    assert full.source_order == ("lake", "prod")
    assert full.severities == {"missing-parent": Severity.BLOCKING}
    assert full.apply.concurrency == 2
    assert full.report_folder == tmp_path / "out"
    assert full.spark.master == "local[2]"
    assert full.spark.conf == {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}


def test_the_mapping_is_the_core_s_own(full: Config) -> None:
    mapping = full.name_mapping()
    assert mapping.rules == (
        MappingRule(
            "prod",
            (("hive", "*"),),
            (("hive", "tmp_*", "**"),),
            drop=1,
            split="__",
            prefix=("a", "b"),
            flatten=".",
            depth=2,
        ),
    )
    assert mapping.renames == (Rename("prod", Identifier(("hive", "x")), Identifier(("y",))),)
    assert mapping.merge == {("sales",), ("sales", "emea")}


def test_what_is_accepted_names_every_source_that_it_is_about(full: Config) -> None:
    assert full.accepted() == (
        Lowered("collision", "prod", ("sales",), Severity.WARNING, "agreed with the owners"),
        Lowered("too-long", "prod", ("x",), Severity.INFO, "archived", "t"),
        Lowered("too-long", "lake", ("x",), Severity.INFO, "archived", "t"),
    )


def test_little_is_needed(tmp_path: Path) -> None:
    config = load(write(tmp_path, MINIMAL))
    assert config.target is None
    assert config.workspace == tmp_path / "workspace"
    assert config.report_folder == tmp_path / "workspace" / "reports"
    assert (config.strategy, config.on_blocking, config.separator.value) == ("create-only", "stop", ":")
    assert config.property_keys.model_dump() == {"comment": "comment", "owner": "owner", "location": "location"}
    assert config.name_mapping().rules == ()


@pytest.mark.parametrize(
    ("separator", "name"),
    [
        pytest.param(None, "iceberg-rest", id="nothing-advertised"),
        pytest.param("\x1f", "iceberg-rest", id="the-default"),
        pytest.param(".", "iceberg-rest-1.11", id="a-dot"),
    ],
)
def test_a_target_without_named_capabilities_has_those_of_its_server(
    tmp_path: Path, separator: str | None, name: str
) -> None:
    target = "target: {name: t, system: iceberg_rest, uri: 'http://127.0.0.1:1'}\n"
    config = load(write(tmp_path, MINIMAL + target))
    assert config.target is not None
    assert config.target.capabilities_name(separator) == name


def test_relative_paths_start_from_the_file_wherever_it_is_called_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, RENAMES, "renames.csv")
    write(tmp_path, FULL)
    monkeypatch.chdir(tmp_path.parent)
    config = load(Path(tmp_path.name) / "nestsync.yaml")
    assert config.workspace == tmp_path / "space"
    assert config.path == tmp_path / "nestsync.yaml"
    assert config.source("lake").options.model_dump()["root"] == str(tmp_path / "datasets")


def test_environment_variables_are_not_put_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME_OF_NAMES", "elsewhere")
    text = MINIMAL + "mapping: {rules: [{source: prod, prefix: ['${HOME_OF_NAMES}']}]}\n"
    assert load(write(tmp_path, text)).name_mapping().rules[0].prefix == ("${HOME_OF_NAMES}",)


def test_anchors_and_merge_keys_work(tmp_path: Path) -> None:
    text = """
    sources:
      - &base {name: a, system: iceberg_rest, uri: "http://127.0.0.1:1"}
      - {<<: *base, name: b}
    """
    assert [source.name for source in load(write(tmp_path, text)).sources] == ["a", "b"]


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    file = tmp_path / "bom.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + MINIMAL.encode())
    assert load(file).sources[0].name == "prod"


def test_a_configuration_cannot_be_changed(full: Config) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        full.strategy = "create-only"  # type: ignore[misc]


def test_a_configuration_crosses_processes(full: Config) -> None:
    again = pickle.loads(pickle.dumps(full))
    assert again == full
    assert (again.path, again.fingerprint) == (full.path, full.fingerprint)


@pytest.mark.parametrize(
    ("text", "renames", "same"),
    [
        pytest.param(FULL, RENAMES, True, id="as-it-was"),
        pytest.param("# hello\n" + FULL.replace(" ./space", "   './space'"), RENAMES, True, id="layout"),
        pytest.param(FULL.replace("concurrency: 2", "concurrency: 3"), RENAMES, False, id="a-value"),
        pytest.param(FULL.replace("on_blocking: skip\n", ""), RENAMES, False, id="a-key"),
        pytest.param(FULL, RENAMES.replace("y", "z"), False, id="the-mapping-file"),
    ],
)
def test_a_fingerprint_is_of_what_is_said(full: Config, tmp_path: Path, text: str, renames: str, same: bool) -> None:
    write(tmp_path, renames, "renames.csv")
    assert (load(write(tmp_path, text)).fingerprint == full.fingerprint) is same


def test_an_unknown_source_is_named_with_those_that_there_are(full: Config) -> None:
    with pytest.raises(ConfigurationError, match=r"there is no source 'prd'.*did you mean 'prod'\?"):
        full.source("prd")


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param("{source: prod, split: __}", id="split"),
        pytest.param("{source: prod, include: [['*__*']], split: __, prefix: [lake]}", id="include"),
        pytest.param("{source: prod, exclude: [[lake, '**']], prefix: [lake]}", id="exclude"),
    ],
)
def test_names_of_one_catalog_may_be_nested_in_it(tmp_path: Path, rule: str) -> None:
    target = "target: {name: t, system: iceberg_rest, uri: 'http://127.0.0.1:8181'}\n"
    config = load(write(tmp_path, f"{MINIMAL}{target}mapping: {{rules: [{rule}]}}"))
    assert also_the_target(config) == config.sources


# ---- what is refused: the file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "the file is empty", id="empty"),
        pytest.param("# nothing\n---\n", "the file is empty", id="comments-only"),
        pytest.param("- a\n- b\n", "holds a list where keys and values are expected", id="list"),
        pytest.param("hello", "holds the text 'hello' where keys", id="text"),
        pytest.param("a: [1\nb: 2", "line 2, column 2: this is not YAML", id="unclosed-bracket"),
        pytest.param("a: b: c", "line 1, column 5: this is not YAML: mapping values are not allowed", id="two-colons"),
        pytest.param("a: \x07", "this is not YAML", id="control-character"),
        pytest.param("a: !!python/object:os.system x", "could not determine a constructor", id="python-tag"),
        pytest.param("a: 1\n---\nb: 2", "but found another document", id="two-documents"),
        pytest.param("a: 1\nb: 2\na: 3", "line 3: the key 'a' stands twice, first in line 1", id="duplicate-key"),
        pytest.param(
            "target: {uri: x, name: y, uri: z}", "line 1: the key 'uri' stands twice", id="duplicate-key-inside"
        ),
        pytest.param("on: x", "line 1: the key on is no text", id="yaml-makes-a-truth-value-of-on"),
        pytest.param("? [a, b]\n: x", "line 1: the key a list is no text", id="a-list-for-a-key"),
        pytest.param("? \n: x", "line 1: the key nothing is no text", id="nothing-for-a-key"),
        pytest.param('a: "\\ud800"', "line 1: a text holds a lone surrogate", id="lone-surrogate"),
        pytest.param("a: &a [*a]\nsources: 3", "unconstructable recursive node", id="endless"),
        pytest.param("[" * 3000, "nested too deeply", id="nested-3000-deep"),
    ],
)
@pytest.mark.proves("exit-2")
def test_a_file_that_is_no_configuration(tmp_path: Path, text: str, said: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ConfigurationError) as caught:
        load(file)
    assert said in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.yaml: there is no such file"):
        load(tmp_path / "none.yaml")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="this is a folder"):
        load(tmp_path)


def test_another_encoding(tmp_path: Path) -> None:
    file = tmp_path / "latin.yaml"
    file.write_bytes("a: caf\xe9".encode("latin-1"))
    with pytest.raises(ConfigurationError, match=r"not UTF-8 \(byte 6\)"):
        load(file)


# ---- what is refused: the content


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param("workspace: x", ["line 1: sources: is missing (The catalogs to read)"], id="no-sources"),
        pytest.param("sources: []", ["line 1: sources: must not be empty"], id="empty-sources"),
        pytest.param("sources: hms", ["line 1: sources: must be a list, not the text 'hms'"], id="sources-text"),
        pytest.param(
            "sources:\n- prod",
            ["line 2: sources[0]: must be a group of keys (key: value), not the text 'prod'"],
            id="source-text",
        ),
        pytest.param(
            MINIMAL + "strateggy: upsert",
            ["line 2: strateggy: unknown key; did you mean 'strategy'?"],
            id="unknown-key",
        ),
        pytest.param(
            MINIMAL + "apply: {speed: 3}",
            ["line 2: apply.speed: unknown key; use one of concurrency"],
            id="unknown-key-inside",
        ),
        pytest.param(
            "sources:\n- name: prod\n  system: iceberg_rest\n  urii: 'http://127.0.0.1:1'",
            [
                "line 2: sources[0].uri (prod): is missing (The address of the catalog",
                "line 4: sources[0].urii (prod): unknown key; did you mean 'uri'?",
            ],
            id="unknown-option",
        ),
        pytest.param(
            "sources:\n- {system: iceberg_rest, uri: 'http://127.0.0.1:1'}",
            ["line 2: sources[0].name: is missing (What rows, reports and messages call the catalog"],
            id="no-name",
        ),
        pytest.param(
            "sources:\n- {name: 'a b', system: iceberg_rest, uri: 'http://127.0.0.1:1'}",
            ["line 2: sources[0].name (a b): 'a b' does not fit (What rows, reports and messages call the catalog"],
            id="name-with-a-blank",
        ),
        pytest.param(
            "sources:\n- {name: prod, uri: 'http://127.0.0.1:1'}",
            ["line 2: sources[0].system (prod): is missing (The kind of catalog service)"],
            id="no-system",
        ),
        pytest.param(
            "sources:\n- {name: prod, system: iceberg_ret, uri: 'http://127.0.0.1:1'}",
            ["line 2: sources[0].system (prod): there is no system 'iceberg_ret'; did you mean 'iceberg_rest'?"],
            id="system-misspelt",
        ),
        pytest.param(
            f"sources:\n- {SOURCE}\n- {SOURCE}",
            ["line 3: sources[1].name (prod): two sources are called 'prod'"],
            id="two-sources-of-one-name",
        ),
        pytest.param(
            MINIMAL + f"target: {SOURCE}",
            ["line 2: target.name (prod): a source is called 'prod' too"],
            id="target-named-as-a-source",
        ),
        pytest.param(
            MINIMAL + "target: {name: t, system: iceberg_rest, uri: '127.0.0.1:8181'}",
            ["line 2: target.uri (t): '127.0.0.1:8181' must start with http:// or https://"],
            id="endpoint-without-http",
        ),
        pytest.param(
            MINIMAL + "target: {name: t, system: iceberg_rest, uri: '${URI}'}",
            ["must start with http:// or https:// and name a host (${...} is not replaced here)"],
            id="endpoint-from-the-environment",
        ),
        pytest.param(
            MINIMAL + "target: {name: t, system: iceberg_rest, uri: 'http://127.0.0.1:8181/'}\n"
            "mapping: {rules: [{source: prod, prefix: [lake]}]}",
            [
                (
                    "line 3: mapping.rules[0].prefix: prod is the target as well, and its tree would grow with every "
                    'run: the rule takes what is below ["lake"] already; add ["lake","**"] to its exclude'
                )
            ],
            id="a-tree-that-grows-with-every-run",
        ),
        pytest.param(
            MINIMAL + "target: {name: t, system: lance_dir, root: x}",
            ["target.system (t): 'lance_dir' can be a source and not a target; a target can be iceberg_rest"],
            id="target-that-cannot-be-written",
        ),
        pytest.param(
            MINIMAL + "target: {name: t, system: iceberg_rest, uri: 'http://127.0.0.1:1', capabilities: jdcb}",
            ["target.capabilities (t): there is no capabilities called 'jdcb'; did you mean 'jdbc'?"],
            id="capabilities-misspelt",
        ),
        pytest.param(
            MINIMAL + "strategy: replace",
            ["strategy: must be 'create-only' or 'upsert', not the text 'replace'"],
            id="strategy",
        ),
        pytest.param(MINIMAL + "separator: {value: ''}", ["separator.value: must not be empty"], id="empty-separator"),
        pytest.param(
            MINIMAL + "separator: {value: 1, policy: free}",
            [
                "separator.value: must be text, not the number 1; write it in quotes",
                "separator.policy: must be 'restricted' or 'unrestricted', not the text 'free'",
            ],
            id="separator",
        ),
        pytest.param(
            MINIMAL + "apply: {concurrency: eight}",
            ["apply.concurrency: must be a whole number, not the text 'eight'"],
            id="number-as-text",
        ),
        pytest.param(
            MINIMAL + "apply: {concurrency: yes}",
            ["apply.concurrency: must be a whole number, not the yes/no value true"],
            id="number-as-truth-value",
        ),
        pytest.param(
            MINIMAL + "apply: {concurrency: 0}", ["apply.concurrency: should be greater than or equal to 1"], id="zero"
        ),
        pytest.param(
            MINIMAL + "engines: [sparc]",
            ["engines[0]: there is no dialect called 'sparc'; did you mean 'spark'?"],
            id="engine",
        ),
        pytest.param(
            MINIMAL + "mapping: {rules: [{source: prd}]}",
            ["mapping.rules[0].source: there is no source called 'prd'; did you mean 'prod'?"],
            id="rule-of-an-unknown-source",
        ),
        pytest.param(
            MINIMAL + "mapping: {rules: [{source: prod, include: [hive]}]}",
            ["mapping.rules[0].include[0]: must be a list, not the text 'hive'"],
            id="pattern-as-text",
        ),
        pytest.param(
            MINIMAL + "mapping: {rules: [{source: prod, include: [[]], exclude: [['**', tmp], [hive], ['[ab]x']]}]}",
            [
                "mapping.rules[0].include[0]: is empty and selects no namespace but the root",
                "mapping.rules[0].exclude[0]: '**' takes further levels only where it is '**' and the last level",
                "mapping.rules[0].exclude[2]: '[ab]' in '[ab]x' would be taken as it stands",
            ],
            id="patterns-that-cannot-mean-what-they-look-like",
        ),
        pytest.param(
            MINIMAL + "mapping: {rules: [{source: prod, prefix: ['']}], merge: [[sales, '']]}",
            ["mapping.rules[0].prefix[0]: must not be empty", "mapping.merge[0][1]: must not be empty"],
            id="an-empty-level",
        ),
        pytest.param(
            MINIMAL + "mapping: {rules: [{source: prod, prefix: [2024-01-01]}]}",
            ["mapping.rules[0].prefix[0]: must be text, not the date 2024-01-01"],
            id="level-that-yaml-takes-for-a-date",
        ),
        pytest.param(
            MINIMAL + "mapping: {rules: [{source: prod, prefix: [2024]}]}",
            ["mapping.rules[0].prefix[0]: must be text, not the number 2024; write it in quotes"],
            id="level-that-yaml-takes-for-a-number",
        ),
        pytest.param(
            MINIMAL + "source_order: [other]", ["source_order[0]: there is no source called 'other'"], id="source-order"
        ),
        pytest.param(
            MINIMAL + "source_order: [prod, prod]",
            ["source_order[1]: 'prod' has its place in the order already; name it once"],
            id="source-order-twice",
        ),
        pytest.param(
            MINIMAL + "severities: {missing-parnt: blocking}",
            ["severities.missing-parnt: there is no rule called 'missing-parnt'; did you mean 'missing-parent'?"],
            id="rule-misspelt",
        ),
        pytest.param(
            MINIMAL + "severities: {collision: info}",
            ["severities.collision: blocking by default, and only raised here; lower it for one object"],
            id="severity-lowered-for-all",
        ),
        pytest.param(
            MINIMAL + "lowered: [{rule: collision, levels: [a], reason: ' '}]",
            ["lowered[0].reason: must say why, in words: it is blank"],
            id="a-blank-reason",
        ),
        pytest.param(
            MINIMAL + "lowered: [{rule: collision, levels: [a]}]",
            ["lowered[0].reason: is missing (Why that is right)"],
            id="lowered-without-a-reason",
        ),
        pytest.param(
            MINIMAL + "property_keys: {comment: x, owner: x}",
            ["property_keys: two fields would be written to the one key 'x'"],
            id="two-fields-in-one-key",
        ),
        pytest.param(
            MINIMAL + "separator: {replaces: ':'}",
            ["separator.replaces: ':' cannot replace itself"],
            id="a-separator-that-replaces-itself",
        ),
        pytest.param(
            MINIMAL + "separator: {value: null, replaces: ':'}",
            ["separator.replaces: nothing replaces it: separator.value is null"],
            id="a-separator-that-nothing-replaces",
        ),
        pytest.param(
            MINIMAL + "workspace: s3://bucket/space",
            ["workspace: 's3://bucket/space' is an address, and this has to be a path on a local file system"],
            id="remote-workspace",
        ),
        pytest.param(MINIMAL + "workspace: ''", ["workspace: is blank: name a path"], id="empty-workspace"),
        pytest.param(
            MINIMAL + "workspace: ' '\nmapping: {file: ''}\nreport: {folder: ''}",
            ["workspace: is blank: name a path", "mapping.file: is blank", "report.folder: is blank"],
            id="blank-paths",
        ),
        pytest.param(
            "sources:\n- {name: lake, system: lance_dir, root: ' '}\n"
            "target: {name: t, system: iceberg_rest, uri: 'http://127.0.0.1:1', ca_bundle: ''}",
            ["sources[0].root (lake): is blank: name a path", "target.ca_bundle (t): is blank: name a path"],
            id="blank-paths-of-catalogs",
        ),
        pytest.param(MINIMAL + "workspace: 3", ["workspace: must be a path, not the number 3"], id="workspace-number"),
        pytest.param(
            MINIMAL + "spark: {conf: {spark.a: [1]}}", ["spark.conf.spark.a: must be text, not a list"], id="spark-conf"
        ),
        pytest.param(
            MINIMAL + "spark: {master: 'locl[2]'}",
            ["spark.master: 'locl[2]' is no master that Spark takes: write local[2] (two cores)"],
            id="spark-master",
        ),
        pytest.param(
            MINIMAL + "spark: {conf: {spark.master: 'local[2]'}}",
            ["spark.conf.spark.master: the master has a key of its own: write it under spark.master"],
            id="spark-master-among-the-settings",
        ),
        pytest.param(
            MINIMAL + "strateggy: upsert\napply: {concurrency: x}",
            ["line 2: strateggy: unknown key", "line 3: apply.concurrency: must be a whole number"],
            id="two-at-once",
        ),
    ],
)
@pytest.mark.proves("exit-2")
def test_what_is_wrong_is_named_with_what_was_meant(tmp_path: Path, text: str, problems: list[str]) -> None:
    with pytest.raises(ConfigurationInvalid) as caught:
        load(write(tmp_path, text))
    assert len(caught.value.problems) == len(problems)
    for problem, said in zip(caught.value.problems, problems, strict=True):
        assert said in problem
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "sources:\n- {name: p, system: iceberg_rest, uri: 'http://127.0.0.1:1', token: hunter2}",
            "line 2: sources[0].token (p): a secret must not stand in the file: name the environment variable that "
            "holds it, token_env: NAME_OF_THE_VARIABLE",
            id="token",
        ),
        pytest.param(
            "sources:\n- {name: p, system: hms, uri: 'thrift://127.0.0.1:1', password: hunter2}",
            "password_env: NAME_OF_THE_VARIABLE",
            id="password",
        ),
        pytest.param(
            "sources: [{name: p, system: lance_dir, root: x, storage_options: {aws_secret_access_key: hunter2}}]",
            "storage_options_env: {aws_secret_access_key: NAME_OF_THE_VARIABLE}",
            id="storage-option",
        ),
        pytest.param(
            MINIMAL + "target: {name: t, system: iceberg_rest, uri: 'http://127.0.0.1:1', "
            "headers: {Authorization: Bearer hunter2}}",
            "headers_env: {Authorization: NAME_OF_THE_VARIABLE}",
            id="header",
        ),
        pytest.param(
            MINIMAL + "target: {name: t, system: iceberg_rest, uri: 'http://127.0.0.1:1', headers: {Cookie: hunter2}}",
            "headers_env: {Cookie: NAME_OF_THE_VARIABLE}",
            id="cookie",
        ),
        pytest.param(
            "sources: [{name: p, system: lance_dir, root: x, storage_options: {connection_string: K=hunter2}}]",
            "storage_options_env: {connection_string: NAME_OF_THE_VARIABLE}",
            id="connection-string",
        ),
        pytest.param(
            MINIMAL + "target: {name: t, system: iceberg_rest, uri: 'http://me:hunter2@127.0.0.1:1'}",
            "target.uri (t): an address must not hold a password",
            id="password-in-an-address",
        ),
        pytest.param(
            MINIMAL + "target: {name: t, system: iceberg_rest, uri: 'ftp://me:hunter2@127.0.0.1:1', token_env: A}",
            "an address must not hold a password",
            id="password-in-an-address-that-is-wrong-anyway",
        ),
        pytest.param(
            MINIMAL + "target: {name: t, system: iceberg_rest, uri: 'http://127.0.0.1:1', token_env: hunter2-abc}",
            "target.token_env (t): must be the name of an environment variable, not what it holds",
            id="secret-where-a-name-belongs",
        ),
        pytest.param(
            MINIMAL + "spark: {conf: {spark.hadoop.fs.s3a.secret.key: hunter2}}",
            "leave it to spark-submit (--conf)",
            id="spark-conf",
        ),
        pytest.param(MINIMAL + "accessToken: hunter2", "accessToken: a secret must not stand", id="unknown-key"),
    ],
)
def test_a_secret_in_clear_is_refused_and_not_repeated(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationInvalid) as caught:
        load(write(tmp_path, text))
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("renames", "said"),
    [
        pytest.param(None, "mapping.file cannot be read", id="missing"),
        pytest.param("source,target\n", "the first line is 'source,target'", id="other-columns"),
        pytest.param(RENAMES.replace("prod", "other"), "there is no source 'other'", id="unknown-source"),
        pytest.param(
            RENAMES + RENAMES.partition("\n")[2],
            'renames.csv: prod: line 3: a second rename of ["hive","x"], after that in line 2',
            id="twice",
        ),
    ],
)
def test_a_mapping_file_that_cannot_be_used_is_found_at_once(tmp_path: Path, renames: str | None, said: str) -> None:
    if renames is not None:
        write(tmp_path, renames, "renames.csv")
    with pytest.raises((ConfigurationError, MappingInvalid)) as caught:
        load(write(tmp_path, MINIMAL + "mapping: {file: renames.csv}"))
    assert said in str(caught.value)
    assert "renames.csv" in str(caught.value)
    assert caught.value.exit_code == 2


MASTERS = (
    *(
        "local",
        "local[2]",
        "local[*]",
        "local[2,3]",
        "local[*, 3]",
        "local-cluster[2,1,1024]",
        "local-cluster[ 2, 1, 1024 ]",
    ),
    *("spark://host:7077", "spark://one:7077,two:7077", "spark://[::1]:7077"),
    *("yarn", "k8s://https://10.0.0.1:6443", "k8s://cluster"),
)
NO_MASTERS = (
    *("", " ", "locl[2]", "local[0]", "local[]", "local[two]", "local[2", "local [2]", "Local[2]", "local[2,]", "2"),
    *(
        "local-cluster[2,1]",
        "local-cluster[2,1,0]",
        "spark://host",
        "spark://",
        "http://host:7077",
        "yarn-client",
        "k8s://",
    ),
)


@pytest.mark.parametrize("master", MASTERS)
def test_every_master_of_spark_is_taken(tmp_path: Path, master: str) -> None:
    assert load(write(tmp_path, MINIMAL + f"spark: {{master: '{master}'}}")).spark.master == master


@pytest.mark.parametrize("master", NO_MASTERS)
def test_what_spark_would_end_on_is_refused(tmp_path: Path, master: str) -> None:
    with pytest.raises(ConfigurationInvalid, match=r"line 2: spark\.master: ") as caught:
        load(write(tmp_path, MINIMAL + f"spark: {{master: '{master}'}}"))
    assert len(caught.value.problems) == 1


# ---- what can be had without validation


def test_workspace_and_source_names_need_no_valid_file(tmp_path: Path) -> None:
    file = write(tmp_path, "workspace: ws\nsources: [{name: a, system: nothing}, {name: b}, 3, {}]\nnonsense: 1\n")
    assert workspace_of(file) == tmp_path / "ws"
    assert source_names(file) == ("a", "b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("workspace: 3", "workspace: must be a path, not the number 3", id="number"),
        pytest.param("workspace: ' '", "workspace: is blank: name a path", id="blank"),
        pytest.param("workspace: 's3://b/c'", "'s3://b/c' is an address", id="remote"),
    ],
)
def test_a_workspace_that_cannot_be(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        workspace_of(write(tmp_path, text))


# ---- reports and retention


def test_what_is_published_and_kept_is_read(tmp_path: Path) -> None:
    said = """
        report:
          metrics_folder: collected
          url: https://reports.example.org/nestsync
          openlineage: {url: "http://127.0.0.1:5000", api_key_env: LINEAGE_KEY, namespace: prod}
        retention: {keep_runs: 30, keep_days: 90}
        history: {ignored_properties: [numRows]}
        """
    config = load(write(tmp_path, MINIMAL + dedent(said)))
    assert config.report.metrics_folder == tmp_path / "collected"
    assert (config.report.openlineage.namespace, config.report.openlineage.api_key_env) == ("prod", "LINEAGE_KEY")
    assert (config.retention.keep_runs, config.retention.keep_days, config.retention.limits) == (30, 90, True)
    assert config.history.ignored_properties == ("numRows",)


def test_nothing_is_published_and_everything_kept_by_default(tmp_path: Path) -> None:
    config = load(write(tmp_path, MINIMAL))
    assert (config.report.metrics_folder, config.report.url, config.report.openlineage.url) == (None, None, None)
    assert not config.retention.limits


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (
            "report: {metrics_folder: collected/m.prom}",
            "report.metrics_folder: 'm.prom' is the name of a file: name the folder",
        ),
        ("report: {url: reports.example.org}", "report.url: it must be an address, http:// or https://"),
        ("report: {openlineage: {url: 'http://u:p@h'}}", "report.openlineage.url: an address must not hold a password"),
        ("report: {openlineage: {url: 'http://u@h'}}", "report.openlineage.url: it must be an address"),
        ("retention: {keep_runs: 0}", "retention.keep_runs:"),
        ("retention: {keep_days: '7'}", "retention.keep_days:"),
        ("retention: {keep: 7}", "retention.keep: unknown key"),
    ],
)
def test_what_cannot_be_published_or_kept_is_refused(said: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationInvalid) as caught:
        load(write(tmp_path, MINIMAL + said))
    assert f"line 2: {problem}" in str(caught.value)


# ---- expectations


def test_thresholds_and_severities_are_read_and_the_rest_is_as_declared(tmp_path: Path) -> None:
    said = """
        report:
          expectations:
            namespaces-steady: {severity: blocking, max_fall: 0, max_rise: null, min_change: 3}
            tables-readable: {mostly: 0.99, reason: some are broken}
            parents-planned: {severity: warning, reason: the parents are made by hand}
        """
    found = load(write(tmp_path, MINIMAL + dedent(said))).report.expected()
    assert found["namespaces-steady"] == Settings(Severity.BLOCKING, max_fall=0, max_rise=None, min_change=3)
    assert found["tables-readable"] == Settings(Severity.WARNING, mostly=0.99, reason="some are broken")
    assert found["parents-planned"] == Settings(Severity.WARNING, reason="the parents are made by hand")
    assert {name: found[name] for name in found if name not in said} == {
        name: settings for name, settings in defaults().items() if name not in said
    }


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        pytest.param(
            "namespace-steady: {max_fall: 0.1}",
            "namespace-steady: there is no expectation called 'namespace-steady'; did you mean 'namespaces-steady'?",
            id="a-name-that-is-close",
        ),
        pytest.param(
            "everything: {}", "everything: there is no expectation called 'everything'; use one of", id="none"
        ),
        pytest.param(
            "tables-steady: {max_fal: 0.1}",
            "tables-steady.max_fal: unknown key; did you mean 'max_fall'?",
            id="a-key-that-is-close",
        ),
        pytest.param(
            "tables-readable: {max_fall: 0.1}",
            "tables-readable.max_fall: tables-readable takes no max_fall; it takes severity and reason and mostly",
            id="a-parameter-of-another",
        ),
        pytest.param(
            "keys-unique: {mostly: 0.9}",
            "keys-unique.mostly: keys-unique takes no mostly; it takes severity",
            id="a-parameter-of-none",
        ),
        pytest.param(
            "tables-readable: {mostly: 95}",
            "tables-readable.mostly: must be a part between 0 and 1, such as 0.95 for 95 %, not the number 95",
            id="per-cent",
        ),
        pytest.param(
            "tables-readable: {mostly: 0}",
            "tables-readable.mostly: 0 expects nothing of any row: name the least part to be right",
            id="nothing-expected",
        ),
        pytest.param(
            "parents-planned: {severity: info, reason: ' '}",
            "parents-planned.reason: must say why, in words: it is blank",
            id="a-blank-reason",
        ),
        pytest.param("tables-readable: {mostly: 1.01}", "not the number 1.01", id="more-than-all"),
        pytest.param("tables-readable: {mostly: yes}", "not the yes/no value true", id="yes"),
        pytest.param("tables-readable: {mostly: 95%}", "not the text '95%'", id="text"),
        pytest.param("tables-readable: {mostly: .nan}", "not the number nan", id="no-number"),
        pytest.param("tables-readable: {mostly: null}", "not nothing", id="nothing"),
        pytest.param("tables-steady: {max_fall: -0.1}", "not the number -0.1", id="less-than-nothing"),
        pytest.param(
            "tables-steady: {max_rise: -1}",
            "tables-steady.max_rise: must be a part, 0 or more, such as 0.5 for half as much again, not the number -1",
            id="a-rise-that-falls",
        ),
        pytest.param("tables-steady: {max_rise: .inf}", "max_rise: must be a part, 0 or more", id="endless"),
        pytest.param(
            "tables-steady: {min_change: 0.5}", "min_change: must be a whole number, not", id="half-an-object"
        ),
        pytest.param("tables-steady: {min_change: -1}", "min_change: should be greater than or equal to 0", id="minus"),
        pytest.param(
            "tables-steady: {severity: fatal}",
            "tables-steady.severity: must be 'blocking', 'warning' or 'info', not the text 'fatal'",
            id="no-severity",
        ),
        pytest.param(
            "keys-unique: {severity: warning}",
            "keys-unique.severity: blocking, and not lowered: the run itself stops at what it stands for; accept",
            id="what-findings-decide-is-not-lowered",
        ),
        pytest.param(
            "parents-planned: {severity: info}",
            "parents-planned.severity: blocking by default: to lower it, say why with 'reason'",
            id="lowered-without-a-reason",
        ),
        pytest.param(
            "tables-steady: {severity: warning, max_fall: 0.2, reason: why}",
            "tables-steady.reason: it is a reason for nothing: tables-steady is held as it is by default",
            id="a-reason-for-nothing",
        ),
    ],
)
def test_an_expectation_that_cannot_be_is_refused(said: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationInvalid) as caught:
        load(write(tmp_path, f"{MINIMAL}report: {{expectations: {{{said}}}}}\n"))
    assert "line 2: report.expectations." in str(caught.value)
    assert problem in str(caught.value)
    assert len(caught.value.problems) == 1
