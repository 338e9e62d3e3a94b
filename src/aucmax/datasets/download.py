# SPDX-License-Identifier: BSD-3-Clause
"""Downloads that continue where they were cut off, and are checked before use."""

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.datasets.checks import check_download
from aucmax.datasets.errors import DatasetDamaged
from aucmax.datasets.parts import Part

BLOCK = 1 << 18
TIMEOUT = 30.0
OK, RANGE_NOT_SATISFIABLE = 200, 416


def download(part: Part, folder: Path, *, progress: bool | None = None) -> Path:
    """Download the public file of a part into a folder, and return its path.

    Nothing of that name is in the folder until the file is whole and its checksum, if
    one is known, is right. What arrived of a download that was cut off is kept under
    another name, and the next download goes on from there. While one thread or process
    downloads a file, others wait for it.

    Parameters
    ----------
    part : Part
        With an `url`.
    folder : Path
        Made if it is not there.
    progress : bool or None
        Whether to draw a bar on standard error; None: if that is a terminal.

    Raises
    ------
    DatasetDamaged
        If what arrived cannot be the file; it is deleted.
    OSError
        If it cannot be had; the message says why in a few words. If it cannot be
        written, the error of the system, which has an `errno`.
    """
    filelock = import_optional("filelock", "data")
    is_shown = sys.stderr.isatty() if progress is None else progress
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / str(part.public_file)
    lock = folder / f"{file.name}.lock"
    # The system drops the lock of a process that is killed.
    with filelock.FileLock(lock):
        if not file.is_file():
            piece = folder / f"{file.name}.part"
            _complete(str(part.url), piece, is_shown)
            try:
                check_download(part, piece)
            except DatasetDamaged:
                piece.unlink()
                raise
            os.replace(piece, file)
        # Safe only now that the file is there: whoever locks next just finds it.
        with contextlib.suppress(OSError):
            lock.unlink()
    return file


def _complete(url: str, piece: Path, is_shown: bool) -> None:
    """Fetch what is missing, again after each cut, as long as some of it arrives."""
    requests = import_optional("requests", "data")
    while True:
        n_before = piece.stat().st_size if piece.exists() else 0
        try:
            _append(url, piece, is_shown)
            return
        except requests.HTTPError as error:
            answer = error.response
            # The piece was complete, or longer than the file, and is now empty.
            if n_before and answer.status_code == RANGE_NOT_SATISFIABLE:
                continue
            raise OSError(
                f"the server answered {answer.status_code} {answer.reason}"
            ) from error
        except requests.RequestException as error:
            if piece.stat().st_size <= n_before:
                raise OSError(f"no connection ({type(error).__name__})") from error


def _append(url: str, piece: Path, is_shown: bool) -> None:
    """Append what the server sends to the piece; begin anew if it sends all."""
    pooch = import_optional("pooch", "data")
    with piece.open("ab") as file, contextlib.ExitStack() as stack:
        # Compression on the way would make the offsets mean something else.
        headers = {"Accept-Encoding": "identity"}
        if file.tell():
            headers["Range"] = f"bytes={file.tell()}-"

        def see_start(answer: Any, **_: Any) -> None:
            # After an error, pooch leaves it open.
            stack.callback(answer.close)
            if answer.status_code in (OK, RANGE_NOT_SATISFIABLE):
                file.truncate(0)

        fetch = pooch.HTTPDownloader(
            progressbar=is_shown,
            chunk_size=BLOCK,
            timeout=TIMEOUT,
            headers=headers,
            hooks={"response": see_start},
        )
        fetch(url, file, None)
