# SPDX-License-Identifier: BSD-3-Clause
"""Nystroem features of 20,000 rows beside the machine's limit and scikit-learn.

The limit is the time of the two matrix products at the rate of a large one, measured in
the same run and precision. scikit-learn's side is what its ``Nystroem`` does after
validation: ``rbf_kernel(X, landmarks) @ normalization``. One thread, CPU time.
"""

import _suite
import numpy as np
from _timing import take_turns
from sklearn.metrics.pairwise import rbf_kernel

from aucmax.features.nystroem import Nystroem

FEATURES, ROWS, LANDMARKS = 54, 20_000, 1600
QUICK_ROWS, QUICK_LANDMARKS = 2_000, 200
# Rows of the product whose rate counts as the machine's.
LARGE = 8192
BARS = {
    ("float32", "GEMM float32"): 1.12,
    ("float32", "scikit-learn float64"): 0.48,
    ("float32", "scikit-learn float32"): 0.80,
    ("float64", "GEMM float64"): None,
    ("float64", "scikit-learn float64"): None,
}


def measurements(*, quick=False):
    rows = QUICK_ROWS if quick else ROWS
    landmarks = QUICK_LANDMARKS if quick else LANDMARKS
    X = np.random.default_rng(0).standard_normal((rows, FEATURES))
    runs, shares = {}, {}
    for dtype in (np.float32, np.float64):
        rank, chosen = candidates(X.astype(dtype), landmarks)
        shares[f"GEMM {np.dtype(dtype).name}"] = rows * (FEATURES + rank) / LARGE / rank
        runs |= chosen
    turns = take_turns(runs, repeats=2 if quick else 3)
    for limit, share in shares.items():
        turns[limit] = [share * seconds for seconds in turns[limit]]
    for (dtype, other), bar in BARS.items():
        yield _suite.ratio(
            turns,
            f"ours {dtype}",
            other,
            what=f"Nystroem features, {dtype}",
            where=f"{rows:,} x {FEATURES} to {landmarks:,}",
            kind="limit" if "GEMM" in other else "peer",
            bar=bar,
            goal=None if bar is None else 5,
        )


def candidates(X, n_landmarks):
    fitted = Nystroem(n_landmarks, random_state=0).fit(X)
    landmarks, gamma = fitted.landmarks_, fitted.gamma_
    normalization = fitted.normalization_.astype(X.dtype)
    large = np.ones((LARGE, n_landmarks), X.dtype)
    product = large @ normalization
    name = X.dtype.name
    return normalization.shape[1], {
        f"GEMM {name}": lambda: np.matmul(large, normalization, out=product),
        f"ours {name}": lambda: fitted.transform(X),
        f"scikit-learn {name}": lambda: (
            rbf_kernel(X, landmarks, gamma=gamma) @ normalization
        ),
    }


if __name__ == "__main__":
    _suite.main(measurements)
