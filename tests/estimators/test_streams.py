# SPDX-License-Identifier: BSD-3-Clause
"""Streams as they come: every online estimator against each thing that goes wrong."""

import copy
import pickle
from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from aucmax.metrics import evaluate_stream, roc_auc
from aucmax.streams import online

# Module, class and parameters.
TABLE = [
    ("opauc", "OPAUC", {}),
    ("opauc", "OPAUC", {"solver": "gradient"}),
    ("opauc", "OPAUC", {"rank": 3}),
    ("opauc", "OPAUC", {"rank": 3, "solver": "gradient"}),
    ("opauc", "OPAUC", {"reduce": "features", "n_components": 4}),
    ("opauc", "OPAUC", {"reduce": "projection", "n_components": 4}),
    ("ada_oam", "AdaOAM", {}),
    ("oam", "OAM", {"update": "sequential"}),
    ("oam", "OAM", {"update": "gradient"}),
    ("solam", "SOLAM", {"penalty": "ball"}),
    ("solam", "SOLAM", {"penalty": "l2"}),
    ("online_univariate", "OnlineUnivariate", {"loss": "exponential"}),
    ("online_univariate", "OnlineUnivariate", {"loss": "square"}),
    ("oilk", "OILK", {}),
    ("knnoam", "KNNOAM", {}),
    ("knnoam", "KNNOAM", {"ties": "random"}),
]


def make(module, name, parameters):
    home = import_module(f"aucmax.estimators.{module}")
    return getattr(home, name)(**parameters, random_state=0)


def named(module, name, parameters):
    return "-".join([name, *map(str, parameters.values())])


ESTIMATORS = {named(*row): make(*row) for row in TABLE}
N_FEATURES = 5


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return clone(ESTIMATORS[request.param])


def draw(rng, n=150, sign=1.0):
    """Rows and labels; the features say much about the label."""
    y = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, N_FEATURES))
    X[:, :3] += sign * np.where(y, 0.8, -0.8)[:, None]
    return X, y


def feed(model, X, y, size=40, classes=(0, 1)):
    for low in range(0, len(y), size):
        part = slice(low, low + size)
        model.partial_fit(X[part], y[part], classes=list(classes))
    return model


def same(first, second, X):
    """Whether two models give the same scores, bit for bit."""
    return np.array_equal(first.decision_function(X), second.decision_function(X))


def sparse_rows(rng, n=150):
    X, y = draw(rng, n)
    X[rng.random(X.shape) < 0.5] = 0
    return sparse.csr_matrix(X), y


# Splits and copies


@pytest.mark.parametrize("kind", ["mixed", "one class first", "sparse"])
def test_rows_batches_and_all_at_once_are_the_same(estimator, kind, rng):
    X, y = sparse_rows(rng) if kind == "sparse" else draw(rng)
    if kind == "one class first":
        order = np.argsort(y[:80], kind="stable")
        X[:80], y[:80] = X[order], y[order]
    whole = feed(clone(estimator), X, y, size=len(y))
    for size in (1, 7):
        assert same(feed(clone(estimator), X, y, size), whole, X)


def test_a_batch_of_many_rows_is_the_same_as_many_batches(estimator, rng):
    X, y = draw(rng, n=1200)
    whole = feed(clone(estimator), X, y, size=1200)
    assert same(feed(clone(estimator), X, y, size=350), whole, X)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_results_do_not_depend_on_where_arrays_are(estimator, kind, rng):
    X, y = sparse_rows(rng) if kind == "sparse" else draw(rng)
    first = feed(clone(estimator), X, y).decision_function(X)
    litter = []
    for _ in range(8):
        # What is allocated next comes to lie elsewhere, and other things beside it.
        litter += [np.empty(size) for size in rng.integers(1, 40, size=20)]
        again = feed(clone(estimator), X.copy(), y)
        np.testing.assert_array_equal(again.decision_function(X), first)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_copies_go_on_alike_and_apart(estimator, copied, rng):
    X, y = draw(rng)
    feed(estimator, X[:70], y[:70])
    before = estimator.decision_function(X)
    twin = feed(copied(estimator), X[70:], y[70:])
    np.testing.assert_array_equal(estimator.decision_function(X), before)
    assert same(feed(estimator, X[70:], y[70:]), twin, X)


def test_looking_at_the_model_changes_nothing(estimator, rng):
    X, y = draw(rng)
    watched = clone(estimator)
    for low in range(0, len(y), 30):
        feed(watched, X[low : low + 30], y[low : low + 30])
        watched.predict(X)
    assert same(watched, feed(estimator, X, y), X)


def test_clones_are_new(estimator, rng):
    X, y = draw(rng)
    feed(estimator, X, y)
    other = clone(estimator)
    assert other.get_params() == estimator.get_params()
    with pytest.raises(NotFittedError):
        other.decision_function(X)
    assert same(feed(other, X, y), estimator, X)


def test_fit_without_shuffling_is_partial_fit(estimator, rng):
    X, y = draw(rng)
    fitted = clone(estimator)
    if "shuffle" in fitted.get_params():
        fitted.set_params(shuffle=False)
    fitted.fit(X, y)
    assert same(fitted, feed(estimator, X, y), X)
    assert fitted.n_samples_seen_ == estimator.n_samples_seen_ == len(y)


def test_fit_forgets(estimator, rng):
    X, y = draw(rng)
    fresh = clone(estimator).fit(X, y)
    feed(estimator, *draw(rng, sign=-1))
    assert same(estimator.fit(X, y), fresh, X)


# What is refused


def with_value(value):
    def spoil(X, y):
        X = X.copy()
        X[len(y) // 2, 1] = value
        return X, y

    return spoil


BAD = {
    "NaN": (with_value(np.nan), "NaN"),
    "infinity": (with_value(np.inf), "infinity"),
    "huge": (with_value(-1e80), "overflow"),
    "unknown label": (lambda X, y: (X, np.where(y, 1, 7)), "7"),
    "missing label": (lambda X, y: (X, np.where(y, 1.0, np.nan)), "nan"),
    "narrow": (lambda X, y: (X[:, 1:], y), "features"),
    "no rows": (lambda X, y: (X[:0], y[:0]), "0 sample"),
    "too few labels": (lambda X, y: (X, y[1:]), "inconsistent"),
    "text": (lambda X, y: (X.astype(str), y), "text"),
    "flat": (lambda X, y: (X[0], y), "2D"),
}


def test_a_refused_batch_never_happened(estimator, rng):
    X, y = draw(rng)
    feed(estimator, X[:60], y[:60])
    twin = copy.deepcopy(estimator)
    for spoil, message in BAD.values():
        with pytest.raises(ValueError, match=message):
            estimator.partial_fit(*spoil(X[60:90], y[60:90]))
        assert same(estimator, twin, X), message
        assert estimator.n_samples_seen_ == 60
    assert same(feed(estimator, X[60:], y[60:]), feed(twin, X[60:], y[60:]), X)


def test_a_refused_first_batch_never_happened(estimator, rng):
    X, y = draw(rng)
    fresh = clone(estimator)
    for bad in BAD.keys() - {"narrow"}:
        spoil, message = BAD[bad]
        with pytest.raises(ValueError, match=message):
            estimator.partial_fit(*spoil(X[:30], y[:30]), classes=[0, 1])
        assert vars(estimator).keys() == vars(fresh).keys()
    with pytest.raises(NotFittedError):
        estimator.decision_function(X)
    assert same(feed(estimator, X, y), feed(fresh, X, y), X)


def test_refused_sparse_rows(estimator, rng):
    X, y = sparse_rows(rng)
    feed(estimator, X[:60], y[:60])
    twin = copy.deepcopy(estimator)
    bad = X[60:90].copy()
    bad.data[10] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator.partial_fit(bad, y[60:90])
    assert same(feed(estimator, X[60:], y[60:]), feed(twin, X[60:], y[60:]), X)


def test_classes_are_asked_for_and_kept(estimator, rng):
    X, y = draw(rng)
    with pytest.raises(ValueError, match="Pass classes="):
        estimator.partial_fit(X[y == 1], y[y == 1])
    estimator.partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
    with pytest.raises(ValueError, match="differs from the first call"):
        estimator.partial_fit(X, y, classes=[0, 2])
    assert estimator.classes_.tolist() == [0, 1]


# What is unusual


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_for_long(estimator, label, rng):
    X, y = draw(rng, n=20_000)
    only = y == label
    X, y = X[only][:8000], y[only][:8000]
    feed(estimator, X, y, size=3000)
    assert np.isfinite(estimator.decision_function(X[:50])).all()
    feed(estimator, *draw(rng, n=1000), size=300)
    X, y = draw(rng, n=500)
    scores = estimator.decision_function(X)
    assert np.isfinite(scores).all()
    assert roc_auc(y, scores) > 0.8


def test_it_learns(estimator, rng):
    feed(estimator, *draw(rng, n=500))
    X, y = draw(rng, n=500)
    assert roc_auc(y, estimator.decision_function(X)) > 0.8


@pytest.mark.parametrize("make_rows", [np.asarray, sparse.csr_matrix])
def test_zeros(estimator, make_rows, rng):
    X, y = draw(rng, n=400)
    zeros = make_rows(np.zeros((30, N_FEATURES)))
    feed(estimator, zeros, y[:30])
    if hasattr(estimator, "coef_"):
        assert not estimator.coef_.any()
    assert np.ptp(estimator.decision_function(zeros)) < 1e-14
    feed(estimator, make_rows(X), y)
    feed(estimator, zeros, y[:30])
    scores = estimator.decision_function(make_rows(X))
    assert np.isfinite(scores).all()
    assert roc_auc(y, scores) > 0.8


@pytest.mark.parametrize("size", [1e-30, 1e-6, 1e6, 1e30, 1e69])
def test_sizes_of_values(estimator, size, rng):
    X, y = draw(rng)
    X *= size
    n_learned, message = len(y), ""
    try:
        feed(estimator, X, y)
    except FloatingPointError as error:  # before the step that would overflow
        n_learned, message = estimator.n_samples_seen_, str(error)
    assert estimator.n_samples_seen_ == n_learned
    assert n_learned == len(y) or (size > 1 and "eatures" in message)
    assert np.isfinite(estimator.decision_function(X)).all()


@pytest.mark.parametrize(
    "row",
    [
        ("opauc", "OPAUC", {"solver": "gradient", "step_size": 1.0}),
        ("opauc", "OPAUC", {"solver": "gradient", "rank": 3, "step_size": 1.0}),
        ("ada_oam", "AdaOAM", {"step_size": 1.0}),
        ("online_univariate", "OnlineUnivariate", {"loss": "square", "step_size": 1.0}),
    ],
)
def test_the_rows_before_an_overflow_count(row, rng):
    X, y = draw(rng)
    X[90:110] *= 1e69
    whole, single = make(*row), make(*row)
    whole.partial_fit(X[:50], y[:50], classes=[0, 1])
    with pytest.raises(FloatingPointError):
        whole.partial_fit(X[50:], y[50:])
    n_learned = whole.n_samples_seen_
    assert 50 <= n_learned < len(y)
    feed(single, X[:n_learned], y[:n_learned], size=1)
    assert same(whole, single, X[:90])
    with pytest.raises(FloatingPointError):
        single.partial_fit(X[n_learned : n_learned + 1], y[n_learned : n_learned + 1])
    assert single.n_samples_seen_ == n_learned


def test_fit_block_by_block(estimator, rng, monkeypatch):
    X, y = draw(rng)
    whole = clone(estimator).fit(X, y)
    monkeypatch.setattr(online, "BLOCK_VALUES", 60)
    assert estimator.fit(X, y).n_samples_seen_ == len(y)
    assert same(whole, estimator, X)


def test_fit_refuses_huge_values(estimator, rng):
    X, y = draw(rng)
    X[7, 1] = 1e80
    with pytest.raises(ValueError, match=r"holds 1e\+80 in row 7 .*Scale the features"):
        estimator.fit(X, y)
    with pytest.raises(NotFittedError):
        estimator.decision_function(X)


def test_duplicate_entries_when_scored(estimator, rng):
    X, y = sparse_rows(rng)
    estimator.fit(X, y)
    halves = np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr
    doubled = sparse.csr_matrix(halves, shape=X.shape)
    expected = estimator.decision_function(X)
    np.testing.assert_allclose(
        estimator.decision_function(doubled), expected, atol=1e-12
    )


@pytest.mark.parametrize("column", [-1, N_FEATURES, 5 * 10**7])
def test_entries_outside_the_matrix(estimator, column, rng):
    X, y = sparse_rows(rng)
    bad = X.copy()
    bad.indices = bad.indices.copy()
    bad.indices[3] = column
    message = f"X has 5 columns, but an entry in column {column}"
    with pytest.raises(ValueError, match=message):
        estimator.partial_fit(bad, y)
    estimator.partial_fit(X, y)
    for call in (lambda: estimator.partial_fit(bad, y), lambda: estimator.predict(bad)):
        with pytest.raises(ValueError, match=message):
            call()
    assert estimator.n_samples_seen_ == len(y)


def test_names_are_missed(estimator, rng):
    X, y = draw(rng)
    estimator.partial_fit(pd.DataFrame(X, columns=list("abcde")), y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        estimator.partial_fit(X, y)


def test_what_is_read_is_not_the_model(rng):
    X, y = draw(rng)
    model = make("opauc", "OPAUC", {}).fit(X, y)
    model.coef_[:] = 0
    assert model.score(X, y) > 0.8
    model.partial_fit(X, y, classes=[0.0, 1.0])
    assert model.classes_.dtype == np.int64


def test_a_constant_column_and_repeated_rows(estimator, rng):
    X, y = draw(rng, n=300)
    X[:, 4] = 1.0
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    feed(estimator, X, y)
    assert roc_auc(y, estimator.decision_function(X)) > 0.8


def turn_around(model, rng):
    """AUC of the batches after 10 of one kind and 40 of the opposite one."""
    batches = [draw(rng, n=100, sign=1 if k < 10 else -1) for k in range(50)]
    return [record.auc for record in evaluate_stream(model, batches, window=300)]


def test_a_stream_that_turns_around(estimator, rng):
    # Most weigh all rows alike, so new ones must outnumber the old; where weights are
    # averaged, several times.
    auc = turn_around(estimator, rng)
    assert auc[9] > 0.8
    assert auc[12] < 0.3
    assert auc[49] > 0.8


@pytest.mark.parametrize(
    "row",
    [
        ("oam", "OAM", {"average": False}),
        ("online_univariate", "OnlineUnivariate", {"average": False}),
    ],
)
def test_without_averaging_they_turn_around_at_once(row, rng):
    auc = turn_around(make(*row), rng)
    assert auc[9] > 0.8
    assert min(auc[14:]) > 0.6


# Forms of rows and labels


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [1.5, 2.0]])
def test_labels(estimator, labels, rng):
    X, y = draw(rng)
    named = feed(clone(estimator), X, np.array(labels)[y], classes=labels)
    assert same(named, feed(estimator, X, y), X)
    assert set(named.predict(X).tolist()) <= set(labels)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(estimator, frame, rng):
    X, y = draw(rng)
    names = [f"f{k}" for k in range(N_FEATURES)]
    table = frame(dict(zip(names, X.T, strict=True)))
    named = clone(estimator)
    for low in range(0, len(y), 40):
        named.partial_fit(table[low : low + 40], y[low : low + 40], classes=[0, 1])
    # Products are rounded as the rows lie in memory.
    expected = feed(estimator, X, y).decision_function(table.to_numpy())
    np.testing.assert_array_equal(named.decision_function(table), expected)
    assert named.feature_names_in_.tolist() == names
    with pytest.raises(ValueError, match="feature names"):
        named.partial_fit(table[names[::-1]], y)


def test_float32_is_float64(estimator, rng):
    X, y = draw(rng)
    X = X.astype(np.float32)
    single, double = feed(clone(estimator), X, y), feed(estimator, X.astype(float), y)
    assert same(single, double, X.astype(float))
    np.testing.assert_allclose(
        single.decision_function(X), double.decision_function(X), rtol=1e-3, atol=1e-4
    )


def test_order_in_memory_does_not_matter(estimator, rng):
    X, y = draw(rng)
    columns = feed(clone(estimator), np.asfortranarray(X), y)
    strided = feed(clone(estimator), np.repeat(X, 2, axis=1)[:, ::2], y)
    X.flags.writeable = False
    rows = feed(estimator, X, y)
    assert same(rows, columns, X)
    assert same(rows, strided, X)


def test_forms_of_csr(estimator, rng):
    X, y = sparse_rows(rng)
    expected = feed(clone(estimator), X, y)
    # Each row back to front.
    backwards = X.copy()
    for low, high in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        backwards.indices[low:high] = X.indices[low:high][::-1]
        backwards.data[low:high] = X.data[low:high][::-1]
    backwards.has_sorted_indices = False
    # Each value in two halves.
    halves = sparse.csr_matrix(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), X.shape
    )
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    # All zeros stored.
    shape = (len(y), N_FEATURES)
    columns = np.tile(np.arange(N_FEATURES), len(y))
    starts = N_FEATURES * np.arange(len(y) + 1)
    full = sparse.csr_matrix((X.toarray().ravel(), columns, starts), shape)
    for form in (backwards, halves, wide, X.tocsc(), X.tocoo()):
        model = clone(estimator).partial_fit(form, y, classes=[0, 1])
        assert same(model, expected, X)
    # Sums of more terms are rounded in another order.
    model = clone(estimator).partial_fit(full, y, classes=[0, 1])
    np.testing.assert_allclose(
        model.decision_function(X), expected.decision_function(X), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("first", ["dense", "sparse"])
def test_dense_and_sparse_batches_may_alternate(estimator, first, rng):
    X, y = sparse_rows(rng)
    forms = [X.toarray(), X] if first == "dense" else [X, X.toarray()]
    mixed = clone(estimator)
    for number, low in enumerate(range(0, len(y), 30)):
        part = slice(low, low + 30)
        mixed.partial_fit(forms[number % 2][part], y[part], classes=[0, 1])
    assert same(mixed, feed(estimator, forms[0], y), X)
    np.testing.assert_allclose(
        mixed.decision_function(X), mixed.decision_function(X.toarray()), rtol=1e-9
    )


def test_the_rows_given_are_left_alone(estimator, rng):
    for X, y in (draw(rng), sparse_rows(rng)):
        kept = X.copy()
        model = feed(clone(estimator), X, y)
        assert abs(kept - X).sum() == 0
        scores = model.decision_function(kept)
        X *= 0  # nor does the model look at them again
        feed(model, kept[:1], y[:1])
        feed(estimator := clone(model), kept, y)
        feed(estimator, kept[:1], y[:1])
        assert same(model, estimator, kept)
        assert scores.shape == y.shape
