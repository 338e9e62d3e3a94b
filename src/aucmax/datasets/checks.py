# SPDX-License-Identifier: BSD-3-Clause
"""Whether a file is whole, and the one that was published."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from aucmax.datasets.errors import DatasetDamaged
from aucmax.datasets.folders import LocatedFile
from aucmax.datasets.parts import Part
from aucmax.io.tables.source import UNPACKING_ERRORS, open_binary

# What may stand before the text of a web page: a byte order mark, and white space.
BEFORE_TEXT = b"\xef\xbb\xbf \t\r\n"
# Files found whole in this process, by path, size and time of the last change.
_checked: set[tuple[str, int, int]] = set()


def check(part: Part, found: LocatedFile) -> None:
    """Raise `DatasetDamaged` unless the file is the one that was published.

    A file that has not changed is read once per process.
    """
    state = found.path.stat()
    key = (str(found.path), state.st_size, state.st_mtime_ns)
    if key in _checked:
        return
    try:
        if found.is_public:
            _check_public(part, found.path)
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


def check_download(part: Part, path: Path) -> None:
    """Raise `DatasetDamaged` unless what arrived may be the public file.

    Where no checksum is known, it must be possible to unpack it to its end, and it must
    not be a web page, which some servers send in place of an error.
    """
    _check_public(part, path)
    if part.url_hash is None and part.text_sha256 is None:
        start = b""
        for line in _lines(path, _public_suffix(part)):
            start = start or line.lstrip(BEFORE_TEXT)
        if not start:
            raise DatasetDamaged("it is empty")
        if start.startswith(b"<"):
            raise DatasetDamaged("it begins with '<', as a web page does")


def _check_public(part: Part, path: Path) -> None:
    """Compare a public file with the checksums known of it."""
    if part.url_hash is not None:
        algorithm, _, expected = part.url_hash.partition(":")
        _compare(algorithm, expected, file_hash(path, algorithm))
    if part.text_sha256 is not None:
        received = text_sha256(path, _public_suffix(part))
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
    for line in _lines(path, suffix):
        digest.update(line.rstrip() + b"\n")
    return digest.hexdigest()


def _lines(path: Path, suffix: str | None) -> Iterator[bytes]:
    try:
        with open_binary(path, suffix) as file:
            yield from file
    except UNPACKING_ERRORS as error:
        raise DatasetDamaged(f"it cannot be unpacked ({error})") from error


def _public_suffix(part: Part) -> str:
    """Return the suffix of the public file, as a download has another name at first."""
    return Path(part.public_file or "").suffix


def _compare(what: str, expected: str | int | None, received: str | int) -> None:
    if expected is not None and received != expected:
        raise DatasetDamaged(f"{what} {expected} expected, {received} received")
