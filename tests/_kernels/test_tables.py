# SPDX-License-Identifier: BSD-3-Clause
"""Tables of scores beside a dictionary and all pairs."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from aucmax._kernels.order import argsort
from aucmax._kernels.tables import (
    merge_tables,
    tabulate,
    tabulate_sorted,
    weigh_table,
)

# The first call compiles.
unhurried = settings(deadline=None, derandomize=True)
VALUES = [-1e300, -1.0, -5e-324, -0.0, 0.0, 0.5, 0.5 + 2**-53, 3.0]
rows_of = st.lists(
    st.tuples(st.sampled_from(VALUES), st.sampled_from([-2.0, -1.0, 1.0, 3.0]))
)


def table_of(rows):
    scores = np.array([score for score, _ in rows], dtype=float)
    signed = np.array([weight for _, weight in rows], dtype=float)
    table = np.full((3, len(rows)), np.nan)
    n = tabulate(scores, signed, argsort(scores), table)
    return table[:, :n].copy()


def expected_table(rows):
    masses = defaultdict(lambda: [0.0, 0.0])
    for score, weight in rows:
        masses[score][int(weight < 0)] += abs(weight)
    return np.array([[s, *masses[s]] for s in sorted(masses)]).reshape(-1, 3).T


def merged(left, right):
    out = np.full((3, left.shape[1] + right.shape[1]), np.nan)
    return out[:, : merge_tables(left, right, out)]


@unhurried
@given(rows_of)
def test_tabulate(rows):
    assert_array_equal(table_of(rows), expected_table(rows))


@unhurried
@given(rows_of)
def test_tabulate_sorted(rows):
    ones = [(score, np.sign(weight)) for score, weight in rows]
    pos, neg = (
        np.sort(np.array([s for s, w in ones if w == sign], dtype=float))
        for sign in (1, -1)
    )
    table = np.full((3, len(rows)), np.nan)
    n = tabulate_sorted(pos, neg, table)
    assert_array_equal(table[:, :n], expected_table(ones))


@unhurried
@given(rows_of, rows_of)
def test_merged_tables_are_those_of_all_rows(left, right):
    both = merged(table_of(left), table_of(right))
    assert_array_equal(both, expected_table(left + right))
    assert_array_equal(merged(table_of(right), table_of(left)), both)


@pytest.mark.parametrize("n_left", [0, 1, 400])
def test_merge_of_many(n_left, rng):
    left = [(s, 1.0) for s in rng.normal(size=n_left)]
    right = [(s, -1.0) for s in rng.normal(size=300)]
    both = merged(table_of(left), table_of(right))
    assert_array_equal(both, expected_table(left + right))


@unhurried
@given(rows_of)
def test_weigh_table_is_the_sum_over_pairs(rows):
    pairs = np.zeros(3)
    for score, weight in rows:
        for other, lost in rows:
            if weight > 0 > lost:
                pairs[1 - np.sign(score - other).astype(int)] -= weight * lost
    masses = [sum(max(sign * w, 0.0) for _, w in rows) for sign in (1, -1)]
    assert_array_equal(weigh_table(*table_of(rows)[1:]), [*pairs, *masses])
