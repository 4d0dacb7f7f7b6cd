"""The configuration files of the runs that are taken here."""

from __future__ import annotations

from pathlib import Path

from nestsync.embedded.proxy import CountingProxy
from nestsync.embedded.servers import IcebergRest


def flat_to_nested(folder: Path, source: IcebergRest, door: CountingProxy, more: str = "") -> Path:
    """A file in `folder` for a run from `source` to what is behind `door`; `more` is YAML, too."""
    file = folder / "nestsync.yaml"
    file.write_text(
        f"""
workspace: workspace
sources: [{{name: flat, system: iceberg_rest, uri: "{source.uri}", max_retries: 1}}]
target: {{name: nested, system: iceberg_rest, uri: "{door.uri}", max_retries: 1}}
property_keys: {{location: null}}
{more}
"""
    )
    return file
