# SPDX-License-Identifier: BSD-3-Clause
"""Downloads that continue where they were cut off, and are checked before use."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.datasets.checks import check_download
from aucmax.datasets.errors import DatasetDamaged
from aucmax.datasets.parts import Part

BLOCK = 1 << 18
TIMEOUT = 30.0
# How often a download that was cut off is taken up again in one call.
ATTEMPTS = 5


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

    Returns
    -------
    path : Path
        The file.

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
            _fill(part, file, is_shown)
        # Safe only now that the file is there: whoever locks next just finds it.
        with contextlib.suppress(OSError):
            lock.unlink()
    return file


def _fill(part: Part, file: Path, is_shown: bool) -> None:
    """Download a file piece by piece, check it, and give it its name."""
    piece = file.with_name(f"{file.name}.part")
    _complete(str(part.url), piece, is_shown)
    try:
        check_download(part, piece)
    except DatasetDamaged:
        piece.unlink()
        raise
    os.replace(piece, file)


def _complete(url: str, piece: Path, is_shown: bool) -> None:
    """Fetch what is missing, again after each cut, as long as some of it arrives."""
    requests = import_optional("requests", "data")
    for _ in range(ATTEMPTS):
        n_before = _size(piece)
        try:
            if _receive(requests, url, piece, is_shown):
                return
        except requests.HTTPError as error:
            answer = error.response
            raise OSError(
                f"the server answered {answer.status_code} {answer.reason}"
            ) from error
        except requests.RequestException as error:
            if _size(piece) <= n_before:
                raise OSError(f"no connection ({type(error).__name__})") from error
    raise OSError(f"the connection was cut {ATTEMPTS} times")


def _receive(requests: Any, url: str, piece: Path, is_shown: bool) -> bool:
    """Append what the server sends to the piece; say whether that was all."""
    have = _size(piece)
    # Compression on the way would make the offsets mean something else.
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as answer:
        if (
            have
            and answer.status_code == requests.codes.requested_range_not_satisfiable
        ):
            # The piece is complete, or longer than the file: only a new start can tell.
            piece.unlink()
            return False
        answer.raise_for_status()
        if answer.status_code != requests.codes.partial_content:
            have = 0  # The server does not know ranges, or there is nothing to go on.
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length else None
        with (
            piece.open("ab" if have else "wb") as file,
            _bar(piece, have, total, is_shown) as bar,
        ):
            for block in answer.iter_content(BLOCK):
                file.write(block)
                bar.update(len(block))
    # Not every version of what is below requests tells that a stream was too short.
    return total is None or _size(piece) == total


@contextlib.contextmanager
def _bar(piece: Path, have: int, total: int | None, is_shown: bool) -> Iterator[Any]:
    if not is_shown:
        yield _NoBar()
        return
    tqdm = import_optional("tqdm", "data").tqdm
    with tqdm(
        desc=piece.stem,
        total=total,
        initial=have,
        unit="B",
        unit_scale=True,
        leave=False,
    ) as bar:
        yield bar


class _NoBar:
    def update(self, n: int) -> None:
        """Do nothing."""


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
