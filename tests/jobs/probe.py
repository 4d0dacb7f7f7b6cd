"""A job that says from where nestsync was imported: by the driver, and by the Python workers of the executors."""

import json
import sys

import nestsync
from nestsync.session import open_session


def _imported_from(_index, _rows):
    import nestsync

    yield nestsync.__file__


spark = open_session()
context = spark.sparkContext
table, root = sys.argv[1:3]
spark.range(3).write.format("delta").save(table)
lance = spark.read.format("nestsync.lance_dir").option("root", root).option("object", "tables")
found = {
    "master": context.master,
    "driver": nestsync.__file__,
    "workers": context.parallelize(range(4), 4).mapPartitionsWithIndex(_imported_from).collect(),
    "delta": spark.read.format("delta").load(table).count(),
    "tables": sorted(row["name"] for row in lance.load().collect()),
}
sys.stdout.write(json.dumps(found) + "\n")
sys.exit(6)
