# SPDX-License-Identifier: BSD-3-Clause
"""Values whose products overflow are refused, whichever estimator meets them."""

import warnings

import numpy as np
import pytest
from estimator_list import ESTIMATORS, quick
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from aucmax import (
    NBAUC,
    OPAUC,
    AUCClassifier,
    LeastSquaresAUC,
    RankSVM,
    UnivariateAUC,
)

# AUCClassifier brings features to a common scale itself.
OTHERS = [model for model in ESTIMATORS if not isinstance(model, AUCClassifier)]
FORMS = {"dense": np.asarray, "csr": sparse.csr_matrix}


def draw(size, dtype=np.float64):
    X = np.random.default_rng(0).normal(size=(40, 4)).astype(dtype)
    X[7, 2] = size
    return X, np.arange(40) % 2


def each(models):
    return pytest.mark.parametrize("model", models, ids=str)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@each(OTHERS)
def test_a_huge_value_is_refused_and_named(model, form):
    fresh = quick(model)
    for size, dtype in [
        (1e154, np.float64),
        (-1.7e308, np.float64),
    ]:
        X, y = draw(size, dtype)
        with pytest.raises(ValueError, match=r"too large: it holds .* Scale"):
            fresh.fit(form(X), y)
    assert not hasattr(fresh, "n_features_in_")


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@each([model for model in OTHERS if hasattr(model, "partial_fit")])
def test_a_batch_with_a_huge_value_is_refused(model, form):
    X, y = draw(0.0)
    fitted = quick(model, random_state=0).partial_fit(form(X), y)
    with pytest.raises(ValueError, match=r"in row 7 of column 2, .*MaxAbsScaler"):
        fitted.partial_fit(form(draw(1e154)[0]), y)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@each([quick(model, random_state=0) for model in OTHERS])
def test_a_huge_value_is_not_scored(model, form):
    X, y = draw(0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(form(X), y)
    use = getattr(model, "decision_function", None) or model.transform
    with pytest.raises(
        ValueError, match=r"in row 7 of column 2, .* Scale the features"
    ):
        use(form(draw(1e308)[0]))


@pytest.mark.parametrize("size", [1e15, 4e18])
def test_features_of_one_huge_scale_are_fitted(size):
    """Rounding leaves no curvature: a division by zero, once."""
    is_pos = np.arange(60) == 17
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(60, 4)) * size
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = RankSVM().fit(X, is_pos)
        assert np.all(np.isfinite(model.decision_function(X)))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@each([RankSVM(), LeastSquaresAUC(), UnivariateAUC(), OPAUC(), NBAUC(8, alpha=0.01)])
def test_timestamps_in_float32(model, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    y = (X[:, 0] > 0.3).astype(int)
    X[:, 2] = 1.7e18 + 1e12 * rng.random(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = clone(model).fit(form(X), y)
    assert np.isfinite(fitted.decision_function(form(X))).all()
