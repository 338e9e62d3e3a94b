# SPDX-License-Identifier: BSD-3-Clause
"""What users of NBAUC and RFAUC rely on."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from drawing import draw_labels
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from aucmax import NBAUC, NSAUC, RFAUC, KernelRankSVM
from aucmax.features.kernels import Kernel
from aucmax.metrics.threshold import balanced_threshold

X_ALL, Y_ALL = make_moons(700, noise=0.3, random_state=0)
X, Y = X_ALL[:300], Y_ALL[:300]
X_TEST, Y_TEST = X_ALL[300:], Y_ALL[300:]
FIXED = {"gamma": 1.0, "alpha": 1e-4, "random_state": 0}


def each(*models):
    return pytest.mark.parametrize("make", models, ids=lambda model: model.__name__)


def kernel_optimum(X, is_pos, gamma, alpha):
    """Scores of the full kernel problem, over explicit pairs, by SciPy."""
    gram = Kernel("rbf", gamma)(X, X)
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-10 * values.max()
    root = vectors[:, kept] * np.sqrt(values[kept])
    pairs = (root[is_pos][:, None] - root[~is_pos][None]).reshape(-1, kept.sum())

    def objective(coef):
        margin = np.maximum(0, 1 - pairs @ coef)
        value = (margin**2).mean() + alpha / 2 * coef @ coef
        return value, -2 * pairs.T @ margin / len(pairs) + alpha * coef

    found = minimize(objective, np.zeros(kept.sum()), jac=True, options={"gtol": 1e-9})
    return root @ found.x, found.fun


def test_all_rows_as_landmarks_is_the_full_kernel_problem(rng):
    X = rng.normal(size=(60, 3))
    is_pos = draw_labels(rng, 60, 24)
    model = NBAUC(gamma=0.3, alpha=1e-3, tol=1e-10).fit(X, is_pos)
    scores, value = kernel_optimum(X, is_pos, 0.3, 1e-3)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    ours = model.decision_function(X)
    assert_allclose(ours - ours.mean(), scores - scores.mean(), atol=1e-3)


@each(NBAUC, RFAUC)
class TestContract:
    def test_ranks_what_no_line_can(self, make):
        model = make(random_state=0).fit(X, Y)
        auc = roc_auc_score(Y_TEST, model.decision_function(X_TEST))
        assert model.score(X_TEST, Y_TEST) == pytest.approx(auc, abs=1e-12)
        assert auc > 0.96
        assert np.mean(model.predict(X_TEST) == Y_TEST) > 0.88

    def test_what_was_tried_is_kept(self, make):
        model = make(random_state=0).fit(X, Y)
        gammas, alphas, aucs = model.tuning_.T
        used = (gammas == model.gamma_) & np.isclose(alphas, model.alpha_, rtol=1e-9)
        assert aucs[used].max() >= aucs[gammas == model.gamma_].max() - 1e-3
        assert len(np.unique(model.tuning_[:, 0])) >= 3
        assert np.all((model.tuning_[:, 2] > 0.5) & (model.tuning_[:, 2] <= 1))

    def test_given_parameters_are_used(self, make):
        model = make(**FIXED).fit(X, Y)
        assert (model.gamma_, model.alpha_) == (1.0, 1e-4)
        assert model.tuning_.shape == (0, 3)
        only_alpha = make(gamma=0.5, random_state=0).fit(X, Y)
        assert only_alpha.gamma_ == 0.5
        assert set(only_alpha.tuning_[:, 0]) == {0.5}
        only_gamma = make(alpha=1e-2, random_state=0).fit(X, Y)
        assert set(only_gamma.tuning_[:, 1]) == {1e-2}

    def test_order_and_repetition_do_not_matter(self, make, rng):
        weight = rng.integers(0, 4, size=300)
        times = rng.permutation(np.repeat(np.arange(300), weight))
        weighted = make(random_state=0).fit(X, Y, sample_weight=weight)
        repeated = make(random_state=0).fit(X[times], Y[times])
        assert weighted.alpha_ == repeated.alpha_
        assert weighted.gamma_ == pytest.approx(repeated.gamma_)
        assert_allclose(
            weighted.decision_function(X_TEST),
            repeated.decision_function(X_TEST),
            atol=1e-6,
        )

    def test_memory_budget_changes_nothing(self, make):
        plain = make(**FIXED).fit(X, Y)
        small = make(memory_budget="1kB", **FIXED).fit(X, Y)
        assert_allclose(
            plain.decision_function(X_TEST), small.decision_function(X_TEST), atol=1e-8
        )

    def test_sparse_equals_dense(self, make):
        dense = make(**FIXED).fit(X, Y)
        thin = make(**FIXED).fit(sparse.csr_array(X), Y)
        assert_allclose(
            thin.decision_function(sparse.csr_array(X_TEST)),
            dense.decision_function(X_TEST),
            atol=1e-5,
        )

    def test_float32(self, make):
        wide = make(**FIXED).fit(X, Y)
        narrow = make(**FIXED).fit(X.astype(np.float32), Y)
        auc = narrow.score(X_TEST.astype(np.float32), Y_TEST)
        assert auc == pytest.approx(wide.score(X_TEST, Y_TEST), abs=1e-3)

    def test_random_state(self, make):
        small = {"n_landmarks": 20} if make is NBAUC else {"n_features": 20}
        scores = [
            make(**{**FIXED, "random_state": seed}, **small)
            .fit(X, Y)
            .decision_function(X_TEST)
            for seed in (0, 0, 1)
        ]
        assert_array_equal(scores[0], scores[1])
        assert not np.allclose(scores[0], scores[2])

    @pytest.mark.parametrize("gamma", [1e-12, 1e12])
    def test_absurd_widths_give_finite_scores(self, make, gamma):
        model = make(gamma=gamma, random_state=0).fit(X, Y)
        assert np.all(np.isfinite(model.decision_function(X_TEST)))

    @pytest.mark.parametrize("fixed", [{"alpha": 1e3}, {"gamma": 1e-8, "alpha": 1e-2}])
    def test_a_heavy_penalty_still_ranks(self, make, fixed):
        model = make(**{**FIXED, **fixed}).fit(X, Y)
        assert model.score(X, Y) > 0.8

    def test_rows_without_weight_are_absent(self, make):
        odd = np.vstack([X, np.full((1, 2), 1e30)])
        weight = np.append(np.ones(300), 0)
        plain = make(random_state=0).fit(X, Y)
        model = make(random_state=0).fit(odd, np.append(Y, 1), sample_weight=weight)
        assert_array_equal(
            model.decision_function(X_TEST), plain.decision_function(X_TEST)
        )

    def test_a_constant_column_far_away(self, make):
        def far(rows):
            return np.column_stack([rows, np.full(len(rows), 1e6)])

        plain = make(**FIXED).fit(X, Y).decision_function(X_TEST)
        for kind in (np.asarray, sparse.csr_array):
            model = make(**FIXED).fit(kind(far(X)), Y)
            scores = model.decision_function(kind(far(X_TEST)))
            assert np.corrcoef(scores, plain)[0, 1] > (
                0.999 if make is NBAUC else 0.9  # other frequencies
            )

    def test_duplicate_rows_and_constant_columns(self, make):
        rows = np.column_stack([np.repeat(X[:50], 4, axis=0), np.ones(200)])
        model = make(random_state=0).fit(rows, np.repeat(Y[:50], 4))
        assert np.all(np.isfinite(model.decision_function(rows)))

    def test_one_positive(self, make):
        y = np.arange(300) == 7
        model = make(random_state=0).fit(X, y)
        assert model.score(X, y) > 0.9

    def test_only_constant_columns(self, make):
        model = make(random_state=0).fit(np.ones((20, 2)), np.arange(20) % 2)
        assert len(set(model.decision_function(np.ones((3, 2))))) == 1

    def test_threshold_is_that_of_the_scores(self, make, rng):
        rows = rng.normal(size=(1200, 2))
        y = (np.sin(3 * rows[:, 0]) + rng.normal(size=1200)) > 0
        for dtype in (np.float32, np.float64):
            model = make(**{**FIXED, "alpha": 1e-8}).fit(rows.astype(dtype), y)
            scores = model.decision_function(rows.astype(dtype)) - model.intercept_[0]
            best = balanced_threshold(scores, y, np.ones(1200))
            assert -model.intercept_[0] == pytest.approx(best, rel=1e-9)

    def test_pickle(self, make):
        model = make(**FIXED).fit(X, Y)
        again = pickle.loads(pickle.dumps(model))
        assert_array_equal(
            again.decision_function(X_TEST), model.decision_function(X_TEST)
        )

    def test_bad_parameters(self, make):
        for name, bad in (("gamma", "wide"), ("alpha", -1.0), ("tol", 0.0)):
            with pytest.raises(ValueError, match=f"'{name}' parameter"):
                make(**{name: bad}).fit(X, Y)
        with pytest.raises(ValueError, match="'lots' is not an amount of memory"):
            make(memory_budget="lots").fit(X, Y)

    def test_says_when_it_stopped_early(self, make):
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            make(max_iter=1, tol=1e-12, **FIXED).fit(X, Y)

    def test_verbose(self, make, capsys):
        make(random_state=0, verbose=1).fit(X, Y)
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "AUC" in shown.err
        assert "objective" in shown.err


@pytest.mark.parametrize(
    "kernel",
    ["laplacian", "polynomial", lambda a, b: (a @ b.T + 1) ** 3],
    ids=["laplacian", "polynomial", "callable"],
)
def test_other_kernels(kernel):
    model = NBAUC(kernel=kernel, random_state=0).fit(X, Y)
    assert model.score(X_TEST, Y_TEST) > 0.85


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans", "stratified", X[:40]])
def test_landmarks(landmarks):
    model = NBAUC(n_landmarks=40, landmarks=landmarks, random_state=0).fit(X, Y)
    assert model.basis_.shape == (40, 2)
    assert model.score(X_TEST, Y_TEST) > 0.96


def test_scores_are_those_of_the_features():
    model = NBAUC(n_landmarks=50, **FIXED).fit(X, Y)
    features = model.feature_map_.transform(X_TEST)
    expected = features @ model.coef_[0] + model.intercept_[0]
    assert_allclose(model.decision_function(X_TEST), expected, atol=1e-6)


def test_scores_follow_the_model_wherever_it_goes():
    # The kernel against the basis is kept between calls.
    model = NBAUC(20, **FIXED).fit(X, Y)
    first = model.decision_function(X_TEST)
    assert_allclose(model.decision_function(sparse.csr_array(X_TEST)), first, rtol=1e-9)
    assert_array_equal(model.decision_function(X_TEST), first)
    model.fit(X_TEST, Y_TEST)
    again = NBAUC(20, **FIXED).fit(X_TEST, Y_TEST).decision_function(X)
    assert_array_equal(model.decision_function(X), again)
    model.set_params(gamma=3.0).fit(X, Y)
    again = NBAUC(20, **FIXED | {"gamma": 3.0}).fit(X, Y).decision_function(X_TEST)
    assert_array_equal(model.decision_function(X_TEST), again)


def test_a_model_that_has_scored_can_be_forgotten():
    model = NBAUC(20, **FIXED).fit(X, Y)
    model.decision_function(X_TEST)
    seen = weakref.ref(model)
    del model
    gc.collect()
    assert seen() is None


def test_the_penalty_is_refined_on_all_rows():
    for make in (NBAUC, RFAUC):
        model = make(random_state=0).fit(X, Y)
        gammas, alphas, _ = model.tuning_.T
        assert gammas[-1] == model.gamma_
        assert model.alpha_ in alphas[-2:]
        assert model.score(X_TEST, Y_TEST) > 0.96


@pytest.mark.parametrize("gamma", [0.2, 3.0])
def test_all_rows_as_landmarks_is_kernel_rank_svm(gamma):
    fixed = {"gamma": gamma, "alpha": 1e-4, "tol": 1e-6}
    ours = NBAUC(random_state=0, **fixed).fit(X, Y).decision_function(X_TEST)
    full = KernelRankSVM(**fixed).fit(X, Y).decision_function(X_TEST)
    assert np.corrcoef(ours, full)[0, 1] > 0.9999


def test_steps_on_pairs_come_near_the_same_objective():
    fixed = {"n_landmarks": 60, "gamma": 1.0, "alpha": 1e-3, "random_state": 0}
    exact = NBAUC(tol=1e-8, **fixed).fit(X, Y)
    steps = NSAUC(max_passes=2000, early_stopping=False, **fixed).fit(X, Y)

    def objective(model):
        scores = model.decision_function(X)
        margins = np.maximum(0, 1 - scores[Y == 1][:, None] + scores[Y == 0])
        penalty = model.coef_[0] @ model.coef_[0]
        return (margins**2).mean() + 1e-3 / 2 * penalty

    assert objective(exact) == pytest.approx(exact.objective_, rel=1e-5)
    assert exact.objective_ <= objective(steps) <= 1.05 * exact.objective_


@pytest.mark.parametrize("seed", [0, 1])
def test_more_landmarks_lower_the_objective(seed):
    values = [
        NBAUC(v, gamma=1.0, alpha=1e-4, tol=1e-6, random_state=seed)
        .fit(X, Y)
        .objective_
        for v in (5, 20, 80, 300)
    ]
    assert np.all(np.diff(values) <= 0)
