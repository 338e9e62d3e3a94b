# SPDX-License-Identifier: BSD-3-Clause
import re
from functools import partial

import numpy as np
import pytest
from drawing import draw_problem
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB

from aucmax import KNNOAM, OAM, OPAUC, AdaOAM
from aucmax.metrics import auc_curve, online_curves, roc_auc

LINEAR = {
    "OPAUC": OPAUC(solver="gradient", random_state=0),
    "OAMseq": OAM(random_state=0),
    "OAMgra": OAM(update="gradient", random_state=0),
    "AdaOAM": AdaOAM(random_state=0),
    "SGD": SGDClassifier(shuffle=False, random_state=0),
    "naive Bayes": BernoulliNB(),
}


def draw(rng, n=90, d=3, *, decimals=8):
    X, is_pos, _ = draw_problem(rng, n, d)
    X = X.round(decimals)
    X[20:24] = X[10]
    return X, is_pos


def refitted(model, X, is_pos, t):
    """The AUC at t with a model that learns the rows before anew, one by one."""
    model = clone(model)
    # Some at once, which makes no difference, then one by one.
    model.partial_fit(X[: t - 9], is_pos[: t - 9], classes=[False, True])
    for i in range(t - 9, t - 1):
        model.partial_fit(X[i : i + 1], is_pos[i : i + 1])
    if hasattr(model, "decision_function"):
        return roc_auc(is_pos[:t], model.decision_function(X[:t]))
    return roc_auc(is_pos[:t], model.predict_proba(X[:t])[:, 1])


def shares(X, is_pos, t, k, *, exclude_self, ties="average"):
    """The share of positives near each of the first t rows, among the first t - 1."""
    scores = []
    for i in range(t):
        others = [j for j in range(t - 1) if not (exclude_self and j == i)]
        gaps = [
            sum((a - b) ** 2 for a, b in zip(X[i], X[j], strict=True)) for j in others
        ]
        near = sorted(zip(gaps, others, strict=True))
        n_used = min(k, len(near))
        if n_used == 0:
            scores.append(0.5)
            continue
        last = near[n_used - 1][0]
        closer = [j for gap, j in near if gap < last]
        tied = [j for gap, j in near if gap == last]
        n_left = n_used - len(closer)
        if ties == "index":
            n_pos = sum(is_pos[closer]) + sum(is_pos[tied[:n_left]])
        else:
            n_pos = sum(is_pos[closer]) + n_left / len(tied) * sum(is_pos[tied])
        scores.append(round(float(n_pos / n_used), 12))
    return np.array(scores)


@pytest.mark.parametrize("name", LINEAR)
def test_is_the_auc_of_a_model_of_the_rows_before(rng, name):
    X, is_pos = draw(rng)
    grid = [11, 17, 60, 90]
    curve = auc_curve(LINEAR[name], X, is_pos, grid=grid, order=np.arange(90))
    expected = [refitted(LINEAR[name], X, is_pos, t) for t in grid]
    assert curve.n_rows.tolist() == grid
    assert curve.auc.tolist() == expected


# Few distinct values, so that most neighbours tie.
@pytest.mark.parametrize("decimals", [8, 0, -1])
@pytest.mark.parametrize("ties", ["average", "index"])
@pytest.mark.parametrize("k", ["2log2n", 1, 5, lambda n: 30 - n / 4])
def test_neighbors_kept_up_are_those_of_the_model(rng, decimals, ties, k):
    X, is_pos = draw(rng, decimals=decimals)
    model = KNNOAM(k, ties=ties)
    grid = np.arange(2, 91)
    curve = auc_curve(model, X, is_pos, grid=grid)
    for t, auc in zip(grid, curve.auc, strict=True):
        if is_pos[:t].all() or not is_pos[:t].any():
            assert np.isnan(auc)
        elif t % 16 == 10:
            assert auc == refitted(model, X, is_pos, t)
    # Of another grid, the same.
    assert np.array_equal(
        auc_curve(model, X, is_pos, grid=[40, 90]).auc, curve.auc[[38, 88]]
    )


@pytest.mark.parametrize("decimals", [8, 0])
@pytest.mark.parametrize("ties", ["average", "index"])
@pytest.mark.parametrize("exclude_self", [True, False])
def test_neighbors_without_oneself(rng, decimals, ties, exclude_self):
    X, is_pos = draw(rng, n=40, decimals=decimals)
    is_pos[:2] = False, True
    grid = [2, 3, 11, 40]
    curve = auc_curve(
        KNNOAM(4, ties=ties), X, is_pos, grid=grid, exclude_self=exclude_self
    )
    for t, auc in zip(grid, curve.auc, strict=True):
        scores = shares(X, is_pos, t, 4, exclude_self=exclude_self, ties=ties)
        assert auc == roc_auc(is_pos[:t], scores)


def test_other_neighbors_are_searched_anew(rng):
    X, is_pos = draw(rng, n=40)
    for model in (
        KNNOAM(3, ties="random", random_state=0),
        KNNOAM(3, weights="distance"),
    ):
        curve = auc_curve(model, X, is_pos, grid=[12, 40])
        assert curve.auc.tolist() == [refitted(model, X, is_pos, t) for t in (12, 40)]
        with pytest.raises(ValueError, match="exclude_self=True needs KNNOAM"):
            auc_curve(model, X, is_pos, exclude_self=True)
    rows = sparse.csr_array(X)
    assert np.array_equal(
        auc_curve(KNNOAM(), rows, is_pos).auc, auc_curve(KNNOAM(), X, is_pos).auc
    )


def test_exclude_self_is_for_neighbors(rng):
    X, is_pos = draw(rng)
    with pytest.raises(ValueError, match="exclude_self=True needs KNNOAM"):
        auc_curve(OPAUC(), X, is_pos, exclude_self=True)


def test_order_labels_and_forms(rng):
    X, is_pos = draw(rng)
    order = rng.permutation(90)[:70]
    model = OPAUC(solver="gradient", random_state=0)
    curve = auc_curve(model, X, is_pos, order=order, grid=9)
    again = auc_curve(model, X[order], is_pos[order], grid=9)
    assert np.array_equal(curve.auc, again.auc)
    names = np.where(is_pos, "spam", "ham")
    for rows in (X, X.tolist(), sparse.csr_array(X), X.astype(np.float32)):
        other = auc_curve(model, rows, names, order=order, grid=9)
        assert_allclose(other.auc, curve.auc, atol=1e-3)
    assert not hasattr(model, "classes_")


def test_late_class(rng):
    X, is_pos = draw(rng, n=60)
    is_pos = np.sort(is_pos)
    first = int(np.argmax(is_pos)) + 1
    grid = [2, first - 1, first, first + 1, 60]
    for model in (OPAUC(solver="gradient"), KNNOAM()):
        curve = auc_curve(model, X, is_pos, grid=grid)
        assert np.array_equal(np.isnan(curve.auc), [True, True, False, False, False])
        # No positive row was learned, so all scores are equal.
        assert curve.auc[2] == 0.5


def test_grid_by_size():
    X, y = np.zeros((1000, 1)), np.arange(1000) % 2
    curve = partial(auc_curve, OPAUC(), X, y)
    n_rows = curve(grid=3).n_rows
    assert n_rows.tolist() == [10, 100, 1000]
    assert curve(grid=1).n_rows.tolist() == [1000]
    few = auc_curve(OPAUC(), X[:5], y[:5])
    assert few.n_rows.tolist() == [5]
    many = curve(grid=100).n_rows
    assert 80 < len(many) <= 100
    assert np.all(np.diff(many) > 0)


@pytest.mark.parametrize(
    "bad", [0, 1.5, [], [1, 5], [5, 5], [5, 91], [[5]], [5.0, 6.0], "all"]
)
def test_bad_grid(rng, bad):
    X, is_pos = draw(rng)
    with pytest.raises(ValueError, match=re.escape(f"grid={bad!r}")):
        auc_curve(OPAUC(), X, is_pos, grid=bad)


def test_bad_inputs(rng):
    X, is_pos = draw(rng)
    for order in ([0], [0, 90], [-1, 0], [0.0, 1.0], [[0, 1]]):
        with pytest.raises(ValueError, match="order must hold"):
            auc_curve(OPAUC(), X, is_pos, order=order)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        auc_curve(OPAUC(), X, is_pos[:-1])
    with pytest.raises(ValueError, match="only one class"):
        auc_curve(OPAUC(), X, np.zeros(90))
    with pytest.raises(ValueError, match="'k' parameter"):
        auc_curve(KNNOAM(0), X, is_pos)
    with pytest.raises(ValueError, match="n_runs=0"):
        online_curves({}, X, is_pos, n_runs=0)
    diverging = OPAUC(1e-12, solver="gradient", step_size=1e9)
    with pytest.raises(FloatingPointError) as caught:
        auc_curve(diverging, X, is_pos, grid=[30, 90])
    assert "first 30 rows" in caught.value.__notes__[0]


def test_mean_over_orders(rng):
    X, is_pos = draw(rng)
    is_pos[:] = False
    is_pos[::9] = True
    models = {"OPAUC": OPAUC(solver="gradient"), "OAM": OAM(buffer_size=2)}
    curves = online_curves(
        models, X, is_pos, n_runs=4, grid=[2, 40, 90], random_state=7
    )
    assert list(curves) == ["OPAUC", "OAM"]
    draws = np.random.RandomState(7)
    for run in range(4):
        order, seed = draws.permutation(90), draws.randint(2**31 - 1)
        for name, curve in curves.items():
            model = clone(models[name]).set_params(random_state=seed)
            single = auc_curve(model, X, is_pos, grid=[2, 40, 90], order=order)
            np.testing.assert_array_equal(curve.runs[run], single.auc)
    for curve in curves.values():
        assert curve.n_rows.tolist() == [2, 40, 90]
        assert np.isnan(curve.mean[0])
        assert np.isnan(curve.std[0])
        for i in (1, 2):
            assert curve.mean[i] == pytest.approx(curve.runs[:, i].mean())
            assert curve.std[i] == pytest.approx(curve.runs[:, i].std())
        assert curve.std[1] > 0
    again = online_curves(models, X, is_pos, n_runs=4, grid=[2, 40, 90], random_state=7)
    other = online_curves(models, X, is_pos, n_runs=4, grid=[2, 40, 90], random_state=8)
    for name in models:
        np.testing.assert_array_equal(again[name].runs, curves[name].runs)
        assert not np.array_equal(other[name].runs, curves[name].runs)


def test_threads_change_nothing_and_lines_of_progress(rng, capsys):
    from joblib import parallel_config

    X, is_pos = draw(rng)
    models = {"neighbors": KNNOAM(), "OPAUC": OPAUC(solver="gradient")}
    run = partial(online_curves, models, X, is_pos, n_runs=2, grid=5, random_state=0)
    alone = run()
    assert capsys.readouterr().err == ""
    with parallel_config("threading"):
        curves = run(n_jobs=2, verbose=1)
    for name in models:
        np.testing.assert_array_equal(curves[name].runs, alone[name].runs)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    assert (
        sum("neighbors  AUC " in line and "after 90 rows" in line for line in lines)
        == 2
    )
