"""The options of a Hive Metastore, as they stand in the configuration and on ``spark.read``."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from nestsync.catalogs.base import CatalogOptions

USUAL_PORT = 9083

Address = tuple[str, int]
"""Host and port."""


def addresses(uri: str) -> tuple[Address, ...]:
    """The metastores that `uri` names, in the order in which they are tried.

    Raises ValueError with a sentence for anything but ``thrift://host:port``, or several of them with commas
    between (as in Hive's own ``hive.metastore.uris``).
    """
    return tuple(_address(part.strip()) for part in uri.split(","))


def _address(text: str) -> Address:
    wanted = f"write thrift://host:port, with {USUAL_PORT} for the usual port"
    if not text:
        raise ValueError(f"an address is empty; {wanted}, and a comma between several")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"{text!r} is no address ({error}); {wanted}") from error
    if parts.scheme != "thrift":
        raise ValueError(f"{text!r} is not a thrift address; {wanted}")
    if not host or not port:
        raise ValueError(f"{text!r} lacks a {'port' if host else 'host'}; {wanted}")
    if parts.username is not None or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(f"{text!r} holds more than a host and a port; {wanted}")
    return host, port


def _checked(uri: str) -> str:
    addresses(uri)
    return uri


class HmsOptions(CatalogOptions):
    """How to reach one Hive Metastore 3.x. Times are in seconds; on ``spark.read``, lists are JSON text."""

    uri: Annotated[str, AfterValidator(_checked)] = Field(
        description="`thrift://host:port`; of several with commas between, each is tried until one can be reached."
    )
    catalogs: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="The catalogs to read; every catalog by default."
    )
    connect_timeout: float = Field(default=10.0, gt=0, le=3600, description="Seconds to wait for a connection.")
    read_timeout: float = Field(
        default=120.0, gt=0, le=3600, description="Seconds that one call may take, its whole answer included."
    )
    connections: int = Field(default=4, ge=1, le=64, description="Connections that one Spark task holds at most.")
    batch_size: int = Field(
        default=100,
        ge=1,
        le=5000,
        description="Tables that one call asks for; a metastore delivers a few hundred full tables a second.",
    )
    max_retries: int = Field(
        default=2,
        ge=0,
        le=10,
        description="How often a call is sent again after its connection broke; every call is a read.",
    )


def where(options: HmsOptions, source: str) -> str:
    """The source and its addresses, for messages."""
    return f"{source} at {', '.join(part.strip() for part in options.uri.split(','))}"
