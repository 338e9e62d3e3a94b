# SPDX-License-Identifier: BSD-3-Clause
"""Models whose arrays do not fit together are refused: compiled loops do not look."""

import importlib
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

from aucmax import (
    KNNOAM,
    NBAUC,
    NSAUC,
    OAM,
    OILK,
    OPAUC,
    RFAUC,
    SOLAM,
    AdaOAM,
    AUCClassifier,
    FourierFeatures,
    Nystroem,
    OnlinePCA,
    OnlineUnivariate,
    RankSVM,
)
from aucmax.auto.ensemble import Ensemble, Part
from aucmax.auto.families import ForestGroup
from aucmax.auto.scales import Scale
from aucmax.io import load, save, trusted_types
from aucmax.io.models.saving import write_model
from aucmax.metrics import PrequentialAUC
from aucmax.preparation.features import clip_far
from aucmax.preparation.table import Columns

RNG = np.random.default_rng(0)
Y = np.arange(80) % 2
DENSE = RNG.normal(size=(80, 5)) + Y[:, None]
SPARSE = sparse.csr_matrix(
    sparse.random(80, 40, 0.1, format="csr", random_state=0), dtype=np.float64
)
FIXED = {"gamma": 0.1, "alpha": 0.01, "random_state": 0}
PREQUENTIAL = PrequentialAUC(window=20)


def fitted(model, X):
    if isinstance(model, PrequentialAUC):
        return PrequentialAUC(window=model.window).update(Y, DENSE[:, 0])
    model = clone(model)
    return (getattr(model, "partial_fit", None) or model.fit)(X, Y)


def altered(owner, path, change):
    """Return an object in which what a path leads to has changed."""
    name, _, rest = path.partition(".")
    old = owner[int(name)] if isinstance(owner, list) else getattr(owner, name)
    new = altered(old, rest, change) if rest else change(old)
    if isinstance(owner, tuple):
        return owner._replace(**{name: new})
    if isinstance(owner, list):
        owner[int(name)] = new
    else:
        object.__setattr__(owner, name, new)
    return owner


def short(array):
    return array[:-1]


def all_short(state):
    """Take one feature away, in arrays that still fit together."""
    return state._replace(
        **{n: short(getattr(state, n)) for n in ("work", "coef", "mean")}
    )


def narrow(array):
    return array[..., :-1]


def grown(array):
    return np.concatenate([array, array])


def put(value):
    """Return a change of one entry of an array, or of a number."""

    def change(old):
        if not isinstance(old, np.ndarray):
            return value
        new = old.copy()
        new.reshape(-1)[0] = value
        return new

    return change


def one_more(array):
    return np.concatenate([array, array[-1:]])


def nan(array):
    return np.full_like(array, np.nan)


def node(field, value):
    def change(nodes):
        nodes = nodes.copy()
        nodes[field][nodes["children"][0, 0]] = value
        return nodes

    return change


def entry(value, name="indices"):
    def change(matrix):
        matrix = matrix.copy()
        getattr(matrix, name)[-1] = value
        return matrix

    return change


LEARNER, SAMPLE = "_stream.learner", "_stream.sample"
REDUCED = OPAUC(reduce="features", n_components=3)
EMBEDDED = KNNOAM(reduce=OnlinePCA(1), random_state=0)
MIXTURE = AUCClassifier(families=["linear"], cv=2, random_state=0)
RANDOM = KNNOAM(ties="random", random_state=0)
# What is changed here led out of an array, or into a loop without end.
DENSE_CASES = [
    (RankSVM(), "coef_", narrow),
    (RankSVM(), "coef_", nan),
    (RankSVM(), "intercept_", put(np.inf)),
    (RankSVM(), "n_features_in_", put(-1)),
    (NBAUC(8, **FIXED), "dual_coef_", narrow),
    (NBAUC(8, **FIXED), "basis_", narrow),
    (NBAUC(8, kernel="laplacian", **FIXED), "kernel_.name", put("linear")),
    (RFAUC(8, **FIXED), "coef_", narrow),
    (NSAUC(8, **FIXED), "_stream.sgd.state.work", grown),
    (NSAUC(8, **FIXED), "_stream.sgd.state.mean", short),
    (NSAUC(8, **FIXED), "_stream.sgd.state.counts", short),
    (NSAUC(8, **FIXED), "_stream.sgd.rates.block_size", put(0)),
    (NSAUC(8, **FIXED), "_stream.sgd.rates.alpha", put(0.0)),
    (NSAUC(8, **FIXED), "_stream.sgd.state", all_short),
    (NSAUC(8, **FIXED), "_stream.sample.buffer.values", narrow),
    (NSAUC(8, **FIXED), "_stream.sample.slots.size", put(2**40)),
    (NSAUC(8, **FIXED), "block_size", put(-1)),
    (Nystroem(8), "normalization_", short),
    (Nystroem(8, kernel="laplacian"), "landmarks_", lambda rows: rows[:, :1]),
    (FourierFeatures(8), "offset_", short),
    (OnlinePCA(2), "_stream.state.mean", short),
    (OnlinePCA(2), "_stream.state.variances", short),
    (OnlinePCA(2), "_stream.state.directions", narrow),
    (OnlinePCA(2), "n_features_in_", put(6)),
    (OPAUC(), f"{LEARNER}.moments.n_pending", put(256)),
    (OPAUC(), f"{LEARNER}.moments.n_pending", put(-1)),
    (OPAUC(), f"{LEARNER}.moments.products", short),
    (OPAUC(), f"{LEARNER}.moments.pending", lambda rows: rows[:, :6]),
    (OPAUC(), f"{LEARNER}.moments.sums", narrow),
    (OPAUC(), f"{LEARNER}.learn", lambda _: clip_far),
    (OPAUC(), f"{SAMPLE}.slots.n_seen", short),
    (OPAUC(), f"{SAMPLE}.slots.n_seen", put(2**63 - 1)),
    (OPAUC(), f"{SAMPLE}.slots.size", put(-1)),
    (OPAUC(), f"{SAMPLE}.buffer.values", narrow),
    (OPAUC(), f"{SAMPLE}.buffer.values", short),
    (OPAUC(), f"{SAMPLE}.buffer", lambda _: None),
    (OPAUC(), "_stream.learner", put("a learner")),
    (OPAUC(), "n_features_in_", put(6)),
    (AdaOAM(), f"{LEARNER}.iterate.coef", short),
    (AdaOAM(), f"{LEARNER}.iterate.progress", short),
    (AdaOAM(), f"{LEARNER}.moments.scatter", short),
    (AdaOAM(), f"{LEARNER}.moments.mean", narrow),
    (AdaOAM(), f"{LEARNER}.rule.offset", put("far")),
    (OPAUC(rank=3), f"{LEARNER}.moments.1.sums", narrow),
    (OPAUC(rank=3), f"{LEARNER}.moments.1.signs", short),
    (OPAUC(rank=3, solver="gradient"), f"{LEARNER}.state.totals", one_more),
    (OPAUC(rank=3, solver="gradient"), f"{LEARNER}.state.gram", short),
    (OPAUC(rank=3, solver="gradient"), f"{LEARNER}.state.parts", short),
    (REDUCED, f"{LEARNER}.projection", entry(7)),
    (REDUCED, f"{LEARNER}.projection", entry(-1)),
    (REDUCED, f"{LEARNER}.projection", entry(-1, "indptr")),
    (OAM(), f"{LEARNER}.state.kept.values", narrow),
    (OAM(), f"{LEARNER}.slots.size", put(10**6)),
    (OAM(), f"{LEARNER}.state.sums", one_more),
    (OAM(), f"{LEARNER}.state.coef", one_more),
    (SOLAM(), f"{LEARNER}.state.vectors", short),
    (SOLAM(), f"{LEARNER}.state.scalars", short),
    (OnlineUnivariate(), f"{LEARNER}.state.classes", narrow),
    (OILK(gamma=0.1, budget=5), f"{LEARNER}.support.n_added", put(-6)),
    (OILK(gamma=0.1, budget=5), f"{LEARNER}.support.gram", narrow),
    (OILK(), f"{LEARNER}.held.0", lambda held: (held[0], held[1][:-1])),
    (KNNOAM(), f"{LEARNER}.is_pos", lambda labels: labels[:9]),
    (RANDOM, f"{LEARNER}.marks", lambda marks: marks[:9]),
    (KNNOAM(), f"{LEARNER}.index.rows.n", put(10**6)),
    (KNNOAM(), f"{LEARNER}.index._norms", lambda norms: norms[:9]),
    (KNNOAM(), f"{LEARNER}.index._copies", narrow),
    (KNNOAM(), f"{LEARNER}.index._centre", short),
    (KNNOAM(backend="tree"), f"{LEARNER}.index.rows.values", lambda rows: rows[:9]),
    (EMBEDDED, f"{LEARNER}.index.n_mapped", put(10**6)),
    (EMBEDDED, f"{LEARNER}.index.held.0", short),
    (MIXTURE, "ensemble_.parts.0.scales.0.knots", short),
    (MIXTURE, "ensemble_.parts.0.columns", put([])),
    (MIXTURE, "ensemble_.threshold", put("high")),
    (MIXTURE, "calibration_.beta", short),
    (MIXTURE, "is_dense_", put("yes")),
    (MIXTURE, "columns_.kinds", put(["other"])),
    (MIXTURE, "columns_.encoders", put({0: None})),
    (PREQUENTIAL, "_tree.nodes", node("children", (10**6, 0))),
    (PREQUENTIAL, "_tree.nodes", node("children", (0, 1))),
    (PREQUENTIAL, "_tree.nodes", node("parent", 1)),
    (PREQUENTIAL, "_tree.nodes", node("n_rows", 7)),
    (PREQUENTIAL, "_tree.ring", short),
    (PREQUENTIAL, "_tree.counts", put(10**6)),
    (PREQUENTIAL, "_n_kept", put(10**6)),
]
SPARSE_CASES = [
    (OPAUC(), f"{SAMPLE}.buffer.columns", put(2**31 - 1)),
    (OPAUC(), f"{SAMPLE}.buffer.columns", put(-1)),
    (OPAUC(), f"{SAMPLE}.buffer.lengths", put(10**6)),
    (OPAUC(), "_stream.sparse_rows", put(False)),
    (OAM(), f"{LEARNER}.state.kept.columns", put(2**31 - 1)),
    (OAM(), f"{LEARNER}.state.kept.lengths", put(10**6)),
    (OAM(), f"{LEARNER}.state.kept.work", short),
    (SOLAM(), f"{LEARNER}.state.vectors", short),
    (OILK(gamma=0.1), f"{LEARNER}.rows.columns", put(-1)),
    (OILK(gamma=0.1), f"{LEARNER}.rows.lengths", put(10**6)),
    (OILK(), f"{LEARNER}.held.0", lambda held: (entry(40)(held[0]), held[1])),
    (KNNOAM(), f"{LEARNER}.index.rows.indices", put(2**31 - 1)),
    (KNNOAM(), f"{LEARNER}.index.rows.indptr", put(-1)),
    (KNNOAM(), f"{LEARNER}.index.rows.data", lambda data: data[:9]),
    (KNNOAM(), f"{LEARNER}.index.rows.n_features", put(39)),
]
CASES = [(DENSE, *case) for case in DENSE_CASES] + [
    (SPARSE, *case) for case in SPARSE_CASES
]


def name_of(value):
    return value if isinstance(value, str) else type(value).__name__


@pytest.mark.parametrize(("X", "model", "path", "change"), CASES, ids=name_of)
def test_refuses_what_does_not_fit(tmp_path, X, model, path, change):
    file = tmp_path / "model.skops"
    whole = fitted(model, X)
    save(whole, file)
    load(file)
    write_model(altered(whole, path, change), file)
    with pytest.raises(ValueError, match="cannot be loaded: it is damaged"):
        load(file)


@pytest.mark.parametrize("name", ["scores", "coef"])
def test_refuses_a_kept_model_of_other_rows(tmp_path, name):
    model = OILK(gamma=0.1).fit(DENSE, Y)
    model.decision_function(DENSE)
    kept = model._stream._model
    basis, coef = (kept.basis[:, :3], kept.coef) if name == "scores" else kept[:2]
    model._stream._model = kept._replace(basis=basis, coef=coef[: len(basis) - 1])
    write_model(model, tmp_path / "model.skops")
    with pytest.raises(ValueError, match="it is damaged"):
        load(tmp_path / "model.skops")


@pytest.mark.parametrize("is_own", [True, False])
def test_refuses_counts_that_are_shared(tmp_path, is_own):
    model = OILK(gamma=0.1).fit(DENSE, Y)
    support = model._stream.learner.support
    other = support.n_seen if is_own else model._stream.sample.slots.n_seen
    model._stream.learner.support = support._replace(n_added=other)
    write_model(model, tmp_path / "model.skops")
    with pytest.raises(ValueError, match="two arrays of counts are one"):
        load(tmp_path / "model.skops")


def test_an_index_used_twice_is_refused_when_rows_are_scored(tmp_path):
    models = [KNNOAM().fit(DENSE, Y) for _ in range(2)]
    models[1]._stream.learner.index = models[0]._stream.learner.index
    write_model(models, tmp_path / "model.skops")
    first, second = load(tmp_path / "model.skops")
    for _ in range(5):
        first.partial_fit(DENSE, Y)
    with pytest.raises(ValueError, match="index has other rows"):
        second.decision_function(DENSE)


def test_numbers_that_divide_by_zero_are_refused_when_learning_goes_on(
    tmp_path, monkeypatch
):
    model = SOLAM().fit(SPARSE, Y)
    model._stream.learner.state.classes["n_rows"] = -0.5
    write_model(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    with pytest.raises(ValueError, match="overflowed"):
        loaded.partial_fit(SPARSE, Y)
    # Kernels that check divisors raise.
    monkeypatch.setattr(loaded._stream.learner, "learn", lambda *_: 1 / 0)
    with pytest.raises(ValueError, match="it divides by zero"):
        loaded.partial_fit(SPARSE, Y)


def test_what_is_left_out_is_told(tmp_path):
    model = OPAUC().fit(DENSE, Y)
    del model._stream.sample
    write_model(model, tmp_path / "model.skops")
    with pytest.raises(ValueError, match="no attribute 'sample'") as caught:
        load(tmp_path / "model.skops")
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_index_that_finds_no_row_is_refused_when_rows_are_scored(tmp_path):
    model = KNNOAM(backend="brute").fit(DENSE, Y)
    index = model._stream.learner.index
    index._norms = np.full_like(index._norms, -1e30)
    write_model(model, tmp_path / "model.skops")
    with pytest.raises(ValueError, match="finds no row"):
        load(tmp_path / "model.skops").decision_function(DENSE)


def test_refuses_a_forest_of_other_columns(tmp_path):
    forest = ForestGroup("random", 2).fit(DENSE, Y == 1, np.zeros(5, dtype=bool))
    scale = Scale.of_scores(forest.scores(DENSE)[:, 0])
    model = AUCClassifier()
    model.n_features_in_, model.classes_ = 5, np.array([0, 1])
    model.columns_, model.is_dense_ = Columns([], {}), True
    model.ensemble_ = Ensemble([Part([forest], [0], [scale], [1.0])], 0.0)
    model.calibration_ = None
    write_model(model, tmp_path / "model.skops")
    scores = load(tmp_path / "model.skops").decision_function(DENSE)
    assert_array_equal(scores, model.decision_function(DENSE))
    model.n_features_in_ = 3
    write_model(model, tmp_path / "model.skops")
    with pytest.raises(ValueError, match="forest is of other columns"):
        load(tmp_path / "model.skops")


# Their arrays are looked at by what holds them.
HELD = {
    "AveragedState",
    "GradientRule",
    "AdaptiveRule",
    "LowRankState",
    "OAMRule",
    "OAMState",
    "OILKSettings",
    "OILKSupport",
    "OPAUCIterate",
    "OPAUCMoments",
    "PCAState",
    "PairRates",
    "PairState",
    "PrequentialTree",
    "SaddlePointRates",
    "RowBuffer",
    "UnivariateRates",
}
# Used by Python, NumPy, or scikit-learn's own checks alone; LightGBM's trees and those
# of neighbours are looked at when they are read.
HARMLESS = {
    "AUCInterval",
    "BasisStage",
    "BoostingGroup",
    "KernelGroup",
    "Leaderboard",
    "LeaderboardEntry",
    "LightGBM",
    "LightGBMText",
    "LinearGroup",
    "Neighbors",
    "PairStage",
    "SolverStep",
    "clip_far",
    "clip_huge",
    "raise_to_one",
}
NAMES = [name for name in trusted_types() if re.match(r"aucmax\.(saved\.)?\w+$", name)]


def test_exempt_names_are_names():
    assert {f"aucmax.saved.{name}" for name in HELD | HARMLESS} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_class_looks_at_what_it_holds(name):
    module, _, last = name.rpartition(".")
    kind = getattr(importlib.import_module(module), last)
    exempt = last in HELD | HARMLESS
    assert exempt or callable(getattr(kind, "check_state", None))
