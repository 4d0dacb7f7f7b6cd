"""Which run is meant, and which came before."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from nestsync.errors import ConfigurationError, NestsyncError, RunNotFound
from nestsync.history.choosing import choose, choose_two, name_of, past_of, previous_of
from nestsync.history.records import read_history
from nestsync.runfiles import RunFiles
from tests.history.runs import INVENTORY, NOW, backdated, died, ended

OTHER = {"elsewhere": {"role": "source", "system": "hms", "counts": {"namespaces": 1}}}


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    files = RunFiles(tmp_path)
    ended(files, "20261125T010000-aa", days_ago=3)
    ended(files, "20261126T010000-bb", days_ago=2, exit_code=3)
    ended(files, "20261126T020000-cc", days_ago=1, inventory=OTHER)
    ended(files, "nightly", days_ago=0)
    died(files, "zz-dead")
    return files


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("nightly", "nightly"),
        ("20261125", "20261125T010000-aa"),
        ("20261126T02", "20261126T020000-cc"),
        ("n", "nightly"),
        ("latest", "nightly"),
        ("previous", "20261126T010000-bb"),
        ("zz", "zz-dead"),
    ],
)
def test_a_run_is_meant_by_its_id_its_beginning_or_a_word(files: RunFiles, said: str, expected: str) -> None:
    assert choose(files, said).run_id == expected


@pytest.mark.parametrize(
    ("said", "kind", "what", "hint"),
    [
        ("nope", RunNotFound, "there is no run 'nope'", "the latest runs are: 20261125T010000-aa, "),
        ("", RunNotFound, "there is no run ''", "the latest runs are: "),
        ("2026112", ConfigurationError, "3 runs begin with '2026112'", "the latest of them are: 20261125T010000-aa, "),
        ("Latest", RunNotFound, "there is no run 'Latest'", "the latest runs are: "),
    ],
)
def test_what_means_no_run_or_several_is_said(
    files: RunFiles, said: str, kind: type[NestsyncError], what: str, hint: str
) -> None:
    with pytest.raises(kind) as caught:
        choose(files, said)
    assert (caught.value.what, caught.value.exit_code) == (what, 2)
    assert caught.value.hint.startswith(hint)


def test_a_run_that_is_called_so_is_meant_by_the_word(files: RunFiles) -> None:
    ended(files, "latest", days_ago=9)
    assert choose(files, "latest").run_id == "latest"


@pytest.mark.parametrize(
    ("runs", "said", "what"),
    [
        (0, "latest", "there is no run with an inventory yet"),
        (0, "previous", "there is no run with an inventory yet"),
        (1, "previous", "there is only one run with an inventory yet"),
    ],
)
def test_a_word_needs_runs_with_an_inventory(tmp_path: Path, runs: int, said: str, what: str) -> None:
    files = RunFiles(tmp_path)
    died(files, "dead")
    for number in range(runs):
        ended(files, f"r{number}")
    with pytest.raises(RunNotFound) as caught:
        choose(files, said)
    assert caught.value.what == what


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("previous", "latest", ("20261126T010000-bb", "nightly")),
        ("latest", "previous", ("nightly", "20261126T010000-bb")),
        ("previous", "20261126T01", ("20261125T010000-aa", "20261126T010000-bb")),
        ("20261126T02", "latest", ("20261126T020000-cc", "nightly")),
    ],
)
def test_the_previous_one_shares_a_source_with_the_other(
    files: RunFiles, before: str, after: str, expected: tuple[str, str]
) -> None:
    one, other = choose_two(files, before, after, read_history(files))
    assert (one.run_id, other.run_id) == expected


def test_where_no_earlier_run_shares_a_source_that_is_said(files: RunFiles) -> None:
    with pytest.raises(RunNotFound) as caught:
        choose_two(files, "previous", "20261126T02", read_history(files))
    assert caught.value.what == "there is no run before 20261126T020000-cc with a source in common"


def test_the_run_before_has_a_source_in_common(files: RunFiles) -> None:
    records = read_history(files)
    by_id = {record.run_id: record for record in records}
    assert previous_of(by_id["nightly"], records) == by_id["20261126T010000-bb"]
    assert previous_of(by_id["20261125T010000-aa"], records) is None
    assert previous_of(by_id["20261126T020000-cc"], records) is None


def test_the_past_counts_every_command_and_knows_the_last_success(files: RunFiles) -> None:
    records = read_history(files)
    past = past_of(choose(files, "nightly"), records)
    assert [run.run_id for run in past.runs] == ["20261125T010000-aa", "20261126T010000-bb"]
    assert past.exit_codes == {0: 3, 3: 1}
    assert past.last_success == NOW - timedelta(days=1)


def test_the_past_of_another_configuration_is_not_counted(files: RunFiles) -> None:
    ended(files, "theirs", exit_code=0, configuration="/conf/b.yaml")
    ended(files, "moved", exit_code=4, configuration="/releases/7/a.yml")
    ended(files, "mine", exit_code=3, configuration="/releases/8/b.yaml")
    backdated(files, "mine", NOW + timedelta(days=1))
    records = read_history(files)
    past = past_of(choose(files, "mine"), records)
    assert (past.exit_codes, past.last_success) == ({0: 1, 3: 1}, NOW)
    assert past_of(choose(files, "nightly"), records).exit_codes == {0: 3, 3: 1, 4: 1}
    assert "theirs" in [run.run_id for run in past.runs], "the trend is that of the sources"


def test_an_assessment_and_a_sync_of_one_configuration_have_a_past_each(files: RunFiles) -> None:
    ended(files, "looked", exit_code=0, configuration="/conf/b.yaml", command="assess")
    ended(files, "wrote", exit_code=3, configuration="/conf/b.yaml")
    ended(files, "mine", exit_code=4, configuration="/conf/b.yaml")
    ended(files, "ours", exit_code=3, configuration="/conf/b.yaml", command="assess")
    for last in ("mine", "ours"):
        backdated(files, last, NOW + timedelta(days=1))
    records = read_history(files)
    past = {last: past_of(choose(files, last), records) for last in ("mine", "ours")}
    assert (past["mine"].exit_codes, past["mine"].last_success) == ({3: 1, 4: 1}, None)
    assert (past["ours"].exit_codes, past["ours"].last_success) == ({0: 1, 3: 1}, NOW)


@pytest.mark.parametrize(
    ("configuration", "name"),
    [("/conf/hms.to.lake.yaml", "hms.to.lake"), ("/elsewhere/a.yml", "a"), ("", "nestsync"), (None, "nestsync")],
)
def test_a_configuration_goes_by_the_name_of_its_file(configuration: str | None, name: str) -> None:
    assert name_of(configuration) == name


def test_the_past_is_bounded(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    for number in range(40):
        ended(files, f"r{number:02}", days_ago=40 - number, inventory=INVENTORY)
    past = past_of(choose(files, "latest"), read_history(files))
    assert [past.runs[0].run_id, past.runs[-1].run_id, len(past.runs)] == ["r09", "r38", 30]
    assert sum(past.exit_codes.values()) == 40
