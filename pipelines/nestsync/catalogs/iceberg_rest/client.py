"""A thin Iceberg REST client: the requests that nestsync needs, each to exactly the namespace that is meant."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote, quote_plus, urlencode

from nestsync import __version__
from nestsync.catalogs.base import secret
from nestsync.catalogs.iceberg_rest.answers import Malformed, error_message, error_type, page
from nestsync.catalogs.iceberg_rest.auth import Authenticator, ClientCredentials, StaticToken, Token
from nestsync.catalogs.iceberg_rest.options import IcebergRestOptions, header_safe
from nestsync.catalogs.iceberg_rest.server import Server, config_address, label, server_from
from nestsync.catalogs.iceberg_rest.transport import Answer, Request, RequestFailed, Transport, request_failed
from nestsync.core.identifiers import Levels
from nestsync.errors import CatalogUnreachable, ConfigurationError, WriteUnheard

MAX_SILENT = 10
"""Requests in a row that nothing answered, after all their attempts, after which the catalog counts as gone."""
MAX_BARREN_PAGES = 100
"""Pages in a row without a new entry, after which a list is taken to be endless."""

_UNAUTHENTICATED = (HTTPStatus.UNAUTHORIZED, 419)  # 419 is the specification's "authentication timed out"
_HINTS: Mapping[int | None, str] = {
    401: "check the token (token_env) or the credential (credential_env, oauth2_server_uri, scope)",
    419: "check the token (token_env) or the credential (credential_env, oauth2_server_uri, scope)",
    403: "check the rights of this client",
    404: "check uri (it ends before /v1), warehouse and prefix",
}
_DEFAULT_HINT = "check that the catalog runs and that uri is its address"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pages:
    """All entries of a list, or those before `failure` broke it off."""

    entries: list[Any]
    failure: RequestFailed | None = None


class IcebergRestClient:
    """One catalog, called `source` in messages. Thread-safe; pickles with its secrets, which `repr` does not show.

    Methods raise `RequestFailed` where one request got no usable answer, and `CatalogUnreachable` where no other
    request would get one either (the server refuses who we are).
    """

    def __init__(self, options: IcebergRestOptions, source: str) -> None:
        self.source = source
        self.where = f"{source} at {options.uri}"
        self._options = options
        self._headers = self._own_headers()
        self._auth = self._authenticator()
        self._transport = Transport(
            connect_timeout=options.connect_timeout,
            read_timeout=options.read_timeout,
            max_retries=options.max_retries,
            connections=options.connections,
            verify=options.ca_bundle or options.verify,
        )
        self._silent = 0
        self._server: Server | None = None
        self._connecting = threading.Lock()

    def __repr__(self) -> str:
        return f"IcebergRestClient({self.where!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_connecting"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._connecting = threading.Lock()

    def close(self) -> None:
        """Give back the connections."""
        self._transport.close()

    # -- the catalog as a whole -----------------------------------------------------------------------------------

    def server(self) -> Server:
        """What ``/v1/config`` says, asked once. Raises `CatalogUnreachable`."""
        with self._connecting:
            if self._server is None:
                try:
                    self._server = self._ask_config()
                except RequestFailed as failure:
                    self.unreachable(failure)
            return self._server

    def adopt(self, server: Server, token: Token | None) -> None:
        """Go on with what the driver learned, without asking again."""
        self._server = server
        if isinstance(self._auth, ClientCredentials):
            self._auth.adopt(token)

    def token(self) -> Token | None:
        """The access token of the moment, for `adopt`."""
        return self._token() if isinstance(self._auth, ClientCredentials) else None

    def confirm(self, failure: RequestFailed) -> None:
        """Return where the catalog still answers, so that `failure` is about one object only.

        Raises `CatalogUnreachable`, which names both requests, where it does not, and where it answered nothing else
        for `MAX_SILENT` requests in a row; `WriteUnheard` for a write that may have been carried out.
        """
        silent = self._silent
        try:
            self._ask_config()
        except RequestFailed as probe:
            self._gone(failure, f"{failure.what}; then {probe.what}", probe.status)
        self._silent = silent  # to say what it is, is not to answer
        if silent >= MAX_SILENT:
            self._gone(failure, f"{failure.what}; {silent} requests in a row got no answer", failure.status)

    def unreachable(self, failure: RequestFailed) -> NoReturn:
        """Raise `CatalogUnreachable` for a request without which nothing can be read."""
        self._gone(failure, failure.what, failure.status)

    def _gone(self, failure: RequestFailed, what: str, status: int | None) -> NoReturn:
        kind = WriteUnheard if failure.unheard else CatalogUnreachable
        raise kind(what, where=self.where, hint=_HINTS.get(status, _DEFAULT_HINT)) from failure

    def _ask_config(self) -> Server:
        address = config_address(self._options)
        return self.fetch(address, lambda content: server_from(content, self._options))

    # -- single requests ------------------------------------------------------------------------------------------

    def fetch(self, address: str, read: Callable[[Any], T]) -> T:
        """GET `address` and `read` the JSON of its answer; a `Malformed` raised there fails the request."""
        return self._read(label("GET", address), self._send("GET", address), read)

    def post(self, address: str, content: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """POST `content` as JSON; `read` gets the JSON of the answer, or None where the answer is empty."""
        body = json.dumps(content).encode()
        answer = self._send("POST", address, body)
        try:
            return self._read(label("POST", address), answer, read)
        except RequestFailed as failure:
            failure.unheard = True  # it was carried out, or something else gave that answer
            raise

    def pages(self, address: str, key: str) -> Pages:
        """All pages of the list at `address`: one request a page, the page token followed until there is none."""
        entries: list[Any] = []
        token: str | None = "" if self._options.page_size else None
        tokens, barren = set[str](), 0
        while True:
            try:
                found, token = self.fetch(self._page_address(address, token), lambda content: page(content, key))
            except RequestFailed as failure:
                return Pages(entries, failure)
            barren = 0 if found and found != entries[-len(found) :] else barren + 1
            entries += found
            if token is None:
                return Pages(entries)
            if token in tokens or barren > MAX_BARREN_PAGES:
                return Pages(entries, request_failed(label("GET", address), "the list never ends: its pages repeat"))
            tokens.add(token)

    def namespaces(self, parent: Levels) -> Pages:
        """The list of the namespaces below `parent`."""
        return self.pages(self.server().namespaces(parent), "namespaces")

    def _page_address(self, address: str, token: str | None) -> str:
        # Servers page only for a client that sends a page token, an empty one first (the specification).
        asked: dict[str, str] = {} if token is None else {"pageToken": token}
        if self._options.page_size:
            asked["pageSize"] = str(self._options.page_size)
        return address + ("&" if "?" in address else "?") * bool(asked) + urlencode(asked, quote_via=quote)

    def _send(self, method: str, address: str, body: bytes | None = None) -> Answer:
        named = label(method, address)
        token = self._token()
        answer = self._answer(self._request(method, address, named, token, body))
        if answer.status in _UNAUTHENTICATED and self._auth.rejected(token):
            token = self._token()
            answer = self._answer(self._request(method, address, named, token, body))
        if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            failure = request_failed(
                named,
                self._without_secrets(_refused(answer)),
                answer.status,
                error_type(answer.body),
                unheard=answer.unheard,
            )
            if answer.status in _UNAUTHENTICATED:
                self.unreachable(failure)
            raise failure
        return answer

    def _answer(self, request: Request) -> Answer:
        try:
            answer = self._transport.send(request)
        except RequestFailed:
            self._silent += 1
            raise
        self._silent = 0
        return answer

    def _token(self) -> Token | None:
        try:
            return self._auth.token(self._transport)
        except RequestFailed as failure:  # without a token no request can be sent at all
            failure.what = self._without_secrets(failure.what)
            failure.unheard = False  # it was no write that went unheard
            self.unreachable(failure)

    def _request(self, method: str, address: str, named: str, token: Token | None, body: bytes | None) -> Request:
        headers = dict(self._headers)
        if token is not None:
            headers["Authorization"] = f"Bearer {token.value}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        return Request(method, address, named, headers, body)

    def _read(self, named: str, answer: Answer, read: Callable[[Any], T]) -> T:
        try:
            content = json.loads(answer.body) if answer.body or named.startswith("GET") else None
        except (ValueError, RecursionError) as error:
            kind = answer.headers.get("Content-Type", "no content type")
            raise request_failed(named, f"answered {answer.status} with {kind}, which is no JSON") from error
        try:
            return read(content)
        except (Malformed, RecursionError) as error:
            reason = str(error) if isinstance(error, Malformed) else "the answer is nested too deeply"
            raise request_failed(named, self._without_secrets(reason)) from error

    # -- who we are -----------------------------------------------------------------------------------------------

    def _own_headers(self) -> dict[str, str]:
        fixed = {"Accept": "application/json", "User-Agent": f"nestsync/{__version__}"}
        hidden = {name: self._secret(variable) for name, variable in self._options.headers_env.items()}
        return fixed | self._options.headers | {name: text for name, text in hidden.items() if text is not None}

    def _authenticator(self) -> Authenticator:
        credential = self._secret(self._options.credential_env)
        if credential is None:
            return StaticToken(self._secret(self._options.token_env))
        client_id, colon, client_secret = credential.partition(":")
        if not (client_id and colon and client_secret):
            raise ConfigurationError(
                f"the environment variable {self._options.credential_env} does not hold client_id:client_secret",
                where=self.where,
            )
        elsewhere = self._options.oauth2_server_uri
        endpoint = elsewhere or f"{self._options.uri}/v1/oauth/tokens"
        return ClientCredentials(
            client_id=client_id,
            client_secret=client_secret,
            scope=self._options.scope,
            endpoint=endpoint,
            label=f"POST {endpoint.partition('?')[0]}" if elsewhere else label("POST", endpoint),
            headers={} if elsewhere else self._headers,
        )

    def _secret(self, variable: str | None) -> str | None:
        value = secret(variable, where=self.where)
        value = None if value is None else value.strip()
        if value is not None and not header_safe(value):
            raise ConfigurationError(
                f"the environment variable {variable} is blank or holds a character that no header can carry",
                where=self.where,
            )
        return value

    def _without_secrets(self, text: str) -> str:
        hidden = {self._headers[name] for name in self._options.headers_env}
        for value in (*self._auth.secrets(), *hidden):
            for written in _written(value):
                text = text.replace(written, "***")
        return text


def _written(secret: str) -> list[str]:
    """`secret` as a server may repeat it: as it is, in a form, in an address, in JSON; the longest first."""
    in_json = json.dumps(secret)[1:-1]
    ways = {secret, quote_plus(secret), quote(secret, safe=""), in_json, in_json.replace("/", "\\/")}
    return sorted(ways, key=len, reverse=True)


def _refused(answer: Answer) -> str:
    try:
        phrase = f" {HTTPStatus(answer.status).phrase}"
    except ValueError:
        phrase = ""
    message = error_message(answer.body)
    return f"answered {answer.status}{phrase}" + (f": {message[:500]}" if message else "")
