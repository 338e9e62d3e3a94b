# SPDX-License-Identifier: BSD-3-Clause
"""Where the files of data sets are looked for."""

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from aucmax._utils.optional import import_optional
from aucmax.datasets.errors import DatasetUnavailable
from aucmax.datasets.parts import Part

DATA_VARIABLE, CACHE_VARIABLE = "AUCMAX_DATA", "AUCMAX_CACHE"


@dataclass(frozen=True, slots=True)
class Found:
    """A file on this computer.

    Attributes
    ----------
    place : str
        ``"mirror"``, ``"cache"`` or ``"package"``.
    path : Path
        The file.
    is_public : bool
        Whether it is the public file, which may be in a format of its own.
    """

    place: str
    path: Path
    is_public: bool


def find(part: Part) -> Found | None:
    """Return the first file that holds the part: mirror, cache, then this package."""
    for found in _candidates(part):
        if stat.S_ISREG(_mode(found.path)):
            return found
    return None


def find_folders(part: Part) -> list[Path]:
    """Return the folders that have the name of a file of the part."""
    paths = [found.path for found in _candidates(part)]
    return [path for path in paths if stat.S_ISDIR(_mode(path))]


def mirror_folder() -> Path | None:
    """Return the folder that ``AUCMAX_DATA`` names, or None if it is not set."""
    name = os.environ.get(DATA_VARIABLE)
    if not name:
        return None
    folder = Path(name).expanduser()
    if not stat.S_ISDIR(_mode(folder)):
        raise DatasetUnavailable(
            f"{DATA_VARIABLE} is set to {name!r}, which is not a folder. Set it to the "
            f"folder with the data files, or unset it."
        )
    return folder


def cache_folder() -> Path:
    """Return the folder for downloads: ``AUCMAX_CACHE``, or the user's cache."""
    name = os.environ.get(CACHE_VARIABLE)
    if name:
        return Path(name).expanduser()
    return Path(import_optional("pooch", "data").os_cache("aucmax"))


def _folders() -> Iterator[tuple[str, Path]]:
    mirror = mirror_folder()
    if mirror is not None:
        yield "mirror", mirror
    # Without pooch, nothing can have been downloaded.
    with contextlib.suppress(ImportError):
        yield "cache", cache_folder()
    with resources.as_file(resources.files("aucmax.datasets") / "data") as folder:
        yield "package", folder


def _candidates(part: Part) -> Iterator[Found]:
    for place, folder in _folders():
        yield Found(place, folder / part.file, is_public=False)
        if part.public_file is not None:
            yield Found(place, folder / part.public_file, is_public=True)


def _mode(path: Path) -> int:
    """Return what kind of file has this name, or 0 if there is none."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        # Most likely the folder may not be searched.
        raise DatasetUnavailable(
            f"{path} cannot be looked at: {error.strerror}. Change the rights of its "
            f"folder, or name another one in the variable {DATA_VARIABLE} (for your "
            f"own files) or {CACHE_VARIABLE} (for downloads)."
        ) from error
