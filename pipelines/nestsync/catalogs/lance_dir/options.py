"""Where a folder of Lance datasets is, and how it is reached."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from pydantic import ConfigDict, Field, field_validator, model_validator

from nestsync.catalogs.base import CatalogOptions, PathText, secret

_SECRET_OPTION = re.compile(r"secret|token|password|sas|account_key|service_account_key|private_key", re.IGNORECASE)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://|file:/")
_BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PATH_SAFE = "/~:@!$&'()*+,;="  # what RFC 3986 leaves alone in a path


class LanceDirOptions(CatalogOptions):
    """Where the folder is. On ``spark.read``, maps are JSON text."""

    model_config = ConfigDict(hide_input_in_errors=True)  # a root that is refused may hold a password

    root: PathText = Field(
        min_length=1,
        description="The folder whose sub-folders are the tables: a path, or a percent-encoded URI (`s3://`, `gs://`, "
        "`abfss://`, `hdfs://`, or any scheme of an installed fsspec package).",
    )
    storage_options: dict[str, str] = Field(
        default_factory=dict,
        description="Lance's own storage options (`aws_region`, `aws_endpoint`, `allow_http` ...); fsspec's for a "
        "scheme that only fsspec knows. No secrets.",
    )
    storage_options_env: dict[str, str] = Field(
        default_factory=dict,
        description="Storage options whose values are secret: option name to name of an environment variable.",
    )
    check_files: bool = Field(
        default=True,
        description="Whether to look for the data files that a table names, which takes one listing a table.",
    )

    @field_validator("root")
    @classmethod
    def _root_is_clear(cls, root: str) -> str:
        parse_root(root)
        return root

    @model_validator(mode="after")
    def _no_secret_values(self) -> LanceDirOptions:
        for option in self.storage_options:
            if _SECRET_OPTION.search(option):
                raise ValueError(
                    f"storage_options holds {option!r}, which is a secret; "
                    f"name the environment variable that holds it in storage_options_env"
                )
        if both := sorted(self.storage_options.keys() & self.storage_options_env.keys()):
            raise ValueError(f"{', '.join(both)} is both in storage_options and in storage_options_env")
        return self


@dataclass(frozen=True)
class Root:
    """A namespace directory: its scheme, its path as the file system knows it, and its URI."""

    scheme: str
    path: str
    """Decoded; absolute for ``file``, ``bucket/prefix`` for an object store."""
    uri: str
    """Percent-encoded once; no slash at the end but that of ``file:///``."""

    @property
    def local(self) -> bool:
        return self.scheme == "file"

    def location(self, name: str) -> str:
        """The URI of the sub-folder `name`.

        The name is percent-encoded once: Lance decodes a URI once and cuts it at a bare ``?`` or ``#``, so an
        encoded name opens this folder and no other (tried with pylance 14.0 on local paths and on S3).
        """
        return f"{self.uri.removesuffix('/')}/{quote(name, safe='', errors='surrogateescape')}"


@dataclass(frozen=True)
class Access:
    """What opens the folder, secrets resolved and hidden from `repr`."""

    root: Root
    storage_options: dict[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)

    @property
    def address(self) -> str:
        """The root, and the endpoint that serves it where one is configured."""
        endpoint = next((text for name, text in self.storage_options.items() if "endpoint" in name.lower()), None)
        return f"{self.root.uri} ({endpoint})" if endpoint else self.root.uri

    @classmethod
    def of(cls, options: LanceDirOptions, source: str) -> Access:
        """Resolves the environment variables; on the driver. Raises `ConfigurationError` for one that is not set."""
        resolved = {
            option: secret(variable, where=f"{source}: storage_options_env.{option}") or ""
            for option, variable in options.storage_options_env.items()
        }
        return cls(parse_root(options.root), options.storage_options | resolved, tuple(resolved.values()))


def parse_root(text: str) -> Root:
    """Where `text` leads. Raises ValueError with a sentence where it cannot be said for sure."""
    if "\0" in text:
        raise ValueError("root holds a NUL character")
    if not _URI.match(text):
        path = os.path.abspath(os.path.expanduser(text))
        return Root("file", path, f"file://{quote(path, safe=_PATH_SAFE, errors='surrogateescape')}")
    for character in "?#":
        if character in text:
            raise ValueError(
                f"root {text!r} holds {character!r}, at which URIs are cut; write %{ord(character):02X} for it"
            )
    if _BARE_PERCENT.search(text):
        raise ValueError(f"root {text!r} holds a bare '%'; write %25 for it")
    parts = urlsplit(text)
    if parts.password is not None:
        raise ValueError("root holds a password; name the environment variable that holds it in storage_options_env")
    scheme, path = parts.scheme.lower(), unquote(parts.path, errors="strict").rstrip("/")
    if scheme == "file":
        if parts.netloc not in ("", "localhost"):
            raise ValueError(f"root {text!r} names the host {parts.netloc!r}; a file URI is file:///path")
        return parse_root(path or "/")
    encoded = quote(path, safe=_PATH_SAFE)
    return Root(scheme, f"{parts.netloc}{path}", f"{scheme}://{parts.netloc}{encoded}")
