"""The options of an Iceberg REST catalog, as they stand in the configuration and on ``spark.read``."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from nestsync.catalogs.base import CatalogOptions, PathText


def header_safe(text: str) -> bool:
    """Whether `text` can be the value of an HTTP header: visible ASCII and blanks, at least one character."""
    return bool(text) and text.isascii() and text.isprintable()


def _headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        _header_name(name)
        if not value.isprintable() or value != value.strip() or max(value, default="") > "\xff":
            raise ValueError(f"the header {name} holds what no header can: visible Latin-1, without blanks around it")
    return headers


def _header_names(headers: dict[str, str]) -> dict[str, str]:
    for name in headers:
        _header_name(name)
    return headers


def _header_name(name: str) -> None:
    if not _HEADER_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a header: letters, digits and '-'")


_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""RFC 9110, 5.6.2."""


def _token_endpoint(text: str) -> str:
    try:
        parts = urlsplit(text)
        odd = parts.port == 0 or any(character.isspace() for character in parts.netloc)
        (parts.hostname or "").encode("idna" if not (parts.hostname or "").isascii() else "ascii")
    except ValueError as error:
        raise ValueError(f"it is no address ({error}); write http://host:port or https://host") from error
    if odd:
        raise ValueError("it is no address: a host has no blanks, and a port is a number from 1 to 65535")
    if parts.username is not None or parts.password is not None:
        raise ValueError("it must not hold a user or a password; name environment variables instead (credential_env)")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{text!r} must start with http:// or https:// and name a host")
    return text


def catalog_address(text: str) -> str:
    """`text` without slashes at its end. Raises `ValueError` where it is no address that ``/v1`` can follow."""
    if "?" in text or "#" in text:
        raise ValueError("it must end before any '?' or '#'")
    return _token_endpoint(text).rstrip("/")


class IcebergRestOptions(CatalogOptions):
    """How to reach one Iceberg REST catalog. Times are in seconds; on ``spark.read``, maps are JSON text."""

    model_config = ConfigDict(hide_input_in_errors=True)  # an address that is refused may hold a password

    uri: Annotated[str, AfterValidator(catalog_address)] = Field(
        description="The address of the catalog, up to and without `/v1`; must start with `http://` or `https://`."
    )
    warehouse: str | None = Field(default=None, description="The warehouse to ask `/v1/config` for.")
    prefix: str | None = Field(
        default=None,
        description="The path segment between `/v1/` and `/namespaces`; beats the server's default, not its override.",
    )
    token_env: str | None = Field(
        default=None, description="The name of an environment variable that holds a bearer token."
    )
    credential_env: str | None = Field(
        default=None,
        description="The name of an environment variable that holds `client_id:client_secret`, "
        "for the OAuth2 client credentials flow.",
    )
    oauth2_server_uri: Annotated[str, AfterValidator(_token_endpoint)] | None = Field(
        default=None, description="The OAuth2 token endpoint, whole; `/v1/oauth/tokens` of the catalog by default."
    )
    scope: str = Field(default="catalog", description="The OAuth2 scope to ask for.")
    headers: Annotated[dict[str, str], AfterValidator(_headers)] = Field(
        default_factory=dict, repr=False, description="Further HTTP headers, sent with each request to the catalog."
    )
    headers_env: Annotated[dict[str, str], AfterValidator(_header_names)] = Field(
        default_factory=dict,
        description="Further HTTP headers whose values are secret: header name to name of an environment variable.",
    )
    connect_timeout: float = Field(default=10.0, gt=0, le=3600, description="Seconds to wait for a connection.")
    read_timeout: float = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="Seconds to wait for the server's next byte; a whole answer may take ten times as long.",
    )
    max_retries: int = Field(
        default=4,
        ge=0,
        le=10,
        description="How often to try again after 429, 502, 503, 504, a broken connection or a time-out: within a "
        "quarter of a second, then 1, 4 and 10 seconds each, or when `Retry-After` says (30 seconds at most).",
    )
    connections: int = Field(
        default=4, ge=1, le=64, description="Requests in flight at once: in each Spark task, and in the writer."
    )
    verify: bool = Field(default=True, description="Whether to verify the server's TLS certificate.")
    ca_bundle: PathText | None = Field(
        default=None, description="A file of certificate authorities to trust instead of the system's."
    )
    page_size: int | None = Field(
        default=None,
        ge=1,
        description="The page size to ask for in lists; without it the server decides, and a page token is followed.",
    )

    @model_validator(mode="after")
    def _one_way_to_authenticate(self) -> IcebergRestOptions:
        if self.token_env and self.credential_env:
            raise ValueError("token_env and credential_env exclude each other: name one of them")
        if any(name.lower() == "authorization" for name in self.headers):
            raise ValueError("an Authorization header is a secret: use token_env, credential_env or headers_env")
        return self

    @property
    def identity(self) -> Hashable:
        """The address as far as its spelling matters, warehouse, prefix, and headers, which may name a realm."""
        parts = urlsplit(self.uri)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        sent = frozenset((self.headers | self.headers_env).items())
        return parts.scheme, parts.hostname, port, parts.path, self.warehouse, self.prefix, sent
