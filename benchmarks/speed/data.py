# SPDX-License-Identifier: BSD-3-Clause
"""Real sets from the folder AUCMAX_DATA, or stand-ins where a set is not there.

A stand-in has the shape of the set, its share of positives and its number of nonzeros;
times and memory are alike, AUCs are not, and goals do not count.
"""

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from timing import QUICK

from aucmax import datasets

QUICK_ROWS = 400
Matrix = np.ndarray | sparse.csr_matrix


@dataclass(frozen=True)
class Shape:
    """What a set looks like, and which labels are positive.

    `nonzeros` per row makes CSR rows, taken as they are; None makes dense ones, which
    are standardised. `has_test` says that there is a test file; a fifth of the rows is
    held out otherwise.
    """

    n_rows: int
    n_features: int
    positives: float
    nonzeros: int | None = None
    has_test: bool = False
    is_positive: Callable[[np.ndarray], np.ndarray] = lambda y: y == 1


SETS = {
    "covtype": Shape(464_809, 54, 0.086, is_positive=lambda y: y >= 4),
    "connect-4": Shape(54_045, 126, 0.246, is_positive=lambda y: y == -1),
    "magic04": Shape(15_216, 10, 0.648),
    "ijcnn1": Shape(49_990, 22, 0.097, has_test=True),
    "w8a": Shape(49_749, 300, 0.030, 12, has_test=True),
    "a9a": Shape(32_561, 123, 0.241, 14, has_test=True),
    "rcv1-small": Shape(800, 47_117, 0.467, 76),
    "sector": Shape(6_412, 55_197, 0.5, 163, True, lambda y: y % 2 == 0),
    "news20": Shape(12_748, 62_061, 0.050, 80),
}


@dataclass(frozen=True)
class Data:
    """Training and test rows; labels are booleans."""

    name: str
    X: Matrix
    X_test: Matrix
    y: np.ndarray
    y_test: np.ndarray
    is_real: bool

    @property
    def title(self) -> str:
        n, d = self.X.shape
        stand_in = "" if self.is_real else "like "
        form = " CSR" if sparse.issparse(self.X) else ""
        return f"{stand_in}{self.name}, {n:,} x {d:,}{form}"

    def first(self, n: int) -> "Data":
        """Return the same with fewer training rows; they are in no order."""
        return replace(self, X=self.X[:n], y=self.y[:n])


@functools.lru_cache(maxsize=2)
def load(name: str) -> Data:
    """Return a real set, or what stands in for it."""
    shape = SETS[name]
    is_real = not QUICK and _is_at_hand(name, shape)
    X, X_test, y, y_test = _read(name, shape) if is_real else _draw(shape)
    if shape.nonzeros is None:
        scaler = StandardScaler()
        X, X_test = scaler.fit_transform(X), scaler.transform(X_test)
    return Data(name, X, X_test, y, y_test, is_real)


def bundled(name: str) -> Data:
    """Return a real set that ships with aucmax, standardised."""
    found = datasets.load_bundled(name)
    scaler = StandardScaler()
    X, X_test = scaler.fit_transform(found.X), scaler.transform(found.X_test)
    return Data(name, X, X_test, found.y == 1, found.y_test == 1, is_real=True)


def draw_dense(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, a tenth of them positive, by a score that is not linear."""
    X, _, y, _ = _draw(Shape(n, d, 0.1))
    return X, y


def _parts(name: str, shape: Shape) -> list[str]:
    if shape.has_test:
        return ["train", "test"]
    return [next(iter(datasets.info(name).parts))]


def _is_at_hand(name: str, shape: Shape) -> bool:
    folder = os.environ.get("AUCMAX_DATA")
    files = [datasets.info(name).parts[part].file for part in _parts(name, shape)]
    return bool(folder) and all((Path(folder) / file).exists() for file in files)


def _read(name: str, shape: Shape) -> tuple[Matrix, Matrix, np.ndarray, np.ndarray]:
    is_dense = shape.nonzeros is None
    parts = [datasets.load(name, p, dense=is_dense) for p in _parts(name, shape)]
    X, y = parts[0].X, shape.is_positive(parts[0].y)
    if not shape.has_test:
        return train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], parts[1].X, y[order], shape.is_positive(parts[1].y)


def _draw(shape: Shape) -> tuple[Matrix, Matrix, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    n = min(shape.n_rows, QUICK_ROWS) if QUICK else shape.n_rows
    size = n + n // 4, shape.n_features
    X = _words(*size, shape.nonzeros, rng) if shape.nonzeros else rng.normal(size=size)
    hidden = X @ rng.normal(size=(shape.n_features, 3))
    hidden /= hidden.std(axis=0)
    score = (
        2 * hidden[:, 0] + hidden[:, 1] * hidden[:, 2] + rng.normal(size=len(hidden))
    )
    # Few rows must not lack a class.
    positives = 0.3 if QUICK else shape.positives
    y = score > np.quantile(score, 1 - positives)
    return X[:n], X[n:], y[:n], y[n:]


def _words(
    n: int, d: int, nonzeros: int, rng: np.random.Generator
) -> sparse.csr_matrix:
    """Return rows of length one with words drawn by Zipf's law; repeated ones merge."""
    n_draws = round(1.2 * nonzeros)
    words = (d ** rng.random((n, n_draws)) - 1).astype(np.int32)
    rows = np.repeat(np.arange(n, dtype=np.int32), n_draws)
    X = sparse.csr_matrix((np.ones(n * n_draws), (rows, words.ravel())), shape=(n, d))
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(length, np.diff(X.indptr))
    return X
