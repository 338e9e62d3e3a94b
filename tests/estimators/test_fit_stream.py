# SPDX-License-Identifier: BSD-3-Clause
"""Fits from batches are fits in memory; and they go on where they were stopped."""

import copy
import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from aucmax import NBAUC, OAM, OILK, OPAUC, SOLAM, LeastSquaresAUC, RankSVM
from aucmax._utils.checkpoint import describe_fit
from aucmax.streams import passes

BATCHES = ([600], [1, 299, 300], [0, 250, 5, 345], [100] * 6)
NYSTROEM = {"n_landmarks": 40, "random_state": 0}


def problem(rng, n=600, dtype=np.float64):
    X = (rng.normal(size=(n, 6)) * [1, 2, 3, 1, 1, 0.1] + 5).astype(dtype)
    score = X[:, 0] - 0.3 * X[:, 1] + rng.normal(size=n)
    is_pos = score > np.quantile(score, 0.8)
    weight = rng.integers(0, 3, n).astype(float)
    return X, np.where(is_pos, "yes", "no"), weight


def cut(sizes, *arrays):
    ends = np.cumsum(sizes)
    return [
        tuple(array[end - size : end] for array in arrays)
        for size, end in zip(sizes, ends, strict=True)
    ]


class Counted:
    """A source that counts the batches read, and can pass over some."""

    def __init__(self, batches):
        self.batches, self.n_read = batches, 0

    def __iter__(self):
        return self.skip(0)

    def skip(self, n_batches):
        for batch in self.batches[n_batches:]:
            self.n_read += 1
            yield batch


class Memory:
    """Checkpoints that stop the fit after so many states."""

    def __init__(self, stop_after):
        self.stop_after, self.state, self.what, self.n_offered = (
            stop_after,
            None,
            None,
            0,
        )

    def resume(self, what):
        assert self.what in (None, what)
        self.what = what
        return copy.deepcopy(self.state)

    def offer(self, state):
        self.state = copy.deepcopy(state())
        self.n_offered += 1
        if self.n_offered == self.stop_after:
            raise KeyboardInterrupt


@pytest.mark.parametrize("sizes", BATCHES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("with_weight", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        RankSVM(alpha=0.01),
        LeastSquaresAUC(),
        LeastSquaresAUC(solver="cg"),
        NBAUC(alpha=0.01, gamma=0.02, **NYSTROEM),
    ],
    ids=str,
)
def test_same_as_in_memory(model, sizes, dtype, with_weight, rng):
    X, y, weight = problem(rng, dtype=dtype)
    arrays = (X, y, weight) if with_weight else (X, y)
    there = clone(model).fit(*arrays)
    here = clone(model).fit_stream(cut(sizes, *arrays))
    assert_allclose(here.coef_, there.coef_, rtol=1e-10, atol=1e-10)
    assert_allclose(here.intercept_, there.intercept_, rtol=1e-6, atol=1e-9)
    assert here.coef_.dtype == there.coef_.dtype
    assert here.n_iter_ == there.n_iter_
    assert_array_equal(here.classes_, ["no", "yes"])
    assert here.n_features_in_ == 6
    assert here.score(X, y) == there.score(X, y)


def test_long_rows_in_float32_are_the_same_as_in_memory(rng):
    X = rng.normal(size=(300, 1100)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=300) > 1).astype(int)
    there = RankSVM(alpha=10).fit(X, y)
    here = RankSVM(alpha=10).fit_stream(cut([130, 100, 70], X, y))
    # BLAS rounds by where rows lie in memory: the last digit of a float32 may differ.
    assert_allclose(here.coef_, there.coef_, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("model", [RankSVM(), LeastSquaresAUC()], ids=str)
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
def test_sparse_rows(model, index_dtype, rng):
    X, y, weight = problem(rng)
    X = sparse.csr_array(np.where(rng.random(X.shape) < 0.5, 0.0, X))
    X.indices, X.indptr = X.indices.astype(index_dtype), X.indptr.astype(index_dtype)
    there = clone(model).fit(X, y, weight)
    here = clone(model).fit_stream(cut([250, 350], X, y, weight))
    assert_allclose(here.coef_, there.coef_, rtol=1e-10, atol=1e-10)


def test_large_enough_for_sub_samples(rng):
    X, y, weight = problem(rng, n=6000)
    there = RankSVM().fit(X, y, weight)
    here = RankSVM().fit_stream(cut([1000, 5000], X, y, weight))
    assert_allclose(here.coef_, there.coef_, rtol=1e-10, atol=1e-10)


def test_hinge_to_its_tolerance(rng):
    X, y, _ = problem(rng)
    there = RankSVM(loss="hinge", alpha=0.1, tol=1e-6).fit(X, y)
    here = RankSVM(loss="hinge", alpha=0.1, tol=1e-6).fit_stream(cut([300, 300], X, y))
    assert_allclose(here.objective_, there.objective_, rtol=1e-5)


def test_kernel_chosen_on_all_rows_if_they_are_few(rng):
    X, y, weight = problem(rng, n=300)
    there = NBAUC(**NYSTROEM).fit(X, y, weight)
    here = NBAUC(**NYSTROEM).fit_stream(cut([100, 200], X, y, weight))
    assert (here.gamma_, here.alpha_) == (there.gamma_, there.alpha_)
    assert_array_equal(here.tuning_, there.tuning_)
    assert_allclose(here.coef_, there.coef_, rtol=1e-9, atol=1e-9)


def test_kernel_chosen_on_a_sample_of_many_rows(rng, monkeypatch):
    monkeypatch.setattr(passes, "LEAST_SAMPLE", 200)
    monkeypatch.setattr(passes, "MOST_SAMPLE", 200)
    X, y, weight = problem(rng, n=900)
    source = cut([400, 500], X, y, weight)
    model = NBAUC(**NYSTROEM).fit_stream(source)
    assert model.score(X, y) > NBAUC(**NYSTROEM).fit(X, y, weight).score(X, y) - 0.02
    sample = passes.check_source(NBAUC(), source).sample()
    assert len(sample.is_pos) <= 201
    for mask, of in ((sample.is_pos, y == "yes"), (~sample.is_pos, y == "no")):
        assert_allclose(sample.weight[mask].sum(), weight[of].sum())


def test_mapped_batches_are_kept_while_there_is_room(rng):
    X, y, _ = problem(rng)
    source = cut([300, 300], X, y)
    fixed = {"gamma": 0.02, "alpha": 0.01, **NYSTROEM}
    roomy = NBAUC(**fixed).fit_stream(source)
    tight = NBAUC(**fixed, memory_budget=1).fit_stream(source)
    assert_array_equal(roomy.coef_, tight.coef_)


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(alpha=1e-4, tol=1e-8),
        LeastSquaresAUC(),
        NBAUC(alpha=1e-5, gamma=0.02, tol=1e-6, **NYSTROEM),
        OPAUC(),
        SOLAM(n_passes=2),
        OAM(random_state=0),
        OILK(random_state=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_goes_on_where_it_was_stopped(model, stop_after, rng):
    X, y, _ = problem(rng, n=3000)
    source = Counted(cut([500, 0, 500, 1000, 0, 500, 500], X, y))
    whole = clone(model).fit_stream(source)
    n_read, source.n_read = source.n_read, 0
    memory = Memory(stop_after)
    stopped = clone(model)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit_stream(source, checkpoint=memory)
    with pytest.raises(NotFittedError):
        stopped.decision_function(X)
    source.n_read = 0
    resumed = clone(model).fit_stream(source, checkpoint=memory)
    # An online model looks at the first batch, to know it again.
    assert source.n_read < n_read + (stop_after == 1)
    assert_array_equal(resumed.decision_function(X), whole.decision_function(X))
    for name in ("coef_", "intercept_"):
        if hasattr(whole, name):
            assert_array_equal(getattr(resumed, name), getattr(whole, name))
    if hasattr(whole, "history_"):
        assert_array_equal(np.array(resumed.history_), np.array(whole.history_))


def test_online_is_partial_fit(rng):
    X, y, _ = problem(rng)
    fed = OPAUC(solver="gradient")
    for part in cut([100, 500], X, y):
        fed.partial_fit(*part)
    model = OPAUC(solver="gradient").fit(X[:50], y[:50])
    assert_array_equal(model.fit_stream(iter(cut([100, 500], X, y))).coef_, fed.coef_)


def test_first_batch_of_one_class(rng):
    X, y, _ = problem(rng)
    order = np.argsort(y, kind="stable")
    source = cut([300, 300], X[order], y[order])
    with pytest.raises(ValueError, match="only one class"):
        OPAUC().fit_stream(source)
    model = OPAUC().fit_stream(source, classes=["no", "yes"])
    assert_allclose(model.coef_, OPAUC().fit(X[order], y[order]).coef_)
    # Those that read the batches several times need no such help.
    RankSVM().fit_stream(source)


def test_numbers_as_labels(rng):
    X, y, _ = problem(rng)
    y = np.where(y == "yes", 3.0, -1.0)
    assert_array_equal(
        RankSVM().fit_stream(cut([300, 300], X, y)).classes_, [-1.0, 3.0]
    )


def test_warm_start(rng):
    X, y, _ = problem(rng)
    source = cut([300, 300], X, y)
    model = RankSVM(warm_start=True).fit_stream(source)
    assert model.fit_stream(source).n_iter_ <= 1


def test_frames(rng):
    pandas = pytest.importorskip("pandas")
    X, y, _ = problem(rng)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model = RankSVM().fit_stream([(frame[:300], y[:300]), (frame[300:], y[300:])])
    assert list(model.feature_names_in_) == list("abcdef")
    assert_allclose(model.coef_, RankSVM().fit(frame, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("model", [RankSVM(), NBAUC(alpha=1.0), OPAUC()], ids=str)
def test_names_that_only_the_source_knows(model, rng):
    pandas = pytest.importorskip("pandas")
    X, y, _ = problem(rng)
    source = Counted(cut([300, 300], X, y))
    source.names = tuple("abcdef")
    fitted = clone(model).fit_stream(source)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    assert list(fitted.feature_names_in_) == list("abcdef")
    assert fitted.score(frame, y) == clone(model).fit_stream(source).score(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[list("bacdef")])


def test_warns_where_the_user_is(rng):
    X, y, _ = problem(rng)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RankSVM(max_iter=1, tol=1e-12).fit_stream(cut([600], X, y))
    assert [w.category for w in caught] == [ConvergenceWarning]
    assert caught[0].filename == __file__


def bad_sources():
    rng = np.random.default_rng(0)
    X, y, weight = problem(rng)
    with_nan = X.copy()
    with_nan[400, 2] = np.nan
    third = y.copy()
    third[500] = "perhaps"
    return {
        "gave no rows": [],
        "contains NaN": cut([300, 300], with_nan, y),
        "more than two labels": cut([300, 300], X, third),
        "only one class": cut([600], X, np.full(600, "no")),
        "7 features": [(X[:300], y[:300]), (np.ones((3, 7)), y[:3])],
        "first batch is dense": [(X, y), (sparse.csr_array(X), y)],
        "300 rows, but 299 labels": [(X[:300], y[:299])],
        "must be": [X],
        "1-d": [(X, y[:, None])],
        "Negative values": cut([600], X, y, weight - 1),
        "NaN, None": [(X, np.where(y == "no", 0.0, np.nan))],
        "None or": [(X, np.where(y == "no", 0.0, np.nan).astype(object))],
        "None": [(X, np.where(y == "no", "no", None))],
        "labels: 0, 1, 2": [(X, np.arange(600) % 3)],
    }


@pytest.mark.parametrize("message", bad_sources())
@pytest.mark.parametrize("model", [RankSVM(), LeastSquaresAUC(), NBAUC()], ids=str)
def test_bad_batches(model, message, rng):
    X, y, _ = problem(rng)
    fitted = copy.deepcopy(model).set_params(alpha=0.1).fit(X[:100], y[:100])
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match=message):
        fitted.fit_stream(bad_sources()[message])
    assert vars(fitted).keys() == before.keys()
    assert all(vars(fitted)[name] is before[name] for name in before)


def test_says_in_which_batch(rng):
    with pytest.raises(ValueError, match="NaN") as caught:
        RankSVM().fit_stream(bad_sources()["contains NaN"])
    assert caught.value.__notes__ == ["This was in batch 2 of the source."]
    X, y, _ = problem(rng)
    X[350] = np.inf
    with pytest.raises(ValueError, match="infinity") as caught:
        OPAUC().fit_stream(cut([300, 300], X, y))
    assert caught.value.__notes__ == ["This was in batch 2 of the source."]


def test_generators_are_refused(rng):
    X, y, _ = problem(rng)
    for model in (RankSVM(), SOLAM(n_passes=2)):
        with pytest.raises(TypeError, match="can be read only once"):
            model.fit_stream(iter([(X, y)]))


def kernel(X, Y):
    return X @ Y.T


@pytest.mark.parametrize(
    "model",
    [RankSVM(), LeastSquaresAUC(), NBAUC(alpha=1.0, gamma=1.0, **NYSTROEM), OPAUC()],
    ids=str,
)
@pytest.mark.parametrize("what", ["columns", "labels", "sizes", "order"])
def test_other_data_are_another_fit(model, what, rng):
    X, y, _ = problem(rng)
    memory, stopped = Strict(), clone(model)
    stopped.fit_stream(cut([100] * 6, X, y), checkpoint=memory)
    other = {
        "columns": cut([100] * 6, X[:, ::-1], y),
        "labels": cut([100] * 6, X, np.roll(y, 1)),
        "sizes": cut([50] * 12, X, y),
        "order": cut([100] * 6, X, y)[::-1],
    }
    with pytest.raises(ValueError, match="another fit"):
        clone(model).fit_stream(other[what], checkpoint=memory)


@pytest.mark.parametrize("model", [RankSVM(), LeastSquaresAUC(), OPAUC()], ids=str)
def test_the_same_data_in_another_form_are_the_same_fit(model, rng):
    X, y, _ = problem(rng)
    memory = Strict()
    clone(model).fit_stream(cut([100] * 6, X, y), checkpoint=memory)
    other = [(np.asfortranarray(rows), labels) for rows, labels in cut([100] * 6, X, y)]
    clone(model).fit_stream(other, checkpoint=memory)


@pytest.mark.parametrize("form", ["coo", "lil", "dok", "csc", "bsr"])
@pytest.mark.parametrize("model", [RankSVM(), OPAUC()], ids=str)
def test_checkpoints_of_any_sparse_form(model, form, rng):
    X, y, _ = problem(rng)
    batches = cut([300, 300], sparse.csr_array(X), y)
    whole = clone(model).fit_stream(batches)
    other = [(rows.asformat(form), labels) for rows, labels in batches]
    kept = clone(model).fit_stream(other, checkpoint=Strict())
    assert_array_equal(kept.coef_, whole.coef_)


def test_masks_are_ignored_as_in_memory(rng):
    X, y, _ = problem(rng)
    masked = np.ma.array(X, mask=X > 1)
    whole = LeastSquaresAUC().fit(X, y)
    streamed = LeastSquaresAUC().fit_stream([(masked, y)])
    assert_allclose(streamed.coef_, whole.coef_, rtol=1e-10)


def test_what_cannot_be_streamed_says_why(rng):
    X, y, _ = problem(rng)
    with pytest.raises(ValueError, match="needs all rows"):
        OPAUC(reduce="pca").fit_stream([(X, y)])


class Strict(Memory):
    """Refuses what the real one refuses."""

    def __init__(self):
        super().__init__(stop_after=None)

    def resume(self, what):
        if self.what not in (None, what):
            raise ValueError("another fit")
        return super().resume(what)


def test_parameters_are_told_alike_in_every_process(rng):
    landmarks = rng.normal(size=(200, 6))
    for same in (
        (RankSVM(verbose=1), RankSVM(verbose=0)),
        (RankSVM(alpha=np.float64(0.1)), RankSVM(alpha=0.1)),
        (NBAUC(landmarks=landmarks), NBAUC(landmarks=landmarks.copy())),
        (OAM(random_state=np.random.RandomState(0)),) * 2,
        (NBAUC(kernel=partial(kernel)), NBAUC(kernel=partial(kernel))),
    ):
        assert describe_fit(same[0]) == describe_fit(same[1])
    oam = OAM(random_state=np.random.RandomState(0))
    told = describe_fit(oam)
    with np.printoptions(threshold=3):
        assert describe_fit(oam) == told
    told = describe_fit(NBAUC(kernel=kernel))["parameters"]["kernel"]
    assert told.endswith(".kernel")
    changed = landmarks.copy()
    changed[100] += 1
    for other in (
        (NBAUC(landmarks=landmarks), NBAUC(landmarks=changed)),
        (RankSVM(alpha=0.1), RankSVM(alpha=0.2)),
        (
            OAM(random_state=np.random.RandomState(0)),
            OAM(random_state=np.random.RandomState(1)),
        ),
        (NBAUC(kernel=partial(kernel)), NBAUC(kernel=partial(kernel, Y=1))),
    ):
        assert describe_fit(other[0]) != describe_fit(other[1])


def test_a_name_is_no_checkpoint(rng):
    X, y, _ = problem(rng)
    for model in (RankSVM(), OPAUC()):
        with pytest.raises(TypeError, match=r"Pass Checkpoints\(folder\)"):
            model.fit_stream([(X, y)], checkpoint="folder")


def test_weights_are_scaled_alike_in_all_batches(rng):
    X, y, weight = problem(rng)
    weight = np.where(np.arange(600) < 300, weight, 1e-160)
    there = RankSVM().fit(X, y, weight)
    here = RankSVM().fit_stream(cut([300, 300], X, y, weight))
    assert_allclose(here.coef_, there.coef_, rtol=1e-9)


def test_batches_of_lists(rng):
    X, y, _ = problem(rng)
    source = [(X[:300].tolist(), y[:300].tolist()), (X[300:].tolist(), list(y[300:]))]
    assert_allclose(RankSVM().fit_stream(source).coef_, RankSVM().fit(X, y).coef_)
    with pytest.raises(ValueError, match="must be a table"):
        RankSVM().fit_stream([(5, y)])


def test_kinds_of_labels(rng):
    X, y, _ = problem(rng)
    is_pos = y == "yes"
    days = np.where(is_pos, np.datetime64("2020-01-02"), np.datetime64("2020-01-01"))
    for labels in (is_pos, days.astype("M8[ns]"), y.astype(object), y.astype("U9")):
        here = RankSVM().fit_stream(cut([300, 300], X, labels))
        there = RankSVM().fit(X, labels)
        assert_array_equal(here.classes_, there.classes_)
        assert here.classes_.dtype.kind == there.classes_.dtype.kind
        assert_allclose(here.coef_, there.coef_, rtol=1e-9)
    mixed = [(X[:300], is_pos[:300].astype(int)), (X[300:], y[300:])]
    with pytest.raises(ValueError, match="another kind"):
        RankSVM().fit_stream(mixed)


def test_online_models_take_no_weights(rng):
    with pytest.raises(ValueError, match="online estimators take none"):
        OPAUC().fit_stream(cut([300, 300], *problem(rng)))


def test_checkpoints_that_cannot_be(rng):
    X, y, _ = problem(rng)
    for model in (RankSVM(loss="hinge"), LeastSquaresAUC(solver="cg")):
        with pytest.raises(ValueError, match="checkpoint= works with"):
            model.fit_stream([(X, y)], checkpoint=Memory(1))


def test_source_that_changes(rng):
    X, y, _ = problem(rng)

    class Shrinking:
        n = 600

        def __iter__(self):
            yield X[: self.n], y[: self.n]
            self.n -= 100

    for model in (RankSVM(), LeastSquaresAUC()):
        with pytest.raises(ValueError, match="later one has"):
            model.fit_stream(Shrinking())
