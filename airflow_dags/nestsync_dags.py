"""The DAGs of nestsync: for each configuration found in a folder, a nightly sync and a readiness assessment.

Airflow finds this file. What belongs to it is in `nestsync_airflow`, which imports Airflow and the standard library
alone: nestsync itself runs elsewhere, under ``spark-submit``. Environment variables say where things are:

- ``NESTSYNC_PROJECT``: the folder with ``jobs/``; by default, the one that holds this folder.
- ``NESTSYNC_CONF``: the folder with the configurations (``*.yaml``); by default ``conf`` in ``NESTSYNC_PROJECT``.
- ``NESTSYNC_PACKAGE``: the zip for ``spark-submit --py-files``; by default ``dist/nestsync.zip`` in
  ``NESTSYNC_PROJECT``. Empty where the jobs' Python has nestsync installed.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:  # this folder may lie anywhere below Airflow's folder of DAGs
    sys.path.insert(0, str(HERE))

from nestsync_airflow.factory import dags_of  # noqa: E402

PROJECT = Path(os.environ.get("NESTSYNC_PROJECT") or HERE.parent)
CONFIGURATIONS = Path(os.environ.get("NESTSYNC_CONF") or PROJECT / "conf")
PACKAGE = os.environ.get("NESTSYNC_PACKAGE", str(PROJECT / "dist" / "nestsync.zip"))

globals().update(dags_of(CONFIGURATIONS, PROJECT / "jobs", PACKAGE))
