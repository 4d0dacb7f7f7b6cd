"""Who ran what: the user and the host, also where nobody has a name, and where an older version kept none."""

from __future__ import annotations

import getpass
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from nestsync.history.actors import Actor, actors_of, this_process
from nestsync.history.attempts import attempt, history_file
from nestsync.history.records import read_record
from nestsync.runfiles import RunFiles


def test_a_process_knows_its_user_and_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    assert this_process() == Actor("ann", socket.gethostname())


@pytest.mark.parametrize("error", [KeyError("uid not found"), OSError("no username set")])
def test_a_user_without_a_name_is_told_by_number(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise error

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert this_process().user == f"uid {os.getuid()}"


@pytest.mark.parametrize(
    ("actor", "said"),
    [
        (Actor("ann", "host-1"), "ann@host-1"),
        (Actor(None, "host-1"), "unknown@host-1"),
        (Actor("ann", None), "ann@unknown"),
        (Actor(None, None), "unknown"),
    ],
)
def test_an_actor_as_people_write_it(actor: Actor, said: str) -> None:
    assert str(actor) == said


ANN, BOB = ({"user": user, "host": "h"} for user in ("ann", "bob"))


@pytest.mark.parametrize(
    ("begun", "expected"),
    [
        pytest.param([], (), id="nobody"),
        pytest.param([{"command": "run"}], (Actor(None, None, ("run",)),), id="of-an-older-version"),
        pytest.param([{"command": "run", "user": 7, "host": ""}], (Actor(None, None, ("run",)),), id="of-another-kind"),
        pytest.param(
            [ANN | {"command": "plan"}, BOB | {"command": "apply"}, ANN | {"command": "apply"}],
            (Actor("ann", "h", ("plan", "apply")), Actor("bob", "h", ("apply",))),
            id="several",
        ),
    ],
)
def test_who_took_part(begun: list[dict[str, Any]], expected: tuple[Actor, ...]) -> None:
    assert actors_of(begun) == expected


def test_a_run_knows_who_took_it_and_not_who_asked_for_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = RunFiles(tmp_path)
    for user, command in (("ann", "plan"), ("bob", "apply"), ("eve", "report")):
        monkeypatch.setenv("LOGNAME", user)
        with attempt(files, "r1", command=command, stages=[command]):
            pass
    record = read_record(files, "r1")
    assert [(actor.user, actor.commands) for actor in record.actors] == [("ann", ("plan",)), ("bob", ("apply",))]
    assert record.as_json()["actors"][1] == {"user": "bob", "host": socket.gethostname(), "commands": ["apply"]}


def test_the_lines_of_an_older_version_are_read_as_unknown(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    with attempt(files, "r1", command="run"):
        pass
    file = history_file(files, "r1")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps({k: v for k, v in line.items() if k != "user"}) + "\n" for line in lines))
    (actor,) = read_record(files, "r1").actors
    assert (actor.user, actor.host) == (None, socket.gethostname())
