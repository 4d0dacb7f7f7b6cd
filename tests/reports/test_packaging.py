"""The report's own files load from a zip, as `spark-submit --py-files` ships them."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import nestsync

PROBE = """
import sys
sys.path.insert(0, sys.argv[1])
from nestsync.reports import html, summary, templates
assert ".zip" in html.__file__, html.__file__
assert summary.schema()["title"] == "nestsync summary"
from tests.reports import samples
page = html.render(samples.blocked())
assert "13 names would become other names" in page
print(len(page))
"""


@pytest.mark.system
def test_templates_load_from_a_zip(tmp_path: Path) -> None:
    package = Path(nestsync.__file__).parent
    archive = tmp_path / "nestsync.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for file in package.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                zipped.write(file, Path("nestsync") / file.relative_to(package))
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(archive)], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
