# SPDX-License-Identifier: BSD-3-Clause
"""What users of OAM rely on."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucmax import LeastSquaresAUC, Nystroem
from aucmax.estimators.oam import OAM

X, Y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
TRAIN, TEST = slice(0, 400), slice(400, None)
UPDATES = pytest.mark.parametrize("update", ["sequential", "gradient"])


def test_paper_form_is_reachable():
    """C = 1 and no average: the first positive after a negative, by hand."""
    rows, labels = np.array([[0.0, 1.0], [2.0, 0.0]]), [0, 1]
    model = OAM(step_size=0.3, average=False, shuffle=False).fit(rows, labels)
    assert_allclose(model.coef_, [[0.3, -0.15]])
    model = OAM(step_size=5.0, average=False, shuffle=False).fit(rows, labels)
    assert_allclose(model.coef_, [[0.4, -0.2]])  # 1 / |u|^2 = 1 / 5


@UPDATES
def test_default_is_as_good_as_the_best_least_squares(update):
    model = OAM(update=update, random_state=0).fit(X[TRAIN], Y[TRAIN])
    best = LeastSquaresAUC().fit(X[TRAIN], Y[TRAIN]).score(X[TEST], Y[TEST])
    assert model.score(X[TEST], Y[TEST]) > best - 0.005
    assert model.predict(X[TEST]).mean() == pytest.approx(Y[TEST].mean(), abs=0.08)


@UPDATES
def test_default_does_not_care_about_scale(update):
    one = OAM(update=update, random_state=0).fit(X, Y)
    other = OAM(update=update, random_state=0).fit(1e6 * X, Y)
    assert_allclose(other.coef_, one.coef_ / 1e6, rtol=1e-9)


@UPDATES
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_batches_give_the_same_model(update, make):
    rows = make(np.where(np.abs(X) > 1, X, 0)[:150])
    labels = Y[:150].copy()
    labels[:20] = 0
    whole = OAM(update=update, buffer_size=20, random_state=3)
    whole.partial_fit(rows, labels)
    for size in (1, 7):
        parts = OAM(update=update, buffer_size=20, random_state=3)
        for low in range(0, 150, size):
            part = slice(low, low + size)
            parts.partial_fit(rows[part], labels[part], classes=[0, 1])
            if low == 70:
                parts = pickle.loads(pickle.dumps(parts))
        assert_array_equal(parts.coef_, whole.coef_)
        assert_array_equal(parts.intercept_, whole.intercept_)


def test_sparse_float32_and_seeds():
    holes = np.where(np.abs(X) > 0.5, X, 0).astype(np.float32)
    dense = OAM(random_state=0).fit(holes, Y)
    by_csr = OAM(random_state=0).fit(sparse.csr_matrix(holes), Y)
    double = OAM(random_state=0).fit(holes.astype(np.float64), Y)
    size = np.abs(dense.coef_).max()
    assert_allclose(by_csr.coef_, dense.coef_, atol=1e-12 * size)
    assert_array_equal(double.coef_, dense.coef_)
    assert np.any(OAM(random_state=1).fit(holes, Y).coef_ != dense.coef_)
    scores = by_csr.decision_function(sparse.csr_matrix(holes))
    assert_allclose(scores, dense.decision_function(holes), rtol=1e-5, atol=1e-5)


@UPDATES
def test_late_class(update):
    """One class for a long time: no scores, then a model that ranks."""
    order = np.argsort(Y, kind="stable")
    model = OAM(update=update, shuffle=False)
    for row, label in zip(X[order][:250], Y[order][:250], strict=True):
        model.partial_fit(row[None], [label], classes=[0, 1])
        if label == 0:
            assert not model.coef_.any()
    model.partial_fit(X[order][250:], Y[order][250:])
    assert model.score(X, Y) > 0.98


@UPDATES
@pytest.mark.parametrize("label", [0, 1])
def test_zeros_constants_and_one_positive(update, label):
    rows, labels = np.zeros((60, 3)), np.full(60, label)
    labels[30] = 1 - label
    model = OAM(update=update, random_state=0).fit(rows, labels)
    assert_array_equal(model.coef_, 0.0)
    rows[:, 1] = 5.0
    rows[30, 2] = 1.0
    model.fit(rows, labels)
    assert_array_equal(model.coef_[0, :2], 0.0)
    assert np.sign(model.coef_[0, 2]) == 1 - 2 * label


def test_noam():
    """On a Nystroem map, the NOAM of khalid2018."""
    points, labels = make_moons(600, noise=0.25, random_state=0)
    model = make_pipeline(Nystroem(80, random_state=0), OAM(random_state=0))
    model.fit(points[:400], labels[:400])
    linear = OAM(random_state=0).fit(points[:400], labels[:400])
    auc = model.score(points[400:], labels[400:])
    assert auc > max(0.96, linear.score(points[400:], labels[400:]) + 0.02)


def test_verbose(capsys):
    OAM(verbose=1, random_state=0).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    assert f"[OAM] pass 1 of 1  rows {len(X)} of {len(X)}" in err


@pytest.mark.parametrize(
    "options",
    [
        {"update": "both"},
        {"buffer_size": 0},
        {"step_size": 0.0},
        {"step_size": "fast"},
        {"average": "yes"},
        {"shuffle": "no"},
    ],
)
def test_bad_parameters(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        OAM(**options).fit(X, Y)


def test_there_is_no_sample_weight():
    with pytest.raises(TypeError, match="sample_weight"):
        OAM().fit(X, Y, sample_weight=np.ones(len(X)))
