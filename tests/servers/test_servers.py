from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from hmsclient import HMSClient
from hmsclient.genthrift.hive_metastore.ttypes import Database

from nestsync.embedded.process import ServerFailed
from nestsync.embedded.servers import HiveMetastore, IcebergRest

pytestmark = pytest.mark.servers

SERVERS = pytest.mark.parametrize("kind", [HiveMetastore, IcebergRest], ids=lambda kind: kind.__name__)
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}


def listening(pid: int) -> set[tuple[str, int]]:
    """The (address, port) pairs, addresses in the kernel's own hexadecimal, that a process listens on."""
    links = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the server closes files all the time
            links.append(os.readlink(link))
    mine = {link[len("socket:[") : -1] for link in links if link.startswith("socket:[")}
    tables = [Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:] for table in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table]
    found = [row[1].split(":") for row in rows if row[3] == "0A" and row[9] in mine]
    return {(address, int(port, 16)) for address, port in found}


def gone(pid: int, within: float = 15.0) -> bool:
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True  # dead; whoever adopted it has not looked yet
        time.sleep(0.05)
    return False


def namespaces(server: IcebergRest) -> list[list[str]]:
    with urllib.request.urlopen(f"{server.uri}/v1/namespaces") as answer:
        found: list[list[str]] = json.load(answer)["namespaces"]
    return found


def make_namespace(server: IcebergRest, *levels: str) -> None:
    body = json.dumps({"namespace": levels, "properties": {"é": "ü"}}).encode()
    request = urllib.request.Request(
        f"{server.uri}/v1/namespaces", data=body, headers={"Content-Type": "application/json"}
    )
    urllib.request.urlopen(request).close()


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="reads Linux's socket tables")
@pytest.mark.parametrize("fixture", ["hms_server", "iceberg_server", "iceberg_memory_server"])
def test_listens_on_loopback_and_nowhere_else(fixture: str, request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue(fixture)
    sockets = listening(server.pid)
    assert {port for _, port in sockets} == {server.port}
    assert {address for address, _ in sockets} <= LOOPBACK


def test_the_metastore_answers_through_a_plain_client(hms_server: HiveMetastore) -> None:
    with HMSClient(host="127.0.0.1", port=hms_server.port) as client:
        assert client.get_catalogs().names == ["hive"]
        assert "default" in client.get_all_databases()


@pytest.mark.parametrize("levels", [("a.b",), ("a b", "c+d"), ("日本", "x")], ids=" / ".join)
def test_the_memory_backend_keeps_names_exactly(levels: tuple[str, ...], iceberg_memory_server: IcebergRest) -> None:
    make_namespace(iceberg_memory_server, *levels)
    assert [levels[0]] in namespaces(iceberg_memory_server)


def test_the_metastore_keeps_its_state_and_takes_sql_while_stopped(tmp_path: Path) -> None:
    home = tmp_path / "with a blank é"
    server = HiveMetastore(home)
    with server, HMSClient(host="127.0.0.1", port=server.port) as client:
        client.create_database(Database(name="sales", description="kept", locationUri=f"file://{tmp_path}/sales"))
    server.run_sql(["""UPDATE "APP"."DBS" SET "NAME" = 'team:sales' WHERE "NAME" = 'sales'"""])
    with pytest.raises(ServerFailed, match="NO_SUCH_TABLE"):
        server.run_sql(['DELETE FROM "APP"."NO_SUCH_TABLE"'])
    with server, HMSClient(host="127.0.0.1", port=server.port) as client:
        assert sorted(client.get_all_databases()) == ["default", "team:sales"]
        assert client.get_database("team:sales").description == "kept"


def test_the_rest_catalog_keeps_its_state_also_when_killed(tmp_path: Path) -> None:
    server = IcebergRest(tmp_path / "with a blank é")
    with server:
        make_namespace(server, "kept")
        assert server.pid
        os.kill(server.pid, signal.SIGKILL)
    with server:
        assert namespaces(server) == [["kept"]]


@pytest.mark.parametrize("fixture", ["hms_server", "iceberg_server"])
def test_a_second_server_is_kept_off_the_folder(
    fixture: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = request.getfixturevalue(fixture)
    monkeypatch.setattr("nestsync.embedded.process._LOCK_SECONDS", 0.2)
    with pytest.raises(ServerFailed, match=r"another .* runs on this folder"):
        type(server)(server.home).start()
    server.ask()


def test_stopping_leaves_no_process(tmp_path: Path) -> None:
    server = IcebergRest(tmp_path).start()
    pid = server.pid
    assert pid
    assert server.start().pid == pid
    server.stop()
    assert gone(pid, within=0.1)
    server.stop()
    with pytest.raises(ServerFailed, match="is not running"):
        _ = server.uri


def test_a_server_that_does_not_listen_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nestsync.embedded.process._STOP_SECONDS", 0.5)
    server = IcebergRest(tmp_path).start()
    pid = server.pid
    assert pid
    os.kill(pid, signal.SIGSTOP)  # neither the lifeline nor SIGTERM reaches it now
    server.stop()
    assert gone(pid, within=0.1)


@SERVERS
def test_the_server_dies_with_a_killed_parent(kind: type[HiveMetastore | IcebergRest], tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from nestsync.embedded import servers;"
        f"server = servers.{kind.__name__}(Path(sys.argv[1])).start(); print(server.pid, flush=True); time.sleep(600)"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=env
    ) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        parent.kill()
    assert gone(pid)
    with kind(tmp_path) as again:  # and its folder is free, its state whole
        again.ask()


def test_what_stops_a_start_is_said(tmp_path: Path) -> None:
    (tmp_path / "catalog.mv.db").write_text("not a database")
    with pytest.raises(ServerFailed, match=r"ended while it was starting: .*MVStoreException") as failed:
        IcebergRest(tmp_path).start()
    assert "server.log" in failed.value.hint
