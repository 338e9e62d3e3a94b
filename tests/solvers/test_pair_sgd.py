# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_problem
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from aucmax import RankSVM
from aucmax.solvers import pair_sgd as module
from aucmax.solvers._step_size import choose_step_size
from aucmax.solvers.pair_sgd import PairSGD, RowBlock, descend, plan_stages

LOSSES = ["squared_hinge", "hinge"]


def as_block(X, is_pos):
    return RowBlock(X, np.flatnonzero(is_pos), np.flatnonzero(~is_pos))


def make(d=4, dtype=np.float64, **options):
    rows = np.empty((0, d), dtype)
    return PairSGD(rows, **({"alpha": 1e-3, "step_size": 1.0} | options))


def run(X, is_pos, n_visits, seed=0, **options):
    sgd = make(*X.shape[1:], X.dtype, **options)
    sgd.run(as_block(X, is_pos), n_visits, np.random.default_rng(seed))
    return sgd


def objective(coef, X, is_pos, alpha, loss):
    scores = X.astype(np.float64) @ coef
    losses = np.maximum(0, 1 - (scores[is_pos][:, None] - scores[~is_pos]))
    if loss == "squared_hinge":
        losses **= 2
    return losses.mean() + alpha / 2 * coef @ coef


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("block_size", [1, 8])
@pytest.mark.parametrize("loss", LOSSES)
def test_decreasing_steps_reach_the_minimum(loss, block_size, dtype):
    """Within 1e-3 of the exact minimiser over all pairs, for steps from 1 on."""
    X, is_pos, _ = draw_problem(np.random.default_rng(5), n=60, d=4, shift=0.3)
    X = StandardScaler().fit_transform(X).astype(dtype)
    alpha = 1e-3
    exact = RankSVM(alpha, loss=loss, tol=1e-8).fit(X.astype(float), is_pos).coef_[0]
    least = objective(exact, X, is_pos, alpha, loss)
    step_size = 1.0 if loss == "hinge" else 0.05
    options = {"alpha": alpha, "step_size": step_size, "block_size": block_size}
    sgd = make(4, dtype, loss=loss, **options)
    rng = np.random.default_rng(0)
    for end in (100_000, 200_000, 400_000):
        sgd.restart_average()
        sgd.run(as_block(X, is_pos), end - sgd.n_visits, rng)
    found = objective(sgd.average(), X, is_pos, alpha, loss)
    assert least < found < least * (1 + 1e-3)
    assert objective(sgd.last(), X, is_pos, alpha, loss) > found


@pytest.mark.parametrize("loss", LOSSES)
def test_one_sample_of_the_average_is_the_last_iterate(loss, rng):
    """The average of one is NSVMSGD2."""
    X, is_pos, _ = draw_problem(rng)
    sgd = run(X, is_pos, 16, loss=loss, step_size=0.1)
    assert np.any(sgd.last())
    assert_array_equal(sgd.average(), sgd.last())


def test_average_is_the_mean_of_the_iterates(rng, monkeypatch):
    monkeypatch.setattr(module, "EVERY", 4)
    X, is_pos, _ = draw_problem(rng)
    sgd = make(step_size=0.01)
    block, draws = as_block(X, is_pos), np.random.default_rng(1)
    iterates = []

    def go(n_samples):
        for _ in range(n_samples):
            sgd.run(block, 4, draws)
            iterates.append(sgd.last())

    go(10)
    assert_allclose(sgd.average(), np.mean(iterates, axis=0), atol=1e-12)
    sgd.restart_average()
    # Until the new average is as long as the old one, they are taken together.
    assert_allclose(sgd.average(), np.mean(iterates, axis=0), atol=1e-12)
    go(9)
    assert_allclose(sgd.average(), np.mean(iterates, axis=0), atol=1e-12)
    go(1)
    assert_allclose(sgd.average(), np.mean(iterates[10:], axis=0), atol=1e-12)
    go(7)
    assert_allclose(sgd.average(), np.mean(iterates[10:], axis=0), atol=1e-12)
    sgd.restart_if_doubled()
    go(5)
    assert_allclose(sgd.average(), np.mean(iterates[10:], axis=0), atol=1e-12)
    sgd.restart_average()
    go(5)
    assert_allclose(sgd.average(), np.mean(iterates[-5:], axis=0), atol=1e-12)


def test_average_of_too_few_visits_is_the_last_iterate(rng):
    X, is_pos, _ = draw_problem(rng)
    assert_array_equal(make().average(), np.zeros(4))
    sgd = run(X, is_pos, 5)
    assert_array_equal(sgd.average(), sgd.last())


@pytest.mark.parametrize("block_size", [1, 3])
def test_seeds_and_chunks(block_size, rng, monkeypatch):
    X, is_pos, _ = draw_problem(rng)
    one = run(X, is_pos, 5000, block_size=block_size, step_size=0.003).average()
    same = run(X, is_pos, 5000, block_size=block_size, step_size=0.003).average()
    assert_array_equal(one, same)
    other = run(X, is_pos, 5000, seed=1, block_size=block_size, step_size=0.003)
    assert np.any(other.average() != one)
    monkeypatch.setattr(module, "CHUNK", 1)
    small = run(X, is_pos, 5000, block_size=block_size, step_size=0.003)
    assert_array_equal(small.average(), one)


def test_pairs_are_uniform(rng):
    class Watch(PairSGD):
        def visit(self, rows, pos, neg):
            np.add.at(seen, (pos, neg - 3), 1)
            super().visit(rows, pos, neg)

    seen = np.zeros((3, 5))
    rows = np.zeros((8, 1))
    sgd = Watch(rows, alpha=1.0, step_size=1.0)
    sgd.run(RowBlock(rows, np.arange(3), np.arange(3, 8)), 30_000, rng)
    assert seen.sum() == 30_000
    assert_allclose(seen, 2000, atol=5 * np.sqrt(2000))


def test_float32_rows_lose_nothing_over_many_visits():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    is_pos = y == 1
    exact = run(X, is_pos, 200_000, step_size=0.01, alpha=1e-6)
    single = run(X.astype(np.float32), is_pos, 200_000, step_size=0.01, alpha=1e-6)
    assert_allclose(single.average(), exact.average(), rtol=1e-3, atol=1e-4)


def test_one_positive(rng):
    X, is_pos, _ = draw_problem(rng, n=30)
    is_pos[:] = False
    is_pos[7] = True
    assert np.all(np.isfinite(run(X, is_pos, 100, block_size=8, step_size=0.01).last()))


def test_divergence_is_an_error(rng):
    X, is_pos, _ = draw_problem(rng)
    with pytest.raises(ValueError, match=r"diverged with step_size=1e\+06.*smaller"):
        run(X, is_pos, 10_000, step_size=1e6, alpha=1e-9)


class TestStepSize:
    @pytest.mark.parametrize("block_size", [1, 8])
    @pytest.mark.parametrize("loss", LOSSES)
    def test_better_than_twice_and_half(self, loss, block_size, rng):
        """On all pairs of the rows, after as many visits as it was tried on."""
        X, is_pos, _ = draw_problem(rng, n=400, d=10)
        block = as_block(X, is_pos)
        options = {"alpha": 1e-4, "loss": loss, "block_size": block_size}
        step = choose_step_size(block, rng, **options)

        def value(step_size):
            sgd = make(10, step_size=step_size, **options)
            draws = np.random.default_rng(0)
            for _ in range(2):
                sgd.restart_average()
                try:
                    sgd.run(block, 500, draws)
                except ValueError:
                    return np.inf
            return objective(sgd.average(), X, is_pos, 1e-4, loss)

        assert value(step) < value(16 * step)
        assert value(step) < value(step / 16)

    @pytest.mark.parametrize("block_size", [1, 4])
    def test_squared_hinge_never_overshoots(self, block_size, rng):
        """Hardly a block of pairs has more curvature than the step allows for."""
        X, is_pos, _ = draw_problem(rng, n=4000, d=5)
        long = np.flatnonzero(is_pos)[:3]
        X[long] *= 30.0  # rows that the trials may miss
        step = choose_step_size(
            as_block(X, is_pos),
            np.random.default_rng(0),
            alpha=1e-8,
            loss="squared_hinge",
            block_size=block_size,
        )
        for _ in range(300):
            pos = rng.choice(np.flatnonzero(is_pos), block_size)
            pos[0] = rng.choice(long)
            neg = rng.choice(np.flatnonzero(~is_pos), block_size)
            gaps = (X[pos][:, None] - X[neg][None]).reshape(-1, 5)
            hessian = 2 * gaps.T @ gaps / block_size
            assert step * np.linalg.eigvalsh(hessian).max() < 2.0

    def test_bound_for_rows_of_length_one(self):
        """0.5 for orthogonal rows, all of whose differences have a square of two."""
        block = RowBlock(np.eye(400), np.arange(200), np.arange(200, 400))
        rng, options = np.random.default_rng(0), {"alpha": 1e-8, "block_size": 1}
        step = choose_step_size(block, rng, loss="squared_hinge", **options)
        assert 0.1 < step <= 0.5
        assert choose_step_size(block, rng, loss="hinge", **options) > 0.5

    def test_rows_all_alike(self, rng):
        block = RowBlock(np.ones((5, 2)), np.arange(2), np.arange(2, 5))
        options = {"alpha": 1e-4, "loss": "hinge", "block_size": 8}
        assert choose_step_size(block, rng, **options) == 1.0


class TestStages:
    def test_plan(self):
        millions = 10**6
        plan = plan_stages(100_000, 200, may_stop=True)
        assert plan[:4] == [625_000, 1_250_000, 2_500_000, 5 * millions]
        assert plan[4:] == [10 * millions, 20 * millions]
        assert plan_stages(millions, 50, may_stop=True)[3:] == [
            20 * millions,
            40 * millions,
            50 * millions,
        ]
        assert plan_stages(1000, 200, may_stop=True)[-1] == 200_000
        assert len(plan_stages(1000, 200, may_stop=True)) == 4
        assert plan_stages(10**6, 8, may_stop=False) == [
            k * millions for k in (1, 2, 4, 8)
        ]
        assert plan_stages(2, 1, may_stop=False) == [1, 1, 1, 2]

    @staticmethod
    def source(X, is_pos, n_blocks):
        class Source:
            def __init__(self):
                self.loads = []

            def load(self, k):
                self.loads.append(k)
                keep = np.arange(len(X)) % n_blocks == k
                return as_block(X[keep], is_pos[keep])

        source = Source()
        source.sizes = [
            int(np.sum(np.arange(len(X)) % n_blocks == k)) for k in range(n_blocks)
        ]
        return source

    def test_one_trip_over_the_blocks_per_stage(self, rng):
        X, is_pos, _ = draw_problem(rng, n=81, fraction=0.5)
        source = self.source(X, is_pos, 3)
        seen = []
        sgd, history = descend(
            make(step_size=0.1), source, [10, 31, 100], rng, on_stage=seen.append
        )
        assert source.loads == [0, 1, 2] * 3
        assert [stage.n_visits for stage in history] == [10, 31, 100]
        assert seen == history
        assert all(np.isnan(stage.auc) for stage in history)
        assert sgd.n_visits == 100

    def test_several_trips_where_a_stage_is_long(self, rng):
        X, is_pos, _ = draw_problem(rng, n=80, fraction=0.5)
        source = self.source(X, is_pos, 2)
        sgd, history = descend(make(step_size=0.003), source, [1600, 4801], rng)
        assert source.loads == [0, 1] * (1 + 3)
        assert [stage.n_visits for stage in history] == [1600, 4801]
        # The average is that of the whole stage.
        assert sgd.state.counts[1] == 4801 // 16 - 1600 // 16

    def test_stops_without_gain_and_keeps_the_best(self, rng):
        X, is_pos, _ = draw_problem(rng)
        aucs = [0.5, 0.4, 0.6, 0.7, 0.8, 0.75, 0.9]
        given, coefs = iter(aucs), []

        def validate(coef):
            coefs.append(coef)
            return next(given)

        sgd, history = descend(
            make(step_size=0.1),
            self.source(X, is_pos, 1),
            [100 * 2**k for k in range(7)],
            rng,
            validate=validate,
            tol=0.01,
        )
        assert [stage.auc for stage in history] == aucs[:6]
        assert sgd.n_visits == 1600
        assert_array_equal(sgd.average(), coefs[4])

    def test_last_iterate_is_validated_where_it_is_wanted(self, rng):
        X, is_pos, _ = draw_problem(rng)
        coefs = []

        def validate(coef):
            coefs.append(coef)
            return len(coefs)

        sgd, _ = descend(
            make(step_size=0.1),
            self.source(X, is_pos, 1),
            [64, 128],
            rng,
            is_averaged=False,
            validate=validate,
        )
        assert_array_equal(coefs[-1], sgd.last())
        assert np.any(coefs[-1] != sgd.average())
