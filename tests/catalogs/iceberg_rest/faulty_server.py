"""A small HTTP server that answers as it is told, garbage included: no real server can be asked to.

Answers are keyed by method and request target exactly as it came over the wire. Where several are given for one
target, each is used once and the last one for good. What was not told is a 404 in the protocol's error model.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit


@dataclass(frozen=True)
class Reply:
    """One answer.

    `cut`: close the connection after so many bytes; `drip`: a byte every so many seconds, `drip_head`: of a header.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    drip: float | None = None
    drip_head: float | None = None


@dataclass(frozen=True)
class Seen:
    """A request as it came."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


Answers = Reply | Sequence[Reply] | Callable[[Seen], Reply]


def reply(content: Any, status: int = 200, **headers: str) -> Reply:
    """JSON; lone surrogates are written as JSON escapes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, json.dumps(content).encode(), {"Content-Type": "application/json"} | named)


def error(status: int, message: str = "no", kind: str = "TestException") -> Reply:
    """The protocol's error model."""
    return reply({"error": {"message": message, "type": kind, "code": status}}, status)


def config(**overrides: str) -> Reply:
    """The answer of /v1/config, without a list of endpoints."""
    return reply({"defaults": {}, "overrides": {name.replace("_", "-"): text for name, text in overrides.items()}})


def namespaces(*children: Sequence[str], token: str | None = None) -> Reply:
    return reply({"namespaces": [list(child) for child in children], "next-page-token": token})


def namespace(*levels: str, **properties: str) -> Reply:
    return reply({"namespace": list(levels), "properties": properties})


def members(levels: Sequence[str], *names: str, token: str | None = None) -> Reply:
    entries = [{"namespace": list(levels), "name": name} for name in names]
    return reply({"identifiers": entries, "next-page-token": token})


def _drip(file: BufferedIOBase, content: bytes, seconds: float) -> None:
    for byte in content:
        file.write(bytes([byte]))
        time.sleep(seconds)


class FaultyServer:
    """The server, on a free loopback port. `seen` holds all requests, in the order in which they came."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], Answers] = {}
        self.seen: list[Seen] = []
        self.fallback: Callable[[Seen], Reply] | None = None
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def get(self, target: str, *answers: Reply | Callable[[Seen], Reply]) -> FaultyServer:
        """Say how GET `target` is answered."""
        return self.on("GET", target, *answers)

    def on(self, method: str, target: str, *answers: Reply | Callable[[Seen], Reply]) -> FaultyServer:
        """Say how `target` is answered."""
        self.answers[method, target] = answers[0] if callable(answers[0]) else [a for a in answers if not callable(a)]
        return self

    def targets(self, method: str = "GET") -> list[str]:
        """The targets asked for with `method`, in order."""
        return [seen.target for seen in self.seen if seen.method == method]

    def lists(self) -> list[str]:
        """The list requests for namespaces, in order."""
        return [target for target in self.targets() if target.split("?")[0].endswith("/namespaces")]

    def answer_to(self, seen: Seen) -> Reply:
        with self._lock:
            self.seen.append(seen)
            answers = self.answers.get((seen.method, seen.target))
            if isinstance(answers, list):
                return answers.pop(0) if len(answers) > 1 else answers[0]
        if callable(answers):
            return answers(seen)
        if self.fallback is not None:
            return self.fallback(seen)
        return error(404, f"nothing at {seen.target}", "NotFoundException")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                seen = Seen(self.command, self.path, dict(self.headers.items()), body)
                self.send_reply(server.answer_to(seen))

            do_GET = do_POST = handle_any  # noqa: N815 - the names that http.server calls

            def send_reply(self, answer: Reply) -> None:
                time.sleep(answer.delay)
                if answer.drip_head is not None:
                    _drip(self.wfile, b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 100, answer.drip_head)
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                if answer.drip is not None:
                    _drip(self.wfile, answer.body, answer.drip)
                    return
                self.wfile.write(answer.body[: answer.cut])
                if answer.cut is not None:
                    self.close_connection = True

            def handle(self) -> None:
                try:
                    super().handle()
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True  # the client gave up on us, as it should

            def log_message(self, *_: Any) -> None:
                return None

        return Handler


@contextmanager
def faulty_server() -> Iterator[FaultyServer]:
    """A server that runs while the block does."""
    server = FaultyServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()


def empty(tree: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], dict[str, str]]:
    """Namespaces without properties."""
    return {levels: {} for levels in tree}


@dataclass
class Tree:
    """A well-behaved catalog to put faults into: namespaces with properties, and the tables in them."""

    namespaces: Mapping[tuple[str, ...], Mapping[str, str]]
    tables: Mapping[tuple[str, ...], Sequence[str]] = field(default_factory=dict)

    def __call__(self, seen: Seen) -> Reply:
        """The answer to anything that was not told otherwise; views are not known here."""
        parts = urlsplit(seen.target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        match parts.path.split("/")[1:]:
            case ["v1", "namespaces"]:
                parent = tuple(query["parent"].split("\x1f")) if "parent" in query else ()
                return namespaces(*(at for at in self.namespaces if at and at[:-1] == parent))
            case ["v1", "namespaces", encoded]:
                levels = _levels(encoded)
                if levels in self.namespaces:
                    return reply({"namespace": levels, "properties": self.namespaces[levels]})
            case ["v1", "namespaces", encoded, "tables"]:
                return members(_levels(encoded), *self.tables.get(_levels(encoded), ()))
            case ["v1", "namespaces", encoded, "tables", name]:
                if unquote(name) in self.tables.get(_levels(encoded), ()):
                    return table(location=f"file:///{encoded}/{name}")
            case ["v1", "namespaces", _, "views"]:
                return error(406, "no views here", "UnsupportedOperationException")
        return error(404, f"nothing at {seen.target}", "NotFoundException")


def _levels(encoded: str) -> tuple[str, ...]:
    return tuple(map(unquote, encoded.split("%1F")))


def table(location: str = "file:///t", **properties: str) -> Reply:
    """A load-table answer with one column `id`, a long."""
    fields = [{"id": 1, "name": "id", "required": True, "type": "long"}]
    metadata = {
        "format-version": 2,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": location,
        "current-schema-id": 0,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": fields}],
        "properties": properties,
    }
    return reply({"metadata-location": f"{location}/metadata/v1.json", "metadata": metadata})
