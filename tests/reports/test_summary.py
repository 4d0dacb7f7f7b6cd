"""The summary: valid against its own schema, complete in its counts, levels as lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nestsync.reports import summary
from nestsync.reports.facts import Digest
from tests.reports import samples

VALIDATOR = jsonschema.Draft202012Validator(summary.schema())


def written(digest: Digest, folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(summary.write(digest, folder).read_text(encoding="ascii"))
    return found


@pytest.mark.parametrize("sample", samples.EVERY, ids=lambda sample: sample.__name__)
def test_the_document_fits_its_schema(sample: Callable[[], Digest], tmp_path: Path) -> None:
    VALIDATOR.validate(written(sample(), tmp_path))


def test_the_schema_is_one_and_notices_what_does_not_fit(tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(summary.schema())
    document = written(samples.blocked(), tmp_path)
    for broken in (
        {**document, "schema_version": 2},
        {**document, "unheard_of": 1},
        {key: value for key, value in document.items() if key != "verdict"},
        {**document, "separators": [{**document["separators"][0], "conflicts": -1}]},
    ):
        assert not VALIDATOR.is_valid(broken)


def test_findings_are_counted_by_severity_rule_and_source(tmp_path: Path) -> None:
    found = written(samples.blocked(), tmp_path)["findings"]
    assert found["by_severity"] == {"blocking": 14, "warning": 2, "info": 1}
    assert {"rule": "separator-conflict", "source": "hms_main", "severity": "blocking", "count": 1} in found["by_rule"]
    assert sum(row["count"] for row in found["by_rule"]) == found["total"] == 17


def test_who_ran_it_is_told(tmp_path: Path) -> None:
    ann = {"user": "ann", "host": "host-1", "commands": ["inventory"]}
    other = {"user": samples.HOSTILE[0], "host": None, "commands": ["inventory", "check"]}
    assert written(samples.blocked(), tmp_path)["actors"] == [ann, other]
    assert written(samples.unreachable(), tmp_path)["actors"] == []


@pytest.mark.parametrize("changed", [True, False, None])
def test_a_configuration_that_changed_since_is_told(changed: bool | None, tmp_path: Path) -> None:
    document = written(replace(samples.finished(), configuration_changed=changed), tmp_path)
    VALIDATOR.validate(document)
    assert document["configuration_changed"] is changed


def test_levels_are_lists(tmp_path: Path) -> None:
    separators = written(samples.blocked(), tmp_path)["separators"]
    assert separators[2]["examples"] == [{"source": "hms_main", "levels": ["hive", "team:sales"]}]
    assert separators[4]["separator"] == "\x1f"


def test_what_did_not_run_is_null(tmp_path: Path) -> None:
    document = written(samples.unreachable(), tmp_path)
    assert (document["findings"], document["separators"], document["plan"], document["namespaces"]) == (None,) * 4
    assert document["exit_code"] == 5


def test_what_changed_since_the_run_before_is_counted(tmp_path: Path) -> None:
    changes = written(samples.continued(), tmp_path)["changes"]
    assert (changes["total"], changes["file"]) == (1_236 + len(samples.HOSTILE), "changes.csv")
    assert {"role": "target", "what": "namespace", "change": "appeared", "severity": None, "count": 1_234} in changes[
        "counts"
    ]
    assert written(samples.finished(), tmp_path)["changes"] is None
