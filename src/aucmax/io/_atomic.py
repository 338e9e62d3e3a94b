# SPDX-License-Identifier: BSD-3-Clause
"""Files that are there as a whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the name of a draft, which takes the file's place if all goes well.

    The draft is beside the file and on the disk before it is moved, so that a reader,
    or a machine that stops, never sees half a file. Whoever comes last wins.
    """
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder} to write {path.name} to.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the name of a file in it.")
    draft = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield draft
        # For writing: Windows syncs nothing else.
        with draft.open("r+b") as file:
            os.fsync(file.fileno())
        draft.replace(path)
        _sync_folder(folder)
    except OSError as error:
        if error.errno is None:
            raise
        # Of the same kind, but about the file rather than its draft.
        raise OSError(
            error.errno, f"{path} cannot be written: {error.strerror}"
        ) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Bring names to the disk too, where folders can be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
