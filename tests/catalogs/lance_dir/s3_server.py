"""A small S3 to list and read from, and to be told to fail: a bucket is a folder.

It knows what the readers send: ListObjectsV2 with a delimiter, HEAD, and GET with a range. What it answers is what
moto 5.2 answers to the same requests.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class S3Server:
    """Serves `objects` (``bucket/key`` to content) on a free loopback port."""

    def __init__(self, objects: Mapping[str, bytes]) -> None:
        self.objects = dict(objects)
        self.fails: Callable[[str], bool] = lambda key: False
        """Whether a request for this key or prefix (``bucket/key``) is answered 403."""
        self.seen: list[tuple[str, str]] = []
        """Method and target of every request."""
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"s3": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def storage_options(self) -> dict[str, str]:
        """What Lance and our reader need to come here, without the two secrets."""
        return {"aws_endpoint": self.endpoint, "aws_region": "us-east-1", "allow_http": "true"}

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def list_objects(self, bucket: str, query: Mapping[str, list[str]]) -> str:
        """The answer to ListObjectsV2, or a KeyError where there is no such bucket."""
        keys = [path.partition("/")[2] for path in self.objects if path.startswith(f"{bucket}/")]
        if not keys:
            raise KeyError(bucket)
        prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
        contents, folders = [], set()
        for key in sorted(key for key in keys if key.startswith(prefix)):
            rest = key.removeprefix(prefix)
            if delimiter and delimiter in rest:
                folders.add(prefix + rest.partition(delimiter)[0] + delimiter)
            else:
                size = len(self.objects[f"{bucket}/{key}"])
                contents.append(
                    f"<Contents><Key>{escape(key)}</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified>"
                    f'<ETag>"e"</ETag><Size>{size}</Size></Contents>'
                )
        prefixes = [f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>" for folder in sorted(folders)]
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult><Name>{bucket}</Name>'
            f"<Prefix>{escape(prefix)}</Prefix><KeyCount>{len(contents) + len(folders)}</KeyCount>"
            f"<MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>{''.join(contents)}{''.join(prefixes)}"
            f"</ListBucketResult>"
        )


class _Handler(BaseHTTPRequestHandler):
    s3: S3Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        path, query = unquote(parts.path).lstrip("/"), parse_qs(parts.query, keep_blank_values=True)
        self.s3.seen.append((self.command, self.path))
        is_list = "list-type" in query
        wanted = f"{path.rstrip('/')}/{query.get('prefix', [''])[0]}" if is_list else path
        if self.s3.fails(wanted):
            self.answer(403, b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>")
        elif is_list:
            self.listing(path.rstrip("/"), query)
        elif path in self.s3.objects:
            self.content(self.s3.objects[path])
        else:
            self.answer(404, b"<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>")

    do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

    def listing(self, bucket: str, query: Mapping[str, list[str]]) -> None:
        try:
            self.answer(200, self.s3.list_objects(bucket, query).encode())
        except KeyError:
            self.answer(404, b"<Error><Code>NoSuchBucket</Code><Message>no bucket</Message></Error>")

    def content(self, body: bytes) -> None:
        asked = self.headers.get("Range")
        if asked is None:
            self.answer(200, body)
            return
        first, _, last = asked.removeprefix("bytes=").partition("-")
        start = int(first) if first else len(body) - int(last)
        end = min(int(last) + 1, len(body)) if first and last else len(body)
        self.answer(206, body[start:end], {"Content-Range": f"bytes {start}-{end - 1}/{len(body)}"})

    def answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("ETag", '"e"')
        self.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle(self) -> None:
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        return None


@contextmanager
def s3_server(objects: Mapping[str, bytes]) -> Iterator[S3Server]:
    """A server that runs while the block does."""
    server = S3Server(objects)
    server.start()
    try:
        yield server
    finally:
        server.stop()
