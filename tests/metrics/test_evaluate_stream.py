# SPDX-License-Identifier: BSD-3-Clause
import copy
import math
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from metrics import metric_oracles as oracles
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import gen_batches

from aucmax.estimators.opauc import OPAUC
from aucmax.metrics import PrequentialAUC, StreamRecord, evaluate_stream

MODELS = [SGDClassifier(random_state=0), GaussianNB(), OPAUC(random_state=0)]


def draw(rng, n=600, d=3):
    y = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, d))
    X[:, 0] += y
    return X, y


def cut(X, y, size=50):
    return [(X[rows], y[rows]) for rows in gen_batches(len(y), size)]


def score(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


class Recorder(ClassifierMixin, BaseEstimator):
    """Notes what is asked of it; all scores are the first feature."""

    def __init__(self):
        self.calls = []

    def partial_fit(self, X, y, classes=None):
        self.calls.append(("learn", len(y), classes))
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X):
        self.calls.append(("score", len(X)))
        return X[:, 0]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("past", [{"window": 120}, {"window": None, "fading": 0.98}])
def test_every_batch_is_scored_before_it_is_learned(model, past, rng):
    batches = cut(*draw(rng))
    literal, metric = clone(model), PrequentialAUC(**past)
    records = evaluate_stream(clone(model), iter(batches), **past)
    n_rows = n_pos = 0
    for number, ((X, y), record) in enumerate(zip(batches, records, strict=True)):
        n_rows, n_pos = n_rows + len(y), n_pos + y.sum()
        auc = auc_batch = np.nan
        if number:
            scores = score(literal, X)
            auc = metric.update(y, scores).auc
            auc_batch = oracles.roc_auc(y == 1, scores)
        literal.partial_fit(X, y, classes=[0, 1])
        assert isinstance(record, StreamRecord)
        assert record == pytest.approx((n_rows, n_pos, auc, auc_batch), nan_ok=True)
    assert record.auc > 0.6


def test_scores_of_ones_own(rng):
    batches = cut(*draw(rng))
    model = SGDClassifier(random_state=0)
    negated = evaluate_stream(
        clone(model), batches, score=lambda model, X: -model.decision_function(X)
    )
    for record, plain in zip(negated, evaluate_stream(model, batches), strict=True):
        assert record.auc == pytest.approx(1 - plain.auc, nan_ok=True)
        assert record.auc_batch == pytest.approx(1 - plain.auc_batch, nan_ok=True)


def test_order_of_calls(rng):
    model = Recorder()
    list(evaluate_stream(model, cut(*draw(rng, n=90), size=40)))
    sizes = [call[:2] for call in model.calls]
    assert sizes == [
        ("learn", 40),
        ("score", 40),
        ("learn", 40),
        ("score", 10),
        ("learn", 10),
    ]
    assert [call[2] is None for call in model.calls if call[0] == "learn"] == [
        False,
        True,
        True,
    ]


def test_nothing_is_read_ahead(rng):
    def endless():
        while True:
            yield draw(rng, n=20)

    records = evaluate_stream(SGDClassifier(random_state=0), endless())
    assert [next(records).n_rows for _ in range(5)] == [20, 40, 60, 80, 100]


def test_a_fitted_model_is_tested_on_the_first_batch(rng):
    X, y = draw(rng)
    model = OPAUC(random_state=0).fit(X[:300], y[:300])
    expected = oracles.roc_auc(y[300:] == 1, model.decision_function(X[300:]))
    (record,) = evaluate_stream(model, [(X[300:], y[300:])])
    assert record[2:] == pytest.approx((expected, expected))
    assert model.n_samples_seen_ == 600


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_batches_of_one_class(model, rng):
    X, y = draw(rng)
    order = np.argsort(y, kind="stable")
    batches = cut(X[order], y[order], size=40)
    with warnings.catch_warnings():
        # Its variance of a class without rows.
        warnings.filterwarnings("ignore", module="sklearn.naive_bayes")
        warnings.filterwarnings("ignore", module="numpy")
        if isinstance(model, GaussianNB):
            batches = [(X[:50], y[:50]), *batches]
        records = list(evaluate_stream(clone(model), batches, classes=[0, 1]))
    is_pure = [len(set(labels)) == 1 for _, labels in batches[1:]]
    assert sum(is_pure) >= len(is_pure) - 1
    for pure, record in zip(is_pure, records[1:], strict=True):
        assert math.isnan(record.auc_batch) == pure
    assert math.isnan(records[1].auc)
    assert not math.isnan(records[-1].auc)
    assert records[-1].n_pos == sum(labels.sum() for _, labels in batches)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [1.0, 2.0]])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_any_two_labels(model, labels, rng):
    X, y = draw(rng)
    plain = list(evaluate_stream(clone(model), cut(X, y)))
    named = list(evaluate_stream(clone(model), cut(X, np.array(labels)[y])))
    given = list(
        evaluate_stream(clone(model), cut(X, np.array(labels)[y]), classes=labels[::-1])
    )
    np.testing.assert_array_equal(plain, named)
    np.testing.assert_array_equal(plain, given)


def test_frames(rng):
    X, y = draw(rng)
    frame, column = pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(y)
    batches = [(frame.iloc[r], column.iloc[r]) for r in gen_batches(600, 50)]
    records = list(evaluate_stream(OPAUC(random_state=0), batches))
    np.testing.assert_array_equal(
        records, list(evaluate_stream(OPAUC(random_state=0), cut(X, y)))
    )


def test_memory_does_not_grow(rng):
    X, y = draw(rng, n=500)

    def batches(n):
        for _ in range(n):
            yield X.copy(), y.copy()

    tracemalloc.start()
    try:
        for number, _ in enumerate(evaluate_stream(Recorder(), batches(300)), start=1):
            if number == 50:
                early = tracemalloc.get_traced_memory()[0]
        late = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # 250 batches of 16 kB would be 4 MB; the recorder notes its calls.
    assert late - early < 200_000


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y: (X[:, :2], y), "features"),
        (lambda X, y: (np.where(X > 1, np.nan, X), y), "NaN"),
        (lambda X, y: (X, y + 1), "holds 2, but classes"),
        (lambda X, y: (X, np.where(y, 1.0, np.nan)), "nan"),
        (lambda X, y: (X, y[1:]), "one score per label"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
        (lambda X, y: X, r"pair \(X, y\), got ndarray"),
        (lambda X, y: None, r"pair \(X, y\), got NoneType"),
    ],
)
def test_errors_name_the_batch(spoil, message, rng):
    batches = cut(*draw(rng))
    batches[3] = spoil(*batches[3])
    records = evaluate_stream(OPAUC(random_state=0), batches)
    for _ in range(3):
        next(records)
    with pytest.raises(ValueError, match=message) as caught:
        next(records)
    assert caught.value.__notes__ == ["This was in batch 4 of the stream."]


def test_the_first_batch_needs_both_classes_or_their_names(rng):
    X, y = draw(rng)
    with pytest.raises(ValueError, match=r"only one class, 1. Pass classes="):
        next(evaluate_stream(OPAUC(random_state=0), [(X[y == 1], y[y == 1])]))
    with pytest.raises(ValueError, match="multiclass"):
        next(evaluate_stream(OPAUC(random_state=0), [(X, np.arange(len(y)) % 3)]))


def test_three_classes_are_refused(rng):
    X, _ = draw(rng)
    y = np.arange(len(X)) % 3
    model = SGDClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="knows 3 classes"):
        next(evaluate_stream(model, [(X, y)]))


class Silent(BaseEstimator):
    def partial_fit(self, X, y, classes=None):
        return self


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (RidgeClassifier(), {}, TypeError, "no partial_fit"),
        (Silent(), {}, TypeError, "neither decision_function nor"),
        (OPAUC(), {"window": 0}, ValueError, "window must be"),
        (OPAUC(), {"fading": 0.9}, ValueError, "Choose one"),
        (
            OPAUC(),
            {"window": None, "fading": 2},
            ValueError,
            "fading must be",
        ),
        (OPAUC(), {"classes": [1]}, ValueError, "only one class"),
        (OPAUC(), {"classes": [1, 2, 3]}, ValueError, "3 classes"),
    ],
)
def test_settings_are_checked_at_once(model, options, error, message):
    with pytest.raises(error, match=message):
        evaluate_stream(model, [], **options)


def test_other_classes_than_those_of_the_model(rng):
    model = OPAUC(random_state=0).fit(*draw(rng))
    with pytest.raises(ValueError, match=r"classes=\[1, 2\], but the model was fitted"):
        evaluate_stream(model, [], classes=[1, 2])


class Kept:
    """A checkpoint in memory that takes every state, and returns a copy of the last."""

    last = None

    def resume(self, what):
        return copy.deepcopy(self.last)

    def offer(self, state):
        self.last = copy.deepcopy(state())


def test_a_refused_checkpoint_changes_nothing(rng):
    X, y = rng.normal(size=(300, 4)), np.arange(300) % 2
    parts = [(X[rows], y[rows]) for rows in gen_batches(300, 100)]
    kept, model = Kept(), OPAUC()
    list(evaluate_stream(OPAUC(), parts, checkpoint=kept))
    with pytest.raises(ValueError, match="another fit"):
        list(evaluate_stream(model, parts[::-1], checkpoint=kept))
    assert not hasattr(model, "classes_")


def test_a_resumed_model_says_as_much_as_it_did(rng):
    X, y = rng.normal(size=(300, 4)), np.arange(300) % 2
    parts = [(X[rows], y[rows]) for rows in gen_batches(300, 100)]
    kept, model = Kept(), OPAUC(verbose=0)
    list(evaluate_stream(OPAUC(verbose=1), parts[:2], checkpoint=kept))
    list(evaluate_stream(model, parts, checkpoint=kept))
    assert (model.n_samples_seen_, model.verbose) == (300, 0)
