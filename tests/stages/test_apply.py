"""Apply: parents first, at most so many at once, every step on the disk, and no request that is not needed."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from nestsync.catalogs.iceberg_rest import ROOM as ICEBERG_REST
from nestsync.catalogs.iceberg_rest import IcebergRestOptions
from nestsync.core.identifiers import Levels
from nestsync.core.plan import Action, ActionKind, Strategy
from nestsync.embedded.proxy import CountingProxy
from nestsync.embedded.servers import IcebergRest
from nestsync.errors import ActionsFailed, AlreadyExists, CatalogUnreachable, ObjectError, WriteUnheard
from nestsync.stages.apply import ApplyResult, ApplySettings, apply
from nestsync.stages.journal import Journal, JournalUnwritable, read_journal
from tests.core.claims_cases import path
from tests.stages.wanted_frames import action_frame
from tests.stages.writers import MemoryWriter

pytestmark = pytest.mark.spark

CREATE, SET, NOOP, BLOCKED = ActionKind


def action(text: str, kind: ActionKind = CREATE, **properties: str) -> Action:
    return Action(kind, path(text), properties, "because")


@pytest.fixture
def send(spark: SparkSession, tmp_path: Path) -> Callable[..., ApplyResult]:
    """Applies actions with a journal of its own, or, of one `run`, with the same journal again."""

    def send(
        actions: list[Action], writer: Any, *, run: str = "run", settings: ApplySettings | None = None, **more: Any
    ) -> ApplyResult:
        folder = tmp_path / run
        folder.mkdir(exist_ok=True)
        ledger = read_journal(spark, folder)
        with Journal(folder, "driver") as journal:
            frame = action_frame(spark, actions)
            return apply(frame, ledger, writer, journal, settings or ApplySettings(), **more)

    return send


@pytest.fixture
def journal_of(tmp_path: Path) -> Callable[..., list[tuple[str, str, str]]]:
    """(levels, event, detail) of what a run wrote down."""

    def read(run: str = "run") -> list[tuple[str, str, str]]:
        text = (tmp_path / run / "driver.jsonl").read_text()
        whole = text[: text.rfind("\n") + 1]  # another thread may be in the middle of its line
        found = map(json.loads, whole.splitlines())
        return [("/".join(each["levels"]), each["event"], each["detail"] or "") for each in found]

    return read


TREE = [
    action(text, k=text)
    for text in ("a", "b", "c", *(f"{top}/{i}" for top in "abc" for i in range(6)), "a/0/x", "b/1/y", "a/0/x/deep")
]


def test_parents_are_there_before_their_children(send: Callable[..., ApplyResult]) -> None:
    writer = MemoryWriter(seconds=0.005)  # a strict catalog: it refuses a child without its parent
    result = send(TREE[::-1], writer, settings=ApplySettings(concurrency=4))
    assert result.counts == {"applied": len(TREE), "skipped": 0, "failed": 0, "blocked": 0}
    assert writer.held == {each.levels: each.properties for each in TREE}
    depths = [len(levels) for _, levels in writer.requests]
    assert depths == sorted(depths)
    assert 1 < writer.most_at_once <= 4


def test_nothing_is_sent_for_what_needs_nothing(send: Callable[..., ApplyResult]) -> None:
    writer = MemoryWriter()
    result = send([action("a", NOOP), action("a/b", NOOP), action("c", BLOCKED)], writer)
    assert result.counts == {"applied": 0, "skipped": 2, "failed": 0, "blocked": 1}
    assert writer.requests == []


def test_changed_keys_are_set_and_others_stay(send: Callable[..., ApplyResult]) -> None:
    writer = MemoryWriter({("a",): {"k": "old", "location": "its own"}})
    assert send([action("a", SET, k="a:b|c")], writer).applied == 1
    assert writer.held == {("a",): {"k": "a:b|c", "location": "its own"}}


def test_every_step_is_on_the_disk_before_and_after(
    send: Callable[..., ApplyResult], journal_of: Callable[..., list[tuple[str, str, str]]]
) -> None:
    seen: dict[str, list[str]] = {}

    def look(levels: Levels) -> None:
        name = "/".join(levels)
        seen[name] = [event for about, event, _ in journal_of() if about == name]

    send(TREE, MemoryWriter(on_write=look))
    assert seen == {"/".join(each.levels): ["intent"] for each in TREE}
    assert Counter(journal_of()) == Counter(
        {("/".join(each.levels), event, ""): 1 for each in TREE for event in ("intent", "applied")}
    )


@pytest.mark.proves("exit-4")
def test_nothing_is_tried_below_what_failed(
    send: Callable[..., ApplyResult], journal_of: Callable[..., list[tuple[str, str, str]]]
) -> None:
    def refuse(levels: Levels) -> None:
        if levels == ("a", "0"):
            raise ObjectError("not allowed", where="memory")

    writer = MemoryWriter(on_write=refuse)
    result = send(TREE, writer)
    assert result.counts == {"applied": len(TREE) - 3, "skipped": 0, "failed": 3, "blocked": 0}
    assert not [request for request in writer.requests if len(request[1]) > 2 and request[1][:2] == ("a", "0")]
    assert (result.failures[0].levels, result.failures[0].detail) == (("a", "0"), "[object-failed] memory: not allowed")
    not_tried = [entry for entry in journal_of() if entry[0].startswith("a/0/")]
    assert not_tried == [
        ("a/0/x", "failed", 'not tried: its parent ["a","0"] failed'),
        ("a/0/x/deep", "failed", 'not tried: its parent ["a","0"] failed'),
    ]


@pytest.mark.parametrize(
    ("held", "strategy", "ended", "detail", "updated"),
    [
        pytest.param({"k": "v", "more": "1"}, "create-only", "skipped", "with equal properties", False, id="equal"),
        pytest.param({"k": "w"}, "create-only", "skipped", 'leaves what differs: ["k"]', False, id="left-alone"),
        pytest.param({"k": "w"}, "upsert", "applied", 'were made equal: ["k"]', True, id="made-equal"),
        pytest.param({"k": "v"}, "upsert", "skipped", "with equal properties", False, id="equal-under-upsert"),
    ],
)
def test_a_conflict_is_a_success_only_after_the_properties_were_compared(
    send: Callable[..., ApplyResult],
    journal_of: Callable[..., list[tuple[str, str, str]]],
    held: dict[str, str],
    strategy: str,
    ended: str,
    detail: str,
    updated: bool,
) -> None:
    writer = MemoryWriter({("a",): held})
    result = send([action("a", k="v")], writer, settings=ApplySettings(Strategy(strategy)))
    assert result.counts[ended] == 1
    assert result.failed == 0
    assert writer.requests == [("create", ("a",)), ("read", ("a",)), *([("update", ("a",))] if updated else [])]
    assert writer.held[("a",)]["k"] == ("v" if updated else held["k"])
    assert [event for _, event, _ in journal_of()] == ["intent", *(["intent"] if updated else []), ended]
    assert detail in journal_of()[-1][2]


def test_a_conflict_about_something_that_is_not_there_is_a_failure(send: Callable[..., ApplyResult]) -> None:
    class Confused(MemoryWriter):
        def namespace_properties(self, levels: Levels) -> None:
            return None

    result = send([action("a"), action("a/b")], Confused({("a",): {}}))
    assert (result.failed, result.applied) == (2, 0)
    assert "cannot be created and cannot be found" in result.failures[0].detail


def test_a_run_goes_on_where_it_stopped(send: Callable[..., ApplyResult]) -> None:
    send(TREE[:5], MemoryWriter())
    writer = MemoryWriter({each.levels: {} for each in TREE[:5]})
    progress: list[tuple[int, int]] = []
    result = send(TREE, writer, on_progress=lambda done, total: progress.append((done, total)))
    assert result.counts == {"applied": len(TREE) - 5, "skipped": 5, "failed": 0, "blocked": 0}
    assert {levels for _, levels in writer.requests} == {each.levels for each in TREE[5:]}
    assert progress == [(done, len(TREE)) for done in range(6, len(TREE) + 1)]


class Killed(BaseException):
    """Ends a process between a request and its answer."""


@pytest.mark.parametrize("kind", [CREATE, SET])
@pytest.mark.parametrize("arrived", [True, False])
def test_a_request_whose_answer_nobody_heard_is_looked_for_before_it_is_sent_again(
    send: Callable[..., ApplyResult],
    journal_of: Callable[..., list[tuple[str, str, str]]],
    kind: ActionKind,
    arrived: bool,
) -> None:
    def die(levels: Levels) -> None:
        if levels == ("a", "0"):
            raise Killed

    before: dict[Levels, dict[str, str]] = {} if kind is CREATE else {("a", "0"): {"k": "old"}}
    steps = [action("a", k="v"), action("a/0", kind, k="v"), action("a/1", k="v")]
    writer = MemoryWriter(before, on_write=die)
    with pytest.raises(Killed):
        send(steps, writer, settings=ApplySettings(concurrency=1))
    held = writer.held | ({("a", "0"): {"k": "v"}} if arrived else {})
    again = MemoryWriter(held)
    result = send(steps, again, settings=ApplySettings(concurrency=1))
    assert result.counts == {"applied": 1 + (not arrived), "skipped": 1 + arrived, "failed": 0, "blocked": 0}
    assert again.held == {each.levels: {"k": "v"} for each in steps}
    assert [levels for _, levels in again.writes] == [*([] if arrived else [("a", "0")]), ("a", "1")]
    assert (("a/0", "skipped", "it had been done when this run was stopped") in journal_of()) is arrived


class Gone:
    """Raises once so many writes were let through, and ever after."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.asked = itertools.count()

    def __call__(self, levels: Levels) -> None:
        if next(self.asked) >= self.after:
            raise CatalogUnreachable("no answer", where="http://memory", hint="look at it")


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("held", ["v", "another"])
def test_create_only_answers_for_what_it_may_have_made_itself(
    send: Callable[..., ApplyResult], journal_of: Callable[..., list[tuple[str, str, str]]], held: str, begun: bool
) -> None:
    """A server may alter a property on the way, and lose its answer."""

    class Lost(MemoryWriter):
        def create_namespace(self, levels: Levels, properties: Mapping[str, str]) -> None:
            if begun and not self.held:
                self.held[levels] = {"k": held}
                raise Killed
            self.held[levels] = {"k": held}
            error = AlreadyExists("it is there")
            error.repeated = not begun
            raise error

    writer = Lost()
    if begun:
        with pytest.raises(Killed):
            send([action("a", k="v")], writer)
    result = send([action("a", k="v")], writer)
    assert (result.applied, result.skipped) == ((0, 1) if held == "v" else (1, 0))
    _, event, detail = journal_of()[-1]
    assert (event, 'not as planned in: ["k"]' in detail) == (("skipped", False) if held == "v" else ("applied", True))


@pytest.mark.proves("exit-4")
def test_a_write_that_nobody_answered_may_have_been_carried_out(send: Callable[..., ApplyResult]) -> None:
    def unheard(levels: Levels) -> None:
        raise WriteUnheard("no answer within 1 s", where="http://memory")

    with pytest.raises(ActionsFailed, match="stopped answering after 0 of 24 writes: no answer within 1 s") as stopped:
        send(TREE, MemoryWriter(on_write=unheard), settings=ApplySettings(concurrency=2))
    assert stopped.value.exit_code == 4


@pytest.mark.proves("exit-5")
def test_a_target_that_never_answers_is_unreachable(
    send: Callable[..., ApplyResult], journal_of: Callable[..., list[tuple[str, str, str]]]
) -> None:
    writer = MemoryWriter(on_write=Gone(0))
    with pytest.raises(CatalogUnreachable, match="http://memory: no answer") as stopped:
        send(TREE, writer, settings=ApplySettings(concurrency=2))
    assert stopped.value.exit_code == 5
    assert len(writer.writes) <= 2
    assert {event for _, event, _ in journal_of()} == {"intent", "failed"}


@pytest.mark.proves("exit-4")
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_target_that_stops_answering_has_been_written_to(
    send: Callable[..., ApplyResult], journal_of: Callable[..., list[tuple[str, str, str]]], concurrency: int
) -> None:
    writer = MemoryWriter(on_write=Gone(3), seconds=0.005)
    with pytest.raises(ActionsFailed, match="stopped answering after 3 of 24 writes: no answer") as stopped:
        send(TREE, writer, settings=ApplySettings(concurrency=concurrency))
    assert stopped.value.exit_code == 4
    ended = Counter(event for _, event, _ in journal_of())
    assert ended["applied"] == len(writer.held) == 3
    assert ended["intent"] == len(writer.writes) == 3 + ended["failed"]
    assert ended["failed"] <= concurrency
    assert send(TREE, MemoryWriter(writer.held)).counts == {
        "applied": len(TREE) - 3,
        "skipped": 3,
        "failed": 0,
        "blocked": 0,
    }


def test_an_interrupt_leaves_a_journal_to_go_on_from(
    send: Callable[..., ApplyResult], journal_of: Callable[..., list[tuple[str, str, str]]]
) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    writer = MemoryWriter(seconds=0.005)
    with pytest.raises(KeyboardInterrupt):
        send(TREE, writer, settings=ApplySettings(concurrency=3), on_progress=interrupt)
    events = {name: [event for about, event, _ in journal_of() if about == name] for name, _, _ in journal_of()}
    assert all(each == ["intent", "applied"] for each in events.values())
    assert {path(name) for name in events} == set(writer.held)
    assert 5 <= len(events) < len(TREE)
    assert send(TREE, writer).applied == len(TREE) - len(events)
    assert writer.held == {each.levels: each.properties for each in TREE}


def test_an_error_that_nobody_expects_is_not_swallowed(send: Callable[..., ApplyResult]) -> None:
    def stumble(levels: Levels) -> None:
        raise RuntimeError("a fault of ours")

    writer = MemoryWriter(on_write=stumble)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        send(TREE, writer, settings=ApplySettings(concurrency=2))
    assert len(writer.writes) <= 2


@pytest.mark.proves("exit-4")
def test_a_target_that_refuses_everything_is_not_asked_forever(send: Callable[..., ApplyResult]) -> None:
    def refuse(levels: Levels) -> None:
        raise ObjectError("not allowed", where="memory")

    writer = MemoryWriter(on_write=refuse)
    many = [action(f"n{i:03}") for i in range(200)]
    with pytest.raises(ActionsFailed, match=r"the target refused 1\d actions.*not allowed"):
        send(many, writer, settings=ApplySettings(concurrency=2, failure_limit=10))
    assert len(writer.writes) < 30


def test_nothing_is_sent_that_cannot_be_written_down(spark: SparkSession, tmp_path: Path) -> None:
    writer = MemoryWriter()
    journal = Journal(tmp_path, "driver")
    (tmp_path / "full").symlink_to("/dev/full")
    with journal, (tmp_path / "full").open("ab", buffering=0) as full:
        journal._file.close()
        journal._file = full  # type: ignore[assignment]
        with pytest.raises(JournalUnwritable):
            apply(action_frame(spark, TREE), read_journal(spark, tmp_path), writer, journal, ApplySettings())
    assert writer.requests == []


# ---- the real server


@pytest.fixture(scope="module")
def proxy(iceberg_memory_server: IcebergRest) -> Iterator[CountingProxy]:
    with CountingProxy(iceberg_memory_server.uri) as proxy:
        yield proxy


@pytest.fixture
def rest(proxy: CountingProxy) -> Iterator[Any]:
    assert ICEBERG_REST.writer is not None
    writer = ICEBERG_REST.writer(IcebergRestOptions(uri=proxy.uri, max_retries=1), "target")
    proxy.reset()
    yield writer
    writer.close()


@pytest.mark.servers
def test_applying_twice_skips_the_second_time(
    send: Callable[..., ApplyResult], rest: Any, proxy: CountingProxy, unique: str
) -> None:
    dev, sub = f"dev{unique}", f"dev{unique}/sub"
    actions = [
        action(dev, comment="a:b|c", owner="ann"),
        Action(CREATE, path(sub), {"a b": "\u2028 %1F", "empty": ""}, ""),
    ]
    first = send(actions, rest, run="first")
    assert first.counts == {"applied": 2, "skipped": 0, "failed": 0, "blocked": 0}
    again = send(actions, rest, run="second")
    assert again.counts == {"applied": 0, "skipped": 2, "failed": 0, "blocked": 0}
    for each in actions:
        held = rest.namespace_properties(each.levels)
        assert {key: held[key] for key in each.properties} == each.properties
    proxy.reset()
    assert send(actions, rest, run="second").skipped == 2  # its journal says so: not even a question
    assert proxy.counts == Counter()


@pytest.mark.servers
@pytest.mark.proves("exit-4")
def test_a_server_that_goes_away_and_comes_back(
    send: Callable[..., ApplyResult], iceberg_memory_server: IcebergRest, unique: str
) -> None:
    many = [action(unique), *(action(f"{unique}/n{i:02}", k=str(i)) for i in range(40))]
    assert ICEBERG_REST.writer is not None
    with CountingProxy(iceberg_memory_server.uri) as between:
        writer = ICEBERG_REST.writer(IcebergRestOptions(uri=between.uri, max_retries=1), "target")

        def pull_the_plug(done: int, total: int) -> None:
            if done == 10:
                between.stop()

        with pytest.raises(ActionsFailed, match="stopped answering after"):
            send(many, writer, settings=ApplySettings(concurrency=4), on_progress=pull_the_plug)
        between.start()
        result = send(many, writer, settings=ApplySettings(concurrency=4))
        assert result.failed == 0
        assert result.applied + result.skipped == len(many)
        assert all(writer.namespace_properties(each.levels) is not None for each in many)
        writer.close()
