"""The sample estate as one thing: made once in a folder, started, stopped, kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from nestsync.embedded.process import lock_folder
from nestsync.embedded.sample import datasets, lakehouse, warehouse
from nestsync.embedded.servers import HiveMetastore, IcebergRest

Report = Callable[[str], None]


class Estate:
    """The three sources and the target, which is empty at first, in the folder `home`.

    What was made is kept: a second start finds it. What was left half made is made anew.
    """

    def __init__(self, home: Path) -> None:
        self.home = Path(home).absolute()
        self.warehouse = HiveMetastore(self.home / "warehouse")
        self.lakehouse = IcebergRest(self.home / "lakehouse")
        self.datasets = self.home / "datasets"
        self.target = IcebergRest(self.home / "target")
        self._lock: IO[bytes] | None = None

    def start(self, report: Report = lambda text: None) -> Self:
        """Start the servers, and fill the sources where that was not done yet; `report` hears what is being done.

        Raises `ServerFailed`, also when another estate runs on this folder, and `PrerequisiteMissing` or
        `JarsUnavailable` when the servers cannot be had.
        """
        self._lock = self._lock or lock_folder(self.home, "another sample estate")
        steps = (self._start_warehouse, self._start_lakehouse, self._fill_datasets, self.target.start)
        try:
            for server in (self.warehouse, self.lakehouse):  # one after the other: they share the jars' lock
                server.fetch(report)
            report("starting the catalogs")
            with ThreadPoolExecutor(len(steps)) as pool:
                for task in [pool.submit(step) for step in steps]:
                    task.result()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop the servers; what they hold stays."""
        servers = (self.warehouse, self.lakehouse, self.target)
        with ThreadPoolExecutor(len(servers)) as pool:
            list(pool.map(lambda server: server.stop(), servers))
        if self._lock:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _start_warehouse(self) -> None:
        made = _Made(self.warehouse.home)
        if not made:
            made.begin()
            warehouse.before_the_first_start(self.warehouse)
        self.warehouse.start()
        if not made:
            warehouse.fill(self.warehouse)
            made.finish()

    def _start_lakehouse(self) -> None:
        made = _Made(self.lakehouse.home)
        if not made:
            made.begin()
        self.lakehouse.start()
        if not made:
            lakehouse.fill(self.lakehouse)
            made.finish()

    def _fill_datasets(self) -> None:
        made = _Made(self.datasets)
        if not made:
            made.begin()
            datasets.fill(self.datasets)
            made.finish()


class _Made:
    """Whether a folder's content is complete: a file beside it says so (inside, it would be content)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.marker = folder.with_name(f"{folder.name}.made")

    def __bool__(self) -> bool:
        return self.marker.exists()

    def begin(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def finish(self) -> None:
        self.marker.touch()
