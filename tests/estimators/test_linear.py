# SPDX-License-Identifier: BSD-3-Clause
"""What users of the linear estimators rely on."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, get_scorer, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucmax import SPDAM, LeastSquaresAUC, RankSVM, RankSVMCV, UnivariateAUC

X_ALL, Y_ALL = load_breast_cancer(return_X_y=True)
X_ALL = StandardScaler().fit_transform(X_ALL)
TRAIN, TEST = slice(None, 400), slice(400, None)
X, Y = X_ALL[TRAIN], Y_ALL[TRAIN]

MODELS = [
    RankSVM(),
    RankSVM(loss="hinge"),
    RankSVMCV(),
    LeastSquaresAUC(),
    LeastSquaresAUC(solver="cg"),
    UnivariateAUC(),
    UnivariateAUC(loss="square"),
    UnivariateAUC(loss="exponential"),
    SPDAM(random_state=0),
]
WEIGHTED = [model for model in MODELS if not isinstance(model, SPDAM)]


def each(models):
    return pytest.mark.parametrize("model", models, ids=str)


@each(MODELS)
class TestContract:
    def test_score_is_the_auc(self, model):
        model = clone(model).fit(X, Y)
        scores = model.decision_function(X_ALL[TEST])
        auc = roc_auc_score(Y_ALL[TEST], scores)
        assert model.score(X_ALL[TEST], Y_ALL[TEST]) == pytest.approx(auc, abs=1e-12)
        assert auc > 0.97
        weight = np.arange(len(Y_ALL[TEST])) % 3
        assert model.score(X_ALL[TEST], Y_ALL[TEST], weight) == pytest.approx(
            roc_auc_score(Y_ALL[TEST], scores, sample_weight=weight), abs=1e-12
        )

    def test_threshold_maximises_balanced_accuracy(self, model):
        model = clone(model).fit(X, Y)
        scores = model.decision_function(X)
        assert_array_equal(model.predict(X), (scores > 0).astype(int))
        ours = balanced_accuracy_score(Y, model.predict(X))
        best = max(balanced_accuracy_score(Y, scores > s) for s in scores)
        assert ours == pytest.approx(best)

    def test_fitted_attributes(self, model):
        model = clone(model).fit(X, Y)
        assert model.coef_.shape == (1, 30)
        assert model.intercept_.shape == (1,)
        assert model.n_iter_ >= 1
        assert model.classes_.tolist() == [0, 1]
        assert_allclose(
            model.decision_function(X),
            X @ model.coef_[0] + model.intercept_[0],
            atol=1e-10,
        )
        assert len(model.history_) == model.n_iter_

    def test_fit_twice_is_fit_once(self, model):
        once = clone(model).fit(X, Y)
        twice = clone(model).fit(X[:200], Y[:200]).fit(X, Y)
        assert_array_equal(once.coef_, twice.coef_)

    def test_pickle_round_trip(self, model):
        model = clone(model).fit(X, Y)
        copy = pickle.loads(pickle.dumps(model))
        assert_array_equal(copy.decision_function(X), model.decision_function(X))

    def test_string_labels(self, model):
        named = clone(model).fit(X, np.where(Y, "benign", "a tumour"))
        assert named.classes_.tolist() == ["a tumour", "benign"]
        assert_allclose(named.coef_, clone(model).fit(X, Y).coef_)
        assert set(named.predict(X)) == {"a tumour", "benign"}

    def test_frames(self, model):
        names = [f"f{j}" for j in range(30)]
        plain = clone(model).fit(X, Y)
        for frame, target in [
            (pd.DataFrame(X, columns=names), pd.Series(Y)),
            (pl.DataFrame(X, schema=names), pl.Series(Y)),
        ]:
            framed = clone(model).fit(frame, target)
            assert framed.feature_names_in_.tolist() == names
            auc = plain.score(X, Y)
            assert framed.score(frame, target) == pytest.approx(auc, abs=1e-4)
        with pytest.raises(ValueError, match="feature names"):
            framed.predict(pd.DataFrame(X, columns=names[::-1]))

    def test_sparse_equals_dense(self, model):
        holes = np.where(np.abs(X) < 0.5, 0, X)
        dense = clone(model).fit(holes, Y).decision_function(holes)
        for make in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array):
            other = clone(model).fit(make(holes), Y).decision_function(make(holes))
            # Equal to the tolerance of the solver; the ranking is what counts.
            assert np.corrcoef(dense, other)[0, 1] > 0.9999
        wide = sparse.csr_array(holes)
        wide.indices = wide.indices.astype(np.int64)
        wide.indptr = wide.indptr.astype(np.int64)
        assert_allclose(clone(model).fit(wide, Y).decision_function(wide), other)

    def test_odd_csr_is_understood_and_left_alone(self, model):
        """Duplicates count as their sum, explicit zeros and any order are fine."""
        holes = np.where(np.abs(X) < 0.5, 0, X)
        tidy = sparse.csr_array(holes)
        parts = []
        for i in range(holes.shape[0]):
            columns = np.flatnonzero(holes[i])[::-1]
            values = holes[i, columns]
            doubled = np.r_[columns, columns, 0]
            parts.append((doubled, np.r_[values / 2, values / 2, 0.0]))
        sizes = np.cumsum([0] + [len(columns) for columns, _ in parts])
        odd = sparse.csr_array(
            (
                np.concatenate([values for _, values in parts]),
                np.concatenate([columns for columns, _ in parts]),
                sizes,
            ),
            shape=holes.shape,
        )
        before = odd.data.copy(), odd.indices.copy()
        scores = clone(model).fit(odd, Y).decision_function(odd)
        assert_array_equal(odd.data, before[0])
        assert_array_equal(odd.indices, before[1])
        expected = clone(model).fit(tidy, Y).decision_function(tidy)
        assert np.corrcoef(scores, expected)[0, 1] > 0.9999

    def test_float32_in_float32_out(self, model):
        single = clone(model).fit(X.astype(np.float32), Y)
        double = clone(model).fit(X, Y)
        assert single.coef_.dtype == np.float32
        assert single.decision_function(X.astype(np.float32)).dtype == np.float32
        assert single.score(X, Y) == pytest.approx(double.score(X, Y), abs=1e-3)

    def test_order_in_memory_does_not_matter(self, model):
        c, f = clone(model).fit(X, Y), clone(model).fit(np.asfortranarray(X), Y)
        assert c.score(X, Y) == pytest.approx(f.score(X, Y), abs=1e-4)

    def test_constant_columns_get_no_weight(self, model):
        padded = np.column_stack([X, np.full(len(X), 7.0), np.zeros(len(X))])
        model = clone(model).fit(padded, Y)
        assert_allclose(model.coef_[0, -2:], 0, atol=1e-10)

    def test_in_scikit_learn_tools(self, model):
        pipe = make_pipeline(StandardScaler(), clone(model))
        aucs = cross_val_score(pipe, X, Y, cv=3)
        assert_allclose(aucs, cross_val_score(pipe, X, Y, cv=3, scoring="roc_auc"))
        assert get_scorer("roc_auc")(pipe.fit(X, Y), X, Y) > 0.97

    def test_not_fitted(self, model):
        for method in ("predict", "decision_function"):
            with pytest.raises(NotFittedError):
                getattr(clone(model), method)(X)


@each([model for model in MODELS if not isinstance(model, RankSVMCV)])
def test_one_positive(model):
    keep = np.r_[np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[0]]
    model = clone(model).fit(X[keep], Y[keep])
    assert model.score(X[keep], Y[keep]) == 1.0


BAD_INPUT = {
    "one class": (X, np.ones(len(X)), "one class"),
    "three classes": (X, np.arange(len(X)) % 3, "Only binary classification"),
    "continuous target": (X, np.linspace(0, 1, len(X)), "Unknown label type"),
    "nan": (np.where(X > 2, np.nan, X), Y, "contains NaN"),
    "inf": (np.where(X > 2, np.inf, X), Y, "contains infinity"),
    "empty": (X[:0], Y[:0], "0 sample"),
    "no columns": (X[:, :0], Y, "0 feature"),
    "1-D X": (X[:, 0], Y, "Expected 2D array, got 1D"),
    "3-D X": (X[None], Y[:1], "dim 3"),
    "lengths": (X, Y[:-1], "inconsistent numbers of samples"),
    "missing label": (X, np.where(Y, np.nan, 0.0), "contains NaN"),
    "numbers as text": (X.astype(str), Y, r"X holds text .*astype\(float\)"),
    "text objects": (X.astype(str).astype(object), Y, "X holds text"),
    "text frame": (pd.DataFrame(X).astype(str), Y, "X holds text"),
    "complex": (X.astype(complex), Y, "Complex data"),
    "too large": (X * 1e200, Y, "Scale the features"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
@each(MODELS)
def test_bad_input_is_explained_and_nothing_is_half_fitted(model, case):
    bad_X, bad_y, message = BAD_INPUT[case]
    fresh = clone(model)
    with pytest.raises((ValueError, TypeError), match=message):
        fresh.fit(bad_X, bad_y)
    assert vars(fresh) == vars(clone(model))
    fitted = clone(model).fit(X, Y)
    before = fitted.decision_function(X)
    with pytest.raises((ValueError, TypeError), match=message):
        fitted.fit(bad_X, bad_y)
    assert_array_equal(fitted.decision_function(X), before)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.where(Y, 1.0, -1.0), "Negative values"),
        (np.zeros(len(Y)), "no weight"),
        (Y.astype(float), "negative class has no weight"),
        (np.full(len(Y), np.nan), "NaN"),
        (np.ones(len(Y) - 1), "expected"),
    ],
)
@each(WEIGHTED)
def test_bad_weights(model, weight, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("alpha", [0, -1, np.nan, np.inf, "1", None])
@each([m for m in MODELS if not isinstance(m, RankSVMCV)])
def test_bad_alpha(model, alpha):
    with pytest.raises(ValueError, match=r"'alpha' parameter .* must be a float"):
        clone(model).set_params(alpha=alpha).fit(X, Y)


@each(MODELS)
def test_data_without_information(model):
    """Nothing to learn: no error, no warning, finite scores."""
    y = np.arange(20) % 2
    for constant in (0.0, 5.3):
        rows = np.full((20, 3), constant)
        fitted = clone(model).fit(rows, y)
        assert np.all(np.isfinite(fitted.decision_function(rows)))
        assert fitted.score(rows, y) == 0.5


@each(MODELS)
def test_labels_never_seen_are_refused(model):
    model = clone(model).fit(X, Y)
    with pytest.raises(ValueError, match=r"fitted on \[0, 1\]"):
        model.score(X, np.where(Y, "b", "a"))


@each(WEIGHTED)
@pytest.mark.parametrize("pos", [1e-9, 1e9])
@pytest.mark.parametrize("unit", [1e-170, 1.0])
def test_weights_of_any_size(model, pos, unit):
    """Constant within each class, so they change nothing."""
    weight = unit * np.where(Y, pos, 1.0)
    fitted = clone(model).fit(X, Y, sample_weight=weight)
    plain = clone(model).fit(X, Y)
    assert fitted.score(X, Y) == pytest.approx(plain.score(X, Y), abs=1e-3)


@each(WEIGHTED)
def test_scaling_all_weights_changes_nothing(model):
    weight = np.random.default_rng(0).gamma(1.0, size=len(Y))
    one = clone(model).fit(X, Y, sample_weight=weight)
    ten = clone(model).fit(X, Y, sample_weight=10 * weight)
    # An inexact solver may stop elsewhere within its tolerance.
    same = np.corrcoef(one.decision_function(X), ten.decision_function(X))[0, 1]
    assert same > 0.9999


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(alpha=1e-6, max_iter=1),
        RankSVM(alpha=1e-6, loss="hinge", max_iter=1),
        RankSVMCV(max_iter=1, tol=1e-12),
        UnivariateAUC(alpha=1e-9, max_iter=1),
        LeastSquaresAUC(alpha=1e-9, solver="cg", max_iter=2),
        SPDAM(alpha=1e-6, max_iter=1, random_state=0),
    ],
    ids=str,
)
def test_non_convergence_warns_with_a_remedy(model):
    with pytest.warns(ConvergenceWarning, match="did not converge.*raise max_iter"):
        model.fit(X, Y)
    assert model.score(X, Y) > 0.9


def test_rank_svm_golden_number():
    """Objective on the first 400 rows of scikit-learn's breast cancer data, scaled."""
    model = RankSVM(alpha=1e-3, tol=1e-10).fit(X, Y)
    assert model.objective_ == pytest.approx(0.005439022241625882, rel=1e-8)


def test_warm_start_continues():
    cold = RankSVM(alpha=1e-4, tol=1e-8).fit(X, Y)
    warm = RankSVM(alpha=1e-4, tol=1e-8, warm_start=True).fit(X, Y)
    first = warm.n_iter_
    warm.fit(X, Y)
    assert warm.n_iter_ < first
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-7)
    with pytest.raises(ValueError, match="continues a fit on 30 features"):
        warm.fit(X[:, :5], Y)


def test_verbose_reports_on_standard_error(capsys):
    RankSVM(verbose=1).fit(X, Y)
    RankSVMCV(alphas=3, verbose=1).fit(X, Y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "[RankSVM] objective" in captured.err
    assert "[RankSVMCV] fold 5: best AUC" in captured.err
    RankSVM().fit(X, Y)
    assert capsys.readouterr().err == ""


def test_uni_log_is_balanced_logistic_regression():
    ours = UnivariateAUC(alpha=1e-2, tol=1e-12).fit(X, Y)
    theirs = LogisticRegression(
        class_weight="balanced", C=1 / (1e-2 * len(Y)), tol=1e-10, max_iter=10_000
    ).fit(X, Y)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)


def test_spdam_reaches_least_squares():
    exact = LeastSquaresAUC(alpha=0.05).fit(X, Y)
    for batch_size in (1, 5, 0.1):
        model = SPDAM(
            alpha=0.05, batch_size=batch_size, tol=1e-9, max_iter=10_000, random_state=0
        ).fit(X, Y)
        assert_allclose(model.coef_, exact.coef_, rtol=1e-4, atol=1e-7)


def test_spdam_seeds():
    one, same = SPDAM(random_state=3).fit(X, Y), SPDAM(random_state=3).fit(X, Y)
    other = SPDAM(random_state=4).fit(X, Y)
    assert_array_equal(one.coef_, same.coef_)
    assert np.any(one.coef_ != other.coef_)


def test_one_vs_rest():
    labels = np.digitize(X[:, 0], [-0.5, 0.8])
    model = OneVsRestClassifier(RankSVM()).fit(X, labels)
    assert np.mean(model.predict(X) == labels) > 0.8


class TestRankSVMCV:
    def test_equals_a_plain_grid_search(self):
        alphas = np.logspace(0, -4, 5)
        folds = StratifiedKFold(4)
        ours = RankSVMCV(alphas=alphas, cv=folds, tol=1e-8).fit(X, Y)
        grid = GridSearchCV(
            RankSVM(tol=1e-8), {"alpha": alphas.tolist()}, cv=folds
        ).fit(X, Y)
        for k in range(4):
            expected = grid.cv_results_[f"split{k}_test_score"]
            assert_allclose(ours.cv_scores_[:, k], expected, atol=1e-9)
        assert ours.alpha_ == grid.best_params_["alpha"]
        assert_allclose(ours.coef_, grid.best_estimator_.coef_, rtol=1e-4, atol=1e-6)

    def test_attributes(self):
        model = RankSVMCV(alphas=7, cv=3).fit(X, Y)
        assert model.alphas_.shape == (7,)
        assert np.all(np.diff(model.alphas_) < 0)
        assert model.cv_scores_.shape == (7, 3)
        best = model.cv_scores_.mean(axis=1).max()
        chosen = np.flatnonzero(model.alphas_ == model.alpha_)[0]
        assert model.cv_scores_[chosen].mean() == best

    def test_scale_of_the_features_does_not_matter(self):
        plain, scaled = RankSVMCV().fit(X, Y), RankSVMCV().fit(1024 * X, Y)
        assert scaled.alpha_ == pytest.approx(1024**2 * plain.alpha_)
        assert_allclose(
            scaled.decision_function(1024 * X), plain.decision_function(X), rtol=1e-3
        )

    def test_parallel_folds_give_the_same_numbers(self):
        serial = RankSVMCV().fit(X, Y)
        parallel = RankSVMCV(n_jobs=2).fit(X, Y)
        assert_array_equal(serial.cv_scores_, parallel.cv_scores_)
        assert_array_equal(serial.coef_, parallel.coef_)

    def test_folds_may_be_anything_scikit_learn_takes(self):
        groups = np.arange(len(Y)) // 40
        folds = list(GroupKFold(3).split(X, Y, groups))
        assert RankSVMCV(cv=folds).fit(X, Y).cv_scores_.shape[1] == 3

    def test_only_the_training_rows_of_a_fold_are_used(self):
        """As in a time series, where later rows must not be seen."""
        past, future = np.arange(150), np.arange(200, 260)
        ours = RankSVMCV(alphas=[0.01], cv=[(past, future)], tol=1e-10).fit(X, Y)
        alone = RankSVM(alpha=0.01, tol=1e-10).fit(X[past], Y[past])
        assert ours.cv_scores_[0, 0] == pytest.approx(
            alone.score(X[future], Y[future]), abs=1e-9
        )

    def test_rows_without_weight_are_not_dealt_into_folds(self):
        weight = np.ones(len(Y))
        weight[np.flatnonzero(Y == 1)[3:]] = 0
        model = RankSVMCV(alphas=3).fit(X, Y, sample_weight=weight)
        used = weight > 0
        alone = RankSVMCV(alphas=3).fit(X[used], Y[used])
        assert_allclose(model.cv_scores_, alone.cv_scores_)

    def test_short_fits_in_folds_are_not_hidden(self):
        with pytest.warns(ConvergenceWarning):
            RankSVMCV(alphas=[1e-6, 1e4], max_iter=1).fit(X, Y)

    def test_few_positives(self):
        keep = np.r_[np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:3]]
        model = RankSVMCV(cv=5).fit(X[keep], Y[keep])
        assert model.cv_scores_.shape[1] == 3
        with pytest.raises(ValueError, match=r"at least two rows.*Use RankSVM"):
            RankSVMCV().fit(X[keep[:-2]], Y[keep[:-2]])

    def test_bad_folds_and_alphas(self):
        pos, neg = np.flatnonzero(Y == 1), np.flatnonzero(Y == 0)
        both = np.r_[pos[:10], neg[:10]]
        for train, test in [(both, pos), (np.setdiff1d(pos, both), np.r_[both, neg])]:
            with pytest.raises(ValueError, match="only one class"):
                RankSVMCV(cv=[(train, test)]).fit(X, Y)
        for alphas in ([], [1.0, -1.0], [[1.0]], [np.nan]):
            with pytest.raises(ValueError, match="alphas must be"):
                RankSVMCV(alphas=alphas).fit(X, Y)
