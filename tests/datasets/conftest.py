# SPDX-License-Identifier: BSD-3-Clause
import bz2
import contextlib
import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from aucmax.datasets import DatasetInfo, Part, registry

ROWS = {
    "train": b"1 1:1 3:2.5\n-1 2:1\n-1 1:4\n",
    "test": b"-1 3:1\n1 1:2\n",
    "val": b"1 2:7\n",
}
COUNTS = {
    "train": {"-1": 2, "1": 1},
    "test": {"-1": 1, "1": 1},
    "val": {"1": 1},
}


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    """Neither the user's folders nor a proxy may have a say."""
    monkeypatch.delenv("AUCMAX_DATA", raising=False)
    monkeypatch.setenv("AUCMAX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def mirror(monkeypatch, tmp_path):
    """Make a folder that ``AUCMAX_DATA`` names."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    monkeypatch.setenv("AUCMAX_DATA", str(folder))
    return folder


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder


class Toy:
    """A data set of six rows that takes the place of the registry."""

    rows = ROWS

    def __init__(self, monkeypatch):
        self.monkeypatch = monkeypatch

    def packed(self, name):
        return bz2.compress(ROWS[name])

    def part(self, name, **facts):
        """Describe a part whose mirror file is `packed`."""
        data = self.packed(name)
        held = {
            "n_rows": len(ROWS[name].splitlines()),
            "class_counts": COUNTS[name],
            "file": f"toy.{name}.svm.bz2",
            "sha256": hashlib.sha256(data).hexdigest(),
            "bytes": len(data),
        }
        return Part(name, **(held | facts))

    def register(self, *parts, **facts):
        facts = {"task": "binary", "n_features": 3, "notes": "Ask the owner."} | facts
        toy = DatasetInfo(
            name="toy",
            title="Toy",
            summary="Rows of a test.",
            parts={part.name: part for part in parts},
            source="https://example.org/toy",
            reference="Nobody (2000).",
            licence="not stated",
            **facts,
        )
        self.monkeypatch.setattr(registry, "_registry", lambda: {"toy": toy})
        return toy


@pytest.fixture
def toy(monkeypatch):
    return Toy(monkeypatch)


class Server(ThreadingHTTPServer):
    """Serves one content, well or badly, and notes what it was asked."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = b""
        self.status = 200
        self.knows_ranges = True
        self.sends_length = True
        self.packs_if_it_may = False
        # Bytes to send before the connection is cut, one number per request.
        self.cuts = []
        # Bytes to send, and seconds to wait for another request before the others.
        self.pauses = []
        self.asked_again = threading.Event()
        self.ranges = []

    @property
    def url(self):
        return self.url_of("toy.txt")

    def url_of(self, name):
        return f"http://127.0.0.1:{self.server_port}/files/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        asked = self.headers.get("Range")
        if server.ranges:
            server.asked_again.set()
        server.ranges.append(asked)
        if server.status != 200:
            self.send_error(server.status)
            return
        start, status = 0, 200
        if asked and server.knows_ranges:
            start, status = int(asked.removeprefix("bytes=").rstrip("-")), 206
            if start >= len(server.content):
                self.send_error(416)
                return
        self.send_body(start, status)

    def send_body(self, start, status):
        server = self.server
        body = server.content[start:]
        self.send_response(status)
        if server.packs_if_it_may and "gzip" in self.headers["Accept-Encoding"]:
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        if server.sends_length:
            self.send_header("Content-Length", str(len(body)))
        if status == 206:
            whole = len(server.content)
            self.send_header("Content-Range", f"bytes {start}-{whole - 1}/{whole}")
        self.end_headers()
        n_sent = 0
        if server.pauses:
            n_sent, seconds = server.pauses.pop(0)
            self.wfile.write(body[:n_sent])
            server.asked_again.wait(seconds)
        end = server.cuts.pop(0) if server.cuts else len(body)
        with contextlib.suppress(OSError):  # The client may be gone.
            self.wfile.write(body[n_sent:end])

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()
