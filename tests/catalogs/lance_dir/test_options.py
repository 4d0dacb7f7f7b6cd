"""Where a root leads, and what is no root."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nestsync.catalogs.lance_dir import ROOM, LanceDirOptions
from nestsync.catalogs.lance_dir.dataset import reason
from nestsync.catalogs.lance_dir.options import Access, Root, parse_root
from nestsync.errors import ConfigurationError

ROOTS = [
    ("/data/lake", "file", "/data/lake", "file:///data/lake"),
    ("/data/lake/", "file", "/data/lake", "file:///data/lake"),
    ("/data/../lake", "file", "/lake", "file:///lake"),
    ("/", "file", "/", "file:///"),
    ("/a b%20c?d#e", "file", "/a b%20c?d#e", "file:///a%20b%2520c%3Fd%23e"),
    ("file:///a%20b%2520c", "file", "/a b%20c", "file:///a%20b%2520c"),
    ("file:/lake", "file", "/lake", "file:///lake"),
    ("FILE://localhost/lake", "file", "/lake", "file:///lake"),
    ("s3://bucket/a/b", "s3", "bucket/a/b", "s3://bucket/a/b"),
    ("s3://bucket", "s3", "bucket", "s3://bucket"),
    ("s3://bucket/", "s3", "bucket", "s3://bucket"),
    ("s3://bucket/a%20b%23%C3%A9", "s3", "bucket/a b#é", "s3://bucket/a%20b%23%C3%A9"),
    ("s3://bucket/a b/é", "s3", "bucket/a b/é", "s3://bucket/a%20b/%C3%A9"),
    ("abfss://box@account.example/x", "abfss", "box@account.example/x", "abfss://box@account.example/x"),
    ("memory://a/b", "memory", "a/b", "memory://a/b"),
]


@pytest.mark.parametrize(("text", "scheme", "path", "uri"), ROOTS, ids=[case[0] for case in ROOTS])
def test_a_root_is_a_path_and_a_uri(text: str, scheme: str, path: str, uri: str) -> None:
    assert parse_root(text) == Root(scheme, path, uri)


def test_a_relative_root_starts_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    assert parse_root("lake").path == str(tmp_path / "lake")
    assert parse_root("~/lake").path == "/home/me/lake"


REFUSED = [
    ("s3://bucket/a?b", "holds '?', at which URIs are cut; write %3F"),
    ("file:///a#b", "holds '#', at which URIs are cut; write %23"),
    ("s3://bucket/100%", "holds a bare '%'; write %25"),
    ("s3://bucket/%zz", "holds a bare '%'; write %25"),
    ("s3://bucket/%ff", "can't decode byte 0xff"),
    ("file://host/lake", "names the host 'host'"),
    ("s3://me:hunter2@bucket/x", "root holds a password"),
    ("/a\0b", "NUL"),
    ("", "at least 1 character"),
]


@pytest.mark.parametrize(("text", "said"), REFUSED, ids=[repr(case[0]) for case in REFUSED])
def test_a_root_that_could_lead_elsewhere_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValidationError, match="1 validation error") as caught:
        LanceDirOptions(root=text)
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1))
def test_a_location_leads_back_to_its_folder_and_to_no_other(name: str) -> None:
    location = parse_root("/lake").location(name)
    parts = urlsplit(location)
    assert (parts.query, parts.fragment) == ("", "")
    assert unquote(parts.path) == f"/lake/{name}"
    assert location.isascii()
    if name not in (".", ".."):
        assert parse_root(location).path == f"/lake/{name}"


def test_options_come_back_from_spark() -> None:
    options = LanceDirOptions(
        root="s3://b/x", storage_options={"aws_region": "eu"}, storage_options_env={"aws_secret_access_key": "V"}
    )
    assert LanceDirOptions.from_spark(options.to_spark()) == options
    assert LanceDirOptions.from_spark({"root": "/x", "check_files": "false"}).check_files is False


@pytest.mark.parametrize("option", ["aws_secret_access_key", "aws_session_token", "azure_storage_account_key", "sas"])
def test_a_secret_is_named_and_never_written(option: str) -> None:
    with pytest.raises(ValidationError, match=f"holds '{option}', which is a secret.*storage_options_env"):
        LanceDirOptions(root="s3://b", storage_options={option: "x"})


def test_an_option_is_given_once() -> None:
    with pytest.raises(ValidationError, match="aws_region is both in storage_options and in storage_options_env"):
        LanceDirOptions(root="s3://b", storage_options={"aws_region": "x"}, storage_options_env={"aws_region": "V"})


def test_a_secret_travels_with_the_reader_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NESTSYNC_TEST_KEY", "hunter2")
    options = LanceDirOptions(root="s3://b/x", storage_options_env={"aws_secret_access_key": "NESTSYNC_TEST_KEY"})
    reader = pickle.loads(pickle.dumps(ROOM.reader(options, "lake")))
    monkeypatch.delenv("NESTSYNC_TEST_KEY")
    assert reader.access.storage_options == {"aws_secret_access_key": "hunter2"}
    assert "hunter2" not in repr(reader) + repr(options) + str(options.to_spark())


def test_what_lance_says_is_shown_without_secrets_and_without_its_own_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NESTSYNC_TEST_KEY", "hunter2")
    options = LanceDirOptions(root="s3://b", storage_options_env={"aws_secret_access_key": "NESTSYNC_TEST_KEY"})
    error = ValueError("key=hunter2\nwas refused, /home/someone/rust/lance-io/src/utils.rs:224:20")
    assert reason(error, Access.of(options, "lake")) == "key=***\\x0awas refused"


def test_a_variable_that_is_not_set_is_named() -> None:
    assert "NESTSYNC_TEST_KEY" not in os.environ
    options = LanceDirOptions(root="s3://b/x", storage_options_env={"aws_session_token": "NESTSYNC_TEST_KEY"})
    with pytest.raises(ConfigurationError, match=r"lake: storage_options_env\.aws_session_token.*NESTSYNC_TEST_KEY"):
        ROOM.reader(options, "lake")


@pytest.mark.parametrize("uri", ["nothere://x/y", "s3a://bucket/x"])
def test_a_scheme_that_nobody_knows_is_a_configuration_error(uri: str) -> None:
    reader = ROOM.reader(LanceDirOptions(root=uri), "lake")
    with pytest.raises(ConfigurationError, match=f"{uri}: no file system can be opened for the scheme"):
        reader.units(tables=True, parallelism=1)


@pytest.mark.parametrize("text", ["30", "1m", "fast"])
def test_a_time_out_that_is_not_in_seconds_is_a_configuration_error(text: str) -> None:
    options = LanceDirOptions(root="s3://box", storage_options={"timeout": text, "aws_region": "us-east-1"})
    with pytest.raises(ConfigurationError, match=f"'timeout' is '{text}'; write it in seconds"):
        ROOM.reader(options, "lake").units(tables=True, parallelism=1)
