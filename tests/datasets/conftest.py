# SPDX-License-Identifier: BSD-3-Clause
import bz2
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
        # Bytes to send before the connection is cut, one number per request.
        self.cuts = []
        self.ranges = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/files/toy.txt"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        asked = self.headers.get("Range")
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
        body = server.content[start:]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 206:
            whole = len(server.content)
            self.send_header("Content-Range", f"bytes {start}-{whole - 1}/{whole}")
        self.end_headers()
        self.wfile.write(body[: server.cuts.pop(0)] if server.cuts else body)

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
