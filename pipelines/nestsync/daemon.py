"""The daemon that forks Spark's Python workers, with the rooms already loaded.

Spark plans every read of a Python data source in a new worker, which would spend a second and more on imports
before its first request. `session` uses it where the workers run the same installation as the driver does.
"""

from __future__ import annotations

import pyarrow as pa  # noqa: F401  # every worker hands over Arrow batches
from pyspark import daemon

from nestsync.catalogs import room, systems

if __name__ == "__main__":
    for system in systems():
        room(system)
    daemon.manager()  # type: ignore[no-untyped-call]
