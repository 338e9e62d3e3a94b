# SPDX-License-Identifier: BSD-3-Clause
"""What users of NSAUC rely on."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucmax import NSAUC, RankSVM
from aucmax.estimators import nsauc
from aucmax.estimators._holdout import hold_out
from aucmax.solvers import pair_sgd
from aucmax.solvers.pair_sgd import RowBlock
from aucmax.streams import embedded_blocks, pairs

X, Y = make_moons(600, noise=0.25, random_state=0)
TRAIN, TEST = slice(None, 400), slice(400, None)
X_CANCER, Y_CANCER = load_breast_cancer(return_X_y=True)
X_CANCER = StandardScaler().fit_transform(X_CANCER)


def make(**options):
    """A model that chooses nothing by itself: fast."""
    given = {"n_landmarks": 60, "gamma": "scale-mean", "alpha": 1e-3, "random_state": 0}
    return NSAUC(**(given | options))


# Nothing is chosen automatically here: that takes longer than the fit.
FIXED = {"gamma": "scale-mean", "alpha": 1e-3}


@parametrize_with_checks([NSAUC(**FIXED), NSAUC(average=False, loss="hinge", **FIXED)])
def test_sklearn_check(estimator, check):
    check(estimator)


class TestFit:
    def test_auc_is_as_good_as_the_exact_minimum(self):
        model = NSAUC(n_landmarks=100, random_state=0).fit(X[TRAIN], Y[TRAIN])
        assert model.tuning_.shape[1] == 3
        features = model.feature_map_.transform(X)
        exact = RankSVM(model.alpha_).fit(features[TRAIN], Y[TRAIN])
        best = exact.score(features[TEST], Y[TEST])
        assert model.score(X[TEST], Y[TEST]) > best - 0.002 > 0.97

    @pytest.mark.parametrize("block_size", [1, 8])
    @pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
    def test_approaches_the_minimum_on_the_embedding(self, loss, block_size):
        model = make(loss=loss, block_size=block_size, max_passes=800, alpha=1e-2)
        model.fit(X[TRAIN], Y[TRAIN])
        features = model.feature_map_.transform(X[TRAIN])
        exact = RankSVM(1e-2, loss=loss, tol=1e-6).fit(features, Y[TRAIN])

        def objective(coef):
            scores = features @ coef
            gaps = scores[Y[TRAIN] == 1][:, None] - scores[Y[TRAIN] == 0]
            losses = np.maximum(0, 1 - gaps) ** (2 if loss == "squared_hinge" else 1)
            return losses.mean() + 0.5e-2 * coef @ coef

        least = objective(exact.coef_[0])
        assert least * (1 - 1e-5) < objective(model.coef_[0]) < least * 1.005

    def test_score_needs_no_embedding(self):
        model = make().fit(X[TRAIN], Y[TRAIN])
        scores = model.decision_function(X)
        by_map = model.feature_map_.transform(X) @ model.coef_[0] + model.intercept_[0]
        by_kernel = model.kernel_(X, model.basis_) @ model.dual_coef_[0]
        assert_allclose(scores, by_map, atol=1e-7)
        assert_allclose(scores, by_kernel + model.intercept_[0], atol=1e-10)
        assert model.basis_.shape == (60, 2)
        assert model.coef_.shape == (1, model.feature_map_.normalization_.shape[1])
        auc = roc_auc_score(Y[TEST], scores[TEST])
        assert model.score(X[TEST], Y[TEST]) == pytest.approx(auc, abs=1e-12)

    def test_threshold_maximises_balanced_accuracy(self):
        model = make().fit(X, Y)
        scores = model.decision_function(X)
        assert_array_equal(model.predict(X), (scores > 0).astype(int))
        ours = balanced_accuracy_score(Y, model.predict(X))
        assert ours == pytest.approx(
            max(balanced_accuracy_score(Y, scores > s) for s in scores)
        )

    def test_seeds(self):
        one, same = make().fit(X, Y), make().fit(X, Y)
        assert_array_equal(one.dual_coef_, same.dual_coef_)
        assert_array_equal(make().fit(X[:90], Y[:90]).fit(X, Y).coef_, one.coef_)
        other = make(random_state=1).fit(X, Y)
        assert np.any(other.dual_coef_ != one.dual_coef_)
        state = np.random.RandomState(3)
        first = make(random_state=state).fit(X, Y)
        assert np.any(make(random_state=state).fit(X, Y).coef_ != first.coef_)

    def test_global_random_state_is_left_alone(self):
        np.random.seed(0)  # noqa: NPY002
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        make(random_state=1).fit(X, Y)
        assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002

    def test_sparse_equals_dense(self):
        holes = np.where(np.abs(X_CANCER) < 0.5, 0, X_CANCER)
        dense = make().fit(holes, Y_CANCER).decision_function(holes)
        for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array):
            model = make().fit(kind(holes), Y_CANCER)
            assert_allclose(model.decision_function(kind(holes)), dense, atol=1e-6)

    def test_float32(self):
        double = make().fit(X_CANCER, Y_CANCER)
        single = make().fit(X_CANCER.astype(np.float32), Y_CANCER)
        assert single.feature_map_.dtype_ == np.float32
        assert single.coef_.dtype == single.dual_coef_.dtype == np.float64
        auc = double.score(X_CANCER, Y_CANCER)
        single_auc = single.score(X_CANCER.astype(np.float32), Y_CANCER)
        assert single_auc == pytest.approx(auc, abs=2e-3)

    def test_strings_frames_pickle(self):
        names = ["a", "b"]
        frame = pd.DataFrame(X, columns=names)
        model = make().fit(frame, np.where(Y, "yes", "no"))
        assert model.classes_.tolist() == ["no", "yes"]
        assert model.feature_names_in_.tolist() == names
        assert_array_equal(model.dual_coef_, make().fit(X, Y).dual_coef_)
        again = pickle.loads(pickle.dumps(model))
        assert_array_equal(again.predict(frame), model.predict(frame))

    @pytest.mark.parametrize("n_pos", [1, 2])
    def test_few_positives(self, n_pos):
        few = np.append(np.flatnonzero(Y == 1)[:n_pos], np.flatnonzero(Y == 0))
        model = make().fit(X[few], Y[few])
        assert model.score(X, Y) > 0.6

    def test_kernels(self):
        for options in (
            {"kernel": "laplacian"},
            {"kernel": "polynomial", "degree": 2, "coef0": 0.5},
            {"kernel": lambda A, B: A @ B.T + 1.0},
            {"landmarks": X[:25]},
            {"landmarks": "stratified"},
            {"landmarks": "kmeans"},
        ):
            model = make(**options).fit(X[TRAIN], Y[TRAIN])
            assert model.score(X[TEST], Y[TEST]) > 0.9
        assert_array_equal(make(landmarks=X[:25]).fit(X, Y).basis_, X[:25])


class TestBudget:
    def test_without_early_stopping_exactly_so_many_passes(self):
        model = make(early_stopping=False, max_passes=3).fit(X[:401], Y[:401])
        assert model.n_iter_ == 3 * 401
        assert model.history_[-1].n_visits == 3 * 401
        assert all(np.isnan(stage.auc) for stage in model.history_)

    def test_small_data_use_all_passes_and_all_rows(self):
        model = make(max_passes=10).fit(X, Y)
        assert model.n_iter_ == 10 * len(X)

    @pytest.fixture
    def eager(self, monkeypatch):
        """Twenty passes are enough for anything."""
        monkeypatch.setattr(pair_sgd, "LEAST_VISITS", 1)

    @pytest.mark.usefixtures("eager")
    def test_stops_when_a_doubling_gains_little(self):
        model = make(tol=1.0).fit(X, Y)
        assert [stage.n_visits for stage in model.history_] == [
            540 * 20 // 8,
            540 * 20 // 4,
            540 * 20 // 2,
            540 * 20,
        ]
        assert all(0.9 < stage.auc <= 1 for stage in model.history_)
        patient = make(tol=1e-12, max_passes=100).fit(X, Y)
        gains = np.diff([stage.auc for stage in patient.history_])
        assert np.all(gains[2:-1] > 0.0)
        assert gains[-1] <= 0.0 or patient.history_[-1].n_visits == 540 * 100

    @pytest.mark.usefixtures("eager")
    def test_model_is_that_of_the_best_stage(self):
        model = make(tol=1e-12).fit(X, Y)
        best = max(model.history_[3:], key=lambda stage: stage.auc)
        assert model.n_iter_ == best.n_visits
        pos, neg, held = hold_out(Y == 1, 0.1, 20_000, np.random.default_rng(_seed(0)))
        assert len(held) == 60
        assert len(pos) + len(neg) == 540
        scores = model.decision_function(X[held])
        assert roc_auc_score(Y[held], scores) == pytest.approx(best.auc, abs=1e-9)

    @pytest.mark.usefixtures("eager")
    def test_held_out_rows_are_bounded(self, monkeypatch):
        monkeypatch.setattr(nsauc, "MAX_VALIDATION_ROWS", 20)
        model = make(tol=1.0).fit(X, Y)
        assert model.history_[-1].n_visits == 20 * 580

    @pytest.mark.usefixtures("eager")
    def test_one_positive_is_not_held_out(self):
        few = np.append(np.flatnonzero(Y == 1)[0], np.flatnonzero(Y == 0))
        model = make(max_passes=40).fit(X[few], Y[few])
        assert np.isnan(model.history_[-1].auc)
        assert model.n_iter_ == 40 * len(few)

    def test_last_iterate(self):
        mean, last = make().fit(X, Y), make(average=False).fit(X, Y)
        assert np.any(mean.coef_ != last.coef_)
        state = last._stream.sgd
        assert_array_equal(last.coef_[0], state.last())

    def test_step_size(self):
        assert make(step_size=0.125).fit(X, Y).step_size_ == 0.125
        assert 0 < make().fit(X, Y).step_size_ <= 1
        model = make().fit(X, Y)
        before = pickle.dumps(model)
        model.set_params(step_size=1e9, alpha=1e-12)
        with pytest.raises(ValueError, match="diverged with step_size"):
            model.fit(X, Y)
        model.set_params(step_size="auto", alpha=1e-3)
        assert_array_equal(model.coef_, pickle.loads(before).coef_)

    def test_verbose_goes_to_stderr(self, capsys):
        make(verbose=1).fit(X, Y)
        out, err = capsys.readouterr()
        assert out == ""
        assert "[NSAUC] visits 120000" in err


def _seed(random_state):
    return np.random.RandomState(random_state).randint(2**31 - 1)


class TestMemory:
    def test_blocks_keep_to_the_budget_and_learn_the_same(self, monkeypatch):
        """Both classes in each block, all rows once per stage."""
        monkeypatch.setattr(embedded_blocks, "MIN_BLOCK_ROWS", 50)
        monkeypatch.setattr(embedded_blocks, "MIN_CLASS_ROWS", 5)
        sizes = []
        load = embedded_blocks.EmbeddedBlocks.load

        def watch(self, k):
            block = load(self, k)
            assert block.rows.shape[0] == len(block.pos) + len(block.neg)
            assert min(len(block.pos), len(block.neg)) > 40
            sizes.append(block.rows.nbytes)
            return block

        monkeypatch.setattr(embedded_blocks.EmbeddedBlocks, "load", watch)
        whole = make().fit(X[TRAIN], Y[TRAIN])
        assert set(sizes) == {400 * whole.coef_.shape[1] * 8}
        sizes.clear()
        budget = 100 * whole.coef_.shape[1] * 8
        parts = make(memory_budget=budget).fit(X[TRAIN], Y[TRAIN])
        assert max(sizes) <= budget * 1.01
        assert len(sizes) == 1 + 4 * (2 + 2 + 3 + 5)
        best = whole.score(X[TEST], Y[TEST])
        assert parts.score(X[TEST], Y[TEST]) > best - 0.005

    def test_every_row_is_in_one_block(self, rng):
        rows = np.arange(1000, 2000)
        parts = embedded_blocks._deal(rows, 3, rng)
        assert_array_equal(np.sort(np.concatenate(parts)), rows)
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
        # A small class is in all of them.
        for part in embedded_blocks._deal(rows[:20], 3, rng):
            assert_array_equal(part, rows[:20])

    @pytest.mark.parametrize("budget", ["4 potatoes", "-1GB"])
    def test_bad_budget(self, budget):
        with pytest.raises(ValueError, match="not an amount of memory"):
            make(memory_budget=budget).fit(X, Y)
        with pytest.raises(ValueError, match="not an amount of memory"):
            make(memory_budget=budget).partial_fit(X, Y)


def batches(size):
    return [slice(low, low + size) for low in range(0, 400, size)]


class TestPartialFit:
    @pytest.mark.parametrize("size", [40, 400])
    def test_learns_from_batches(self, size):
        model = make(landmarks=X[:60], gamma=1.0)
        for _ in range(5):
            for rows in batches(size):
                model.partial_fit(X[rows], Y[rows])
        assert model.n_iter_ == 5 * 400 * 8
        full = make(landmarks=X[:60], gamma=1.0).fit(X[TRAIN], Y[TRAIN])
        best = full.score(X[TEST], Y[TEST])
        assert model.score(X[TEST], Y[TEST]) > best - 0.01
        accuracy = balanced_accuracy_score(Y[TEST], model.predict(X[TEST]))
        assert accuracy > 0.88

    def test_batches_of_one_class(self):
        model = make(landmarks=X[:60], gamma=1.0)
        order = np.argsort(Y[TRAIN], kind="stable")
        for rows in np.array_split(order, 10):
            model.partial_fit(X[rows], Y[rows], classes=[0, 1])
        assert model.score(X[TEST], Y[TEST]) > 0.93

    def test_single_rows(self):
        model = make(landmarks=X[:30], gamma=1.0)
        for i in range(60):
            model.partial_fit(X[i : i + 1], Y[i : i + 1], classes=[0, 1])
            assert model.decision_function(X).shape == (600,)
        assert model.n_iter_ == 60 * 8
        assert model.score(X[TEST], Y[TEST]) > 0.9

    def test_before_the_first_pair_all_scores_are_zero(self):
        model = make(landmarks=X[:30], gamma=1.0)
        positives = X[Y == 1][:5]
        model.partial_fit(positives, np.ones(5, dtype=int), classes=[0, 1])
        assert model.n_iter_ == 0
        assert not np.any(model.decision_function(X))
        negatives = X[Y == 0][:1]
        model.partial_fit(negatives, [0])
        assert model.n_iter_ == 6 * 8  # the rows that had to wait count as well
        assert model.score(X, Y) > 0.5

    def test_goes_on_from_fit(self):
        model = make().fit(X[TRAIN], Y[TRAIN])
        before, basis = model.coef_.copy(), model.basis_
        assert model._stream.sample.slots.n_seen[1] == np.sum(Y[TRAIN] == 1)
        model.partial_fit(X[TEST], Y[TEST])
        assert model.n_iter_ == 400 * 200 + 200 * 8
        assert model.basis_ is basis
        assert np.any(model.coef_ != before)
        # 80,000 visits are not forgotten over 1,600.
        assert np.linalg.norm(model.coef_ - before) < 0.2 * np.linalg.norm(before)
        # A fit starts anew.
        assert_array_equal(model.fit(X[TRAIN], Y[TRAIN]).coef_, before)

    def test_seeds(self):
        def feed(seed):
            model = make(random_state=seed)
            for rows in batches(100):
                model.partial_fit(X[rows], Y[rows])
            return model.coef_

        assert_array_equal(feed(0), feed(0))
        assert not np.array_equal(feed(0), feed(1))

    def test_pickled_half_way(self):
        model = make().partial_fit(X[:100], Y[:100])
        copy = pickle.loads(pickle.dumps(model))
        for each in (model, copy):
            each.partial_fit(X[100:200], Y[100:200])
        assert_array_equal(model.coef_, copy.coef_)

    def test_first_batch_chooses_landmarks(self):
        model = NSAUC(n_landmarks=20, random_state=0).partial_fit(X[TRAIN], Y[TRAIN])
        basis, gamma = model.basis_, model.gamma_
        assert {tuple(row) for row in basis} <= {tuple(row) for row in X[TRAIN]}
        assert len(model.tuning_) > 0
        model.partial_fit(X[TEST], Y[TEST])
        assert model.basis_ is basis
        assert model.gamma_ == gamma

    def test_last_iterate_and_hinge(self):
        model = make(average=False, loss="hinge", block_size=1)
        for rows in batches(100):
            model.partial_fit(X[rows], Y[rows])
        assert_array_equal(model.coef_[0], model._stream.sgd.last())

    def test_sparse_and_memory_budget(self):
        dense = make().partial_fit(X_CANCER, Y_CANCER)
        csr = make().partial_fit(sparse.csr_array(X_CANCER), Y_CANCER)
        assert_allclose(csr.coef_, dense.coef_, atol=1e-6)
        small = make(memory_budget=1).partial_fit(X_CANCER, Y_CANCER)
        assert small.n_iter_ == dense.n_iter_
        assert small.score(X_CANCER, Y_CANCER) > 0.97

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((X[:9, :1], Y[:9]), "features"),
            ((X[:9], Y[:8]), "inconsistent"),
            ((X[:2], [0, 2]), r"label 2, but the classes are \[0, 1\]"),
            ((X[:2], ["a", "b"]), "the classes are"),
            ((X[:2], [0, np.nan]), "label"),
            ((X[:2] * np.nan, [0, 1]), "NaN"),
            ((X[:2], [0, 1], [0, 2]), r"classes=\[0, 2\] differs"),
            ((X[:0], []), "minimum of 1"),
        ],
    )
    def test_errors_leave_the_model_as_it_was(self, arguments, message):
        model = make().partial_fit(X[:100], Y[:100])
        before = pickle.dumps(vars(model))
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*arguments)
        assert pickle.dumps(vars(model)) == before
        model.partial_fit(X[100:200], Y[100:200])
        other = make().partial_fit(X[:100], Y[:100]).partial_fit(X[100:200], Y[100:200])
        assert_array_equal(model.coef_, other.coef_)

    def test_divergence_leaves_the_model_as_it_was(self):
        model = make(step_size=1e9, alpha=1e-12)
        model.partial_fit(X[Y == 1], Y[Y == 1], classes=[0, 1])
        before = pickle.dumps(vars(model))
        with pytest.raises(ValueError, match="diverged with step_size"):
            model.partial_fit(X, Y)
        assert pickle.dumps(vars(model)) == before

    @pytest.mark.parametrize(
        ("options", "arguments", "message"),
        [
            ({}, (X[:5], np.ones(5)), "holds only one class, 1.0.*Pass classes="),
            (
                {"gamma": "auto"},
                (X[:5], np.ones(5), [0, 1]),
                "gamma and alpha cannot be chosen",
            ),
            ({}, (X[:5], np.arange(5)), "multiclass"),
            ({}, (X[:5], Y[:5], [0, 1, 2]), "multiclass"),
            ({}, (X[:5], Y[:5], [0, 2]), "label 1"),
            ({"block_size": 0}, (X[:5], Y[:5]), "block_size"),
        ],
    )
    def test_bad_first_batch(self, options, arguments, message):
        model = make(**options)
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*arguments)
        assert vars(model) == vars(make(**options))


def test_sample_of_a_block_with_few_rows_of_a_class():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(630, 2)).astype(np.float32)
    block = RowBlock(rows, np.arange(10), np.arange(10, 630))
    # The block is a part of 5,000 rows: places beyond its own are free.
    sample = pairs.sample_block(block, 4000, 1000, rng)
    assert_array_equal(sample.slots.n_seen, [4000, 10])
    new, is_pos = rng.normal(size=(400, 2)).astype(np.float32), np.arange(400) < 100
    sample.add(new, is_pos)
    kept, kept_is_pos = sample.rows()
    assert kept.dtype == np.float32
    assert (np.sum(~kept_is_pos), np.sum(kept_is_pos)) == (512, 110)
    for is_own, own in (
        (False, [rows[10:], new[100:]]),
        (True, [rows[:10], new[:100]]),
    ):
        known = {tuple(row) for row in np.concatenate(own)}
        found = [tuple(row) for row in kept[kept_is_pos == is_own]]
        assert len(set(found)) == len(found)
        assert set(found) <= known


@pytest.mark.parametrize(
    "options",
    [
        {"n_landmarks": 0},
        {"loss": "square"},
        {"average": "yes"},
        {"block_size": 1.5},
        {"max_passes": 0},
        {"step_size": "big"},
        {"step_size": 0.0},
        {"validation_fraction": 1.0},
        {"tol": 0.0},
        {"alpha": 0.0},
        {"kernel": "sigmoid"},
        {"landmarks": "best"},
        {"memory_budget": 0},
    ],
)
def test_bad_parameters(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        make(**options).fit(X, Y)


def test_there_is_no_sample_weight():
    with pytest.raises(TypeError, match="sample_weight"):
        make().fit(X, Y, sample_weight=np.ones(len(X)))


def test_many_rows_take_a_tenth_of_the_penalty_of_a_part(monkeypatch):
    whole = NSAUC(n_landmarks=40, max_passes=5, random_state=0).fit(X[TRAIN], Y[TRAIN])
    assert whole.alpha_ in whole.tuning_[:, 1]
    monkeypatch.setattr("aucmax.estimators.nsauc.MAX_ROWS", 200)
    part = NSAUC(n_landmarks=40, max_passes=5, random_state=0).fit(X[TRAIN], Y[TRAIN])
    assert np.any(np.isclose(10 * part.alpha_, part.tuning_[:, 1], rtol=1e-12))
    given = NSAUC(n_landmarks=40, max_passes=5, alpha=1e-3, random_state=0)
    assert given.fit(X[TRAIN], Y[TRAIN]).alpha_ == 1e-3
