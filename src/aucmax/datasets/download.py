# SPDX-License-Identifier: BSD-3-Clause
"""Downloads that continue where they were cut off, and are checked before use."""

import contextlib
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.datasets.checks import check_public
from aucmax.datasets.errors import DatasetDamaged
from aucmax.datasets.parts import Part

BLOCK = 1 << 18
TIMEOUT = 30.0
# How often a download that was cut off is taken up again in one call.
ATTEMPTS = 5
# A running download writes more often than this (seconds); an older piece is nobody's.
ABANDONED = 600.0


def download(part: Part, folder: Path, *, progress: bool | None = None) -> Path:
    """Download the public file of a part into a folder, and return its path.

    Nothing of that name is in the folder until the file is whole and its checksum, if
    one is known, is right. What arrived of a download that was cut off is kept under
    another name, and the next download goes on from there.

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
        If what arrived has the wrong checksum; it is deleted.
    OSError
        If it cannot be had or written; the message says why in a few words.
    """
    pooch = import_optional("pooch", "data")
    is_shown = sys.stderr.isatty() if progress is None else progress
    with _quiet(pooch.get_logger()):
        path = pooch.retrieve(
            part.url,
            known_hash=None,  # The downloader checks more kinds than pooch does.
            fname=part.public_file,
            path=folder,
            downloader=_Downloader(part, is_shown),
        )
    return Path(path)


class _Downloader:
    """What pooch calls to fill a temporary file, which it then moves into place."""

    def __init__(self, part: Part, is_shown: bool) -> None:
        self.part = part
        self.is_shown = is_shown

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        resting = Path(output_file).parent / f"{self.part.public_file}.part"
        piece = _claim(resting)
        try:
            _complete(url, piece, self.is_shown)
            check_public(self.part, piece)
            os.replace(piece, output_file)
        except DatasetDamaged:
            piece.unlink()
            raise
        except BaseException:
            # Also after Ctrl-C: the next download goes on from here.
            if piece.exists():
                os.replace(piece, resting)
            raise


def _claim(resting: Path) -> Path:
    """Take what an earlier download left, under a name of this process.

    So two processes never write to the same piece; the second one starts anew.
    """
    own = resting.with_name(f"{resting.name}-{os.getpid()}")
    for piece in sorted(resting.parent.glob(f"{resting.name}*")):
        with contextlib.suppress(FileNotFoundError):  # Another process was faster.
            age = time.time() - piece.stat().st_mtime
            if piece == resting or age > ABANDONED:
                os.replace(piece, own)
                break
    return own


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
    return total is None or _size(piece) == total


@contextlib.contextmanager
def _bar(piece: Path, have: int, total: int | None, is_shown: bool) -> Iterator[Any]:
    if not is_shown:
        yield _NoBar()
        return
    tqdm = import_optional("tqdm", "data").tqdm
    name = piece.name.rpartition(".part")[0]
    with tqdm(
        desc=name, total=total, initial=have, unit="B", unit_scale=True, leave=False
    ) as bar:
        yield bar


class _NoBar:
    def update(self, n: int) -> None:
        """Do nothing."""


@contextlib.contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from announcing what the bar, or nothing, should show."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
