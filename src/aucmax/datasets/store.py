# SPDX-License-Identifier: BSD-3-Clause
"""The files of a data set, from the nearest place that has them."""

import os
from pathlib import Path

from aucmax.datasets.checks import check
from aucmax.datasets.download import download
from aucmax.datasets.errors import DatasetDamaged, DatasetUnavailable
from aucmax.datasets.folders import (
    CACHE_VARIABLE,
    DATA_VARIABLE,
    Found,
    cache_folder,
    find,
    find_folders,
)
from aucmax.datasets.parts import Part
from aucmax.datasets.registry import DatasetInfo, info


def fetch(
    name: str, part: str | None = None, *, progress: bool | None = None
) -> dict[str, Path]:
    """Return files of a data set, downloading those that are not at hand.

    A file is looked for in the folder that the variable ``AUCMAX_DATA`` names, in the
    cache (the folder ``AUCMAX_CACHE``, or one of the user's), and in this package. Then
    it is downloaded from its public home into the cache; a download that was cut off
    goes on where it stopped.

    Every file is checked. Where no checksum is known, which `info` tells, `load` counts
    rows and labels instead.

    Parameters
    ----------
    name : str
        One of `list_datasets()`.
    part : str, default=None
        One part, or None for the training and the test part, or the only one.
    progress : bool, default=None
        Whether to draw a bar on standard error; None: if that is a terminal.

    Returns
    -------
    paths : dict of str to Path
        The file of each part. It is svmlight text, or a public file in the format that
        `info` tells; `load` reads either.

    Raises
    ------
    ValueError
        If there is no such set or part.
    DatasetUnavailable
        If a file is not at hand and cannot be downloaded.
    DatasetDamaged
        If a file is not the one that was published.

    Examples
    --------
    >>> from aucmax.datasets import fetch
    >>> paths = fetch("vehicle")  # ships with aucmax
    >>> paths["all"].name
    'vehicle.svm.bz2'
    """
    chosen = info(name)
    return {
        each.name: locate(chosen, each, progress).path
        for each in select(chosen, part or "all")
    }


def select(chosen: DatasetInfo, part: str) -> list[Part]:
    """Return the parts a name stands for; ``"all"`` is train, then test."""
    parts = chosen.parts
    if part in parts:
        return [parts[part]]
    if part == "all":
        return [each for each in parts.values() if each.name in ("train", "test")]
    raise ValueError(
        f"{chosen.name} has no part {part!r}. Choose one of "
        f"{', '.join(dict.fromkeys([*parts, 'all']))}."
    )


def locate(chosen: DatasetInfo, part: Part, progress: bool | None = None) -> Found:
    """Return a checked file of a part, downloading it if it is not at hand."""
    found = find(part)
    if found is None:
        return Found("cache", _download(chosen, part, progress), is_public=True)
    check(part, found)
    return found


def discard(part: Part, found: Found, error: BaseException) -> bool:
    """Delete a download whose rows are not those published; say whether that was done.

    Without a checksum, it would be found again and again. A file with a checksum is
    whole, so the trouble is elsewhere; and those in a mirror are the user's.
    """
    is_ours = found.place == "cache" and found.is_public and not part.has_checksum
    if not is_ours or _is_system_trouble(error):
        return False
    try:
        found.path.unlink()
    except OSError:
        return False
    return True


def _is_system_trouble(error: BaseException | None) -> bool:
    """Say whether memory or the disk failed, so that the file may still be right."""
    while error is not None:
        # Errors of unpacking, and our own, have no number.
        has_number = isinstance(error, OSError) and error.errno is not None
        if has_number or isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _download(chosen: DatasetInfo, part: Part, progress: bool | None) -> Path:
    which = f"{chosen.name} ({part.name}) is not at hand"
    if part.url is None:
        raise DatasetUnavailable(
            f"{which} and has no plain download.{_in_the_way(part)} "
            f"Its home: {chosen.source} . {chosen.notes} Write the rows as svmlight "
            f"text, under the name {part.file}, into {_target()}."
        )
    try:
        return download(part, cache_folder(), progress=progress)
    except DatasetDamaged as error:
        raise DatasetDamaged(
            f"What {part.url} sent is not {part.public_file}, and was deleted: "
            f"{error}. Try again, or put the right file into {_target()}."
        ) from error
    # A missing pooch is an ImportError.
    except (OSError, ImportError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise DatasetUnavailable(
                f"{which}, and {part.public_file} cannot be written to "
                f"{cache_folder()}: {error.strerror}. Name a folder that can be "
                f"written in the variable {CACHE_VARIABLE}."
            ) from error
        raise DatasetUnavailable(
            f"{which}, and {part.public_file} cannot be downloaded from {part.url} : "
            f"{error}.{_in_the_way(part)} Put that file into {_target()}."
        ) from error


def _in_the_way(part: Part) -> str:
    """Return a sentence on each folder that may have been taken for the file."""
    return "".join(f" {path} is a folder, not a file." for path in find_folders(part))


def _target() -> str:
    """Return where to put a file."""
    try:
        folder = cache_folder()
    except ImportError:
        return f"a folder that the variable {DATA_VARIABLE} names"
    if _can_write(folder):
        return f"{folder}, or into a folder that the variable {DATA_VARIABLE} names"
    return (
        f"a folder that the variable {DATA_VARIABLE} or {CACHE_VARIABLE} names "
        f"({folder} cannot be written)"
    )


def _can_write(folder: Path) -> bool:
    """Say whether files can be put into a folder, which may have to be made first."""
    there = next(f for f in (folder, *folder.parents) if os.path.exists(f))
    return os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)
