# SPDX-License-Identifier: BSD-3-Clause
"""What users of KNNOAM rely on."""

import copy
import math
import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import make_circles
from sklearn.model_selection import GridSearchCV

from aucmax import KNNOAM, OPAUC, LeastSquaresAUC

X, Y = make_circles(500, noise=0.15, factor=0.5, random_state=0)
TIES = ["average", "random", "index"]
EXACT = ["auto", "brute", "tree"]


def draw(rng, n, tied=True):
    """Rows that say something about their label; many equal, if tied."""
    y = rng.random(n) < 0.4
    rows = rng.normal(size=(n, 3)) + y[:, None]
    return (np.round(rows) if tied else rows), y.astype(int)


def literal(rows, y, queries, k, by_distance=False):
    """Share of positives among the k nearest; ties at the k-th share its places."""
    scores = []
    for x in queries:
        far = np.array(
            [sum((a - b) ** 2 for a, b in zip(x, r, strict=True)) for r in rows]
        )
        last = np.sort(far)[min(k, len(far)) - 1]
        part = (far < last).astype(float)
        part[far == last] = (min(k, len(far)) - part.sum()) / np.sum(far == last)
        if by_distance:
            zero = far == 0.0
            part *= zero if zero.any() else 1 / np.sqrt(far)
        scores.append(np.average(y, weights=part))
    return np.array(scores)


def raw_scores(model, queries):
    """Scores as shares of positives."""
    return model.decision_function(queries) - model.intercept_[0]


def feed(model, rows, y, size):
    for low in range(0, len(y), size):
        part = slice(low, low + size)
        model.partial_fit(rows[part], y[part], classes=[0, 1])
    return model


# Scores


@pytest.mark.parametrize("backend", EXACT)
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("tied", [False, True])
def test_scores_are_shares_of_the_nearest(backend, weights, tied, rng):
    rows, y = draw(rng, 150, tied)
    queries, _ = draw(rng, 40, tied)
    model = KNNOAM(weights=weights, backend=backend).fit(rows, y)
    assert model.k_ == 14
    expected = literal(rows, y, queries, 14, weights == "distance")
    assert_allclose(raw_scores(model, queries), expected, atol=1e-13)
    model = KNNOAM(5, weights=weights, backend=backend).fit(sparse.csr_array(rows), y)
    expected = literal(rows, y, queries, 5, weights == "distance")
    assert_allclose(raw_scores(model, queries), expected, atol=1e-13)


def test_oldest_first_is_in_the_order_given(rng):
    rows, y = np.zeros((30, 2)), rng.permutation(np.arange(30) % 2)
    for k in (1, 7, 30):
        share = raw_scores(KNNOAM(k, ties="index").fit(rows, y), rows[:1])
        assert_allclose(share, y[:k].mean())


def test_random_draws_again_after_every_row_but_not_between(rng):
    rows, y = draw(rng, 200)
    model = KNNOAM(ties="random", random_state=0).fit(rows, y)
    scores = model.decision_function(rows)
    assert_array_equal(model.decision_function(rows), scores)
    assert_array_equal(model.decision_function(rows[7:9]), scores[7:9])
    assert_array_equal(model.predict(rows), scores > 0)
    again = KNNOAM(ties="random", random_state=0).fit(rows, y)
    assert_array_equal(again.decision_function(rows), scores)
    other = KNNOAM(ties="random", random_state=1).fit(rows, y)
    assert not np.array_equal(other.decision_function(rows), scores)
    # A row far away changes nothing but the draw.
    model.partial_fit([[1e6, 0, 0]], [0])
    assert np.abs(raw_scores(model, rows) - raw_scores(again, rows)).max() > 1e-3
    # Equal rows of one call get the same neighbours.
    twice = model.decision_function(np.repeat(rows, 2, axis=0))
    assert_array_equal(twice[::2], twice[1::2])


def test_average_is_the_mean_of_random(rng):
    rows, y = draw(rng, 120)
    average = raw_scores(KNNOAM().fit(rows, y), rows[:20])
    draws = np.array(
        [
            raw_scores(KNNOAM(ties="random", random_state=s).fit(rows, y), rows[:20])
            for s in range(400)
        ]
    )
    error = draws.std(axis=0) / 20
    assert error.max() > 0.003
    assert np.all(np.abs(draws.mean(axis=0) - average) < 4 * error + 1e-12)


def test_untied_rows_have_one_score(rng):
    rows, y = draw(rng, 200, tied=False)
    queries, _ = draw(rng, 50, tied=False)
    scores = [
        KNNOAM(ties=ties).fit(rows, y).decision_function(queries) for ties in TIES
    ]
    assert_array_equal(scores[0], scores[1])
    assert_array_equal(scores[0], scores[2])


def test_order_of_rows_does_not_matter_to_the_default(rng):
    rows, y = draw(rng, 150)
    order = rng.permutation(150)
    for weights in ("uniform", "distance"):
        first = KNNOAM(weights=weights).fit(rows, y)
        second = KNNOAM(weights=weights).fit(rows[order], y[order])
        assert_array_equal(
            first.decision_function(rows), second.decision_function(rows)
        )


def test_approximate_is_close_to_exact():
    exact = KNNOAM().fit(X[:400], Y[:400])
    model = KNNOAM(backend="approximate").fit(X[:400], Y[:400])
    assert abs(model.score(X[400:], Y[400:]) - exact.score(X[400:], Y[400:])) < 0.02
    assert exact.recall(X[400:]) == 1.0
    assert 0.95 < model.recall(X[400:]) <= 1.0


# What the method is for


def paper_example(rng, n, epsilon=0.02):
    """Example 1 of the paper, with a little noise: no linear order is in question.

    The first feature, negated, ranks perfectly; but the square loss is smallest for
    weights of about (-1/2, -1/2), which put a third of the negatives above.
    """
    y = (np.arange(n) % 2).astype(int)
    places = np.array([(0, -1 - epsilon), (0, 1), (1, 0)])
    rows = places[rng.integers(3, size=n)]
    rows[y == 1] = (-epsilon, -1 + epsilon)
    order = rng.permutation(n)
    return rows[order] + epsilon / 10 * rng.normal(size=(n, 2)), y[order]


def test_square_loss_of_linear_scores_is_stuck_where_neighbours_are_not(rng):
    rows, y = paper_example(rng, 2000)
    test, labels = paper_example(rng, 1000)
    assert LeastSquaresAUC().fit(-rows[:, :1], y).score(-test[:, :1], labels) > 0.99
    online, near = OPAUC(), KNNOAM()
    for low, high in [(0, 300), (300, 2000)]:
        online.partial_fit(rows[low:high], y[low:high])
        near.partial_fit(rows[low:high], y[low:high])
        offline = LeastSquaresAUC(alpha=1e-6).fit(rows[:high], y[:high])
        assert offline.score(test, labels) == pytest.approx(2 / 3, abs=0.03)
        assert online.score(test, labels) == pytest.approx(2 / 3, abs=0.03)
        assert near.score(test, labels) > 0.999


def test_learns_circles():
    model = KNNOAM().fit(X[:400], Y[:400])
    assert model.score(X[400:], Y[400:]) > 0.97
    assert np.mean(model.predict(X[400:]) == Y[400:]) > 0.9


# Streams


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_batches_give_the_same_scores(ties, form, rng):
    rows, y = draw(rng, 150)
    y[:40] = 1
    rows = form(rows)
    for weights in ("uniform", "distance"):
        make = {"ties": ties, "weights": weights, "random_state": 3}
        whole = KNNOAM(**make).partial_fit(rows, y)
        expected = whole.decision_function(rows)
        assert_array_equal(
            KNNOAM(**make).fit(rows, y).decision_function(rows), expected
        )
        for size in (1, 7):
            parts = feed(KNNOAM(**make), rows[:70], y[:70], size)
            parts.decision_function(rows)
            parts = pickle.loads(pickle.dumps(parts))
            twin = copy.deepcopy(parts)
            feed(parts, rows[70:], y[70:], size)
            assert_array_equal(parts.decision_function(rows), expected)
            assert twin.n_samples_seen_ == 70
            assert parts.n_samples_seen_ == whole.n_samples_seen_ == 150
            assert parts.intercept_ == whole.intercept_


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_only(ties, label, rng):
    rows, _ = draw(rng, 30)
    model = KNNOAM(ties=ties, weights="distance")
    model.partial_fit(rows, np.full(30, label), classes=[0, 1])
    assert_array_equal(model.decision_function(rows), np.zeros(30))


def test_fewer_rows_than_neighbours():
    model = KNNOAM(100).fit([[0.0], [1.0], [5.0]], ["no", "yes", "yes"])
    assert model.k_ == 3
    assert_array_equal(model.decision_function([[9.0], [0.0]]), [0.0, 0.0])
    model.set_params(k=1).fit([[0.0], [1.0], [5.0]], ["no", "yes", "yes"])
    assert model.predict([[-1.0], [2.0]]).tolist() == ["no", "yes"]
    first = KNNOAM().partial_fit([[2.0]], [1], classes=[0, 1])
    assert first.decision_function([[0.0]]) == 0.0


@pytest.mark.parametrize("ties", TIES)
def test_many_equal_rows(ties, rng):
    y = (rng.random(10_000) < 0.3).astype(int)
    model = KNNOAM(ties=ties, random_state=0).fit(np.ones((10_000, 2)), y)
    scores = raw_scores(model, np.array([[1.0, 1.0], [0.0, 1.0]] * 60))
    assert np.ptp(scores) == 0.0
    if ties == "random":
        assert_allclose(scores[0] * 26, round(scores[0] * 26), atol=1e-9)
    else:
        expected = y.mean() if ties == "average" else y[:26].mean()
        assert scores[0] == pytest.approx(expected)


def test_one_feature_and_many(rng):
    y = np.arange(100) % 2
    rows = (y + 0.1 * rng.random(100))[:, None]
    assert KNNOAM().fit(rows, y).score(rows, y) == 1.0
    wide = sparse.random_array((100, 5000), density=0.01, rng=rng).tocsr()
    wide = sparse.hstack([wide, sparse.csr_array(5.0 * rows)]).tocsr()
    model = feed(KNNOAM(), wide, y, 30)
    assert model.score(wide, y) == 1.0
    dense = wide.toarray()
    assert_array_equal(model.decision_function(wide), model.decision_function(dense))
    other = KNNOAM().fit(dense, y)
    assert_array_equal(other.decision_function(wide), model.decision_function(wide))


def test_values_of_float32_are_exact(rng):
    rows, y = draw(rng, 100, tied=False)
    single = rows.astype(np.float32)
    scores = [
        KNNOAM().fit(r, y).decision_function(single)
        for r in (single, single.astype(float))
    ]
    assert_array_equal(*scores)


# Threshold, memory, parameters


def test_threshold_is_the_share_of_positives_and_costs_no_queries(rng):
    rows, y = draw(rng, 2000, tied=False)
    model = KNNOAM().fit(rows, y)
    assert_allclose(model.intercept_, [-y.mean()])
    test, labels = draw(rng, 2000, tied=False)
    is_right = model.predict(test) == labels
    balanced = (is_right[labels == 0].mean() + is_right[labels == 1].mean()) / 2
    scores = model.decision_function(test)
    best = max(
        ((scores[labels == 1] > t).mean() + (scores[labels == 0] <= t).mean()) / 2
        for t in np.unique(scores)
    )
    assert balanced > best - 0.01
    # No row is kept for a threshold.
    assert model._stream.sample.buffer.values.size == 0


def test_memory_usage(rng):
    rows, y = draw(rng, 1000)
    sizes = [
        KNNOAM(backend="brute").fit(rows[:n], y[:n]).memory_usage() for n in (500, 1000)
    ]
    assert sizes[0] >= 500 * (3 * 8 + 1)
    assert 1000 * (3 * 8 + 1) <= sizes[1] < 1000 * 200
    assert isinstance(sizes[0], int)
    marked = KNNOAM(backend="brute", ties="random").fit(rows, y).memory_usage()
    assert marked >= sizes[1] + 8000


def test_numbers_of_neighbours_that_follow_the_rows():
    model = KNNOAM(math.sqrt).fit(X[:100], Y[:100])
    assert model.k_ == 10
    assert model.partial_fit(X[100:150], Y[100:150]).k_ == 12
    assert KNNOAM().fit(X[:100], Y[:100]).k_ == 13


def test_tuning():
    search = GridSearchCV(KNNOAM(), {"k": [1, "2log2n"], "ties": TIES}, cv=2)
    assert search.fit(X, Y).best_params_["k"] == "2log2n"


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0},
        {"k": 2.5},
        {"k": "log"},
        {"weights": "gaussian"},
        {"ties": "newest"},
        {"backend": "gpu"},
        {"reduce": "pca"},
        {"reduce": LeastSquaresAUC()},
    ],
)
def test_bad_parameters(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        KNNOAM(**options).fit(X, Y)


def test_a_function_without_a_number_is_refused_at_once():
    model = KNNOAM(lambda n: math.nan)
    with pytest.raises(ValueError, match=r"k\(1\) is nan"):
        model.fit(X, Y)
    assert not hasattr(model, "classes_")


# Reduced rows


class Centred(BaseEstimator):
    """The first features, less their mean."""

    def __init__(self, n_components=2, random_state=None):
        self.n_components = n_components
        self.random_state = random_state

    def partial_fit(self, X, y=None):
        self.n_seen_ = getattr(self, "n_seen_", 0) + X.shape[0]
        total = np.asarray(X.sum(axis=0)).ravel()
        self.total_ = getattr(self, "total_", 0) + total
        return self

    def transform(self, X):
        X = X.toarray() if sparse.issparse(X) else X
        return (X - self.total_ / self.n_seen_)[:, : self.n_components]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_reduced_rows(ties, form, rng):
    noisy = np.column_stack([X, 9 * rng.normal(size=(500, 3))])
    template = Centred()
    plain = KNNOAM().fit(noisy[:400], Y[:400])
    whole = KNNOAM(reduce=template, ties=ties, random_state=0)
    whole.fit(form(noisy[:400]), Y[:400])
    test = form(noisy[400:])
    assert plain.score(test, Y[400:]) < 0.7
    assert whole.score(test, Y[400:]) > 0.97
    assert whole.reduce_.n_seen_ == 256
    assert whole.reduce_.random_state is not None
    assert not hasattr(template, "n_seen_")
    for size in (1, 37):
        parts = feed(KNNOAM(reduce=template, ties=ties, random_state=0),
                     form(noisy[:400]), Y[:400], size)  # fmt: skip
        parts = pickle.loads(pickle.dumps(parts))
        assert_array_equal(parts.decision_function(test), whole.decision_function(test))
    assert whole.memory_usage() > 400 * 5 * 8


def test_before_there_is_a_map(rng):
    noisy = np.column_stack([X, 9 * rng.normal(size=(500, 3))])
    model = KNNOAM(reduce=Centred(1)).fit(noisy[:60], Y[:60])
    plain = KNNOAM().fit(noisy[:60], Y[:60])
    assert not hasattr(model, "reduce_")
    assert not hasattr(plain, "reduce_")
    assert_array_equal(model.decision_function(noisy), plain.decision_function(noisy))
    assert model.set_params(reduce__n_components=3).reduce.n_components == 3


class Refusing(Centred):
    """Learns from no row above 50."""

    def partial_fit(self, X, y=None):
        if np.max(X) > 50:
            raise ValueError("too large")
        return super().partial_fit(X)


@pytest.mark.parametrize("ties", ["average", "random"])
def test_a_batch_the_map_refuses_leaves_no_trace(ties, rng):
    rows, y = draw(rng, 300)
    # The second map within the batch, at 128 rows, fails.
    bad = rows[50:250].copy()
    bad[60] = 99.0
    models = [
        KNNOAM(reduce=Refusing(), ties=ties, random_state=0).partial_fit(
            rows[:50], y[:50], classes=[0, 1]
        )
        for _ in range(2)
    ]
    with pytest.raises(ValueError, match="too large"):
        models[0].partial_fit(bad, y[50:250])
    for model in models:
        assert model.n_samples_seen_ == 50
        model.partial_fit(rows[50:], y[50:])
    assert models[0].memory_usage() == models[1].memory_usage()
    assert_array_equal(
        models[0].decision_function(rows), models[1].decision_function(rows)
    )


def test_equal_rows_take_little_memory(rng):
    model = KNNOAM().fit(np.ones((100_000, 1)), np.arange(100_000) % 2)
    tracemalloc.start()
    try:
        model.decision_function(np.ones((300, 1)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # All neighbours of 300 rows at once would take 480 MB.
    assert peak < 1.5e8
