# SPDX-License-Identifier: BSD-3-Clause
"""Where rows come from: a file, packed or not, or a stream."""

import bz2
import gzip
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from aucmax.io._errors import listed, naming


def open_zip(file: Any, _mode: str = "rb") -> IO[bytes]:
    """Return the only file in a zip archive as a stream."""
    with ZipFile(file) as archive:
        # It stays open until the stream is closed.
        return archive.open(_members(archive)[0])


def _members(archive: ZipFile) -> list[ZipInfo]:
    """Return the files in an archive, without the notes that macOS adds."""
    return [
        each
        for each in archive.infolist()
        if not each.is_dir() and not each.filename.startswith("__MACOSX/")
    ]


OPENERS: dict[str, Any] = {
    ".bz2": bz2.open,
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".zip": open_zip,
}
# How packed bytes begin.
MARKS: dict[bytes, Any] = {
    b"BZh": bz2.open,
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"PK\x03\x04": open_zip,
}
# What reading packed bytes raises if they are cut off or not what their name says.
UNPACKING_ERRORS = (EOFError, OSError, BadZipFile, lzma.LZMAError, zlib.error)
STDIN = "-"


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes that can be read again, to look for what is wrong with them.

    Attributes
    ----------
    name : str
        What to call it in a message.
    suffix : str
        The last suffix of the name, without that of a compression; may be empty. Of a
        zip archive, that of the file in it.
    open : callable
        Returns a new binary stream of the unpacked bytes.
    plain_path : path or None
        The file, if there is one and it is not packed.
    """

    name: str
    suffix: str
    open: Callable[[], IO[bytes]]
    plain_path: Path | None = None


def open_binary(path: Path, suffix: str | None = None) -> IO[bytes]:
    """Open a file for reading; .bz2, .gz, .xz and .zip are unpacked on the way."""
    opener = OPENERS.get(path.suffix if suffix is None else suffix, open)
    file: IO[bytes] = opener(path, "rb")
    return file


def from_path(path: str | os.PathLike[str]) -> Source:
    """Return a file as a source; raise if there is none."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"There is no file {file}.")
    is_packed = file.suffix in OPENERS
    suffix = file.with_suffix("").suffix if is_packed else file.suffix
    if file.suffix == ".zip":
        suffix = _suffix_in_zip(file, str(file)) or suffix
    return Source(
        str(file), suffix, lambda: open_binary(file), None if is_packed else file
    )


def _suffix_in_zip(file: Any, name: str) -> str:
    """Return how the name of the only file ends; raise if it cannot be read.

    Nothing is written to the disk, so that name can do no harm.
    """
    with naming(name, "a zip archive"), ZipFile(file) as archive:
        found = _members(archive)
        if len(found) == 1:
            # Refused if it needs a password, or is packed in a way nobody knows.
            archive.open(found[0]).close()
    if len(found) != 1:
        names = [each.filename for each in found]
        raise ValueError(
            f"{name} holds {len(names)} files where one table is expected"
            f"{': ' if names else ''}{listed(names)}. Unpack it, and give the file "
            "that is meant."
        )
    return Path(found[0].filename).suffix


def from_anything(given: Any) -> Source:
    """Return a path, "-" for the standard input, or a binary file as a source.

    A stream is read at once, as it may come only once; packed bytes are known by how
    they begin.
    """
    if isinstance(given, str) and given == STDIN:
        return _from_stream(sys.stdin.buffer, "the standard input")
    if isinstance(given, str | os.PathLike):
        return from_path(given)
    if not hasattr(given, "read"):
        raise ValueError(
            f"A path, '-' or a file is expected, but a {type(given).__name__} was "
            "given. To read a table that is in memory already, there is no need."
        )
    name = getattr(given, "name", None)
    return _from_stream(given, name if isinstance(name, str) else "the file given")


def _from_stream(stream: Any, name: str) -> Source:
    data = stream.read()
    if not isinstance(data, bytes):
        raise ValueError(
            f"{name} gives text rather than bytes. Open it with mode 'rb'."
        )
    opener = next((MARKS[mark] for mark in MARKS if data.startswith(mark)), None)
    path = Path(name)
    suffix = path.with_suffix("").suffix if path.suffix in OPENERS else path.suffix
    if opener is open_zip:
        suffix = _suffix_in_zip(BytesIO(data), name) or suffix

    def reopen() -> IO[bytes]:
        file: IO[bytes] = BytesIO(data) if opener is None else opener(BytesIO(data))
        return file

    return Source(name, suffix, reopen)
