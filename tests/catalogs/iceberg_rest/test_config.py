"""Options, and what /v1/config adds to them: prefix, warehouse, separator, address."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from nestsync.catalogs.iceberg_rest import ROOM, IcebergRestOptions
from nestsync.catalogs.iceberg_rest.server import Server
from nestsync.errors import CatalogUnreachable, ConfigurationError
from tests.catalogs.iceberg_rest.faulty_server import FaultyServer, Tree, config, namespaces, reply
from tests.catalogs.iceberg_rest.reading import read

Options = Callable[..., IcebergRestOptions]


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("uri", "localhost:8181", "must start with http:// or https://"),
        ("uri", "ftp://host", "must start with http:// or https://"),
        ("uri", "http://", "must start with http:// or https:// and name a host"),
        ("uri", "http://host:99999", "it is no address (Port out of range 0-65535"),
        ("uri", "http://host:abc", "it is no address (Port could not be cast to integer"),
        ("uri", "http://host:0", "a port is a number from 1 to 65535"),
        ("uri", "http://a b", "a host has no blanks"),
        ("uri", "http://me:pw@host", "must not hold a user or a password"),
        ("uri", "http://me:pw@host:abc", "it is no address"),
        ("uri", "ftp://me:pw@host", "must not hold a user or a password"),
        ("uri", "http://host/?x=1", "must end before any '?' or '#'"),
        ("uri", "http://host/#x", "must end before any '?' or '#'"),
        ("oauth2_server_uri", "host/token", "must start with http:// or https://"),
        ("connect_timeout", 0, "greater than 0"),
        ("read_timeout", "soon", "valid number"),
        ("max_retries", -1, "greater than or equal to 0"),
        ("connections", 0, "greater than or equal to 1"),
        ("page_size", 0, "greater than or equal to 1"),
        ("token", "abc", "Extra inputs are not permitted"),
        ("headers", {"authorization": "Basic x"}, "an Authorization header is a secret"),
    ],
)
@pytest.mark.proves("exit-2")
def test_an_option_that_makes_no_sense_is_refused(option: str, value: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(said)) as caught:
        IcebergRestOptions(**{"uri": "http://host", option: value})
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "same"),
    [
        pytest.param(
            {"uri": "http://host:80/catalog/"}, True, id="a port that goes without saying, a slash at the end"
        ),
        pytest.param({"uri": "HTTP://HOST/catalog"}, True, id="capitals"),
        pytest.param({"uri": "http://host/catalog", "token_env": "OTHER"}, True, id="somebody else"),
        pytest.param({"uri": "http://host/Catalog"}, False, id="another path"),
        pytest.param({"uri": "http://host:81/catalog"}, False, id="another port"),
        pytest.param({"uri": "https://host/catalog"}, False, id="another scheme"),
        pytest.param({"uri": "http://host/catalog", "warehouse": "w"}, False, id="a warehouse"),
        pytest.param({"uri": "http://host/catalog", "prefix": "p"}, False, id="a prefix"),
        pytest.param({"uri": "http://host/catalog", "headers": {"Polaris-Realm": "r"}}, False, id="a realm"),
        pytest.param({"uri": "http://host/catalog", "headers_env": {"Realm": "V"}}, False, id="a secret realm"),
    ],
)
def test_one_catalog_is_known_however_its_address_is_spelled(options: dict[str, Any], same: bool) -> None:
    assert (IcebergRestOptions(**options).identity == IcebergRestOptions(uri="http://host/catalog").identity) is same


def test_one_way_to_authenticate_is_enough() -> None:
    with pytest.raises(ValidationError, match="token_env and credential_env exclude each other"):
        IcebergRestOptions(uri="http://host", token_env="A", credential_env="B")


@pytest.mark.proves("exit-2")
def test_sparks_options_are_refused_by_name() -> None:
    with pytest.raises(
        ConfigurationError, match=r"uri: .*must start with http:// or https://.*the options are ca_bundle"
    ):
        IcebergRestOptions.from_spark({"uri": "host"})


def test_options_survive_sparks_text() -> None:
    options = IcebergRestOptions(
        uri="https://host/iceberg/",
        headers={"X-Realm": "Ä {b}"},
        headers_env={"X-Key": "KEY"},
        read_timeout=1.5,
        max_retries=0,
        verify=False,
        page_size=7,
    )
    assert options.uri == "https://host/iceberg"
    assert IcebergRestOptions.from_spark(options.to_spark()) == options


@pytest.mark.parametrize(
    ("option", "said"),
    [
        pytest.param({"headers": {"a b": "x"}}, "'a b' is no name of a header", id="blank-in-name"),
        pytest.param({"headers": {"": "x"}}, "'' is no name of a header", id="no-name"),
        pytest.param({"headers_env": {"a:b": "X"}}, "'a:b' is no name of a header", id="colon-in-secret's-name"),
        pytest.param({"headers": {"a": " x"}}, "the header a holds what no header can", id="blank-before"),
        pytest.param({"headers": {"a": "x\ny"}}, "the header a holds what no header can", id="line-break"),
        pytest.param({"headers": {"a": "€"}}, "the header a holds what no header can", id="beyond-latin-1"),
    ],
)
def test_a_header_that_cannot_be_sent_is_refused_by_name(option: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        IcebergRestOptions(uri="http://host", **option)


def test_every_option_is_documented() -> None:
    assert [name for name, field in IcebergRestOptions.model_fields.items() if not field.description] == []


PREFIXES = [
    pytest.param(None, {}, {}, "/v1/namespaces", id="none"),
    pytest.param(None, {"prefix": "d"}, {}, "/v1/d/namespaces", id="default"),
    pytest.param("ours", {"prefix": "d"}, {}, "/v1/ours/namespaces", id="ours beats the default"),
    pytest.param("ours", {"prefix": "d"}, {"prefix": "o"}, "/v1/o/namespaces", id="the override beats ours"),
    pytest.param(None, {}, {"prefix": "catalogs/main"}, "/v1/catalogs/main/namespaces", id="several segments"),
    pytest.param(None, {}, {"prefix": "/a%20b/"}, "/v1/a%20b/namespaces", id="encoded already"),
    pytest.param(None, {}, {"prefix": "a b"}, "/v1/a%20b/namespaces", id="not encoded"),
]


@pytest.mark.parametrize(("ours", "defaults", "overrides", "asked"), PREFIXES)
def test_the_prefix_is_the_servers_last_word(
    server: FaultyServer,
    options: Options,
    ours: str | None,
    defaults: dict[str, str],
    overrides: dict[str, str],
    asked: str,
) -> None:
    server.get("/v1/config", reply({"defaults": defaults, "overrides": overrides}))
    server.get(asked, namespaces())
    read(options(prefix=ours))
    assert server.targets() == ["/v1/config", asked]


def test_the_warehouse_is_asked_for(server: FaultyServer, options: Options) -> None:
    server.get("/v1/config?warehouse=s3%3A%2F%2Fa%20b%2B", config()).get("/v1/namespaces", namespaces())
    read(options(warehouse="s3://a b+"))
    assert server.targets()[0] == "/v1/config?warehouse=s3%3A%2F%2Fa%20b%2B"


def test_the_server_may_send_us_to_another_address(server: FaultyServer, options: Options) -> None:
    server.get("/v1/config", config(uri=f"{server.uri}/eu/")).get("/eu/v1/namespaces", namespaces())
    read(options())
    assert server.targets() == ["/v1/config", "/eu/v1/namespaces"]


SEPARATORS = [
    pytest.param(None, "\x1f", "/v1/namespaces?parent=a%1Fb.c", "/v1/namespaces/a%1Fb.c", id="default"),
    pytest.param("%1F", "\x1f", "/v1/namespaces?parent=a%1Fb.c", "/v1/namespaces/a%1Fb.c", id="%1F"),
    pytest.param("%3A", ":", "/v1/namespaces?parent=a%3Ab.c", "/v1/namespaces/a%3Ab.c", id="%3A"),
    pytest.param(":", ":", "/v1/namespaces?parent=a%3Ab.c", "/v1/namespaces/a%3Ab.c", id="not encoded"),
]


@pytest.mark.parametrize(("advertised", "separator", "listed", "described"), SEPARATORS)
def test_the_advertised_separator_joins_levels(
    server: FaultyServer,
    options: Options,
    advertised: str | None,
    separator: str,
    listed: str,
    described: str,
) -> None:
    server.get("/v1/config", config(**({} if advertised is None else {"namespace_separator": advertised})))
    server.get("/v1/namespaces", namespaces(["a"])).get("/v1/namespaces?parent=a", namespaces(["a", "b.c"]))
    read(options(), tables=False)
    assert {listed, described} <= set(server.targets())
    assert ROOM.separator is not None
    assert ROOM.separator(options(), "here") == separator


def test_an_advertised_dot_goes_out_encoded(server: FaultyServer, options: Options) -> None:
    server.get("/v1/config", config(namespace_separator="%2E"))
    server.get("/v1/namespaces", namespaces(["a"])).get("/v1/namespaces?parent=a", namespaces(["a", "b"]))
    read(options(), tables=False)
    assert "/v1/namespaces/a%2Eb" in server.targets()


ON_THE_WIRE = [
    (("a b",), "a%20b"),
    (("a+b",), "a%2Bb"),
    (("a/b",), "a%2Fb"),
    (("a%20b",), "a%2520b"),
    (("a?b#c&d=e",), "a%3Fb%23c%26d%3De"),
    (("é",), "%C3%A9"),
    (("e\u0301",), "e%CC%81"),
    (("🧊",), "%F0%9F%A7%8A"),
    (("a\x00b\n",), "a%00b%0A"),
    (("~._-",), "~._-"),
    (("a..b", "."), "a..b%1F."),
]


@pytest.mark.parametrize(("levels", "text"), ON_THE_WIRE, ids=[text for _, text in ON_THE_WIRE])
def test_levels_go_out_encoded_once_to_the_byte(
    server: FaultyServer, options: Options, levels: tuple[str, ...], text: str
) -> None:
    closed = [levels[:depth] for depth in range(1, len(levels) + 1)]
    server.fallback = Tree({levels: {"k": "v"} for levels in closed})
    rows = read(options(), tables=False)
    assert [row.levels for row in rows if row.properties == {"k": "v"}] == closed
    assert {f"/v1/namespaces/{text}", f"/v1/namespaces?parent={text}"} <= set(server.targets())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"defaults": {"prefix": 5}}, "the defaults hold a value that is no text, under 'prefix'"),
        ({"overrides": []}, "the overrides are no object"),
        ({"overrides": {"uri": "nowhere"}}, "the server overrides its uri with 'nowhere', which is no address"),
        *(
            ({"overrides": {"uri": address}}, f"the server overrides its uri with {address!r}, which is no address")
            for address in ("http://[::1", "http://h:99999", "http://h:port", "http://a b:1", "http://h?x=y")
        ),
        ({"overrides": {"namespace-separator": ""}}, "the server advertises the separator ''"),
        *(
            ({"overrides": {key: "http://\ud800"}}, f"the overrides hold a lone surrogate under {key!r}")
            for key in ("uri", "prefix", "namespace-separator")
        ),
    ],
)
def test_a_configuration_that_makes_no_sense_is_unreachable(
    server: FaultyServer, options: Options, content: Any, said: str
) -> None:
    server.get("/v1/config", reply(content))
    with pytest.raises(CatalogUnreachable) as caught:
        read(options())
    assert said in str(caught.value)


def test_settings_of_others_may_hold_anything(server: FaultyServer, options: Options) -> None:
    server.get("/v1/config", reply({"defaults": {"x": 5, "prefix": None}, "overrides": {"y": {"z": True}}}))
    server.get("/v1/namespaces", namespaces())
    assert read(options()) == []


def test_null_maps_are_empty(server: FaultyServer, options: Options) -> None:
    server.get("/v1/config", reply({"defaults": None, "overrides": None})).get("/v1/namespaces", namespaces())
    assert read(options()) == []


def test_a_server_is_a_value() -> None:
    assert Server("http://h", separator=".").namespace(("a", "b")) == "http://h/v1/namespaces/a%2Eb"
