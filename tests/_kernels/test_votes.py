# SPDX-License-Identifier: BSD-3-Clause
"""The loop over neighbours, by hand."""

from fractions import Fraction

import numpy as np
import pytest

from aucmax._kernels.votes import mean_labels

# One query: two rows nearer than the four that tie at the k-th distance for k in 3..6.
IDS = np.array([4, 0, 1, 2, 3, 5])
DISTANCES = np.array([1.0, 4.0, 9.0, 9.0, 9.0, 9.0])
IS_POS = np.array([False, True, False, True, True, False])


def votes(k, share_places, by_distance, distances=DISTANCES):
    out = np.full(1, np.nan)
    indptr = np.array([0, len(IDS)])
    mean_labels(indptr, IDS, distances, IS_POS, k, share_places, by_distance, out)
    return out[0]


@pytest.mark.parametrize(
    ("k", "share_places", "expected"),
    [
        (3, False, Fraction(2, 3)),
        (4, False, Fraction(2, 4)),
        (5, False, Fraction(3, 5)),
        (6, False, Fraction(3, 6)),
        (3, True, Fraction(3, 6)),
        (4, True, Fraction(2, 4)),
        (5, True, (1 + Fraction(3, 2)) / 5),
        (6, True, Fraction(3, 6)),
        (100, True, Fraction(3, 6)),
        (100, False, Fraction(3, 6)),
    ],
)
def test_share_of_positives(k, share_places, expected):
    assert votes(k, share_places, by_distance=False) == float(expected)


@pytest.mark.parametrize(
    ("k", "share_places", "pos"),
    [(3, False, 1 / 3), (5, False, 2 / 3), (3, True, 1 / 6), (5, True, 1 / 2)],
)
def test_weights_are_inverse_distances(k, share_places, pos):
    """``pos`` is what positives at the last distance weigh."""
    expected = (1 + pos) / (1 + 1 / 2 + (k - 2) / 3)
    assert votes(k, share_places, by_distance=True) == pytest.approx(expected)


@pytest.mark.parametrize("share_places", [False, True])
def test_rows_at_distance_zero_count_alone(share_places):
    near = np.array([0.0, 0.0, 9.0, 9.0, 9.0, 9.0])
    assert votes(4, share_places, by_distance=True, distances=near) == 0.5
    zeros = np.zeros(6)
    expected = votes(3, share_places, by_distance=False, distances=zeros)
    assert votes(3, share_places, by_distance=True, distances=zeros) == expected


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e300])
def test_no_weight_overflows(size):
    expected = votes(4, True, by_distance=True)
    scaled = votes(4, True, by_distance=True, distances=DISTANCES * size)
    assert scaled == pytest.approx(expected, rel=1e-2)


def test_distances_may_overflow():
    far = np.array([1.0, *[np.inf] * 5])
    assert votes(4, True, by_distance=True, distances=far) == 1.0
    far = np.full(6, np.inf)
    assert votes(4, True, by_distance=True, distances=far) == 0.5


def test_equal_shares_are_equal_to_the_last_bit():
    """Else pairs that tie would count as ordered: 3 of 10 in many ways."""
    shares = set()
    for n_near in range(10):
        for n_tied in range(10 - n_near, 60):
            n_left = 10 - n_near
            # n_near_pos + n_left n_tied_pos / n_tied = 3
            for n_near_pos in range(min(n_near, 3) + 1):
                n_pos, rest = divmod((3 - n_near_pos) * n_tied, n_left)
                if rest or n_pos > n_tied:
                    continue
                is_pos = np.arange(n_near) < n_near_pos
                is_pos = np.append(is_pos, np.arange(n_tied) < n_pos)
                distances = np.append(np.zeros(n_near), np.ones(n_tied))
                ids, out = np.arange(len(is_pos)), np.empty(1)
                indptr = np.array([0, len(ids)])
                mean_labels(indptr, ids, distances, is_pos, 10, True, False, out)
                shares.add(out[0])
    assert shares == {3 / 10}
