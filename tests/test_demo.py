"""``nestsync demo``, which is ``make run``: three passes over the embedded estate, and what the target holds then."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from prometheus_client.parser import text_string_to_metric_families
from pyiceberg.catalog.rest import RestCatalog

from nestsync.embedded.sample import content
from nestsync.embedded.servers import IcebergRest
from nestsync.reports import junit, lineage, metrics, summary
from tests.reports.checker import complaints
from tests.reports.lineage_events import read
from tests.reports.pages import Page
from tests.reports.test_junit import SCHEMA as JUNIT

pytestmark = [pytest.mark.spark, pytest.mark.servers, pytest.mark.timeout(1200)]

Levels = tuple[str, ...]

MADE_BY_HIVE = {("default",), ("archive", "default")}
"""The database that every catalog of a metastore begins with."""


def expected() -> dict[Levels, dict[str, str]]:
    """The mapped tree, worked out from the sample's content alone, the plain way."""
    wanted: dict[Levels, dict[str, str]] = {}
    for database in (*content.warehouse(), content.TEAM_SALES):
        catalog, name = database.levels
        levels = (*(("archive",) if catalog == "archive" else ()), *name.split("__"))
        wanted[levels] = {**database.properties, "owner": database.owner, "comment": database.comment}
    for namespace in content.lakehouse():  # the lakehouse comes first in the configured order
        own = {**namespace.properties, "owner": namespace.owner}
        own |= {"comment": namespace.comment} if namespace.comment else {}
        wanted[namespace.levels] = wanted.get(namespace.levels, {}) | own
    return wanted


def held(uri: str) -> dict[Levels, dict[str, str]]:
    """What a plain pyiceberg client reads back."""
    catalog = RestCatalog("plain", uri=uri)
    found: dict[Levels, dict[str, str]] = {}
    unread: list[Levels] = [()]
    while unread:
        for levels in catalog.list_namespaces(unread.pop()):
            found[levels] = dict(catalog.load_namespace_properties(levels))
            if levels[-1].isidentifier():  # pyiceberg encodes a parent twice, and cannot list below another name
                unread.append(levels)
    return found


def reports_are_valid(reports: Path) -> None:
    """Every page and every format for machines of each pass, by those who read them."""
    folders = sorted(folder for folder in reports.iterdir() if folder.is_dir())
    assert len(folders) == 3
    assert complaints([page for folder in folders for page in sorted(folder.rglob("*.html"))]) == []
    for folder in folders:
        Draft202012Validator(summary.schema()).validate(json.loads((folder / summary.FILE).read_text()))
        JUNIT.validate(folder / junit.FILE)
        assert list(text_string_to_metric_families((folder / metrics.FILE).read_text()))
        assert read(folder / lineage.FILE)
        assert all(Page.read(page).remote == [] for page in folder.rglob("*.html"))


@pytest.mark.proves("exit-0")
def test_three_passes_and_a_plain_client_reads_back_exactly_the_mapped_tree(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from nestsync.cli import main; main()", "demo", "--home", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = Path(done.stdout.splitlines()[-1])
    assert report.is_file()
    reports_are_valid(tmp_path / "workspace" / "reports")
    passes = re.findall(r"^ +([123])  +(\d)  +[\d.]+  +(\d+)  +(\d+)  +(\d+)$", done.stdout, re.MULTILINE)
    assert [(number, code) for number, code, *_ in passes] == [("1", "3"), ("2", "0"), ("3", "0")]
    written, at_target, at_sources = zip(*(row[2:] for row in passes), strict=True)
    assert written[0] == written[2] == at_target[0] == at_target[2] == "0"
    assert int(written[1]) == int(at_target[1]) > len(expected())
    assert set(at_sources) == {"0"}

    with IcebergRest(tmp_path / "catalogs" / "target") as target:
        found = held(target.uri)
    wanted = expected()
    parents = {levels[:depth] for levels in (*wanted, ("ml", "datasets", "x")) for depth in range(1, len(levels))}
    assert set(found) == {*wanted, *parents, *MADE_BY_HIVE}
    differences = {
        levels: (properties, found[levels])
        for levels, properties in wanted.items()
        if any(found[levels].get(key) != value for key, value in properties.items())
    }
    assert differences == {}
    own_keys = {"location", "exists"}  # what a JDBC-backed catalog adds by itself
    added = {levels: set(found[levels]) - set(wanted[levels]) - own_keys for levels in wanted}
    assert {levels: keys for levels, keys in added.items() if keys} == {}
