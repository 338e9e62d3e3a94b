# SPDX-License-Identifier: BSD-3-Clause
"""Data sets as matrices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._utils.typing import Matrix
from aucmax.datasets.errors import DatasetDamaged, DatasetUnavailable
from aucmax.datasets.folders import LocatedFile, find
from aucmax.datasets.parts import Part
from aucmax.datasets.registry import DatasetInfo, info
from aucmax.datasets.store import locate, select
from aucmax.io import read_csv, read_libsvm


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A data set in memory.

    Attributes
    ----------
    X : csr_matrix or ndarray of shape (n_samples, n_features)
        Features, float64, as published: nothing is scaled.
    y : ndarray of shape (n_samples,)
        The labels as published, more than two for a multi-class set; for a multi-label
        set, a boolean table with a column per label.
    info : DatasetInfo
        Size, home, licence, use in the papers.
    """

    X: Matrix = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    info: DatasetInfo


def load(
    name: str, part: str = "all", *, dense: bool = False, progress: bool | None = None
) -> Dataset:
    """Load a data set of the papers, fetching it first if it is not at hand.

    See `fetch` for where files are looked for, and `load_bundled` for small sets that
    are ready to use: binary, dense and split.

    Parameters
    ----------
    name : str
        One of `list_datasets()`.
    part : str, default="all"
        ``"train"``, ``"test"`` and so on, as in ``info(name).parts``. ``"all"`` is the
        training rows, then the test rows; or the only part.
    dense : bool, default=False
        Whether `X` is an ndarray rather than a CSR matrix.
    progress : bool, default=None
        Whether to draw a bar on standard error while downloading; None: if that is a
        terminal.

    Returns
    -------
    data : Dataset
        Rows, labels, and what is known of the set.

    Raises
    ------
    ValueError
        If there is no such set or part, or a file cannot be parsed.
    DatasetUnavailable
        If a file is not at hand and cannot be downloaded, or if the files at hand do
        not fit together.
    DatasetDamaged
        If a file is not the one that was published.

    Examples
    --------
    >>> from aucmax.datasets import load
    >>> data = load("satimage", "test")
    >>> data.X.shape
    (2000, 36)
    >>> is_damp_grey = data.y == 4
    >>> int(is_damp_grey.sum())
    211
    """
    chosen = info(name)
    parts = select(chosen, part)
    _refuse_mixture(chosen, parts)
    loaded = [_read(chosen, each, locate(chosen, each, progress)) for each in parts]
    blocks, labels = zip(*loaded, strict=True)
    X = blocks[0] if len(blocks) == 1 else sparse.vstack(blocks, format="csr")
    return Dataset(X.toarray() if dense else X, np.concatenate(labels), chosen)


def _refuse_mixture(chosen: DatasetInfo, parts: Sequence[Part]) -> None:
    """Raise if some values would be those of a mirror, and others the public ones."""
    places = [(part, find(part)) for part in parts]
    public = [part for part, found in places if found is None or found.is_public]
    for part, found in places:
        if public and found and not found.is_public and part.mirror_differs:
            raise DatasetUnavailable(
                f"The parts of {chosen.name} do not fit together: the values in "
                f"{found.path} are not the public ones ({part.mirror_differs}), but "
                f"those of the part {public[0].name!r} are. Load one part at a time, "
                f"or move that file away, so that the public one is used."
            )


def _read(
    chosen: DatasetInfo, part: Part, found: LocatedFile
) -> tuple[Matrix, NDArray[Any]]:
    if found.is_public and part.format == "csv":
        table, y = read_csv(found.path, header=False, **part.options)
        X = sparse.csr_matrix(table)
    else:
        # Rows a user wrote by hand, for want of a download, may have single labels.
        multilabel = chosen.task == "multilabel" and found.is_public
        X, y = read_libsvm(found.path, chosen.n_features, multilabel=multilabel)
    if found.is_public and part.labels:
        y = _translated(y, part.labels, found.path)
    _count(part, found.path, y)
    return X, y


def _translated(y: NDArray[Any], labels: Mapping[str, int], path: Path) -> NDArray[Any]:
    """Replace the labels of a public file."""
    values, inverse = np.unique(y, return_inverse=True)
    for value in map(str, values):
        if value not in labels:
            raise _not_published(path, f"label {', '.join(labels)}", value)
    return np.array([labels[str(value)] for value in values], dtype=np.int64)[inverse]


def _count(part: Part, path: Path, y: NDArray[Any]) -> None:
    """Compare rows and labels with what was published."""
    if len(y) != part.n_rows:
        raise _not_published(path, f"{part.n_rows} rows", len(y))
    if part.class_counts is not None and y.ndim == 1:
        values, counts = np.unique(y, return_counts=True)
        received = dict(zip(map(str, values), map(int, counts), strict=True))
        if received != part.class_counts:
            raise _not_published(path, f"rows {dict(part.class_counts)}", received)


def _not_published(path: Path, expected: str, received: Any) -> DatasetDamaged:
    return DatasetDamaged(
        f"{path} is not the published file: {expected} expected, {received} found. "
        f"Delete it and get it again."
    )
