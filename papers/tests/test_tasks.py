# SPDX-License-Identifier: BSD-3-Clause
import json
import math
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_allclose
from small_paper import load_small, untimed

from aucmax import OAM, OPAUC, SparseKernelAUC
from aucmax.metrics import roc_auc
from aucmax.metrics.online_curve import auc_curve
from aucmax_papers import tasks as tasks_module
from aucmax_papers.problem import load_problem
from aucmax_papers.protocol import Method, SetUse
from aucmax_papers.tasks import Task, evaluate, merge_limits
from aucmax_papers.versions import protocol_version

PAPER = load_small()


def make_task(stage="test", *, use="german", method="OPAUC", **rest):
    method = PAPER.methods[method]
    rest = {"partition": 0, "run": 0, "params": "{}"} | rest
    use = merge_limits(PAPER.sets[use], method)
    return Task("small", "full", use, method, method.variants[0], stage, **rest)


def test_test_run_is_a_fit_on_the_fold_and_its_auc():
    params = {"step_size": 0.125, "lambda": 0.01}
    task = make_task(run=4, params=json.dumps(params))
    (row,) = evaluate(task)
    problem = load_problem(task.use, 0)
    train, test = problem.split(4)
    model = OPAUC(solver="gradient", alpha=0.02, step_size=0.125, random_state=4)
    model.fit(problem.X[train], problem.is_pos[train])
    expected = roc_auc(problem.is_pos[test], model.decision_function(problem.X[test]))
    assert row.auc == expected
    assert (row.n_train, row.n_test) == (200, 100)
    assert (row.paper, row.mode, row.stage) == ("small", "full", "test")
    assert (row.set, row.method, row.variant) == ("german", "OPAUC", "published")
    assert (row.partition, row.run, row.inner, row.seed) == (0, 4, -1, 4)
    assert (row.x, row.size, row.error) == (-1.0, -1, "")
    assert row.results_version == 1
    assert row.protocol == protocol_version(task.use, task.method)
    assert json.loads(row.params) == params
    assert row.seconds >= 0
    assert row.scoring >= 0


def test_a_task_gives_the_same_whenever_it_is_run():
    task = make_task(run=1)
    first = evaluate(task)
    tasks_module._warmed().clear()
    assert untimed(evaluate(task)) == untimed(first)
    assert untimed(evaluate(make_task(run=2))) != untimed(first)


def test_tuning_has_one_result_per_inner_split():
    task = make_task("tune")
    rows = evaluate(task)
    assert task.n_rows == len(rows) == 2
    assert [row.inner for row in rows] == [0, 1]
    problem = load_problem(task.use, 0)
    held_out = len(problem.split(0)[1])
    assert all(row.n_train + row.n_test + held_out == 300 for row in rows)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"n_inner_folds": 5, "n_inner_used": 0}, 5),
        ({"n_inner_folds": 5, "n_inner_used": 2}, 2),
        ({"n_inner_folds": 3, "n_inner_used": 7, "n_inner_repeats": 2}, 6),
    ],
)
def test_number_of_results(rules, expected):
    task = make_task("tune")
    task = replace(task, use=replace(task.use, **rules))
    assert task.n_rows == expected == len(evaluate(task))
    assert replace(task, stage="test").n_rows == 1


def test_limits_of_set_and_method_are_merged():
    use = SetUse("s", max_rows=100, n_runs=5)
    merged = merge_limits(use, Method("m", max_rows=300, n_runs=2, tune_rows=7))
    assert (merged.max_rows, merged.n_runs, merged.tune_rows) == (100, 2, 7)
    assert merge_limits(use, Method("m")) == use


def test_training_rows_are_limited_and_test_rows_are_not():
    task = make_task(run=1)
    task = replace(task, use=replace(task.use, max_train=50))
    (row,) = evaluate(task)
    assert (row.n_train, row.n_test) == (50, 100)
    (row,) = evaluate(replace(task, method=replace(task.method, train_share=0.2)))
    assert (row.n_train, row.n_test) == (10, 100)


def test_default_variant_is_not_the_published_one():
    task = make_task()
    (published,) = evaluate(replace(task, params='{"step_size": 1.0}'))
    (default,) = evaluate(replace(task, variant="default"))
    assert default.variant == "default"
    assert default.auc != published.auc


def test_figure_over_the_number_of_rows_learns_the_first_of_them(monkeypatch):
    learned = {}

    class Spy(OAM):
        def fit(self, X, y):
            learned[len(y)] = X
            return super().fit(X, y)

    monkeypatch.setattr(tasks_module, "build", lambda *args: Spy())
    monkeypatch.setattr(tasks_module, "_warm_up", lambda *args: None)
    figure = PAPER.figures["1"]
    for value in (50.0, 100.0):
        (row,) = evaluate(
            make_task("figure 1", method="OAM", run=1, figure=figure, x=value)
        )
        assert (row.n_train, row.x, row.stage) == (value, value, "figure 1")
    assert_allclose(learned[100][:50], learned[50])


def test_figure_over_time_has_one_result_per_point():
    figure = PAPER.figures["3"]
    task = make_task("figure 3", use="glass", method="OAM", run=1, figure=figure, x=4.0)
    rows = evaluate(task)
    problem = load_problem(task.use, 0)
    order = np.random.default_rng(1).permutation(214)
    curve = auc_curve(
        OAM(random_state=1), problem.X[order], problem.is_pos[order], grid=4
    )
    assert (
        [row.x for row in rows] == [row.n_train for row in rows] == list(curve.n_rows)
    )
    assert_allclose([row.auc for row in rows], curve.auc)
    assert rows[-1].x == 214
    short = replace(task, figure=replace(figure, max_rows=60))
    assert evaluate(short)[-1].x == 60


def test_size_of_a_model_with_a_basis(monkeypatch):
    model = SparseKernelAUC(n_basis=3, early_stopping=False, random_state=0)
    monkeypatch.setattr(tasks_module, "build", lambda *args: model)
    (row,) = evaluate(make_task(use="glass"))
    assert row.size == len(model.basis_) > 0


class Failing(OAM):
    def fit(self, X, y):
        if len(y) == 200:  # not when it warms up
            raise self.error
        return super().fit(X, y)


def test_divergence_counts_as_one_half(monkeypatch):
    Failing.error = FloatingPointError("the scores are no numbers")
    monkeypatch.setattr(tasks_module, "build", lambda *args: Failing())
    (row,) = evaluate(make_task())
    assert (row.auc, row.error) == (0.5, "the scores are no numbers")
    assert (row.n_train, row.n_test) == (200, 100)
    assert math.isnan(row.scoring)


def test_any_other_error_is_kept_and_goes_no_further(monkeypatch):
    Failing.error = MemoryError("too large")
    monkeypatch.setattr(tasks_module, "build", lambda *args: Failing())
    (row,) = evaluate(make_task(run=3))
    assert row.error == "MemoryError: too large"
    assert math.isnan(row.auc)
    assert math.isnan(row.seconds)
    assert (row.run, row.inner, row.set) == (3, -1, "german")


def test_warm_up_does_not_hide_the_error_of_the_run(monkeypatch):
    def refuse(X, y):
        raise ValueError("too few rows")

    model = OAM()
    model.fit = refuse
    monkeypatch.setattr(tasks_module, "build", lambda *args: model)
    tasks_module._warmed().clear()
    (row,) = evaluate(make_task())
    assert row.error == "ValueError: too few rows"


def tuned_on(n_rows, stage="test", **changes):
    """Return the alpha of a RankSVM whose C was tuned on so many rows."""
    method = replace(
        PAPER.methods["RankSVM"], penalty="sum", grid=({"C": (0.5, 2.0)},), **changes
    )
    use = replace(PAPER.sets["german"], tune_rows=n_rows, n_inner_used=1)
    task = Task("small", "full", use, method, "published", stage, 0, 0, '{"C": 0.5}')
    with mock.patch("aucmax_papers.tasks.build", side_effect=stop) as build:
        evaluate(task)
    return build.call_args.args[-1]


def stop(*args):
    raise ValueError("enough")


def test_a_c_tuned_on_few_rows_keeps_its_ratio_to_the_mean():
    problem = load_problem(PAPER.sets["german"], 0)
    for n_rows in (50, 120):
        tuned = problem.is_pos[problem.tuning_rows(n_rows)]
        assert len(tuned) == n_rows
        assert tuned_on(n_rows) == tuned.sum() * (~tuned).sum()
    assert tuned_on(50, train_share=0.5) < tuned_on(50) / 3
    # On all rows, or while tuning, it is that of the rows at hand.
    assert tuned_on(0) is None
    assert tuned_on(10_000) is None
    assert tuned_on(50, stage="tune") is None
