"""Who we are: bearer tokens, the OAuth2 client credentials flow, and secrets that nothing shows."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs

import pytest

from nestsync.catalogs.iceberg_rest import ROOM, IcebergRestOptions
from nestsync.errors import CatalogUnreachable, ConfigurationError
from tests.catalogs.iceberg_rest.faulty_server import (
    Answers,
    FaultyServer,
    Reply,
    Seen,
    Tree,
    config,
    error,
    namespaces,
    reply,
)
from tests.catalogs.iceberg_rest.reading import levels_of, read

pytestmark = pytest.mark.servers

Options = Callable[..., IcebergRestOptions]

TOKENS = "/v1/oauth/tokens"


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE_TOKEN", "s3cret-token")
    monkeypatch.setenv("HERE_CREDENTIAL", "me:pa:ss&word")
    monkeypatch.setenv("HERE_KEY", "k3y")


class TokenServer:
    """Hands out t1, t2, … and lets only the newest one in, until it is told to forget it."""

    def __init__(self, server: FaultyServer, **answer: Any) -> None:
        self.issued = 0
        self.answer = answer
        self.valid: set[str] = set()
        self.tree = Tree({("a",): {}, ("b",): {}}, {("a",): ["t"]})
        server.on("POST", TOKENS, self.issue)
        server.fallback = self.guard
        del server.answers["GET", "/v1/config"]

    def issue(self, seen: Seen) -> Reply:
        self.issued += 1
        self.valid = {f"t{self.issued}"}
        return reply({"access_token": f"t{self.issued}", "token_type": "bearer"} | self.answer)

    def guard(self, seen: Seen) -> Reply:
        if seen.headers.get("Authorization", "").removeprefix("Bearer ") not in self.valid:
            return error(401, "expired")
        return config() if seen.target == "/v1/config" else self.tree(seen)


def test_a_bearer_token_goes_with_every_request(server: FaultyServer, options: Options) -> None:
    server.fallback = Tree({("a",): {}}, {("a",): ["t"]})
    read(options(token_env="HERE_TOKEN"))
    assert {seen.headers.get("Authorization") for seen in server.seen} == {"Bearer s3cret-token"}


def test_without_a_token_none_is_sent(
    server: FaultyServer, options: Options, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password else\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    server.fallback = Tree({("a",): {}})
    read(options())
    assert not [seen for seen in server.seen if "Authorization" in seen.headers]


def test_client_credentials_are_asked_for_once_and_the_driver_shares_the_token(
    server: FaultyServer, options: Options
) -> None:
    tokens = TokenServer(server, expires_in=3600)
    assert levels_of(read(options(credential_env="HERE_CREDENTIAL", scope="a b"))) == [("a",), ("b",)]
    (asked,) = [seen for seen in server.seen if seen.method == "POST"]
    assert asked.target == TOKENS
    assert asked.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert parse_qs(asked.body.decode()) == {
        "grant_type": ["client_credentials"],
        "client_id": ["me"],
        "client_secret": ["pa:ss&word"],
        "scope": ["a b"],
    }
    assert tokens.issued == 1


def test_the_token_endpoint_may_be_elsewhere_and_gets_no_headers_of_the_catalog(
    server: FaultyServer, options: Options
) -> None:
    TokenServer(server)
    server.answers["POST", "/login/?tenant=t"] = server.answers["POST", TOKENS]
    address = f"{server.uri}/login/?tenant=t"
    read(options(credential_env="HERE_CREDENTIAL", oauth2_server_uri=address, headers={"X-Realm": "r"}))
    (asked,) = [seen for seen in server.seen if seen.method == "POST"]
    assert asked.target == "/login/?tenant=t"
    assert "X-Realm" not in asked.headers
    assert {seen.headers.get("X-Realm") for seen in server.seen if seen.method == "GET"} == {"r"}


def test_a_token_is_fetched_anew_before_it_expires(server: FaultyServer, options: Options) -> None:
    tokens = TokenServer(server, expires_in=1)
    reader = ROOM.reader(options(credential_env="HERE_CREDENTIAL"), "here")
    units = reader.units(tables=False, parallelism=1)
    time.sleep(0.9)  # four fifths of its life are over, and the server would still take it
    list(reader.read(units[0], namespaces=True, tables=False))
    assert tokens.issued == 2
    assert not [seen for seen in server.seen if seen.headers.get("Authorization") == "Bearer t1"][4:]


def test_a_token_that_is_refused_is_fetched_anew_once(server: FaultyServer, options: Options) -> None:
    tokens = TokenServer(server)
    reader = ROOM.reader(options(credential_env="HERE_CREDENTIAL", connections=8), "here")
    units = reader.units(tables=True, parallelism=1)
    tokens.valid = set()
    rows = list(reader.read(units[0], namespaces=True, tables=True))
    assert levels_of(rows) == [("a",), ("b",)]
    assert tokens.issued == 2


def test_a_catalog_that_refuses_every_token_is_unreachable(server: FaultyServer, options: Options) -> None:
    tokens = TokenServer(server)
    server.get("/v1/config", error(401, "I do not know t2"))
    with pytest.raises(CatalogUnreachable) as caught:
        read(options(credential_env="HERE_CREDENTIAL"))
    assert "GET /v1/config: answered 401 Unauthorized: I do not know ***" in str(caught.value)
    assert tokens.issued == 2
    assert server.targets() == ["/v1/config", "/v1/config"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            reply({"error": "invalid_client", "error_description": "pa:ss&word is wrong"}, 401),
            "gave no token, but 401: *** is wrong",
        ),
        (
            reply({"error": "invalid_client", "error_description": "client_secret=pa%3Ass%26word is wrong"}, 401),
            "gave no token, but 401: client_secret=*** is wrong",
        ),
        (reply({"error": "invalid_scope"}, 400), "gave no token, but 400: invalid_scope"),
        (error(500), "gave no token, but 500"),
        (Reply(302, b"", {"Location": "https://sso.example.com/"}), "gave no token, but 302"),
        (Reply(200, b"<html>"), "answered without a usable access_token"),
        (reply([]), "answered without a usable access_token"),
        (reply({"access_token": ""}), "answered without a usable access_token"),
        (reply({"access_token": "a\r\nX-Evil: 1"}), "answered without a usable access_token"),
        (Reply(200, b"{}", cut=1), "the connection failed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.proves("exit-5")
def test_a_token_endpoint_that_gives_none_is_unreachable(
    server: FaultyServer, options: Options, answer: Reply, said: str
) -> None:
    server.on("POST", TOKENS, answer)
    with pytest.raises(CatalogUnreachable) as caught:
        read(options(credential_env="HERE_CREDENTIAL"))
    assert f"here at {server.uri}: POST {TOKENS}: {said}" in str(caught.value)
    assert "pa:ss&word" not in str(caught.value)


def test_a_token_endpoint_that_stumbles_is_asked_again(server: FaultyServer, options: Options) -> None:
    tokens = TokenServer(server)
    issue = server.answers["POST", TOKENS]
    stumbled: list[int] = []

    def stumble(seen: Seen) -> Reply:
        stumbled.append(1)
        return error(503) if len(stumbled) == 1 else _call(issue, seen)

    server.on("POST", TOKENS, stumble)
    read(options(credential_env="HERE_CREDENTIAL"))
    assert (len(stumbled), tokens.issued) == (2, 1)


def _call(answers: Answers, seen: Seen) -> Reply:
    assert callable(answers)
    return answers(seen)


@pytest.mark.parametrize(
    "lifetime", [None, "soon", 0, -5, True, [1], 10**400], ids=["none", "text", "0", "-5", "true", "list", "huge"]
)
def test_a_lifetime_that_makes_no_sense_is_ignored(server: FaultyServer, options: Options, lifetime: object) -> None:
    tokens = TokenServer(server, expires_in=lifetime)
    read(options(credential_env="HERE_CREDENTIAL"))
    assert tokens.issued == 1


def test_threads_share_one_token(server: FaultyServer, options: Options) -> None:
    tokens = TokenServer(server)
    writer = ROOM.writer(options(credential_env="HERE_CREDENTIAL", connections=2), "here") if ROOM.writer else None
    assert writer is not None
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: writer.namespace_properties(("a",)), range(32)))
    assert found == [{}] * 32
    assert tokens.issued == 1
    writer.close()


@pytest.mark.parametrize(
    "authentication",
    [
        {"token_env": "HERE_TOKEN"},
        {"credential_env": "HERE_CREDENTIAL"},
        {"headers_env": {"X-Key": "HERE_KEY"}, "headers": {"X-Plain": "open"}},
    ],
    ids=["token", "credential", "header"],
)
def test_secrets_are_pickled_and_never_shown(
    server: FaultyServer, options: Options, monkeypatch: pytest.MonkeyPatch, authentication: dict[str, Any]
) -> None:
    TokenServer(server)
    server.get("/v1/config", config())
    server.fallback = Tree({("a",): {}})
    configured = options(**authentication)
    reader = ROOM.reader(configured, "here")
    assert ROOM.writer is not None
    writer = ROOM.writer(configured, "here")
    units = reader.units(tables=False, parallelism=1)
    shown = "".join(map(repr, (configured, reader, writer, units, vars(reader), vars(writer)["_client"])))
    for text in ("s3cret-token", "pa:ss&word", "k3y", "t1", "open"):
        assert text not in shown
    for name in ("HERE_TOKEN", "HERE_CREDENTIAL", "HERE_KEY"):
        monkeypatch.delenv(name)
    executor = pickle.loads(pickle.dumps(reader))
    list(executor.read(units[0], namespaces=True, tables=False))
    last = server.seen[-1]
    assert {"Bearer s3cret-token", "Bearer t1", None} >= {last.headers.get("Authorization")}
    assert (last.headers.get("X-Key"), last.headers.get("X-Plain")) in [(None, None), ("k3y", "open")]


@pytest.mark.parametrize(
    ("value", "given", "said"),
    [
        (None, "token_env", "the environment variable ODD is not set"),
        ("", "token_env", "the environment variable ODD is not set"),
        (" \n", "token_env", "is blank or holds a character that no header can carry"),
        ("a\nb", "token_env", "is blank or holds a character that no header can carry"),
        ("schlüssel", "token_env", "is blank or holds a character that no header can carry"),
        ("nocolon", "credential_env", "does not hold client_id:client_secret"),
        (":x", "credential_env", "does not hold client_id:client_secret"),
        ("x:", "credential_env", "does not hold client_id:client_secret"),
    ],
)
@pytest.mark.proves("exit-2")
def test_a_secret_that_cannot_be_used_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, value: str | None, given: str, said: str
) -> None:
    monkeypatch.delenv("ODD", raising=False)
    if value is not None:
        monkeypatch.setenv("ODD", value)
    with pytest.raises(ConfigurationError) as caught:
        ROOM.reader(IcebergRestOptions.model_validate({"uri": "http://127.0.0.1:1", given: "ODD"}), "here")
    assert said in str(caught.value)
    assert "here at http://127.0.0.1:1" in str(caught.value)
    assert not value or len(value) < 3 or value not in str(caught.value)


def test_a_token_may_end_in_a_line_break(
    server: FaultyServer, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERE_TOKEN", "from-a-file\n")
    server.get("/v1/namespaces", namespaces())
    read(options(token_env="HERE_TOKEN"))
    assert server.seen[0].headers["Authorization"] == "Bearer from-a-file"
