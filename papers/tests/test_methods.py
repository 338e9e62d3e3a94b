# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import Pipeline

from aucmax import NBAUC, OAM, OPAUC, SOLAM, SPDAM, Nystroem, RankSVM, RankSVMCV
from aucmax_papers.methods import build, translate
from aucmax_papers.protocol import Method


@pytest.fixture
def data(rng):
    X = rng.normal(size=(12, 3)) * [1.0, 2.0, 0.5] + 4.0
    is_pos = np.arange(12) < 4
    return X, is_pos


@pytest.mark.parametrize(
    ("penalty", "alpha"),
    [
        ("alpha", 0.3),
        ("half", 0.6),  # half the mean of the loss: all of it twice
        ("sum", 1 / (0.3 * 4 * 8)),
        ("half-sum", 2 / (0.3 * 4 * 8)),
    ],
)
@pytest.mark.parametrize("name", ["C", "lambda"])
def test_penalty(data, penalty, alpha, name):
    assert translate({name: 0.3}, penalty, *data) == {"alpha": pytest.approx(alpha)}


def test_penalty_of_the_sum_over_pairs_is_the_same_objective(data):
    # C sum + |w|^2 / 2 is (C n_pos n_neg) (mean + alpha |w|^2 / 2).
    alpha = translate({"C": 0.7}, "sum", *data)["alpha"]
    mean, norm = 0.4, 2.5
    published = 0.7 * 32 * mean + norm / 2
    assert 0.7 * 32 * (mean + alpha / 2 * norm) == pytest.approx(published)


def test_a_list_of_penalties_is_sorted(data):
    found = translate({"Cs": [1.0, 2.0, 0.5]}, "sum", *data)
    assert found == {"alphas": [1 / 64, 1 / 32, 1 / 16]}


def test_width_of_the_kernel(data):
    X, is_pos = data
    assert translate({"sigma": 3.0}, "alpha", X, is_pos) == {"gamma": 1 / 18}
    spread = np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1))
    for rows in (X, sparse.csr_matrix(X), sparse.csr_array(X)):
        found = translate({"gamma_scale": 2.0}, "alpha", rows, is_pos)
        assert found == {"gamma": pytest.approx(2.0 / spread)}


def test_other_parameters_stay(data):
    params = {"step_size": 0.5, "loss": "hinge", "alpha": 2.0}
    assert translate(params, "sum", *data) == params


def test_published_has_fixed_and_grid(data):
    method = Method(
        "m", estimator="OPAUC", fixed={"solver": "gradient"}, penalty="half"
    )
    params = {"lambda": 0.25, "step_size": 0.125}
    model = build(method, "published", params, *data, seed=7)
    assert isinstance(model, OPAUC)
    assert (model.solver, model.alpha, model.step_size) == ("gradient", 0.5, 0.125)
    assert model.random_state == 7
    assert not hasattr(model, "classes_")


def test_grid_goes_before_fixed(data):
    method = Method("m", estimator="OAM", fixed={"step_size": 1.0})
    assert build(method, "published", {"step_size": 2.0}, *data, 0).step_size == 2.0


def test_default_has_neither(data):
    method = Method(
        "m",
        estimator="RankSVM",
        fixed={"loss": "hinge"},
        default={"cv": 4},
        default_estimator="RankSVMCV",
    )
    model = build(method, "default", {}, *data, 0)
    assert isinstance(model, RankSVMCV)
    assert model.cv == 4
    own = Method("m", estimator="RankSVM", fixed={"loss": "hinge"}, default={})
    model = build(own, "default", {}, *data, 0)
    assert isinstance(model, RankSVM)
    assert model.get_params() == RankSVM().get_params()


def test_transformer_comes_first_with_its_own_parameters(data):
    method = Method(
        "m",
        estimator="RankSVM",
        penalty="sum",
        before={"estimator": "Nystroem", "n_landmarks": 5, "sigma": 1.0},
        default={},
    )
    for variant, params in (("published", {"C": 0.5}), ("default", {})):
        model = build(method, variant, params, *data, 3)
        assert isinstance(model, Pipeline)
        first, last = (step for _, step in model.steps)
        assert isinstance(first, Nystroem)
        assert isinstance(last, RankSVM)
        assert (first.n_landmarks, first.gamma, first.random_state) == (5, 0.5, 3)
    assert method.before["estimator"] == "Nystroem"  # is not used up
    assert build(method, "published", {"C": 0.5}, *data, 3)[-1].alpha == 1 / 16


def test_another_estimator_as_default_has_no_transformer(data):
    method = Method(
        "m",
        estimator="RankSVM",
        before={"estimator": "Nystroem"},
        default={},
        default_estimator="NBAUC",
    )
    model = build(method, "default", {}, *data, 5)
    assert isinstance(model, NBAUC)
    assert model.random_state == 5


@pytest.mark.parametrize(
    ("name", "kind", "word"),
    [("SOLAM", SOLAM, "n_passes"), ("SPDAM", SPDAM, "max_iter")],
)
def test_passes_have_the_name_that_the_estimator_gives_them(data, name, kind, word):
    model = build(Method("m", estimator=name), "published", {"passes": 3}, *data, 0)
    assert isinstance(model, kind)
    assert getattr(model, word) == 3


def test_each_seed_is_another_model(data):
    method = Method("m", estimator="OAM", default={})
    seeds = [
        build(method, "published", {}, *data, seed).random_state for seed in (0, 1)
    ]
    assert seeds == [0, 1]
    assert isinstance(build(method, "default", {}, *data, 0), OAM)


def test_unknown_parameter_is_an_error(data):
    with pytest.raises(TypeError, match="stepsize"):
        build(Method("m", estimator="OAM"), "published", {"stepsize": 1}, *data, 0)
