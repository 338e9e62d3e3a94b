# SPDX-License-Identifier: BSD-3-Clause
"""Rows, labels, weights and scores that nobody would make up on purpose."""

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

SCALES = [1e308, 1.7e308, 1e200, 1e154, 1e100, 1e20, 1e-20, 1e-160, 1e-308, 5e-324]
SIZES = [1, 2, 3, 4, 10, 40, 40, 40, 120]
WIDTHS = [1, 2, 4, 4, 4, 30]
WIDE = 10**5


def draw_rows(rng, n=None, d=None):
    """Return a matrix of floats, mostly finite."""
    draws = np.random.default_rng(rng.getrandbits(64))
    n = rng.choice(SIZES) if n is None else n
    d = rng.choice(WIDTHS) if d is None else d
    X = draws.normal(size=(n, d))
    with np.errstate(all="ignore"):
        for _ in range(rng.choice([0, 1, 1, 2])):
            rng.choice(FLAWS)(rng, draws, X)
    return X


def _scale_all(rng, draws, X):
    X /= max(np.abs(X).max(), 1.0)
    X *= rng.choice(SCALES)


def _scale_column(rng, draws, X):
    column = X[:, rng.randrange(X.shape[1])]
    column /= max(np.abs(column).max(), 1.0)
    column *= rng.choice(SCALES)


def _one_huge(rng, draws, X):
    X[rng.randrange(len(X)), rng.randrange(X.shape[1])] = rng.choice(
        [-1, 1]
    ) * rng.choice(SCALES)


def _shift(rng, draws, X):
    X[:, rng.randrange(X.shape[1])] += rng.choice([1e8, 1e15, -1e100, 1e308])


def _constant(rng, draws, X):
    X[:, rng.randrange(X.shape[1])] = rng.choice([0.0, -0.0, 1.0, 1e308])


def _all_same(rng, draws, X):
    X[:] = X[0]


def _all_zero(rng, draws, X):
    X[:] = 0.0


def _repeat_rows(rng, draws, X):
    X[:] = X[draws.integers(0, max(len(X) // 3, 1), len(X))]


def _few_values(rng, draws, X):
    np.round(X, out=X)


def _same_columns(rng, draws, X):
    X[:] = X[:, :1]


def _not_finite(rng, draws, X):
    X[rng.randrange(len(X)), rng.randrange(X.shape[1])] = rng.choice(
        [np.nan, np.inf, -np.inf]
    )


FLAWS = [
    _scale_all,
    _scale_column,
    _scale_column,
    _one_huge,
    _shift,
    _constant,
    _all_same,
    _all_zero,
    _repeat_rows,
    _few_values,
    _same_columns,
    _not_finite,
]


def dress(rng, X):
    """Return the rows in another container or type."""
    with np.errstate(all="ignore"):
        return rng.choice(CONTAINERS)(rng, X)


def _plain(rng, X):
    return X


def _float32(rng, X):
    return X.astype(np.float32)


def _integers(rng, X):
    kind = rng.choice([np.int8, np.int64, np.uint64])
    return np.nan_to_num(X).astype(kind)


def _flags(rng, X):
    return X > 0


def _float16(rng, X):
    return X.astype(np.float16)


def _fortran(rng, X):
    return np.asfortranarray(X)


def _strided(rng, X):
    return np.repeat(X, 2, axis=0)[::2][:, ::-1]


def _objects(rng, X):
    X = X.astype(object)
    if rng.random() < 0.5:
        X[0, 0] = rng.choice([None, "text", "1.5", 10**400, 1j, [1], True])
    return X


def _strings(rng, X):
    return X.astype(str)


def _list(rng, X):
    return X.tolist()


def _pandas(rng, X):
    names = rng.choice(
        [None, [f"x{k}" for k in range(X.shape[1])], ["same"] * X.shape[1]]
    )
    table = pd.DataFrame(X, columns=names)
    if rng.random() < 0.3:
        table[table.columns[0] if names is None else "more"] = rng.choice(
            [pd.NA, "text", pd.Timestamp("2026-01-01"), True]
        )
    return table


def _polars(rng, X):
    return pl.DataFrame(X, schema=[f"x{k}" for k in range(X.shape[1])])


def _csr(rng, X):
    kind = rng.choice(
        [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.coo_array]
    )
    return kind(np.where(np.abs(X) < 0.3, 0.0, X))


def _messy_csr(rng, X):
    """Indices out of order, twice the same, and zeros that are written down."""
    n, d = X.shape
    draws = np.random.default_rng(rng.getrandbits(64))
    count = draws.integers(0, 2 * d + 1, n)
    indptr = np.r_[0, np.cumsum(count)]
    indices = draws.integers(0, d, indptr[-1])
    data = X[np.repeat(np.arange(n), count), indices] * draws.integers(0, 2, indptr[-1])
    if rng.random() < 0.3:
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    kind = rng.choice([sparse.csr_matrix, sparse.csc_matrix])
    made = sparse.csr_matrix((data, indices, indptr), (n, d))
    return made if kind is sparse.csr_matrix else made.tocsc()


def _wrong_shape(rng, X):
    return rng.choice([X[0], X[:, :0], X[:0], X[None], np.float64(3.0), None, "text"])


CONTAINERS = [
    *[_plain] * 6,
    *[_float32] * 3,
    _integers,
    _flags,
    _float16,
    _fortran,
    _strided,
    _objects,
    _strings,
    _list,
    _pandas,
    _polars,
    *[_csr] * 3,
    *[_messy_csr] * 2,
    _wrong_shape,
]


def wide_rows(rng, n):
    """Return few rows of very many columns, nearly all of them zero."""
    draws = np.random.default_rng(rng.getrandbits(64))
    return sparse.random(n, WIDE, density=2e-4, format="csr", random_state=draws)


def draw_labels(rng, n):
    draws = np.random.default_rng(rng.getrandbits(64))
    is_pos = draws.random(n) < rng.choice([0.5, 0.5, 0.1])
    if rng.random() < 0.2:
        is_pos[:] = False
        is_pos[rng.randrange(n)] = True
    if rng.random() < 0.75:
        return is_pos.astype(int)
    return rng.choice(LABELS)(rng, is_pos)


LABELS = [
    lambda rng, is_pos: np.where(is_pos, "yes", "no"),
    lambda rng, is_pos: np.where(is_pos, "yes", "no").astype(object),
    lambda rng, is_pos: is_pos,
    lambda rng, is_pos: is_pos.tolist(),
    lambda rng, is_pos: np.where(is_pos, 1e308, -1e308),
    lambda rng, is_pos: np.where(is_pos, 2**63 - 1, -(2**63)),
    lambda rng, is_pos: np.where(is_pos, 2**64 - 1, 0).astype(np.uint64),
    lambda rng, is_pos: np.where(is_pos, 0.1, 0.2),
    lambda rng, is_pos: np.where(is_pos, np.nan, 0.0),
    lambda rng, is_pos: np.where(is_pos, np.inf, 0.0),
    lambda rng, is_pos: np.array([1 if each else "no" for each in is_pos], object),
    lambda rng, is_pos: np.array([1 if each else None for each in is_pos], object),
    lambda rng, is_pos: np.arange(len(is_pos)) % 3,
    lambda rng, is_pos: np.zeros(len(is_pos)),
    lambda rng, is_pos: np.ones(len(is_pos), int),
    lambda rng, is_pos: is_pos[:-1].astype(int),
    lambda rng, is_pos: is_pos.astype(int)[:, None],
    lambda rng, is_pos: np.c_[is_pos, is_pos].astype(int),
    lambda rng, is_pos: pd.Series(np.where(is_pos, "b", "a"), dtype="category"),
    lambda rng, is_pos: pd.Series(is_pos, dtype="boolean"),
    lambda rng, is_pos: pd.Series(is_pos.astype(int), index=range(7, 7 + len(is_pos))),
    lambda rng, is_pos: pl.Series(is_pos.astype(int)),
    lambda rng, is_pos: sparse.csr_matrix(is_pos.astype(int)),
    lambda rng, is_pos: None,
]


def draw_weights(rng, n):
    draws = np.random.default_rng(rng.getrandbits(64))
    weight = draws.random(n)
    if rng.random() < 0.6:
        return None
    flaw = rng.choice(
        [
            "none",
            "zero",
            "half",
            "huge",
            "tiny",
            "negative",
            "nan",
            "short",
            "text",
            "one",
        ]
    )
    where = rng.randrange(n)
    if flaw == "zero":
        weight[:] = 0.0
    elif flaw == "half":
        weight[draws.random(n) < 0.5] = 0.0
    elif flaw in ("huge", "tiny"):
        weight *= rng.choice(SCALES)
    elif flaw == "negative":
        weight[where] = -1.0
    elif flaw == "nan":
        weight[where] = rng.choice([np.nan, np.inf])
    elif flaw == "one":
        weight[:] = 0.0
        weight[where] = 1.0
    if flaw == "short":
        return weight[:-1]
    return weight.astype(str) if flaw == "text" else weight


def is_finite(X):
    """Say whether rows are numbers, all finite."""
    if sparse.issparse(X):
        return bool(np.isfinite(X.data).all())
    try:
        return bool(np.isfinite(np.asarray(X, dtype=float)).all())
    except (TypeError, ValueError, OverflowError):
        return False
