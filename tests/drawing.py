# SPDX-License-Identifier: BSD-3-Clause
"""Random problems with the cases that break things drawn on purpose."""

import numpy as np


def draw_labels(rng, n, n_pos=None):
    """A mask with both classes in it."""
    is_pos = np.zeros(n, dtype=bool)
    n_pos = n_pos or int(rng.integers(1, n))
    is_pos[rng.permutation(n)[:n_pos]] = True
    return is_pos


def draw_weight(rng, n, kind):
    """Weights: all one, small integers with zeros, or any positive number."""
    if kind == "ones":
        return np.ones(n)
    if kind == "integers":
        return rng.integers(0, 4, n).astype(float) + (np.arange(n) % 2)
    return rng.gamma(1.0, size=n) + 1e-3


def draw_problem(rng, n=80, d=4, shift=0.7, fraction=0.3):
    """Rows, labels and weights of a problem that is neither hopeless nor separable."""
    is_pos = draw_labels(rng, n, max(1, round(fraction * n)))
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    X[is_pos] += shift
    return X, is_pos, np.ones(n)
