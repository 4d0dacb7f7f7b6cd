"""What runs leave beside the Delta tables: summaries, listings, and what is said where they are not whole."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from nestsync.core.checking import Subject
from nestsync.errors import ConfigurationError, RunNotFound, SummaryUnreadable
from nestsync.runfiles import RunFiles
from tests.names.inventories import Namespace, inventoried


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles(tmp_path / "work space #1%")


# ---- summaries


def test_stages_leave_facts_for_each_other(files: RunFiles) -> None:
    files.update_summary("r1", "inventory", {"s1": 1})
    files.update_summary("r1", "inventory", {"s2": 2})
    files.update_summary("r1", "plan", {"hash": "h"})
    assert files.summary("r1") == {"run_id": "r1", "inventory": {"s1": 1, "s2": 2}, "plan": {"hash": "h"}}
    assert files.run_ids() == ["r1"]


def _update(root: Path, key: str) -> None:
    RunFiles(root).update_summary("r1", "inventory", {key: 1})


@pytest.mark.system
def test_facts_of_processes_at_once_are_all_kept(files: RunFiles) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_update, args=(files.root, f"s{i}")) for i in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert files.summary("r1")["inventory"] == {f"s{i}": 1 for i in range(4)}


def test_separators_are_remembered_by_target(files: RunFiles) -> None:
    assert files.separator_of("lake") is None
    files.remember_separator("lake", ":")
    files.remember_separator("other", ";")
    files.remember_separator("lake", "$")
    assert (files.separator_of("lake"), files.separator_of("other")) == ("$", ";")
    assert files.separator_of("another") is None
    assert files.run_ids() == []


def test_an_unknown_run_names_the_known_ones(files: RunFiles) -> None:
    files.update_summary("r1", "inventory", {})
    with pytest.raises(RunNotFound, match=r"there is no run .nope..*r1"):
        files.summary("nope")


@pytest.mark.parametrize("run_id", ["", "../x", "a/b", "a b", "a'b", ".hidden", "x" * 129])
def test_a_run_id_that_is_no_file_name_is_refused(files: RunFiles, run_id: str) -> None:
    for use in (files.has_summary, lambda run_id: files.folder("journal", run_id)):
        with pytest.raises(ConfigurationError, match="is no run id"):
            use(run_id)


@pytest.mark.parametrize("text", ["", '{"inventory": {"s1":', "[1]", '{"inventory": 1}', "\udcff"], ids=ascii)
def test_a_summary_that_is_not_whole_is_an_error_of_ours(files: RunFiles, text: str) -> None:
    files.update_summary("r1", "inventory", {"s1": {}})
    file = files.root / "runs-json" / "r1.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SummaryUnreadable, match="broken or half-written") as said:
        files.inventory()
    assert (said.value.where, said.value.exit_code) == (str(file), 2)


# ---- inventories


def test_the_latest_run_that_has_an_inventory_is_the_one_to_look_at(files: RunFiles) -> None:
    for run_id, stage in (("z", "inventory"), ("a", "inventory"), ("b", "plan")):
        files.update_summary(run_id, stage, {"s1": {"role": "source"}})
    assert files.inventory() == ("a", {"s1": {"role": "source"}})
    assert files.inventory("z")[0] == "z"


@pytest.mark.parametrize(
    ("runs", "run_id", "says"),
    [
        ((), None, "there is no workspace"),
        (("plan",), None, "there is no run yet"),
        (("plan",), "r0", "run r0 has no inventory"),
        (("plan",), "r9", "there is no run 'r9'"),
    ],
)
def test_without_an_inventory_there_is_nothing_to_look_at(
    files: RunFiles, runs: tuple[str, ...], run_id: str | None, says: str
) -> None:
    for number, stage in enumerate(runs):
        files.update_summary(f"r{number}", stage, {"x": 1})
    with pytest.raises(RunNotFound, match=says) as said:
        files.inventory(run_id)
    assert said.value.hint
    assert says != "there is no workspace" or not files.root.exists()


# ---- listings


def listed(files: RunFiles, *names: str) -> list[Subject]:
    _, known = files.inventory()
    return list(files.listed_namespaces("r1", {name: known[name] for name in names or known}))


def test_a_listing_is_read_for_the_catalogs_that_are_asked_for(tmp_path: Path) -> None:
    broken = Namespace(("b",), "unreadable", "timed out")
    inventoried(tmp_path, {"warehouse": [("hive", "a")], "platform": [broken]})
    files = inventoried(tmp_path, {"lakehouse": [("c",)]}, listing="two")  # by another process, say
    warehouse = Subject("warehouse", "namespace", ("hive", "a"))
    platform = Subject("platform", "namespace", ("b",), status="unreadable", error="timed out", role="target")
    assert listed(files, "warehouse") == [warehouse]
    assert listed(files, "platform") == [platform]
    assert listed(files) == [Subject("lakehouse", "namespace", ("c",)), warehouse, platform]


def _delete_part(folder: Path) -> None:
    (folder / "part-00000.json").unlink()


def _cut_off(folder: Path) -> None:
    file = folder / "part-00000.json"
    file.write_bytes(file.read_bytes()[:-9])


def _forget_levels(folder: Path) -> None:
    (folder / "part-00000.json").write_text('{"source": "warehouse", "role": "source", "status": "ok"}\n')


def _delete(folder: Path) -> None:
    _delete_part(folder)
    folder.rmdir()


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (_delete, "the listing of the namespaces is missing"),
        (_delete_part, "the listing of the namespaces is not whole"),
        (_cut_off, "the file is broken or half-written"),
        (_forget_levels, "the file is broken or half-written"),
    ],
)
def test_a_listing_that_is_not_whole_loses_no_name_silently(tmp_path: Path, harm: object, says: str) -> None:
    files = inventoried(tmp_path, {"warehouse": [("hive", "a"), ("hive", "b")]})
    harm(files.listing_folder("r1", "one"))  # type: ignore[operator]
    with pytest.raises(SummaryUnreadable, match=says):
        listed(files)


def test_an_inventory_without_a_listing_is_named(files: RunFiles) -> None:
    files.update_summary("r1", "inventory", {"prod": {"role": "source"}})
    with pytest.raises(SummaryUnreadable, match="the inventory of prod left no listing of its names"):
        listed(files)


def test_only_listings_that_no_catalog_needs_any_more_are_dropped(tmp_path: Path) -> None:
    inventoried(tmp_path, {"warehouse": [("a",)], "platform": []})
    files = inventoried(tmp_path, {"warehouse": [("a",), ("b",)]}, listing="two")
    files.drop_listings("r1", {"one", "none"})
    assert files.listing_folder("r1", "one").is_dir()
    inventoried(tmp_path, {"platform": []}, listing="three")
    files.drop_listings("r1", {"one", "two"})
    assert sorted(folder.name for folder in (tmp_path / "listings" / "r1").iterdir()) == ["three", "two"]
    assert len(listed(files)) == 2
