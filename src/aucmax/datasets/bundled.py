# SPDX-License-Identifier: BSD-3-Clause
"""Small real sets that ship with the package, so that examples need no network."""

import functools
import tomllib
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import train_test_split

from aucmax._utils.typing import FloatArray, IntArray
from aucmax.datasets.registry import info

DATA = resources.files("aucmax.datasets") / "data"
TEST_SHARE = 0.3
SPLIT_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """A binary data set, split into training and test rows.

    Attributes
    ----------
    name, title : str
        Short name, and the name in the repository it comes from.
    X, X_test : ndarray of shape (n_samples, n_features)
        Features, float64, as published: nothing is scaled.
    y, y_test : ndarray of shape (n_samples,)
        Labels: 1 for the positive class, 0 for the rest.
    description : str
        What a row is, what the positives are, and what to beware of.
    source : str
        The reference to cite.
    licence : str
        Licence of the data, which is not that of this package.
    """

    name: str
    title: str
    X: FloatArray = field(repr=False)
    y: IntArray = field(repr=False)
    X_test: FloatArray = field(repr=False)
    y_test: IntArray = field(repr=False)
    description: str
    source: str
    licence: str


def list_bundled() -> list[str]:
    """Return the names that `load_bundled` knows, sorted.

    Returns
    -------
    names : list of str
        One name per set.

    Examples
    --------
    >>> from aucmax.datasets import list_bundled
    >>> list_bundled()
    ['german', 'glass', 'satimage', 'vehicle']
    """
    return sorted(_catalogue())


def load_bundled(name: str) -> Bundle:
    """Load one of the small real sets that ship with the package.

    satimage comes with its official split. The others have none, so a stratified 30% of
    the rows, drawn with a fixed seed, is the test set: the same rows at every call.

    Parameters
    ----------
    name : str
        One of `list_bundled()`.

    Returns
    -------
    bundle : Bundle
        Training and test rows, with description, source and licence.

    Raises
    ------
    ValueError
        If there is no set of that name.

    Examples
    --------
    >>> from aucmax.datasets import load_bundled
    >>> vans = load_bundled("vehicle")
    >>> vans.X.shape, vans.X_test.shape
    ((592, 18), (254, 18))
    >>> int(vans.y.sum()), int(vans.y_test.sum())
    (139, 60)
    >>> vans.licence
    'CC BY 4.0'
    """
    entry = _catalogue().get(name)
    if entry is None:
        raise ValueError(
            f"There is no bundled data set {name!r}. Choose one of "
            f"{', '.join(list_bundled())}."
        )
    facts = info(name)
    (X, y), *rest = [
        _read(part.file, facts.n_features, entry["positive"])
        for part in facts.parts.values()
    ]
    if rest:
        X_test, y_test = rest[0]
    else:
        X, X_test, y, y_test = train_test_split(
            X, y, test_size=TEST_SHARE, stratify=y, random_state=SPLIT_SEED
        )
    return Bundle(
        name=name,
        title=facts.title,
        X=X,
        y=y,
        X_test=X_test,
        y_test=y_test,
        description=entry["description"],
        source=facts.reference,
        licence=facts.licence,
    )


@functools.cache
def _catalogue() -> dict[str, Any]:
    return tomllib.loads((DATA / "bundled.toml").read_text(encoding="utf-8"))


def _read(file: str, n_features: int, positive: int) -> tuple[FloatArray, IntArray]:
    with resources.as_file(DATA / file) as path:
        rows, labels = load_svmlight_file(str(path), n_features=n_features)
    return rows.toarray(), (labels == positive).astype("int64")
