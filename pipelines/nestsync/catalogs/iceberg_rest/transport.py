"""HTTP to the byte: what is asked for is what goes out, within limits of time, size and attempts."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import DefaultCookiePolicy
from time import monotonic, sleep
from typing import Any, ClassVar
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from nestsync.catalogs.iceberg_rest.patience import HEADS, HeadTooSlow, PatientAdapter
from nestsync.errors import ObjectError

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
UNCERTAIN_STATUSES = frozenset({500, 502, 504})
"""After these, the specification has it, a client does not know whether a write was carried out."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_REDIRECTS = 5
FIRST_BACK_OFF = 0.25
BACK_OFF_GROWTH = 4.0
MAX_BACK_OFF = 10.0
"""With the four retries that are the default, 8 to 15 s in all: a server that is started again is there by then, and
one that is down is not waited for much longer than a person would."""
MAX_RETRY_AFTER = 30.0
MAX_ANSWER_BYTES = 512 * 1024 * 1024
_CHUNK = 65536
_CONNECTION = re.compile(r"^(<.*?>|\w*Connection\(.*?\)): ")  # how urllib3 begins the text of an error


class RequestFailed(ObjectError):
    """One request got no usable answer, after all retries; `status` is None where there was no answer at all.

    It stays inside the room: the reader makes an error row of it, the writer an `ObjectError`, both after they
    asked whether the catalog is still there.
    """

    code: ClassVar[str] = "iceberg-rest-request"
    status: int | None = None
    kind: str | None = None
    """The type that the error model of the protocol gives it: ``NoSuchNamespaceException``."""
    unheard: bool = False
    """Whether a sending of a write may have been carried out, although no answer says so."""


def request_failed(
    label: str, reason: str, status: int | None = None, kind: str | None = None, *, unheard: bool = False
) -> RequestFailed:
    """A `RequestFailed` that names the request."""
    failure = RequestFailed(f"{label}: {reason}")
    failure.status, failure.kind, failure.unheard = status, kind, unheard
    return failure


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `url` is absolute and already encoded; `label` is how messages call it: method and path."""

    method: str
    url: str
    label: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer, of whatever status.

    `unheard` says that this is no answer to some sending of a write, which may have been carried out all the same.
    """

    status: int
    body: bytes
    headers: Mapping[str, str]
    unheard: bool = False


class Transport:
    """Sends requests over one bounded pool of connections, from any number of threads; pickles without them.

    Retries 429, 502, 503, 504, broken connections and time-outs with exponential back-off and jitter, and waits
    as long as ``Retry-After`` says (30 s at most). Every request that the room sends may be sent again: reads, the
    OAuth2 token, the creation of a namespace (409 then means that it exists, and the caller compares) and
    property updates, which are idempotent.

    `requests` would decode ``%2E`` in a path to a dot, take credentials from ``.netrc`` and send headers after a
    redirect to another host; so the address is put into the prepared request as it is, and redirects are followed
    here: GET only, on the same host only.
    """

    def __init__(
        self,
        *,
        connect_timeout: float,
        read_timeout: float,
        max_retries: int,
        connections: int,
        verify: bool | str,
    ) -> None:
        self._timeout = (connect_timeout, read_timeout)
        self._longest_answer = HEADS * read_timeout
        self._max_retries = max_retries
        self._connections = connections
        self._verify = verify
        self._session = self._new_session()

    def _new_session(self) -> requests.Session:
        session = requests.Session()
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        adapter = PatientAdapter(pool_connections=2, pool_maxsize=self._connections, pool_block=True, max_retries=0)
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        return session

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._session = self._new_session()

    def close(self) -> None:
        """Give back the connections."""
        self._session.close()

    def send(self, request: Request) -> Answer:
        """The answer to `request`, retried and redirected. Raises `RequestFailed` where there is none."""
        seen = {request.url}
        url = request.url
        while True:
            answer = self._send_with_retries(request, url)
            if answer.status not in REDIRECTS or request.method != "GET":
                return answer
            url = _redirected(request, url, answer)
            if url in seen or len(seen) > MAX_REDIRECTS:
                raise request_failed(request.label, "is redirected in a loop", answer.status)
            seen.add(url)

    def _send_with_retries(self, request: Request, url: str) -> Answer:
        unheard = False
        for attempt in range(self._max_retries + 1):
            last = attempt == self._max_retries
            try:
                answer = self._send_once(request, url)
            except _Unanswered as broken:
                unheard |= broken.arrived and request.method != "GET"
                if last or not broken.again:
                    reason = f"{broken}{_attempts(attempt)}"
                    raise request_failed(request.label, reason, unheard=unheard) from broken
                sleep(_back_off(attempt))
                continue
            unheard |= answer.status in UNCERTAIN_STATUSES and request.method != "GET"
            if last or answer.status not in RETRIED_STATUSES:
                return replace(answer, unheard=unheard)
            sleep(_retry_after(answer.headers) or _back_off(attempt))
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _send_once(self, request: Request, url: str) -> Answer:
        try:
            asked = requests.Request(request.method, url, headers=dict(request.headers), data=request.body)
            prepared = asked.prepare()
            prepared.url = url
            settings = self._session.merge_environment_settings(url, {}, True, self._verify, None)
            response = self._session.send(prepared, timeout=self._timeout, allow_redirects=False, **settings)
            with response:
                return Answer(response.status_code, self._body(response.raw), response.headers)
        except (requests.exceptions.SSLError, urllib3.exceptions.SSLError) as error:
            raise _Unanswered(f"TLS failed ({_cause(error)})", again=False, arrived=False) from error
        except (requests.exceptions.ConnectTimeout, urllib3.exceptions.ConnectTimeoutError) as error:
            raise _Unanswered(f"no connection within {self._timeout[0]:g} s", arrived=False) from error
        except (requests.exceptions.ReadTimeout, urllib3.exceptions.ReadTimeoutError) as error:
            raise _Unanswered(f"no answer within {self._timeout[1]:g} s") from error
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidHeader, UnicodeError) as error:
            raise _Unanswered(f"cannot be sent ({_cause(error)})", again=False, arrived=False) from error
        except ValueError as error:  # of a redirect: requests looks at its address, also where it is not to follow
            raise _Unanswered(f"the answer cannot be used ({error})", again=False) from error
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            inner = _innermost(error)
            if isinstance(inner, HeadTooSlow):
                reason = f"the answer was not complete within {self._longest_answer:g} s"
                raise _Unanswered(reason, again=False) from error
            arrived = not isinstance(inner, urllib3.exceptions.NewConnectionError)
            raise _Unanswered(f"the connection failed ({_cause(error)})", arrived=arrived) from error

    def _body(self, raw: Any) -> bytes:
        # A server that sends a byte a second never trips the read time-out: hence a limit on the whole.
        deadline = monotonic() + self._longest_answer
        chunks: list[bytes] = []
        size = 0
        while chunk := raw.read1(_CHUNK, decode_content=True):
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                raise _Unanswered(f"the answer is larger than {MAX_ANSWER_BYTES} bytes", again=False)
            if monotonic() > deadline:
                raise _Unanswered(f"the answer was not complete within {self._longest_answer:g} s", again=False)
        return b"".join(chunks)


class _Unanswered(Exception):
    """One attempt that brought no answer.

    `again` says whether another one can help, `arrived` whether the server may have got the request.
    """

    def __init__(self, reason: str, *, again: bool = True, arrived: bool = True) -> None:
        super().__init__(reason)
        self.again = again
        self.arrived = arrived


def _attempts(attempt: int) -> str:
    return f", in {attempt + 1} attempts" if attempt else ""


def _back_off(attempt: int) -> float:
    ceiling = min(MAX_BACK_OFF, FIRST_BACK_OFF * BACK_OFF_GROWTH**attempt)
    return ceiling * random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries, guards nothing


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait per ``Retry-After`` (a number or an HTTP date), bounded; None where it says nothing usable."""
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        seconds = float(text)
    else:
        try:
            moment = parsedate_to_datetime(text)
        except ValueError:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (moment - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)


def _redirected(request: Request, url: str, answer: Answer) -> str:
    said = answer.headers.get("Location", "")
    try:
        target = urljoin(url, said)
        here, there = urlsplit(url), urlsplit(target)
        port = there.port
    except ValueError as error:
        reason = f"answered {answer.status}, a redirect to {said[:200]!r}, which is no address ({error})"
        raise request_failed(request.label, reason, answer.status) from error
    upgraded = here.hostname == there.hostname and (here.scheme, there.scheme) == ("http", "https")
    if (here.scheme, here.netloc) != (there.scheme, there.netloc) and not upgraded:
        place = f"{there.scheme}://{there.hostname}" + (f":{port}" if port else "")
        reason = f"answered {answer.status}, a redirect to another address, {place}, where no credentials are sent"
        raise request_failed(request.label, reason, answer.status)
    return target


def _cause(error: BaseException) -> str:
    """The innermost reason in the words of the library, without its objects' addresses."""
    reason = _innermost(error)
    text = str(reason)
    if isinstance(reason, OSError) and reason.strerror:
        text = reason.strerror
    return _CONNECTION.sub("", text) or type(reason).__name__


def _innermost(error: BaseException) -> BaseException:
    """What is behind `error`, which libraries wrap in errors of their own."""
    while True:
        wrapped = (getattr(error, "reason", None), *error.args)
        inner = next((each for each in wrapped if isinstance(each, BaseException)), None)
        if inner is None:
            return error
        error = inner
