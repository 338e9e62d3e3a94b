# SPDX-License-Identifier: BSD-3-Clause
"""Nystroem features of 20,000 rows beside the machine's limit and scikit-learn.

The limit is the time of the two matrix products at the rate of a large one, measured in
the same run and precision. scikit-learn's side is what its ``Nystroem`` does after
validation: ``rbf_kernel(X, landmarks) @ normalization``. One thread, CPU time; bars for
float32: 1.12 times the limit, 0.48 times scikit-learn in float64, 0.80 times it in
float32.
"""

import argparse

import numpy as np
from _timing import best_times, print_table
from sklearn.metrics.pairwise import rbf_kernel

from aucmax.features.nystroem import Nystroem

ROWS, FEATURES, LANDMARKS = 20_000, 54, 1600
# Rows of the product whose rate counts as the machine's.
LARGE = 8192


def candidates(X):
    fitted = Nystroem(LANDMARKS, random_state=0).fit(X)
    landmarks, gamma = fitted.landmarks_, fitted.gamma_
    normalization = fitted.normalization_.astype(X.dtype)
    large = np.ones((LARGE, LANDMARKS), X.dtype)
    product = large @ normalization
    name = X.dtype.name
    return normalization.shape[1], {
        f"product {name}": lambda: np.matmul(large, normalization, out=product),
        f"ours {name}": lambda: fitted.transform(X),
        f"kernel {name}": lambda: fitted.kernel_(X, landmarks),
        f"sklearn {name}": lambda: (
            rbf_kernel(X, landmarks, gamma=gamma) @ normalization
        ),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    X = np.random.default_rng(0).standard_normal((ROWS, FEATURES))
    runs, ranks = {}, {}
    for dtype in (np.float32, np.float64):
        rank, chosen = candidates(X.astype(dtype))
        ranks[np.dtype(dtype).name] = rank
        runs |= chosen
    times = best_times(runs, repeats=repeats)
    rows = []
    for name, rank in ranks.items():
        share = ROWS * (FEATURES + rank) / (LARGE * rank)
        limit = share * times[f"product {name}"]
        ours = times[f"ours {name}"]
        rows.append(
            [
                name,
                limit,
                times[f"kernel {name}"],
                ours,
                times[f"sklearn {name}"],
                ours / limit,
                ours / times["sklearn float64"],
                ours / times["sklearn float32"],
            ]
        )
    headers = ["dtype", "limit s", "kernel only s", "ours s", "scikit-learn s"]
    headers += ["/ limit", "/ scikit-learn float64", "/ scikit-learn float32"]
    print_table(headers, rows)
    print("bars for float32: 1.12, 0.48, 0.80")


if __name__ == "__main__":
    main()
