"""Who we are to the catalog: nobody, a bearer token, or an OAuth2 client that fetches its own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

from nestsync.catalogs.iceberg_rest.options import header_safe
from nestsync.catalogs.iceberg_rest.transport import Answer, Request, Transport, request_failed

EARLY = 0.8
"""The part of a token's life after which a new one is fetched, so that none expires under way."""
LONGEST_LIFE = 1e9
"""Seconds; a longer life, like one that is no number, says nothing."""


@dataclass(frozen=True, slots=True)
class Token:
    """An access token; `expires_at` is Unix time, None where the server did not say."""

    value: str = field(repr=False)
    expires_at: float | None = None

    def fresh(self) -> bool:
        """Whether it can still be used."""
        return self.expires_at is None or time.time() < self.expires_at


class Authenticator(Protocol):
    """What the client asks for before each request."""

    def token(self, transport: Transport) -> Token | None:
        """The token to send, or None. Raises `RequestFailed` where the token endpoint gives none."""

    def rejected(self, token: Token | None) -> bool:
        """Told that the catalog refused `token`: whether another one can be had."""

    def secrets(self) -> tuple[str, ...]:
        """The texts that no message may show."""


class StaticToken:
    """A bearer token from the environment, or no token at all."""

    def __init__(self, value: str | None) -> None:
        self._token = None if value is None else Token(value)

    def token(self, transport: Transport) -> Token | None:
        """The token, always the same."""
        return self._token

    def rejected(self, token: Token | None) -> bool:
        """There is no other one."""
        return False

    def secrets(self) -> tuple[str, ...]:
        """The token."""
        return () if self._token is None else (self._token.value,)


class ClientCredentials:
    """The OAuth2 client credentials flow (RFC 6749, 4.4), with the credentials in the form, as Iceberg clients do.

    One token serves all threads; it is fetched anew when four fifths of its life are over, and after a 401.
    """

    def __init__(
        self, *, client_id: str, client_secret: str, scope: str, endpoint: str, label: str, headers: Mapping[str, str]
    ) -> None:
        self._client_id = client_id
        self._client_secret = client_secret
        self._scope = scope
        self._endpoint = endpoint
        self._label = label
        self._headers = dict(headers)
        self._current: Token | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"ClientCredentials(endpoint={self._endpoint!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def adopt(self, token: Token | None) -> None:
        """Use `token`, fetched by the driver, until it expires."""
        self._current = token

    def token(self, transport: Transport) -> Token | None:
        """A fresh token, fetched where there is none."""
        with self._lock:
            if self._current is None or not self._current.fresh():
                self._current = self._fetch(transport)
            return self._current

    def rejected(self, token: Token | None) -> bool:
        """Forget `token`, unless another thread has replaced it already."""
        with self._lock:
            if self._current is token:
                self._current = None
        return True

    def secrets(self) -> tuple[str, ...]:
        """The client's secret and its token of the moment."""
        current = self._current
        return (self._client_secret,) if current is None else (self._client_secret, current.value)

    def _fetch(self, transport: Transport) -> Token:
        form = {
            "grant_type": "client_credentials",
            "client_id": self._client_id,
            "client_secret": self._client_secret,
            "scope": self._scope,
        }
        headers = self._headers | {
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
        }
        request = Request("POST", self._endpoint, self._label, headers, urlencode(form).encode())
        asked_at = time.time()
        return self._token_in(transport.send(request), asked_at)

    def _token_in(self, answer: Answer, asked_at: float) -> Token:
        try:
            content = json.loads(answer.body)
        except (ValueError, RecursionError):
            content = None
        content = content if isinstance(content, dict) else {}
        if answer.status != 200:
            told = content.get("error_description") or content.get("error")
            reason = f": {told}" if isinstance(told, str) else ""
            raise request_failed(self._label, f"gave no token, but {answer.status}{reason}", answer.status)
        value, lifetime = content.get("access_token"), content.get("expires_in")
        if not isinstance(value, str) or not header_safe(value):
            raise request_failed(self._label, "answered without a usable access_token", answer.status)
        if isinstance(lifetime, int | float) and not isinstance(lifetime, bool) and 0 < lifetime < LONGEST_LIFE:
            return Token(value, asked_at + EARLY * lifetime)
        return Token(value)
