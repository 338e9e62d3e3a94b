# SPDX-License-Identifier: BSD-3-Clause
"""The nearest rows by the letter."""

import numpy as np

from aucmax.neighbors.index import Neighbors


def distances_to(rows, query):
    total = np.zeros(len(rows))
    for j in range(len(query)):
        total += (rows[:, j] - query[j]) ** 2
    return total


def nearest(rows, queries, k):
    """The k nearest and all that tie with the k-th, by distance and number."""
    rows, queries = np.asarray(rows, float), np.asarray(queries, float)
    parts = []
    for query in queries:
        far = distances_to(rows, query)
        order = np.lexsort((np.arange(len(rows)), far))
        if len(rows) > k:
            order = order[far[order] <= far[order[k - 1]]]
        parts.append((order, far[order]))
    empty = (np.empty(0, np.int64), np.empty(0))
    return Neighbors(
        np.cumsum([0] + [len(ids) for ids, _ in parts]),
        np.concatenate([empty[0]] + [ids for ids, _ in parts]),
        np.concatenate([empty[1]] + [far for _, far in parts]),
    )


def assert_same(found, expected):
    for name in Neighbors._fields:
        values, wanted = getattr(found, name), getattr(expected, name)
        assert values.dtype == wanted.dtype, name
        np.testing.assert_array_equal(values, wanted, err_msg=name)
