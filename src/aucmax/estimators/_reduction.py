# SPDX-License-Identifier: BSD-3-Clause
"""Linear maps to fewer features, chosen before the first row is learned."""

import numpy as np
from scipy import linalg, sparse
from sklearn.random_projection import SparseRandomProjection

from aucmax._utils.typing import FloatArray, Matrix, is_sparse

# A dense random map may have this many values, 64 MB.
DENSE_VALUES = 2**23
# Up to this many features, principal components are found exactly.
EXACT_FEATURES = 2000
# Random search of principal components: more of them than asked for, and repetitions.
# 0, 1, 2 and 3 of these gave OPAUC an AUC of 0.912, 0.952, 0.962 and 0.965 on sector,
# where 1000 components hold half of the variance.
N_EXTRA = 32
N_REPEATS = 3


def choose_projection(
    method: str, X: Matrix, n_components: int, rng: np.random.Generator
) -> Matrix:
    """Return the map to ``n_components`` features, to be applied as ``X @ map``.

    "features" are drawn without repetition. "projection" are random combinations with
    coefficients of variance ``1 / n_components``, most of them zero where there are
    many features. "pca" are the principal components of X; columns are zero beyond
    those that X has.
    """
    d = X.shape[1]
    if method == "features":
        kept = np.sort(rng.permutation(d)[:n_components])
        ones = (np.ones(n_components), (kept, np.arange(n_components)))
        return sparse.csr_matrix(ones, shape=(d, n_components))
    if method == "projection":
        if d * n_components <= DENSE_VALUES:
            return rng.standard_normal((d, n_components)) / np.sqrt(n_components)
        # A share of 1 / sqrt(d) of the coefficients is not zero: for a thousand
        # combinations of a million features they take 14 MB.
        seed = int(rng.integers(2**31))
        drawn = SparseRandomProjection(n_components, random_state=seed).fit(X)
        return sparse.csr_matrix(drawn.components_.T)
    projection = np.zeros((d, n_components))
    few = d <= EXACT_FEATURES
    found = _components(X, n_components) if few else _search(X, n_components, rng)
    projection[:, : found.shape[1]] = found
    return projection


def _components(X: Matrix, n_components: int) -> FloatArray:
    """Return principal directions from the covariance of all features."""
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    if is_sparse(X):
        X = X.astype(np.float64)
        second = (X.T @ X).toarray() / X.shape[0] - np.outer(mean, mean)
    else:
        centred = X - mean
        second = centred.T @ centred / X.shape[0]
    values, vectors = linalg.eigh(second)
    return _known(values[::-1], vectors[:, ::-1], n_components)[1]


def _search(X: Matrix, n_components: int, rng: np.random.Generator) -> FloatArray:
    """Return principal directions by a random search that never centres X itself.

    Halko, Martinsson and Tropp's, with all decompositions on the side of the rows.
    """
    n = X.shape[0]
    X = X.astype(np.float64, copy=False)
    mean = np.asarray(X.mean(axis=0)).ravel()
    size = min(n_components + N_EXTRA, n)
    image = rng.standard_normal((n, size))
    for _ in range(N_REPEATS + 1):
        basis = linalg.qr(image, mode="economic", overwrite_a=True)[0]
        back = np.asarray(X.T @ basis) - np.outer(mean, basis.sum(axis=0))
        image = np.asarray(X @ back) - mean @ back
    # The principal components within the basis, by a product over rows alone.
    values, vectors = linalg.eigh(basis.T @ image)
    values, vectors = _known(values[::-1], vectors[:, ::-1], n_components)
    return np.asarray(back @ (vectors / np.sqrt(values)))


def _known(
    values: FloatArray, vectors: FloatArray, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Return the first directions, those whose variance is more than rounding."""
    floor = max(values[0], 0.0) * len(vectors) * np.finfo(np.float64).eps
    n_known = min(n_components, int(np.sum(values > floor)))
    return values[:n_known], vectors[:, :n_known]
