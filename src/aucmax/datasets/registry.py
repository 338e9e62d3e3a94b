# SPDX-License-Identifier: BSD-3-Clause
"""What is known of each data set: size, home, licence, and use in the papers."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from aucmax.datasets.folders import find
from aucmax.datasets.parts import Part


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """Facts about a data set; nothing of it needs to be at hand.

    Attributes
    ----------
    name, title, summary : str
        Short name, name at its home, and what a row and its label are.
    task : str
        ``"binary"``, ``"multiclass"`` or ``"multilabel"``, before any class is declared
        positive.
    n_features : int
        Number of columns.
    parts : dict of str to Part
        Rows, class counts, files and checksums, part by part.
    source : str
        Address of its public home.
    reference : str
        The publication or creator to name.
    licence : str
        Licence of the data, or ``"not stated"``.
    papers : dict of str to str
        For each paper that uses it: which rows, which positives, which scaling.
    notes : str
        What to beware of.
    """

    name: str
    title: str
    summary: str
    task: str
    n_features: int
    parts: Mapping[str, Part] = field(repr=False)
    source: str
    reference: str
    licence: str
    papers: Mapping[str, str] = field(default_factory=dict, repr=False)
    notes: str = field(default="", repr=False)

    def where(self) -> dict[str, str]:
        """Return the place of each part.

        Returns
        -------
        places : dict of str to str
            ``"mirror"`` (the folder ``AUCMAX_DATA``), ``"cache"``, ``"package"``
            (shipped with aucmax), ``"download"`` (can be fetched), or ``"manual"``
            (must be got by hand from `source`).
        """
        places = {}
        for name, part in self.parts.items():
            found = find(part)
            away = "download" if part.url else "manual"
            places[name] = found.place if found else away
        return places


def list_datasets() -> list[str]:
    """Return the names that `info`, `fetch` and `load` know, sorted.

    Returns
    -------
    names : list of str
        One name per set.

    Examples
    --------
    >>> from aucmax.datasets import list_datasets
    >>> [name for name in list_datasets() if name.startswith("svmguide")]
    ['svmguide1', 'svmguide3']
    """
    return sorted(_registry())


def info(name: str) -> DatasetInfo:
    """Return what is known of a data set, without reading or fetching it.

    Parameters
    ----------
    name : str
        One of `list_datasets()`.

    Returns
    -------
    info : DatasetInfo
        Size, home, licence, use in the papers.

    Raises
    ------
    ValueError
        If there is no set of that name.

    Examples
    --------
    >>> from aucmax.datasets import info
    >>> letter = info("letter")
    >>> letter.n_features, {name: part.n_rows for name, part in letter.parts.items()}
    (16, {'train': 15000, 'test': 5000})
    """
    try:
        return _registry()[name]
    except KeyError:
        raise ValueError(
            f"There is no data set {name!r}. Choose one of "
            f"{', '.join(list_datasets())}."
        ) from None


@functools.cache
def _registry() -> dict[str, DatasetInfo]:
    file = resources.files("aucmax.datasets") / "data" / "registry.toml"
    entries = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: _entry(name, fields) for name, fields in entries.items()}


def _entry(name: str, fields: dict[str, Any]) -> DatasetInfo:
    parts = {part: Part(part, **facts) for part, facts in fields.pop("parts").items()}
    return DatasetInfo(name=name, parts=parts, **fields)
