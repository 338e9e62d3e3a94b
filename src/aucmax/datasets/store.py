# SPDX-License-Identifier: BSD-3-Clause
"""The files of a data set, from the nearest place that has them."""

from pathlib import Path

from aucmax.datasets.checks import check
from aucmax.datasets.download import download
from aucmax.datasets.errors import DatasetDamaged, DatasetUnavailable
from aucmax.datasets.folders import (
    CACHE_VARIABLE,
    DATA_VARIABLE,
    LocatedFile,
    cache_folder,
    find,
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


def locate(
    chosen: DatasetInfo, part: Part, progress: bool | None = None
) -> LocatedFile:
    """Return a checked file of a part, downloading it if it is not at hand."""
    found = find(part)
    if found is None:
        return LocatedFile("cache", _download(chosen, part, progress), is_public=True)
    check(part, found)
    return found


def _download(chosen: DatasetInfo, part: Part, progress: bool | None) -> Path:
    lacking = f"{chosen.name} ({part.name}) is not at hand"
    target = f"a folder that the variable {DATA_VARIABLE} names"
    if part.url is None:
        raise DatasetUnavailable(
            f"{lacking} and has no plain download. Its home: {chosen.source} . "
            f"{chosen.notes} Write the rows as svmlight text, under the name "
            f"{part.file}, into {target}."
        )
    try:
        cache = cache_folder()
        return download(part, cache, progress=progress)
    except ImportError as error:
        raise DatasetUnavailable(f"{lacking}. {error}") from error
    except DatasetDamaged as error:
        raise DatasetDamaged(
            f"What {part.url} sent is not {part.public_file}, and was deleted: "
            f"{error}. Try again, or put the right file into {target}."
        ) from error
    except OSError as error:
        if error.errno is not None:
            raise DatasetUnavailable(
                f"{lacking}, and {part.public_file} cannot be written to {cache}: "
                f"{error.strerror}. Name a folder that can be written in the variable "
                f"{CACHE_VARIABLE}."
            ) from error
        raise DatasetUnavailable(
            f"{lacking}, and {part.public_file} cannot be downloaded from {part.url} : "
            f"{error}. Put that file into {target}."
        ) from error
