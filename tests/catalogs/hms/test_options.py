"""What is an address of a metastore."""

from __future__ import annotations

import pytest

from nestsync.catalogs.hms import ROOM, HmsOptions
from nestsync.catalogs.hms.options import addresses
from nestsync.errors import ConfigurationError

ADDRESSES = [
    ("thrift://metastore:9083", (("metastore", 9083),)),
    ("thrift://10.0.0.1:1/", (("10.0.0.1", 1),)),
    ("thrift://[::1]:9083", (("::1", 9083),)),
    ("thrift://a:1,thrift://b:2", (("a", 1), ("b", 2))),
    (" thrift://a:1 , thrift://b:2 ", (("a", 1), ("b", 2))),
]


@pytest.mark.parametrize(("uri", "found"), ADDRESSES, ids=[case[0] for case in ADDRESSES])
def test_addresses_are_read_in_order(uri: str, found: tuple[tuple[str, int], ...]) -> None:
    assert addresses(uri) == found
    assert HmsOptions(uri=uri).uri == uri


REFUSED = [
    ("", "an address is empty"),
    ("thrift://a:1,", "an address is empty"),
    ("metastore:9083", "'metastore:9083' is not a thrift address"),
    ("metastore", "'metastore' is not a thrift address"),
    ("http://metastore:9083", "'http://metastore:9083' is not a thrift address"),
    ("thrift:///", "'thrift:///' lacks a host"),
    ("thrift://metastore", "'thrift://metastore' lacks a port"),
    ("thrift://:9083", "'thrift://:9083' lacks a host"),
    ("thrift://metastore:0", "'thrift://metastore:0' lacks a port"),
    ("thrift://metastore:port", "'thrift://metastore:port' is no address"),
    ("thrift://metastore:99999", "'thrift://metastore:99999' is no address"),
    ("thrift://metastore:9083/default", "holds more than a host and a port"),
    ("thrift://me@metastore:9083", "holds more than a host and a port"),
    ("thrift://metastore:9083?x=y", "holds more than a host and a port"),
    ("thrift://a:1;thrift://b:2", "is no address"),
]


@pytest.mark.parametrize(("uri", "said"), REFUSED, ids=[repr(case[0]) for case in REFUSED])
@pytest.mark.proves("exit-2")
def test_what_is_no_address_is_refused_in_a_sentence(uri: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        HmsOptions.from_spark({"uri": uri})
    assert said in str(caught.value)
    assert "thrift://host:port" in str(caught.value) or "9083" in str(caught.value)


def test_options_come_back_from_spark() -> None:
    options = HmsOptions(uri="thrift://a:1", catalogs=("hive", "b c"), read_timeout=1.5, connections=3)
    assert HmsOptions.from_spark(options.to_spark()) == options


@pytest.mark.parametrize(
    ("name", "value"),
    [("catalogs", "[]"), ("read_timeout", "0"), ("connections", "0"), ("batch_size", "0"), ("max_retries", "-1")],
)
def test_an_option_out_of_bounds_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        HmsOptions.from_spark({"uri": "thrift://a:1", name: value})


def test_the_room_says_what_it_is() -> None:
    assert (ROOM.system, ROOM.dialect, ROOM.capabilities, ROOM.writer) == ("hms", "hive", "hms-3", None)
