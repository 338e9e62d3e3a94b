# SPDX-License-Identifier: BSD-3-Clause
"""Real data for the benchmarks, or twins of it where it is not at hand.

Sets are svmlight files in the folder AUCMAX_DATA. Where that is not set, or lacks the
file, drawn rows of the same shape take their place, with as many nonzeros and as many
positives: times and memory are alike, accuracies are not.
"""

import contextlib
import functools
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

QUICK_ROWS, QUICK_TEST_ROWS = 2000, 1000


@dataclass(frozen=True)
class Source:
    """Where a set is, and what its twin must look like.

    `test` is the file of the official split; without one a fifth of the rows is held
    out. `n_words` is how many features a row of a sparse twin draws, with repetition;
    None makes a dense one.
    """

    train: str
    n_features: int
    is_positive: Callable[[np.ndarray], np.ndarray]
    n_rows: int
    n_test: int
    positives: float
    n_words: int | None = None
    test: str | None = None


def _is_one(y):
    return y == 1


SETS = {
    "covtype": Source(
        "covtype.svm.bz2", 54, lambda y: y >= 4, 464_809, 116_203, 0.086
    ),
    "connect-4": Source(
        "connect-4.svm.bz2", 126, lambda y: y == -1, 54_045, 13_512, 0.246, 86
    ),
    "magic04": Source("magic04.svm.bz2", 10, _is_one, 15_216, 3_804, 0.648),
    "ijcnn1": Source(
        "ijcnn1.train.svm.bz2", 22, _is_one, 49_990, 91_701, 0.097,
        test="ijcnn1.test.svm.bz2",
    ),
    "w8a": Source(
        "w8a.train.svm.bz2", 300, _is_one, 49_749, 14_951, 0.030, 14,
        test="w8a.test.svm.bz2",
    ),
    "a9a": Source(
        "a9a.train.svm.bz2", 123, _is_one, 32_561, 16_281, 0.241, 18,
        test="a9a.test.svm.bz2",
    ),
    "news20": Source(
        "news20.train.svm.bz2", 62_061, _is_one, 12_748, 3_187, 0.050, 95
    ),
    "sector": Source(
        "sector.train.svm.bz2", 55_197, lambda y: y % 2 == 0, 5_129, 1_283, 0.5, 215
    ),
    # Digits five to nine; only the training file, a fifth of it held out.
    "usps80": Source("usps.train.svm.bz2", 256, lambda y: y >= 6, 5_832, 1_459, 0.419),
}  # fmt: skip


@dataclass(frozen=True)
class Data:
    """A set in two parts; unpacks to X, X_test, y, y_test, the labels as booleans."""

    name: str
    is_real: bool
    X: np.ndarray | sparse.csr_matrix
    X_test: np.ndarray | sparse.csr_matrix
    y: np.ndarray
    y_test: np.ndarray

    def __iter__(self) -> Iterator[np.ndarray]:
        yield from (self.X, self.X_test, self.y, self.y_test)

    @property
    def where(self) -> str:
        """Name, size and precision, for a measurement."""
        n, d = self.X.shape
        form = "CSR, " if sparse.issparse(self.X) else ""
        return f"{self.name}, {n:,} x {d:,}, {form}{self.X.dtype.name}"

    def astype(self, dtype: type) -> "Data":
        X, X_test = (part.astype(dtype, copy=False) for part in (self.X, self.X_test))
        return Data(self.name, self.is_real, X, X_test, self.y, self.y_test)

    def first(self, n: int) -> "Data":
        """Return the same with at most so many training rows; they are in no order."""
        return Data(
            self.name, self.is_real, self.X[:n], self.X_test, self.y[:n], self.y_test
        )


@functools.lru_cache(maxsize=1)
def load(name: str, *, standardise: bool = True, quick: bool = False) -> Data:
    """Return a set: the official split or 80/20 (seed 0), shuffled.

    Standardised rows are dense, others CSR. A quick one is a small twin.
    """
    source = SETS[name]
    files = [source.train, *([source.test] if source.test else [])]
    folder = os.environ.get("AUCMAX_DATA")
    paths = [Path(folder) / file for file in files] if folder and not quick else []
    is_real = bool(paths) and all(path.exists() for path in paths)
    X, X_test, y, y_test = read(paths, source) if is_real else twin(source, quick)
    if standardise:
        X, X_test = _dense(X), _dense(X_test)
        scaler = StandardScaler(copy=False).fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    else:
        X, X_test = sparse.csr_matrix(X), sparse.csr_matrix(X_test)
    title = name if is_real else f"twin of {name}"
    return Data(title, is_real, X, X_test, y, y_test)


def read(paths, source):
    parts = [_parsed(path, source.n_features) for path in paths]
    parts = [(X, source.is_positive(y)) for X, y in parts]
    if len(parts) == 1:
        X, y = parts[0]
        return train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    (X, y), (X_test, y_test) = parts
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], X_test, y[order], y_test


def _parsed(path, n_features):
    """Return rows and labels; parsing covtype takes 10 s, so a copy is kept."""
    status = path.stat()
    user = getattr(os, "getuid", lambda: "")()
    folder = Path(tempfile.gettempdir()) / f"aucmax-speed-{user}"
    copy = folder / f"{path.name}-{status.st_size}-{status.st_mtime_ns}.npz"
    with contextlib.suppress(OSError, ValueError, KeyError), np.load(copy) as kept:
        parts = (kept["data"], kept["indices"], kept["indptr"])
        return sparse.csr_matrix(parts, (len(kept["y"]), n_features)), kept["y"]
    X, y = load_svmlight_file(str(path), n_features=n_features)
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            file = Path(unfinished) / "rows.npz"
            np.savez(file, data=X.data, indices=X.indices, indptr=X.indptr, y=y)
            os.replace(file, copy)
    return X, y


def _dense(X):
    return X.toarray() if sparse.issparse(X) else X


def twin(source, quick):
    """Return rows whose labels follow a noisy score, in part not linear."""
    n, n_test = source.n_rows, source.n_test
    if quick:
        n, n_test = QUICK_ROWS, QUICK_TEST_ROWS
    rng = np.random.default_rng(0)
    shape = n + n_test, source.n_features
    if source.n_words is None:
        X = rng.standard_normal(shape)
    else:
        X = draw_words(*shape, source.n_words, rng)
    hidden = X @ rng.standard_normal((source.n_features, 4))
    hidden /= hidden.std(axis=0)
    score = hidden[:, 0] + np.sin(2 * hidden[:, 1]) + hidden[:, 2] * hidden[:, 3]
    score += 0.5 * rng.standard_normal(len(score))
    y = score > np.quantile(score, 1 - source.positives)
    return X[:n], X[n:], y[:n], y[n:]


def draw_frequent(n, d, nnz, rng):
    """Return rows of up to so many nonzeros; frequent features first, as words are."""
    columns = (d * rng.random((n, nnz)) ** 3).astype(np.int32)
    rows = np.repeat(np.arange(n, dtype=np.int32), nnz)
    values = rng.random(n * nnz)
    return sparse.csr_matrix((values, (rows, columns.ravel())), shape=(n, d))


def draw_words(n, d, n_words, rng):
    """Return rows of length one with words drawn by Zipf's law; repeated ones merge."""
    words = (d ** rng.random((n, n_words)) - 1).astype(np.int32)
    rows = np.repeat(np.arange(n, dtype=np.int32), n_words)
    X = sparse.csr_matrix((np.ones(n * n_words), (rows, words.ravel())), shape=(n, d))
    size = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(size, np.diff(X.indptr))
    return X
