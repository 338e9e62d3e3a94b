# SPDX-License-Identifier: BSD-3-Clause
"""Where the files of data sets are looked for."""

import contextlib
import os
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
    for place, folder in _folders():
        for file, is_public in ((part.file, False), (part.public_file, True)):
            if file is not None and (folder / file).is_file():
                return Found(place, folder / file, is_public)
    return None


def mirror_folder() -> Path | None:
    """Return the folder that ``AUCMAX_DATA`` names, or None if it is not set."""
    name = os.environ.get(DATA_VARIABLE)
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
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
