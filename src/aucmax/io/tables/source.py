# SPDX-License-Identifier: BSD-3-Clause
"""What the user named: files, a folder, a pattern, a stream; packed or not."""

import bz2
import glob
import gzip
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from aucmax._utils.optional import import_optional
from aucmax.io._errors import listed
from aucmax.io.tables.errors import Option, TableError, naming

STDIN = "-"
TEXT = ("csv", "tsv")
LIBSVM = ("libsvm", "svm", "svmlight")
FORMATS = (*TEXT, "jsonl", "parquet", "arrow", "feather", "ipc", *LIBSVM)
# Ends of names that are no names of formats, and formats under one name.
SUFFIXES = {"ndjson": "jsonl", "txt": "csv"}
SAME = dict.fromkeys(LIBSVM, "libsvm") | dict.fromkeys(("feather", "ipc"), "arrow")
# Bytes copied at a time.
COPIED_BYTES = 2**20
# What reading packed bytes raises if they are cut off or not what their name says.
UNPACKING_ERRORS = (EOFError, OSError, BadZipFile, lzma.LZMAError, zlib.error)


def open_zip(file: Any, _mode: str = "rb") -> IO[bytes]:
    """Return the only file in a zip archive as a stream."""
    with ZipFile(file) as archive:
        # It stays open until the stream is closed.
        return archive.open(_members(archive)[0])


OPENERS: dict[str, Any] = {
    ".bz2": bz2.open,
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".zip": open_zip,
}
# How packed bytes begin.
MARKS = {
    b"BZh": ".bz2",
    b"\x1f\x8b": ".gz",
    b"\xfd7zXZ\x00": ".xz",
    b"PK\x03\x04": ".zip",
}
# What pyarrow can unpack by itself.
CODECS = {".gz": "gzip", ".bz2": "bz2"}


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes that can be read again, as often as wanted.

    Attributes
    ----------
    name : str
        What to call it in a message.
    suffix : str
        The last suffix of the name, without that of a compression; may be empty. Of a
        zip archive, that of the file in it.
    packing : str
        The suffix of the compression; may be empty.
    path : path or None
        The file; None for bytes that came from a stream.
    state : tuple of int
        Its size, and when it was last written, in nanoseconds.
    data : bytes
        Those of a stream.
    """

    name: str
    suffix: str
    packing: str
    path: Path | None = None
    state: tuple[int, int] = (0, 0)
    data: bytes = field(default=b"", repr=False)

    def open(self) -> IO[bytes]:
        """Return a new binary stream of the unpacked bytes."""
        if self.path is not None:
            return open_binary(self.path, self.packing)
        data = BytesIO(self.data)
        opener = OPENERS.get(self.packing)
        return data if opener is None else opener(data)

    def open_arrow(self, *, seekable: bool = False) -> Any:
        """Return the unpacked bytes as a stream of pyarrow.

        pyarrow reads in threads of its own. They may let go of what they read only when
        the process ends; if that is an object of Python, which is gone by then, they
        abort it. So pyarrow opens the file itself, or gets a copy in its own memory.
        """
        arrow = import_optional("pyarrow", "io")
        if self.path is not None and not self.packing:
            # Not a memory map: what was read of it would stay resident.
            return arrow.OSFile(str(self.path))
        if self.path is not None and self.packing in CODECS and not seekable:
            file = arrow.OSFile(str(self.path))
            return arrow.CompressedInputStream(file, CODECS[self.packing])
        copy = arrow.BufferOutputStream()
        with self.open() as stream:
            while data := stream.read(COPIED_BYTES):
                copy.write(data)
        return arrow.BufferReader(copy.getvalue())

    def check_unchanged(self) -> None:
        """Raise if the file is not what it was when it was first looked at."""
        if self.path is not None and open_path(self.path).state != self.state:
            raise TableError(
                "has changed since read_batches looked at it",
                "call read_batches again when nobody writes to it",
                file=self.name,
            )


def open_binary(path: Path, suffix: str | None = None) -> IO[bytes]:
    """Open a file for reading; .bz2, .gz, .xz and .zip are unpacked on the way."""
    opener: Callable[..., IO[bytes]]
    opener = OPENERS.get(path.suffix if suffix is None else suffix, open)
    return opener(path, "rb")


def open_path(path: str | os.PathLike[str]) -> Source:
    """Return a file as a source; raise if there is none."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"There is no file {file}.")
    known = file.stat()
    state = known.st_size, known.st_mtime_ns
    if file.suffix not in OPENERS:
        return Source(str(file), file.suffix, "", file, state)
    suffix = file.with_suffix("").suffix
    if file.suffix == ".zip":
        suffix = _suffix_in_zip(file, str(file)) or suffix
    return Source(str(file), suffix, file.suffix, file, state)


def open_sources(given: Any) -> tuple[Source, ...]:
    """Return the files in the order in which they are read.

    That is the order of a list; files of a folder or a pattern are sorted by path. A
    stream is read at once, as it may come only once; packed bytes are known by how they
    begin.
    """
    if isinstance(given, str) and given == STDIN:
        if sys.stdin is None:
            raise TableError(
                "The standard input is closed", "give a file, or pipe one in"
            )
        return (_read_stream(sys.stdin.buffer, "the standard input"),)
    if hasattr(given, "read"):
        name = getattr(given, "name", None)
        name = name if isinstance(name, str) else "the file given"
        return (_read_stream(given, name),)
    if isinstance(given, str | os.PathLike):
        is_file = os.path.isfile(given)
        return tuple(map(open_path, [given] if is_file else _expand(given)))
    if not isinstance(given, Sequence) or isinstance(given, bytes):
        raise TableError(
            "paths must be a path, a pattern, a folder, a file or a list of those; got "
            f"a {type(given).__name__}",
            "name a file; a table that is in memory already need not be read",
        )
    found = [path for each in given for path in _expand(each)]
    if not found:
        raise TableError("paths is an empty list", "give at least one file")
    seen = set[str]()
    for path in found:
        if os.path.abspath(path) in seen:
            raise TableError(
                "is asked for twice",
                "name each file once, and give patterns that do not overlap",
                file=str(path),
            )
        seen.add(os.path.abspath(path))
    return tuple(map(open_path, found))


def _expand(given: Any) -> list[Path]:
    if not isinstance(given, str | os.PathLike):
        raise TableError(
            "paths must be a path, a pattern, a folder or a list of those; got a "
            f"{type(given).__name__}"
        )
    text = os.fspath(given)
    path = Path(text)
    if path.is_dir():
        # Names with these marks are notes of other programs, such as _metadata.
        found = [p for p in path.glob("*.parquet") if not p.name.startswith((".", "_"))]
        if not found:
            raise FileNotFoundError(
                f"The folder {path} has no files named *.parquet. For files of another "
                f"kind, or in folders below, give a pattern such as {path}/**/*.csv."
            )
        return sorted(each for each in found if each.is_file())
    if path.exists() or not glob.has_magic(text):
        return [path]
    matches = map(Path, sorted(glob.glob(text, recursive=True)))
    if not (files := [each for each in matches if each.is_file()]):
        raise FileNotFoundError(
            f"No file matches {text!r}. Check the pattern; ** stands for any folders."
        )
    return files


def _read_stream(stream: Any, name: str) -> Source:
    data = stream.read()
    if not isinstance(data, bytes):
        raise TableError(
            "gives text rather than bytes", "open it with mode 'rb'", file=name
        )
    packing = next((MARKS[mark] for mark in MARKS if data.startswith(mark)), "")
    path = Path(name)
    suffix = path.with_suffix("").suffix if path.suffix in OPENERS else path.suffix
    if packing == ".zip":
        suffix = _suffix_in_zip(BytesIO(data), name) or suffix
    return Source(name, suffix, packing, data=data)


def name_all(sources: Sequence[Source]) -> str:
    """Return what to call several files in a message."""
    more = len(sources) - 1
    return sources[0].name + (
        f" and {more} more file{'' if more == 1 else 's'}" if more else ""
    )


def _members(archive: ZipFile) -> list[ZipInfo]:
    """Return the files in an archive, without the notes that macOS adds."""
    return [
        each
        for each in archive.infolist()
        if not each.is_dir() and not each.filename.startswith("__MACOSX/")
    ]


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
        raise TableError(
            f"holds {len(names)} files where one table is expected"
            f"{': ' if names else ''}{listed(names)}",
            "unpack it, and give the file that is meant",
            file=name,
        )
    return Path(found[0].filename).suffix


def format_of(
    sources: Sequence[Source], format: str | None, separator: str | None = None
) -> str:
    """Return the format of all files: the one given, or else what their names say.

    Feather is Arrow's format, and there are three names of LIBSVM's. Raise if such
    files have no separator, or not this one.
    """
    if format is not None and format not in FORMATS:
        raise TableError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    kinds = []
    for source in sources:
        suffix = source.suffix.lower().lstrip(".")
        kind = format or SUFFIXES.get(suffix, suffix)
        if kind not in FORMATS and source.path is None:
            kind = "csv"
        if kind not in FORMATS:
            raise TableError(
                "has a name that does not say what it holds",
                Option("known format", ", ".join(FORMATS)),
                file=source.name,
            )
        kinds.append(SAME.get(kind, kind))
        if kinds[-1] != kinds[0]:
            raise TableError(
                f"is read as {kinds[-1]}, but {sources[0].name} as {kinds[0]}",
                "give files of one format",
                file=source.name,
            )
    if separator is None:
        return kinds[0]
    if kinds[0] not in TEXT:
        raise TableError(
            f"is read as {kinds[0]}, which has no separator",
            Option("leave out", "separator"),
            file=sources[0].name,
        )
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
        raise TableError(
            "separator must be one ASCII character, and no quote or end of a line; got "
            f"{separator!r}"
        )
    return kinds[0]


def check_readable(sources: Sequence[Source], kind: str) -> None:
    """Raise if some file cannot be read again and again with little memory."""
    for source in sources:
        if source.path is None:
            raise TableError("can be read only once", "give a file", file=source.name)
        if kind == "jsonl":
            raise TableError(
                "holds lines of JSON, which are not read in batches",
                Option("whole"),
                "write it as Parquet",
                file=source.name,
            )
        if kind != "libsvm" and source.packing not in (
            {"", *CODECS} if kind in TEXT else {""}
        ):
            raise TableError(
                f"is packed, in a way in which {kind} files cannot be read in batches",
                "unpack it",
                file=source.name,
            )
