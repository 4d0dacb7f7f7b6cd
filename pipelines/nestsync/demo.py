"""``nestsync demo``: the whole flow on real catalogs that come along, in three passes.

The first pass meets what stands in the way and writes nothing, the second has the resolved configuration and
writes, the third finds nothing left to do. Proxies at the servers' doors count the write requests.
"""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from string import Template

from nestsync import runner
from nestsync.config import load
from nestsync.embedded.proxy import CountingProxy
from nestsync.embedded.sample.estate import Estate
from nestsync.errors import ConfigurationError
from nestsync.jars import java
from nestsync.outcome import BrokenOff, RunOutcome
from nestsync.session import open_session
from nestsync.ui import Ui

STAGES = ("inventory", "check", "plan", "apply", "verify", "report")
SOURCES = ("warehouse", "lakehouse")
TARGET = "target"
NOT_YET = {"warehouse": "thrift://127.0.0.1:1", "lakehouse": "http://127.0.0.1:1", TARGET: "http://127.0.0.1:1"}
"""What stands for the addresses before the servers have theirs."""


@dataclass(frozen=True, slots=True)
class DemoPass:
    """One pass: its configuration, and what it should end with."""

    title: str
    configuration: str
    exit_code: int
    may_write: bool


PASSES = (
    DemoPass("as first configured: the findings stop it", "first", 3, may_write=False),
    DemoPass("with the resolved configuration: written and verified", "resolved", 0, may_write=True),
    DemoPass("the same again: nothing is left to do", "resolved", 0, may_write=False),
)


def default_home() -> Path:
    """Where the demo is kept unless somebody says otherwise: ``nestsync/demo`` in the user's data folder."""
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "nestsync" / "demo"


def run(*, home: Path | None, reset: bool, ui: Ui) -> RunOutcome:
    """Run the three passes in `home` and show what happened; what comes back is the last pass's outcome.

    Its exit code is 0 when every pass ended as it should and no source was written to, 1 otherwise. What was made
    is kept in `home`: a later demo finds the target reconciled, and no pass writes anything.
    """
    place = (home or default_home()).absolute()
    if reset:
        _forget(place)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"the demo cannot be kept there: {error.strerror}", where=str(place), hint="name another folder with --home"
        ) from error
    with _catalogs(place, ui) as proxies:
        results = [_take(number, demo, place, proxies, ui) for number, demo in enumerate(PASSES, 1)]
    ui.table(
        "",
        ("pass", "exit", "seconds", "namespaces written", "writes at the target", "writes at the sources"),
        [r.row for r in results],
    )
    return _judged(results)


def _forget(place: Path) -> None:
    """Delete what earlier demos left in `place`, when there is a Java to make it anew with.

    Raises `ConfigurationError` for a folder that is no demo's, or cannot be deleted.
    """
    java()
    if not place.is_dir() or not any(place.iterdir()):
        return
    hint = "name the folder of a demo with --home, or empty this one yourself"
    if not (place / "conf" / f"{PASSES[0].configuration}.yaml").exists():
        raise ConfigurationError("no demo was kept there; nothing was deleted", where=str(place), hint=hint)
    try:
        shutil.rmtree(place.resolve())
    except OSError as error:
        raise ConfigurationError(f"it cannot be deleted: {error.strerror}", where=str(place), hint=hint) from error


@contextmanager
def _catalogs(place: Path, ui: Ui) -> Iterator[dict[str, CountingProxy]]:
    """The running estate behind counting proxies, and configurations with their addresses in `place`."""
    ui.stage_started("catalogs", "preparing the embedded catalogs, and Spark")
    started = time.monotonic()
    with ExitStack() as stack:
        estate = Estate(place / "catalogs")
        stack.callback(estate.stop)
        starting = stack.enter_context(ThreadPoolExecutor(1)).submit(
            estate.start, lambda text: ui.progress(0, None, text)
        )
        _start_spark(place)
        starting.result()
        servers = {"warehouse": estate.warehouse, "lakehouse": estate.lakehouse, TARGET: estate.target}
        proxies = {name: stack.enter_context(CountingProxy(server.uri)) for name, server in servers.items()}
        addresses = {name: proxy.uri for name, proxy in proxies.items()} | {"datasets": str(estate.datasets)}
        _write_configurations(place / "conf", addresses)
        ui.note(f"catalogs and Spark ready after {time.monotonic() - started:.1f} s, kept in {place}")
        yield proxies


def _start_spark(place: Path) -> None:
    """Start the session that all passes share; the servers' addresses are not known yet, and not needed for that."""
    folder = place / "conf"
    runner.prepare(STAGES)
    _write_configurations(folder, NOT_YET | {"datasets": str(folder)})
    config = load(folder / f"{PASSES[0].configuration}.yaml")
    open_session(config.spark.master, config.spark.conf, log=config.workspace / "logs" / "spark.log")


def _write_configurations(folder: Path, addresses: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted({demo.configuration for demo in PASSES}):
        template = files("nestsync.embedded.sample") / "conf" / f"{name}.yaml"
        text = Template(template.read_text(encoding="utf-8")).substitute(addresses)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _Result:
    number: int
    demo: DemoPass
    outcome: RunOutcome
    seconds: float
    target_writes: int
    source_writes: int

    @property
    def as_it_should(self) -> bool:
        wrote_only_if_allowed = self.demo.may_write or self.target_writes == 0
        return self.outcome.exit_code == self.demo.exit_code and wrote_only_if_allowed and self.source_writes == 0

    @property
    def row(self) -> tuple[object, ...]:
        applied = self.outcome.counts("apply").get("applied", 0)
        return (
            self.number,
            self.outcome.exit_code,
            f"{self.seconds:.1f}",
            applied,
            self.target_writes,
            self.source_writes,
        )


def _take(number: int, demo: DemoPass, place: Path, proxies: dict[str, CountingProxy], ui: Ui) -> _Result:
    for proxy in proxies.values():
        proxy.reset()
    configuration = place / "conf" / f"{demo.configuration}.yaml"
    ui.note(f"pass {number} of {len(PASSES)}, {demo.title} ({configuration})")
    started = time.monotonic()
    try:
        outcome = runner.run(load(configuration), "run", STAGES, None, None, ui, lambda question: True)
    except BrokenOff as broken:  # its catalogs stop with the demo: the run alone could not go on
        again = shlex.join(("nestsync", "demo", "--home", str(place)))
        raise BrokenOff(replace(broken.outcome, command="demo", next_steps=(again,))) from broken.__cause__
    if outcome.error is not None:  # no later pass could go better
        raise outcome.error
    seconds = time.monotonic() - started
    ui.note(f"exit {outcome.exit_code}: {outcome.verdict}")
    for step in outcome.next_steps:
        ui.note(f"  {step}")
    return _Result(
        number=number,
        demo=demo,
        outcome=outcome,
        seconds=seconds,
        target_writes=len(proxies[TARGET].writes),
        source_writes=sum(len(proxies[name].writes) for name in SOURCES),
    )


def _judged(results: list[_Result]) -> RunOutcome:
    last = results[-1].outcome
    wrong = [result for result in results if not result.as_it_should]
    if not wrong:
        return replace(last, command="demo", verdict=f"All passes went as they should. {last.verdict}", stages=())
    named = "; ".join(
        f"pass {result.number} ended with exit {result.outcome.exit_code}, {result.target_writes} writes at the "
        f"target and {result.source_writes} at the sources: {result.outcome.verdict}"
        for result in wrong
    )
    return replace(last, command="demo", exit_code=1, verdict=f"Not as it should be: {named}", stages=())


__all__ = ["PASSES", "DemoPass", "default_home", "run"]
