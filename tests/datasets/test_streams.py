# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from aucmax.datasets import drifting_stream, make_imbalanced
from aucmax.metrics import roc_auc


def towards_positives(X, y):
    return X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)


def turns(drift, n_batches=8):
    """Return the cosine between the first batch's direction and that of each batch."""
    batches = drifting_stream(n_batches, 20_000, 5, 0.5, drift, random_state=1)
    directions = [towards_positives(X, y) for X, y in batches]
    assert_allclose(np.linalg.norm(directions, axis=1), 2.0, atol=0.1)
    return [float(d @ directions[0]) / 4 for d in directions]


def test_imbalanced_rows_have_the_share_and_the_best_auc_promised():
    X, y = make_imbalanced(
        40_000, 4, positive_share=0.25, separation=1.5, random_state=0
    )
    assert X.shape == (40_000, 4)
    assert np.bincount(y).tolist() == [30_000, 10_000]
    # The direction between the means is the best scorer there is.
    best = norm.cdf(1.5 / np.sqrt(2))
    assert roc_auc(y, X @ towards_positives(X, y)) == pytest.approx(best, abs=0.005)


@pytest.mark.parametrize(("n_rows", "share", "n_pos"), [(5, 1e-6, 1), (5, 0.999, 4)])
def test_both_classes_are_always_there(n_rows, share, n_pos):
    _, y = make_imbalanced(n_rows, 1, positive_share=share, random_state=0)
    assert y.sum() == n_pos


def test_same_seed_same_rows():
    for first, second, other in zip(
        drifting_stream(3, 20, random_state=5),
        drifting_stream(3, 20, random_state=5),
        drifting_stream(3, 20, random_state=6),
        strict=True,
    ):
        assert_array_equal(first[0], second[0])
        assert_array_equal(first[1], second[1])
        assert (first[0] != other[0]).any()
    X = [make_imbalanced(random_state=seed)[0] for seed in (3, 3, 4)]
    assert_array_equal(X[0], X[1])
    assert (X[0] != X[2]).any()


@pytest.mark.parametrize(
    ("drift", "cosines"),
    [
        ("none", [1, 1, 1, 1, 1, 1, 1, 1]),
        ("sudden", [1, 1, 1, 1, -1, -1, -1, -1]),
        ("gradual", np.cos(np.pi * np.arange(8) / 7)),
        ("recurring", [1, 1, -1, -1, 1, 1, -1, -1]),
    ],
)
def test_drifts(drift, cosines):
    assert_allclose(turns(drift), cosines, atol=0.06)


def test_stream_has_the_shapes_and_the_share_asked_for():
    batches = list(drifting_stream(50, 200, 3, 0.1, random_state=0))
    assert len(batches) == 50
    assert {(X.shape, y.shape) for X, y in batches} == {((200, 3), (200,))}
    share = np.mean([y.mean() for _, y in batches])
    assert share == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drift": "slow"}, "drift must be one of none, sudden.*got 'slow'"),
        ({"n_features": 1}, "n_features must be at least 2.*got 1"),
        ({"n_batches": 0}, "n_batches must be at least 1; got 0"),
        ({"batch_rows": 0}, "at least 1 rows; got 0"),
        ({"positive_share": 0}, "positive_share must lie between 0 and 1; got 0"),
    ],
)
def test_stream_refuses_bad_arguments_when_called(options, message):
    with pytest.raises(ValueError, match=message):
        drifting_stream(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_rows": 1}, "at least 2 rows; got 1"),
        ({"n_features": 0}, "n_features must be at least 1; got 0"),
        ({"positive_share": 1.0}, "positive_share must lie between 0 and 1; got 1.0"),
    ],
)
def test_imbalanced_refuses_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        make_imbalanced(**options)
