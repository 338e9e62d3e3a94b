# SPDX-License-Identifier: BSD-3-Clause
"""Sets that are not at hand, and how to get them."""

from collections.abc import Iterable

from aucmax.datasets import DatasetUnavailable, fetch, info
from aucmax.datasets.store import select
from aucmax_papers.records import SetUse

LOCAL_PLACES = ("mirror", "cache", "package")


def find_missing(uses: Iterable[SetUse], *, download: bool = False) -> dict[str, str]:
    """Return the sets that are not at hand, and how to get them.

    Parameters
    ----------
    uses : iterable of SetUse
        The sets to look for.
    download : bool, default=False
        Whether to try to get them. Some take gigabytes, so not unasked.

    Returns
    -------
    missing : dict of str to str
        What to do, by the names of the sets.
    """
    missing = {}
    for use in sorted(uses, key=lambda use: use.name):
        if is_at_hand(use):
            continue
        if not download:
            missing[use.name] = _how_to_get(use)
            continue
        try:
            for part in _parts(use):
                fetch(use.data, part)
        except DatasetUnavailable as error:
            missing[use.name] = str(error)
    return missing


def is_at_hand(use: SetUse) -> bool:
    """Say whether the files of a set are on this computer; nothing is downloaded."""
    chosen = info(use.data)
    places = chosen.where()
    return all(
        places[part.name] in LOCAL_PLACES
        for name in _parts(use)
        for part in select(chosen, name or "all")
    )


def _how_to_get(use: SetUse) -> str:
    about = info(use.data)
    files = [part.file for name in _parts(use) for part in select(about, name or "all")]
    return (
        f"{use.data} is not at hand. Download it with: aucmax datasets fetch "
        f"{use.data}; or put {' and '.join(files)} into the folder that the variable "
        f"AUCMAX_DATA names. Its home is {about.source}."
    )


def explain_missing(missing: dict[str, str]) -> str:
    """Say what to do if not one set is at hand."""
    name, how = next(iter(missing.items()))
    return (
        f"None of the sets that this needs is at hand ({', '.join(missing)}). Name the "
        "folder that holds their files in the variable AUCMAX_DATA, or let them be "
        f"downloaded (--download, or download=True). For {name}: {how}"
    )


def _parts(use: SetUse) -> list[str | None]:
    if use.split == "given":
        return ["train", "test"]
    return [None if use.part == "all" else use.part]
