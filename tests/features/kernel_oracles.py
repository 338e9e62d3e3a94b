# SPDX-License-Identifier: BSD-3-Clause
"""Kernels one pair of rows at a time, in double precision."""

import numpy as np


def kernel_matrix(name, X, Y, *, gamma, degree=3.0, coef0=1.0):
    X, Y = (np.asarray(rows, dtype=np.float64) for rows in (X, Y))
    one_pair = {
        "rbf": lambda x, y: np.exp(-gamma * np.sum((x - y) ** 2)),
        "laplacian": lambda x, y: np.exp(-gamma * np.sum(np.abs(x - y))),
        "polynomial": lambda x, y: (gamma * np.dot(x, y) + coef0) ** degree,
    }[name]
    return np.array([[one_pair(x, y) for y in Y] for x in X])


def mean_distance(X, weight, power):
    """Of the rows to their weighted mean, row by row: |x - m|_power^power."""
    X = np.asarray(X, dtype=np.longdouble)
    weight = np.asarray(weight, dtype=np.longdouble)
    mean = (weight[:, None] * X).sum(axis=0) / weight.sum()
    distances = (np.abs(X - mean) ** power).sum(axis=1)
    return float((weight * distances).sum() / weight.sum())
