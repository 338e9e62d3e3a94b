# SPDX-License-Identifier: BSD-3-Clause
"""One thread learns while another scores."""

import copy
import pickle
import threading
import time

import numpy as np
import pytest
from estimator_list import ESTIMATORS, quick
from scipy import sparse

from aucmax import NSAUC

ONLINE = [
    quick(model, random_state=0)
    for model in ESTIMATORS
    if hasattr(model, "partial_fit") and not isinstance(model, NSAUC)
]
N_BATCHES, SIZE = 30, 40


def each(models):
    return pytest.mark.parametrize("model", models, ids=str)


def draw(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_BATCHES * SIZE, 4))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    return [
        (form(X[low : low + SIZE]), y[low : low + SIZE])
        for low in range(0, len(X), SIZE)
    ]


def output(model, X):
    use = getattr(model, "decision_function", None) or model.transform
    return use(X).tobytes()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@each(ONLINE)
def test_scores_are_those_between_two_batches(model, form):
    batches = draw(form)
    rows = batches[0][0]
    serial = copy.deepcopy(model)
    allowed = [output(serial.partial_fit(X, y), rows) for X, y in batches]

    shared = copy.deepcopy(model).partial_fit(*batches[0])
    seen, failures = [output(shared, rows)], []
    is_done = threading.Event()

    def score():
        try:
            while not is_done.is_set():
                seen.append(output(shared, rows))
        except Exception as error:  # of any kind: raised in the other thread below
            failures.append(error)

    scorer = threading.Thread(target=score)
    scorer.start()
    for X, y in batches[1:]:
        before = len(seen)
        shared.partial_fit(X, y)
        # Else all batches may be learned before the other thread has its turn.
        while len(seen) == before and not failures:
            time.sleep(1e-4)
    is_done.set()
    scorer.join()
    if failures:
        raise failures[0]
    assert output(shared, rows) == allowed[-1]
    assert set(seen) <= set(allowed)


@each(ONLINE)
def test_a_model_is_fitted_once_its_first_batch_is_learned(model, monkeypatch):
    """Whoever scores before is told so, rather than dividing by no rows."""
    shared, (X, y) = copy.deepcopy(model), draw(np.asarray)[0]
    fresh = copy.deepcopy(model).partial_fit(X, y)
    was_fitted = []
    stream = type(fresh._stream)
    learn = stream.learn

    def look(self, *args):
        was_fitted.append(hasattr(shared, "_stream"))
        learn(self, *args)

    monkeypatch.setattr(stream, "learn", look)
    shared.partial_fit(X, y)
    assert not was_fitted[0]
    assert output(shared, X) == output(fresh, X)


@each(ONLINE)
def test_copies_have_locks_of_their_own(model):
    X, y = draw(np.asarray)[0]
    fitted = copy.deepcopy(model).partial_fit(X, y)
    for other in [pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)]:
        assert other._stream.lock is not fitted._stream.lock
        assert output(other, X) == output(fitted, X)
