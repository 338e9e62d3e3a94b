# SPDX-License-Identifier: BSD-3-Clause
"""How many neighbours count, and which where distances tie."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucmax.neighbors.index import Neighbors
from aucmax.neighbors.votes import n_voters, vote


def nearest(distances, k):
    """Neighbors of queries with these distances to all rows, one list each."""
    parts = []
    for row in distances:
        order = np.argsort(row, kind="stable")
        parts.append(order[row[order] <= row[order[min(k, len(row)) - 1]]])
    indptr = np.append(0, np.cumsum([len(part) for part in parts]))
    found = [row[part] for row, part in zip(distances, parts, strict=True)]
    return Neighbors(indptr, np.concatenate(parts), np.concatenate(found))


def literal(distances, is_pos, k, order, by_distance=False):
    """Mean label of the first k rows by distance, then by ``order``."""
    scores = []
    for row in distances:
        chosen = sorted(range(len(row)), key=lambda i: (row[i], order[i]))[:k]
        weight = np.ones(len(chosen))
        if by_distance:
            far = np.sqrt(row[chosen])
            weight = (far == 0.0).astype(float) if far.min() == 0 else 1 / far
        scores.append(np.average(is_pos[chosen], weights=weight))
    return np.array(scores)


def draw(rng, tied, n=40, n_queries=60):
    distances = rng.integers(0, 4, (n_queries, n)) if tied else rng.random((60, n))
    return distances.astype(float), rng.random(n) < 0.4


@pytest.mark.parametrize("k", [1, 7, 40, 100])
@pytest.mark.parametrize("by_distance", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_rules_are_those_of_a_sort(k, by_distance, tied, rng):
    distances, is_pos = draw(rng, tied)
    marks, mark = rng.random(40), 0.3
    # Some marks tie too; then the older row comes first.
    marks[5:9] = marks[4]
    found = nearest(distances, k)
    oldest = vote(found, is_pos, k, ties="index", by_distance=by_distance)
    expected = literal(distances, is_pos, k, np.arange(40), by_distance)
    assert_allclose(oldest, expected, rtol=1e-13)

    given = {"by_distance": by_distance, "marks": marks, "mark": mark}
    drawn = vote(found, is_pos, k, ties="random", **given)
    order = np.argsort(np.argsort(np.abs(marks - mark), kind="stable"))
    expected = literal(distances, is_pos, k, order, by_distance)
    assert_allclose(drawn, expected, rtol=1e-13)

    average = vote(found, is_pos, k, ties="average", by_distance=by_distance)
    if not tied:
        assert_array_equal(drawn, oldest)
        assert_array_equal(average, oldest)
    elif k == 7:
        assert not np.array_equal(drawn, oldest)
        assert not np.array_equal(average, oldest)


@pytest.mark.parametrize("by_distance", [False, True])
def test_average_is_the_mean_of_random(by_distance, rng):
    distances, is_pos = draw(rng, tied=True, n_queries=20)
    k, n_draws = 9, 3000
    found = nearest(distances, k)
    average = vote(found, is_pos, k, ties="average", by_distance=by_distance)
    drawn = np.array(
        [
            vote(
                found,
                is_pos,
                k,
                ties="random",
                by_distance=by_distance,
                marks=rng.random(40),
                mark=rng.random(),
            )
            for _ in range(n_draws)
        ]
    )
    error = drawn.std(axis=0) / np.sqrt(n_draws)
    assert drawn.std(axis=0).max() > 0.05
    assert np.all(np.abs(drawn.mean(axis=0) - average) < 4 * error + 1e-12)


def test_average_does_not_depend_on_the_order_of_rows(rng):
    distances, is_pos = draw(rng, tied=True)
    order = rng.permutation(40)
    for by_distance in (False, True):
        scores = [
            vote(nearest(d, 9), p, 9, ties="average", by_distance=by_distance)
            for d, p in [(distances, is_pos), (distances[:, order], is_pos[order])]
        ]
        assert_array_equal(*scores)


def test_default_number():
    numbers = [n_voters("2log2n", n) for n in (1, 2, 3, 4, 5, 6, 1024, 2**40)]
    assert numbers == [1, 2, 3, 4, 4, 5, 20, 80]
    for n in range(2, 3000):
        assert n_voters("2log2n", n) == min(n, math.floor(2 * math.log2(n) + 1e-9))
    # log2 of the square would be rounded to 100 here.
    assert n_voters("2log2n", 2**50 - 1) == 99


def test_given_numbers():
    assert [n_voters(5, n) for n in (1, 4, 5, 1000)] == [1, 4, 5, 5]
    assert [n_voters(math.sqrt, n) for n in (1, 8, 9)] == [1, 2, 3]
    assert [n_voters(np.log, n) for n in (1, 2, 1000)] == [1, 1, 6]
    assert n_voters(lambda n: math.inf, 7) == 7


@pytest.mark.parametrize("value", [-1, math.nan, None, "3"])
def test_numbers_that_are_none(value):
    with pytest.raises(ValueError, match=r"k\(10\) is .* number of neighbours"):
        n_voters(lambda n: value, 10)
