"""The DAGs: what is found, what their tasks and edges are, and what parsing costs and touches."""

from __future__ import annotations

import ast
import socket
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
import runs
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import DAG, Asset, TriggerRule
from airflow.sdk.exceptions import ParamValidationError
from airflow.serialization.serialized_objects import DagSerialization
from conftest import DAGS, ROOT, Bag

EDGES = {
    "configuration": {"inventory"},
    "inventory": {"check"},
    "check": {"plan"},
    "plan": {"gate"},
    "gate": {"apply"},
    "apply": {"verify", "done"},
    "verify": {"report", "done"},
    "report": {"done"},
    "done": set(),
}

RESERVED = (
    "PATH",
    "HOME",
    "JAVA_HOME",
    "PYSPARK_PYTHON",
    "SPARK_HOME",
    "NESTSYNC_OUTCOME_FILE",
    "AIRFLOW_CONN_X",
    "_AIRFLOW_Y",
    "LD_PRELOAD",
    "PYTHONPATH",
)
JOBS = (("nestsync", "apply"), ("nestsync_assess", "assess"))


def test_each_configuration_has_a_sync_and_an_assessment(bag: Bag) -> None:
    found = bag(sales="", crm="airflow: {schedule: null}\n")
    assert not found.import_errors
    assert set(found.dags) == {"nestsync.sales", "nestsync_assess.sales", "nestsync.crm", "nestsync_assess.crm"}


def test_configurations_that_run_at_the_same_time_have_runs_of_their_own(bag: Bag) -> None:
    dags = bag(sales="", crm="").dags
    tasks = [dags[f"{kind}.{name}"].get_task(task) for kind, task in JOBS for name in ("sales", "crm")]
    env = dags["nestsync.sales"].get_template_env()
    runs = {env.from_string(task.nestsync_run).render(run_id="r") for task in tasks}
    assert runs == {"sales:r", "crm:r", "sales+assess:r", "crm+assess:r"}


def test_hidden_files_are_no_configurations(bag: Bag, tmp_path: Path) -> None:
    bag(sales="", **{".hidden": "", "._sales": ""})
    (tmp_path / "conf" / ".#sales.yaml").symlink_to("ada@host.1:2")  # an editor's lock
    assert set(bag().dags) == {"nestsync.sales", "nestsync_assess.sales"}


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("empty", "there is no configuration (NAME.yaml) in the folder"),
        ("missing", "No such file or directory"),
        ("file", "Not a directory"),
        ("l" * 300, "File name too long"),  # as any folder that cannot be listed
    ],
)
def test_a_folder_without_configurations_is_an_import_error_that_says_so(
    folder: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.setenv("NESTSYNC_CONF", str(tmp_path / folder))
    found = DagBag(DAGS)
    (error,) = found.import_errors.values()
    told = error[error.index("Refused: ") :]
    assert str(tmp_path / folder) in told
    assert said in told
    assert "hint: NESTSYNC_CONF names the folder of configurations" in told


def test_the_tasks_of_a_sync_and_their_edges(sync: DAG) -> None:
    assert {task.task_id: set(task.downstream_task_ids) for task in sync.tasks} == EDGES
    assert sync.get_task("inventory").is_mapped
    assert sync.topological_sort()[0].task_id == "configuration"  # raises for a cycle
    rules = {task.task_id: task.trigger_rule for task in sync.tasks if task.trigger_rule != TriggerRule.ALL_SUCCESS}
    assert rules == dict.fromkeys(("verify", "report"), TriggerRule.ALL_DONE)


def test_the_tasks_of_an_assessment(bag: Bag) -> None:
    dag = bag(sales="").dags["nestsync_assess.sales"]
    assert {task.task_id: set(task.downstream_task_ids) for task in dag.tasks} == {
        "configuration": {"assess"},
        "assess": set(),
    }


def test_what_airflow_s_users_expect_of_a_dag(bag: Bag) -> None:
    block = "airflow: {schedule: '0 2 * * *', timezone: Europe/Berlin, owner: data-platform, tags: [sales]}\n"
    dag = bag(sales=block).dags["nestsync.sales"]
    assert (dag.max_active_runs, dag.catchup, dag.tags) == (1, False, {"nestsync", "sales"})
    assert "──►" in (dag.doc_md or "")
    assert all(task.owner == "data-platform" for task in dag.tasks)
    assert all(task.retries == 3 and task.retry_exponential_backoff == 2.0 for task in dag.tasks)
    assert DagSerialization.deserialize_dag(DagSerialization.serialize_dag(dag)).timetable.summary == "0 2 * * *"


@pytest.mark.parametrize(("said", "first", "longest"), [("", 300, 3600), ("retry_seconds: 7200", 7200, 7200)])
def test_a_wait_grows_to_an_hour_and_is_never_cut_below_the_first(
    bag: Bag, said: str, first: int, longest: int
) -> None:
    for task in bag(sales=f"airflow: {{{said}}}\n").dags["nestsync.sales"].tasks:
        assert (task.retry_delay, task.max_retry_delay) == (timedelta(seconds=first), timedelta(seconds=longest))


def test_nothing_holds_a_run_for_ever_nor_reads_without_bounds(bag: Bag) -> None:
    block = "airflow: {timeout_hours: 2, approval_hours: 3, parallel_reads: 1, alert: a.tell}\n"
    dags = bag(sales=block).dags
    sync, assessment = dags["nestsync.sales"], dags["nestsync_assess.sales"]
    assert sync.get_task("inventory").max_active_tis_per_dag == 1
    assert all(task.execution_timeout == timedelta(hours=2) for dag in dags.values() for task in dag.tasks)
    assert {dag.dagrun_timeout for dag in (sync, assessment)} == {timedelta(hours=5)}  # those for the answer beside


def test_a_run_that_takes_too_long_as_a_whole_is_told_of_and_others_are_not_told_twice(bag: Bag) -> None:
    alert = bag(sales="airflow: {alert: runs.tell}\n").dags["nestsync.sales"].on_failure_callback
    runs.told.clear()
    alert({"reason": "task_failure", "run_id": "r"})
    alert({"reason": "timed_out", "run_id": "r"})
    assert runs.told == [(None, "The run r took too long (airflow.timeout_hours), and was stopped.")]


def test_a_verified_sync_is_an_asset_that_others_can_wait_for(sync: DAG) -> None:
    assert sync.get_task("verify").outlets == [Asset(name="nestsync.sales", uri="nestsync://verified/sales")]
    assert not any(task.outlets for task in sync.tasks if task.task_id != "verify")


def test_params_are_described_and_checked(sync: DAG) -> None:
    params = {name: sync.params.get_param(name) for name in sync.params}
    assert {name: param.schema["type"] for name, param in params.items()} == {
        "approve_above": "integer",
        "always_ask": "boolean",
        "dry_run": "boolean",
    }
    assert all(param.description for param in params.values())
    with pytest.raises(ParamValidationError):
        sync.params["approve_above"] = -1


def test_nothing_secret_is_in_what_airflow_stores(bag: Bag) -> None:
    block = "airflow: {environment: [{name: LAKEHOUSE_TOKEN, connection: lakehouse}]}\n"
    stored = str(DagSerialization.serialize_dag(bag(sales=block).dags["nestsync.sales"]))
    assert "conn." not in stored  # no template that would be rendered with the secret
    assert "env_vars" not in stored  # which Airflow's Spark operator puts on the command line on YARN and Kubernetes


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("airflow: {schedule: every night}\n", "airflow.schedule must be a cron expression"),
        ("airflow: {schedule: '0 2 30 2 *'}\n", "airflow.schedule names no time that will come: '0 2 30 2 *'"),
        ("airflow: {assess: '0 0 1 1 * 0 2020'}\n", "airflow.assess names no time that will come"),
        ("airflow: {shedule: '@daily'}\n", "airflow.shedule is no key; there are schedule"),
        ("airflow: [1]\n", "airflow must be a group of keys"),
        ("airflow: {schedule: '@daily'\n", "is not YAML"),
        ("airflow: {retries: -1}\n", "airflow.retries must be a whole number"),
        ("airflow: {retries: 2147483648}\n", "airflow.retries must be a whole number from 0 to 2,147,483,647"),
        ("airflow: {approval_hours: soon}\n", "airflow.approval_hours must be a number"),
        ("airflow: {approval_hours: 0}\n", "airflow.approval_hours must be a number above 0"),
        ("airflow: {timeout_hours: 0}\n", "airflow.timeout_hours must be a number above 0"),
        ("airflow: {parallel_reads: 0}\n", "airflow.parallel_reads must be a whole number, 1 or more"),
        ("airflow: {approval_hours: .inf}\n", "airflow.approval_hours must be a number"),
        ("airflow: {retry_seconds: .nan}\n", "airflow.retry_seconds must be a number"),
        (f"airflow: {{tags: [{'t' * 101}]}}\n", "airflow.tags[0] must have at most 100 characters"),
        ("airflow: {timezone: Mars/Olympus}\n", "airflow.timezone must be a time zone"),
        ("airflow: {alert: notify}\n", "airflow.alert must name a function with its module"),
        ("airflow: {tags: sales}\n", "airflow.tags must be a list"),
        ("airflow: {environment: [{name: TOKEN}]}\n", "airflow.environment[0] must have the keys name and connection"),
        ("airflow: {environment: [{name: 'a b', connection: c}]}\n", "airflow.environment[0].name must be the name of"),
        ("airflow: {environment: [{name: T, connection: c, field: x}]}\n", "airflow.environment[0].field must be"),
        *[
            (f"airflow: {{environment: [{{name: {name}, connection: c}}]}}\n", f".name cannot be {name}: it decides")
            for name in RESERVED
        ],
        (
            "airflow: {environment: [{name: T, connection: c}, {name: T, connection: d}]}\n",
            "airflow.environment names T more than once",
        ),
        ("airflow: {}\nairflow: {}\n", "the key airflow is there more than once (lines 2, 3); keep one of them"),
        ("airflow:\n- schedule\n", "airflow must be a group of keys, not ['schedule']"),
    ],
)
def test_a_block_that_cannot_be_used_fails_every_night_and_harms_no_other(bag: Bag, block: str, said: str) -> None:
    found = bag(sales=block, crm="")
    assert not found.import_errors
    assert set(found.dags) == {"nestsync.sales", "nestsync.crm", "nestsync_assess.crm"}
    dag = found.dags["nestsync.sales"]
    assert said in dag.get_task("configuration").problem
    assert said in (dag.doc_md or "")
    assert "cannot-be-scheduled" in dag.tags
    assert DagSerialization.deserialize_dag(DagSerialization.serialize_dag(dag)).timetable.summary == "0 0 * * *"


@pytest.mark.parametrize(
    "environment",
    [
        "s3cr3t",
        "{TOKEN: s3cr3t}",
        "[s3cr3t]",
        "[{TOKEN: s3cr3t}]",
        "[{name: TOKEN=s3cr3t, connection: c}]",
        "[{name: TOKEN, connection: c, value: s3cr3t}]",
        "[{name: TOKEN, connection: c, field: s3cr3t}]",
    ],
)
def test_a_secret_in_the_wrong_place_is_not_repeated(bag: Bag, environment: str) -> None:
    dag = bag(sales=f"airflow: {{environment: {environment}}}\n").dags["nestsync.sales"]
    assert "airflow.environment" in dag.get_task("configuration").problem
    assert "s3cr3t" not in str(DagSerialization.serialize_dag(dag)) + dag.get_task("configuration").problem


def test_what_is_right_in_a_block_with_a_mistake_is_in_force(bag: Bag) -> None:
    block = (
        "airflow: {schedule: '0 3 * * *', timezone: Europe/Berlin, owner: data-platform, alert: a.tell, tags: [sales]"
    )
    dag = bag(sales=f"{block}, retries: few, aprovers: []}}\n").dags["nestsync.sales"]
    task = dag.get_task("configuration")
    assert "2 problems\n- airflow.retries must be a whole number" in task.problem
    assert "- airflow.aprovers is no key" in task.problem
    assert (task.owner, dag.tags) == ("data-platform", {"nestsync", "cannot-be-scheduled", "sales"})
    assert [alert.function for alert in task.on_failure_callback] == ["a.tell"]
    timetable = DagSerialization.deserialize_dag(DagSerialization.serialize_dag(dag)).timetable
    assert (timetable.summary, str(timetable.serialize()["timezone"])) == ("0 3 * * *", "Europe/Berlin")


def test_a_name_that_airflow_has_no_room_for_harms_no_other(bag: Bag) -> None:
    name = "s" * 244
    found = bag(**{name: "", "crm": ""})
    assert not found.import_errors
    (other,) = set(found.dags) - {"nestsync.crm", "nestsync_assess.crm"}
    assert other.startswith("nestsync.sss")
    assert "Airflow makes no DAG of" in found.dags[other].get_task("configuration").problem


@pytest.mark.parametrize("rest", ["sources: [\n", "mapping: {rules: &a [*a]}\n"])
def test_a_mistake_elsewhere_in_the_configuration_is_told_when_it_runs(bag: Bag, rest: str) -> None:
    found = bag(sales=f"airflow:\n  tags: [x]\n{rest}")
    assert not found.import_errors
    assert "x" in found.dags["nestsync.sales"].tags


def test_two_files_of_one_name_are_told(bag: Bag, tmp_path: Path) -> None:
    bag(sales="")
    (tmp_path / "conf" / "sales.yml").write_text("", encoding="utf-8")
    assert "are both called sales" in bag().dags["nestsync.sales"].get_task("configuration").problem


def test_fifty_configurations_parse_within_a_second(bag: Bag) -> None:
    bag(warm="")
    keys = ("airflow", "? airflow\n")  # cut out of its lines, and looked for in the whole document
    said = "{{schedule: '{number} 2 * * *', tags: [t{number}]}}"
    blocks = {f"c{number}": f"{keys[number % 2]}: {said.format(number=number)}\n" for number in range(49)}
    started = time.process_time()  # this process alone: the machine may be busy with others
    found = bag(**blocks)
    seconds = time.process_time() - started
    assert len(found.dags) == 100
    assert seconds < 1.0


def test_parsing_opens_no_connection_and_reads_no_other_file(bag: Bag, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    bag(sales="")

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a DAG file must not open connections when it is parsed")

    class Reads:
        """What Python's own auditing tells of opened files, once parsing has begun."""

        on = False

    sys.addaudithook(lambda event, args: read.append(str(args[0])) if event == "open" and Reads.on else None)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    Reads.on = True
    bag()
    Reads.on = False
    installed = str(Path(sys.prefix).resolve())
    others = [
        name
        for name in read
        if not name.endswith((".py", ".pyc")) and "/conf/" not in name and installed not in name and "/lib/" not in name
    ]
    allowed = (str(DAGS), "/usr/share/zoneinfo", "/etc", "/proc", "/dev", "/tmp")
    assert [name for name in others if not name.startswith(allowed)] == []


def test_dag_files_import_airflow_and_the_standard_library_alone() -> None:
    allowed = set(sys.stdlib_module_names) | {"airflow", "nestsync_airflow"}
    for file in sorted(DAGS.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.partition(".")[0] for name in names} <= allowed, file


def test_nestsync_cannot_even_be_imported_here() -> None:
    assert ROOT / "pipelines" not in map(Path, sys.path)
    with pytest.raises(ModuleNotFoundError):
        __import__("nestsync")
