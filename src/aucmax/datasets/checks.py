# SPDX-License-Identifier: BSD-3-Clause
"""Whether a file is whole, and the one that was published."""

import bz2
import gzip
import hashlib
import lzma
import zlib
from pathlib import Path
from typing import IO, Any

from aucmax.datasets.errors import DatasetDamaged
from aucmax.datasets.folders import Found
from aucmax.datasets.parts import Part

OPENERS = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
# What reading a compressed file raises if it is cut off or not what its name says.
UNPACKING_ERRORS = (EOFError, OSError, lzma.LZMAError, zlib.error)

# Files found whole in this process, by path, size and time of the last change.
_checked: set[tuple[str, int, int]] = set()


def check(part: Part, found: Found) -> None:
    """Raise `DatasetDamaged` unless the file is the one that was published.

    The size is checked every time; the checksum once per process, or again if the file
    has changed since.
    """
    state = found.path.stat()
    key = (str(found.path), state.st_size, state.st_mtime_ns)
    if key in _checked:
        return
    try:
        if found.is_public:
            check_public(part, found.path)
        else:
            _compare("bytes", part.bytes, state.st_size)
            if part.sha256 is not None:
                _compare("sha256", part.sha256, file_hash(found.path, "sha256"))
    except DatasetDamaged as error:
        raise DatasetDamaged(
            f"{found.path} is damaged, or another file of that name: {error}. Delete "
            f"it and get it again."
        ) from error
    _checked.add(key)


def check_public(part: Part, path: Path) -> None:
    """Compare a public file with the checksums known of it."""
    if part.url_hash is not None:
        algorithm, _, expected = part.url_hash.partition(":")
        _compare(algorithm, expected, file_hash(path, algorithm))
    if part.text_sha256 is not None:
        # A download in progress has another name, so the suffix is taken from the part.
        received = text_sha256(path, Path(part.public_file or "").suffix)
        _compare("sha256 of the text", part.text_sha256, received)


def file_hash(path: Path, algorithm: str) -> str:
    """Return the checksum of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def text_sha256(path: Path, suffix: str | None = None) -> str:
    """Return the checksum of the text in a file, whatever its compression.

    White space at the ends of lines does not count, because copies differ in it.
    """
    digest = hashlib.sha256()
    try:
        with open_binary(path, suffix) as file:
            for line in file:
                digest.update(line.rstrip() + b"\n")
    except UNPACKING_ERRORS as error:
        raise DatasetDamaged(f"it cannot be unpacked ({error})") from error
    return digest.hexdigest()


def open_binary(path: Path, suffix: str | None = None) -> IO[bytes]:
    """Open a file for reading; .bz2, .gz and .xz are unpacked on the way."""
    opener: Any = OPENERS.get(path.suffix if suffix is None else suffix, open)
    file: IO[bytes] = opener(path, "rb")
    return file


def _compare(what: str, expected: str | int | None, received: str | int) -> None:
    if expected is not None and received != expected:
        raise DatasetDamaged(f"{what} {expected} expected, {received} received")
