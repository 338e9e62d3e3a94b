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
class LocatedFile:
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


def find(part: Part) -> LocatedFile | None:
    """Return the first file that holds the part: mirror, cache, then this package."""
    for place, folder in _folders():
        if (folder / part.file).is_file():
            return LocatedFile(place, folder / part.file, is_public=False)
        if part.public_file is not None and (folder / part.public_file).is_file():
            return LocatedFile(place, folder / part.public_file, is_public=True)
    return None


def cache_folder() -> Path:
    """Return the folder for downloads: ``AUCMAX_CACHE``, or the user's cache."""
    name = os.environ.get(CACHE_VARIABLE)
    if name:
        return Path(name).expanduser()
    return Path(import_optional("pooch", "data").os_cache("aucmax"))


def _folders() -> Iterator[tuple[str, Path]]:
    name = os.environ.get(DATA_VARIABLE)
    if name:
        mirror = Path(name).expanduser()
        if not mirror.is_dir():
            raise DatasetUnavailable(
                f"{DATA_VARIABLE} is set to {name!r}, which is not a folder. Set it to "
                f"the folder with the data files, or unset it."
            )
        yield "mirror", mirror
    # Without pooch, nothing can have been downloaded.
    with contextlib.suppress(ImportError):
        yield "cache", cache_folder()
    with resources.as_file(resources.files("aucmax.datasets") / "data") as folder:
        yield "package", folder
