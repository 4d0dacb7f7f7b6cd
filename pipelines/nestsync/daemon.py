"""The daemon that forks Spark's Python workers, with the rooms already loaded.

Spark plans every read of a Python data source in a new worker, which would spend a second and more on imports
before its first request. `session` uses it where the workers run the same installation as the driver does.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

# Spark puts its own package first as a zip. A worker forgets what it knows of every zip before every task, and takes
# half a second to read them again: more than many a task. The installed package is the same.
_unzipped = [entry for entry in sys.path if not entry.endswith(".zip")]
if PathFinder.find_spec("pyspark", _unzipped) and PathFinder.find_spec("py4j", _unzipped):
    sys.path[:] = _unzipped

import pyarrow as pa  # noqa: E402, F401  # every worker hands over Arrow batches
from pyspark import daemon  # noqa: E402

from nestsync.catalogs import room, systems  # noqa: E402

if __name__ == "__main__":
    for system in systems():
        room(system)
    daemon.manager()  # type: ignore[no-untyped-call]
