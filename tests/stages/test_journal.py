"""The journal: nothing is lost that was recorded, nothing is read that was not, whatever is in a name."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from nestsync.history.actors import Actor, this_process
from nestsync.schemas import LEDGER_FIELDS, contract
from nestsync.stages.journal import Entry, Event, Journal, JournalUnwritable, known, read_journal
from tests.core.hostile import HOSTILE
from tests.stages.wanted_frames import names_and_types

ANN = Actor("ann", "host-1")
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)


def entry(action_id: str, event: Event = Event.INTENT, *levels: str, **fields: object) -> Entry:
    return Entry(action_id, "create_namespace", levels or (action_id,), event, **{"at": MOMENT, **fields})  # type: ignore[arg-type]


def lines(folder: Path) -> list[bytes]:
    return [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_bytes().split(b"\n")]


@pytest.mark.spark
@pytest.mark.parametrize("run_id", ["20261129T020000-aa", "lake:manual__2026-11-29T02:00:00.123456+00:00"])
def test_hostile_names_and_values_come_back(spark: SparkSession, tmp_path: Path, run_id: str) -> None:
    folder = tmp_path / "a b [1] {x} 100% *é" / run_id
    folder.mkdir(parents=True)
    entries = [
        entry(str(i), Event.FAILED, name, "x", properties={name: name, "K": "1", "k": "2"}, detail=name)
        for i, name in enumerate(HOSTILE)
    ]
    with Journal(folder, "driver") as journal:
        for each in entries:
            journal.record(each)
    with Journal(folder, "other") as journal:
        journal.record(entry("of-another"))
    frame = read_journal(spark, folder, "driver")
    assert read_journal(spark, folder).count() == len(entries) + 1
    read = {row["action_id"]: row for row in frame.collect()}
    for each in entries:
        row = read.pop(each.action_id)
        assert (tuple(row["levels"]), row["properties"], row["detail"]) == (each.levels, each.properties, each.detail)
        assert (row["kind"], row["event"]) == (each.kind, "failed")
        assert row["at"].astimezone(UTC) == MOMENT
        assert Actor(row["user"], row["host"]) == this_process()
    assert read == {}
    assert names_and_types(frame.schema) == names_and_types(contract(*LEDGER_FIELDS))


@pytest.mark.spark
def test_a_torn_last_line_is_no_entry_wherever_it_was_torn(spark: SparkSession, tmp_path: Path) -> None:
    whole = entry("torn", Event.APPLIED, properties={"k": '}{"'}, detail="d").line(ANN)
    for cut in range(len(whole) - 1):
        (tmp_path / f"{cut:04}.jsonl").write_bytes(entry(str(cut)).line(ANN) + whole[:cut])
    found = read_journal(spark, tmp_path)
    assert found.where("action_id = 'torn' OR action_id IS NULL").count() == 0
    assert found.count() == len(whole) - 1


@pytest.mark.spark
def test_the_next_process_goes_on_behind_a_torn_line(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "driver.jsonl").write_bytes(entry("one").line(ANN) + entry("two").line(ANN)[:40])
    with Journal(tmp_path, "driver") as journal:
        journal.record(entry("three", Event.APPLIED))
    assert sorted(row["action_id"] for row in read_journal(spark, tmp_path).collect()) == ["one", "three"]


@pytest.mark.spark
def test_each_entry_tells_who_wrote_it_where_the_version_kept_that(spark: SparkSession, tmp_path: Path) -> None:
    older = json.loads(entry("older").line(ANN))
    del older["user"], older["host"]
    (tmp_path / "driver.jsonl").write_bytes(json.dumps(older).encode() + b"\n" + entry("by-ann").line(ANN))
    with Journal(tmp_path, "driver") as journal:
        journal.record(entry("by-us"))
    who = {row["action_id"]: Actor(row["user"], row["host"]) for row in read_journal(spark, tmp_path).collect()}
    assert who == {"older": Actor(None, None), "by-ann": ANN, "by-us": this_process()}


@pytest.mark.spark
def test_what_is_done_and_what_was_begun(spark: SparkSession, tmp_path: Path) -> None:
    for writer, events in {"a": (Event.INTENT, Event.APPLIED), "b": (Event.INTENT, Event.FAILED)}.items():
        with Journal(tmp_path, writer) as journal:
            for event in (*events, Event.INTENT):
                journal.record(entry(writer, event))
    with Journal(tmp_path, "c") as journal:
        journal.record(entry("c", Event.SKIPPED))
    found = known(read_journal(spark, tmp_path)).collect()
    assert {row["action_id"]: row["done"] for row in found} == {"a": True, "b": False, "c": True}


@pytest.mark.spark
def test_no_journal_is_an_empty_ledger(spark: SparkSession, tmp_path: Path) -> None:
    assert read_journal(spark, tmp_path).collect() == []


def test_a_lone_surrogate_in_an_answer_does_not_spoil_the_line() -> None:
    assert json.loads(entry("a", detail="\ud800 said the server").line(ANN))["detail"] == "\\ud800 said the server"


def test_many_threads_write_whole_lines(tmp_path: Path) -> None:
    with Journal(tmp_path, "driver") as journal:

        def write(thread: int) -> None:
            for number in range(25):
                journal.record(entry(f"{thread}-{number}", Event.APPLIED, "n" * 500))

        threads = [threading.Thread(target=write, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    written = Counter(json.loads(line)["action_id"] for line in lines(tmp_path) if line)
    assert written == Counter({f"{thread}-{number}": 1 for thread in range(8) for number in range(25)})


def test_an_entry_is_synced_before_record_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    sync = os.fsync

    def watched(descriptor: int) -> None:
        sync(descriptor)
        synced.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", watched)
    with Journal(tmp_path, "driver") as journal:
        synced.clear()
        for number in range(3):
            journal.record(entry(str(number)))
            assert synced[-1] == journal.path.stat().st_size
    assert len(synced) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said_and_nothing_is_written_behind_it(tmp_path: Path) -> None:
    (tmp_path / "driver.jsonl").symlink_to("/dev/full")
    with Journal(tmp_path, "driver") as journal:
        for _ in range(2):
            with pytest.raises(JournalUnwritable, match=r"driver\.jsonl: .* Hint: make room"):
                journal.record(entry("a"))
