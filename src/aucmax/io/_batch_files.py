# SPDX-License-Identifier: BSD-3-Clause
"""Which files make up a source of batches, in which order, and whether they changed."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aucmax.io.formats import LIBSVM, check_format, kind_of
from aucmax.io.header import EMPTY
from aucmax.io.source import Source, from_path

PARQUET = ".parquet"
# Formats under one name.
SAME = dict.fromkeys(LIBSVM, "libsvm") | dict.fromkeys(("feather", "ipc"), "arrow")
CAN_BE_PACKED = {"csv", "tsv", "libsvm"}


class InputFile(NamedTuple):
    """A file as it was when it was first looked at.

    Attributes
    ----------
    path : path
        Where it is.
    size : int
        Its bytes.
    changed : int
        When it was last written, in nanoseconds.
    """

    path: Path
    size: int
    changed: int

    def source(self) -> Source:
        """Return what reads it; raise if it is not what it was."""
        source = from_path(self.path)
        if _look(self.path) != self:
            raise ValueError(
                f"{self.path} has changed since read_batches looked at it. Call "
                "read_batches again when nobody writes to it."
            )
        return source


def find_files(paths: Any, format: str | None) -> tuple[str, tuple[InputFile, ...]]:
    """Return the format of all files, and the files in their order.

    The order is that of ``paths``; files of a folder or pattern are sorted by name.
    """
    check_format(format)
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise ValueError("paths is an empty list. Give at least one file.")
    found = [path for each in given for path in _expand(each)]
    _refuse_twice(found)
    files = tuple(map(_look, found))
    kinds = [_kind(file, format) for file in files]
    other = next((k for k, kind in enumerate(kinds) if kind != kinds[0]), None)
    if other is not None:
        raise ValueError(
            f"{files[0].path} is read as {kinds[0]}, but {files[other].path} as "
            f"{kinds[other]}. Give files of one format."
        )
    return kinds[0], files


def _expand(given: Any) -> list[Path]:
    if not isinstance(given, str | os.PathLike):
        raise ValueError(
            "paths must be a path, a pattern, a folder or a list of those; got a "
            f"{type(given).__name__}."
        )
    text = os.fspath(given)
    path = Path(text)
    if path.is_dir():
        return _in_folder(path)
    if path.exists() or not glob.has_magic(text):
        # If it is not there, this says so.
        return [Path(from_path(path).name)]
    matches = [Path(each) for each in sorted(glob.glob(text, recursive=True))]
    files = [each for each in matches if each.is_file()]
    if not files:
        raise FileNotFoundError(
            f"No file matches {text!r}. Check the pattern; ** stands for any folders."
        )
    return files


def _in_folder(folder: Path) -> list[Path]:
    # Names with these marks are notes of other programs, such as _metadata.
    found = sorted(
        path
        for path in folder.glob(f"*{PARQUET}")
        if path.is_file() and not path.name.startswith((".", "_"))
    )
    if not found:
        raise FileNotFoundError(
            f"The folder {folder} has no files named *{PARQUET}. For files of another "
            f"kind, or in folders below, give a pattern such as {folder}/**/*.csv."
        )
    return found


def _refuse_twice(paths: Sequence[Path]) -> None:
    known = set[str]()
    for path in paths:
        full = os.path.abspath(path)
        if full in known:
            raise ValueError(
                f"{path} is asked for twice. Name each file once, and give patterns "
                "that do not overlap."
            )
        known.add(full)


def _look(path: Path) -> InputFile:
    state = path.stat()
    return InputFile(path, state.st_size, state.st_mtime_ns)


def _kind(file: InputFile, format: str | None) -> str:
    source = from_path(file.path)
    kind = kind_of(source, format, is_stream=False)
    kind = SAME.get(kind, kind)
    if not file.size:
        raise ValueError(EMPTY.format(source.name))
    if kind == "jsonl":
        raise ValueError(
            f"{source.name} holds lines of JSON, which are not read in batches. Read "
            "it as a whole with read_table, or write it as Parquet."
        )
    if source.plain_path is None and kind not in CAN_BE_PACKED:
        raise ValueError(
            f"{source.name} is packed, which {kind} files cannot be to be read in "
            "batches. Unpack it first."
        )
    return kind
