"""The sample estate: what a company that has grown for ten years would have in its catalogs.

`warehouse` is a Hive Metastore whose flat names encode a hierarchy, `lakehouse` an Iceberg REST catalog with nested
namespaces, `datasets` a folder of Lance datasets. The tables are real: each has its metadata, log or data on disk.
"""
