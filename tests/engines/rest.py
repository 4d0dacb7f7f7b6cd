"""Asks an Iceberg REST server byte for byte: the usual clients resolve dots and undo percent-encodings first."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from nestsync.core.dialects import dialect
from nestsync.core.identifiers import Levels
from tests.engines.answers import Answer, Kind

CHILD = "child"


class Rest:
    """One catalog of an Iceberg REST server, in the dialects that its own `/v1/config` asks for."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        address = urlsplit(uri)
        self.base = address.path.rstrip("/")
        self.connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
        _, config = self.ask("GET", "/config")
        told = config.get("defaults", {}) | config.get("overrides", {})
        self.advertised: str | None = told.get("namespace-separator")
        self.namespaces = "/".join(["", *filter(None, [told.get("prefix")]), "namespaces"])
        options = {"separator": unquote(self.advertised)} if self.advertised else {}
        self.path, self.query = dialect("iceberg-rest", **options), dialect("iceberg-rest-query", **options)

    def close(self) -> None:
        self.connection.close()

    def ask(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        sent = None if body is None else json.dumps(body)
        for again in (True, False):
            try:
                self.connection.request(method, f"{self.base}/v1{target}", sent, headers)
                answer = self.connection.getresponse()
                break
            except ConnectionError:  # it was idle for too long
                self.connection.close()
                if not again:
                    raise
        read = answer.read()
        if answer.status >= 400:
            self.connection.close()  # some servers close it after an error and do not say so
        try:
            return answer.status, json.loads(read or b"{}")
        except ValueError:
            return answer.status, {}

    def create(self, levels: Levels, **properties: str) -> int:
        return self.ask("POST", self.namespaces, {"namespace": levels, "properties": properties})[0]

    def at(self, levels: Levels) -> str:
        """The request target of the namespace `levels`."""
        return f"{self.namespaces}/{self.path.render(levels)}"

    def read(self, levels: Levels) -> Levels | int:
        """The namespace that the server means by the path of `levels`, or the status that it answers with."""
        status, answer = self.ask("GET", self.at(levels))
        return tuple(answer["namespace"]) if status == 200 and "namespace" in answer else status

    def drop(self, levels: Levels) -> int:
        return self.ask("DELETE", self.at(levels))[0]

    def children(self, parent: Levels = ()) -> list[Levels] | int:
        """The namespaces that are listed under `parent`, or the status that the server answers with."""
        asked = f"?parent={self.query.render(parent)}" if parent else ""
        status, answer = self.ask("GET", f"{self.namespaces}{asked}")
        return [tuple(found) for found in answer["namespaces"]] if status == 200 else status

    def leaf(self, top: Levels) -> Levels:
        """What a walk down from `top` ends at, following the first child."""
        below = self.children(top)
        deeper = [found for found in below if len(found) > len(top)] if isinstance(below, list) else []
        return self.leaf(deeper[0]) if deeper else top

    def try_name(self, levels: Levels) -> Answer:
        """Make the namespace `levels` and a child in it; look for both in listings, and for it by its path."""
        for depth in range(1, len(levels)):
            self.create(levels[:depth])
        status = self.create(levels)
        if status != 200:
            return Answer(Kind.REFUSED, why=str(status))
        child = (*levels, CHILD)
        made = self.create(child)
        listed, below, found = self.children(levels[:-1]), self.children(levels), self.read(levels)
        if found == 404:  # the server means another namespace by this path: when that one is there, it says which
            self.create(self.path.read(self.path.render(levels)))
            found = self.read(levels)
        if isinstance(found, tuple) and found != levels:
            return Answer(Kind.OTHER, found)
        walked = self.leaf(levels[:1])[:-1]
        if len(levels) > 1 and len(walked) > len(levels):
            return Answer(Kind.OTHER, walked)
        missing = [
            *([f"its child: {made}"] if made != 200 else []),
            *([f"by its path: {found}"] if found != levels else []),
            *(["in its parent's listing"] if not isinstance(listed, list) or levels not in listed else []),
            *([f"its child in its listing: {below}"] if below != [child] else []),
        ]
        return Answer(Kind.PARTLY, why=f"missing: {', '.join(missing)}") if missing else Answer(Kind.KEPT)
