"""Where the key ``airflow`` of a configuration is found, and where it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from nestsync_airflow.blocks import Refused, block_of

SAID = {"schedule": "@daily", "tags": ["a"]}


@pytest.mark.parametrize(
    "text",
    [
        "airflow:\n  schedule: '@daily'\n  tags:\n  - a\nsources: []\n",
        "airflow:\n  schedule: '@daily'\n\n# a remark\n  tags: [a]\n",
        "\ufeffairflow :\r\n  schedule: '@daily'\r\n  tags: [a]\r\nsources: []\r\n",
        '"airflow":\n  schedule: "@daily"\n  tags: [a]\n',
        "'airflow': {schedule: '@daily', tags: [a]}\n",
        "airflow: {schedule: '@daily', tags: [a]}\nsources: [\n",  # a mistake elsewhere
        "airflow: {\n  schedule: '@daily',\n  tags: [a],\n}\nsources: []\n",
        "airflow: {\nschedule: '@daily', tags: [\na\n]\n}\nsources: []\n",
        "{sources: [], airflow: {schedule: '@daily', tags: [a]}}\n",
        '{\n"sources": [],\n"airflow": {"schedule": "@daily", "tags": ["a"]},\n"strategy": "upsert"\n}\n',
        "  sources: []\n  airflow:\n    schedule: '@daily'\n    tags: [a]\n",
        "? airflow\n: schedule: '@daily'\n  tags: [a]\nsources: []\n",
        "nightly: &nightly {schedule: '@daily', tags: [a]}\nairflow: *nightly\n",
        "nightly: &nightly {schedule: '@daily'}\nairflow:\n  <<: *nightly\n  tags: [a]\n",
        "<<: {airflow: {schedule: '@daily', tags: [a]}}\nsources: []\n",
        "---\nairflow: {schedule: '@daily', tags: [a]}\n...\n",
    ],
)
def test_the_block_is_found_however_it_is_written(text: str, tmp_path: Path) -> None:
    assert _read(text, tmp_path) == SAID


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sources: []\n",
        "sources: [{name: airflow}]\n",
        "mapping: {airflow: {schedule: '@daily'}}\n",
        "workspace: /opt/airflow\n# airflow: {schedule: '@daily'}\n",
        "- airflow\n",
        "airflow:8080\n",
    ],
)
def test_a_file_without_the_key_says_nothing(text: str, tmp_path: Path) -> None:
    assert _read(text, tmp_path) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("airflow:\n  schedule: x\nsources: []\nairflow: {}\n", r"more than once \(lines 1, 4\)"),
        ("airflow: {}\n'airflow': {}\n", r"more than once \(lines 1, 2\)"),
        ("{airflow: {},\n airflow: {}}\n", r"more than once \(lines 1, 2\)"),
        ("sources: []\nairflow: {schedule: [}\n", r"not YAML \(line 2: .+\)\nhint: write it as a line of its own"),
        ("{airflow: {}, sources: [}\n", r"not YAML \(line 1: "),
        ("airflow: *nightly\n", r"not YAML \(line 1: found undefined alias"),
        ("airflow: {schedule: 2026-13-45}\n", r"not YAML \(ValueError\)"),
    ],
)
def test_what_cannot_be_made_out_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=said):
        _read(text, tmp_path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff")
    for file in ("a.yaml", "none.yaml"):
        with pytest.raises(Refused, match="it cannot be read: "):
            block_of(tmp_path / file)


def _read(text: str, folder: Path) -> object:
    file = folder / "a.yaml"
    file.write_text(text, encoding="utf-8", newline="")
    return block_of(file)
