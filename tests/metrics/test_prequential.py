# SPDX-License-Identifier: BSD-3-Clause
import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics import metric_oracles as oracles
from metrics.problems import labelled_scores

from aucmax.metrics import PrequentialAUC, StreamingAUC, roc_auc

PASTS = [
    {},
    {"window": 1},
    {"window": 40},
    {"window": 10_000},
    {"fading": 0.5},
    {"fading": 0.99},
]


def read(metric):
    return metric.auc, metric.error_bound, metric.mass_pos, metric.mass_neg


def repickled(metric):
    return pickle.loads(pickle.dumps(metric))


def draw(rng, kind, n=300, share=0.3):
    y = (rng.random(n) < share).astype(int)
    scores = rng.normal(size=n) + y
    if kind == "tied":
        scores = np.round(scores)
    elif kind == "rising":
        scores = np.sort(scores)
    return y, scores


@pytest.mark.parametrize("kind", ["random", "tied", "rising"])
@pytest.mark.parametrize("window", [1, 2, 25, 300, 1000, None])
def test_the_window_is_counted_exactly_after_every_row(window, kind, rng):
    y, scores = draw(rng, kind)
    metric = PrequentialAUC(window=window)
    for end in range(1, len(y) + 1):
        metric.update(y[end - 1 : end], scores[end - 1 : end])
        start = max(0, end - (window or end))
        is_pos = y[start:end] == 1
        assert (metric.mass_pos, metric.mass_neg) == (is_pos.sum(), (~is_pos).sum())
        if 0 < is_pos.sum() < len(is_pos):
            assert metric.auc == float(oracles.exact_auc(is_pos, scores[start:end]))
            assert metric.error_bound == 0
        else:
            with pytest.raises(ValueError, match="needs both classes"):
                _ = metric.auc


@pytest.mark.parametrize("kind", ["random", "tied", "rising"])
@pytest.mark.parametrize("fading", [1e-300, 1e-6, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("share", [0.02, 0.4])
def test_fading_is_the_weighted_auc_after_every_row(fading, share, kind, rng):
    y, scores = draw(rng, kind, share=share)
    metric = PrequentialAUC(fading=fading)
    n_checked = 0
    for end in range(1, len(y) + 1):
        metric.update(y[end - 1 : end], scores[end - 1 : end])
        weight = fading ** np.arange(end - 1, -1, -1.0)
        is_pos = y[:end] == 1
        lost = 1.01e-12 / (1 - fading)
        assert metric.mass_pos == pytest.approx(weight[is_pos].sum(), abs=lost)
        assert metric.mass_neg == pytest.approx(weight[~is_pos].sum(), abs=lost)
        if metric.mass_pos > 0 and metric.mass_neg > 0:
            expected = oracles.roc_auc(is_pos, scores[:end], weight)
            assert abs(metric.auc - expected) <= metric.error_bound + 1e-13
            n_checked += 1
    if fading > 1e-12:  # else one row is kept
        assert n_checked > 200 * share


def test_the_error_bound_is_the_share_of_pairs_dropped(rng):
    # At one half 40 rows are kept, the last of weight 2**-39 > 1e-12.
    y, scores = np.zeros(100, dtype=int), np.zeros(100)
    y[[10, 55]] = 1
    scores[10] = -1
    metric = PrequentialAUC(fading=0.5).update(y[:60], scores[:60])
    dropped = 0.5 ** (59 - 10)
    kept = 0.5 ** (59 - 55)
    assert metric.mass_pos == kept
    assert metric.error_bound == pytest.approx(dropped / (kept + dropped), rel=1e-3)
    # Without a younger positive it is all the positives that were dropped.
    with pytest.raises(ValueError, match="no positive row is recent"):
        _ = PrequentialAUC(fading=0.5).update(y[:52], scores[:52]).error_bound


def test_many_rows_do_not_drift(rng):
    # Few scores, so that masses are added to and taken from the same nodes all along.
    n, fading = 200_000, 0.99
    y, scores = draw(rng, "tied", n=n)
    metric = PrequentialAUC(fading=fading).update(y, scores)
    weight = fading ** np.arange(n - 1, -1, -1.0)
    assert metric.auc == pytest.approx(
        roc_auc(y, scores, sample_weight=weight), abs=1e-12
    )
    windowed = PrequentialAUC(window=500).update(y, scores)
    assert windowed.auc == roc_auc(y[-500:], scores[-500:])
    assert (
        PrequentialAUC().update(y, scores).auc == StreamingAUC().update(y, scores).auc
    )


@pytest.mark.parametrize("past", PASTS)
@pytest.mark.parametrize("sizes", [[1], [7, 0, 100], [5000]])
def test_batches_of_any_size_are_the_same(past, sizes, rng):
    y, scores = draw(rng, "tied", n=9001 if sizes == [5000] else 700)
    y[-2:] = 0, 1
    whole = PrequentialAUC(**past).update(y, scores)
    parts = PrequentialAUC(**past)
    cuts = np.cumsum(np.resize(sizes, len(y)))
    for rows in np.split(np.arange(len(y)), cuts[cuts < len(y)]):
        parts.update(y[rows], scores[rows])
    assert (parts.mass_pos, parts.mass_neg) == (whole.mass_pos, whole.mass_neg)
    if past != {"window": 1}:
        assert read(parts) == read(whole)


@given(labelled_scores(), st.integers(1, 40))
def test_window_of_any_scores(problem, window):
    is_pos, scores = problem
    metric = PrequentialAUC(window=window).update(is_pos, scores)
    recent = is_pos[-window:]
    if 0 < recent.sum() < len(recent):
        assert metric.auc == roc_auc(recent, scores[-window:])
    # What came before the window is forgotten.
    before = PrequentialAUC(window=window).update([0, 1] * 50, np.arange(100) % 7)
    if len(is_pos) >= window and 0 < recent.sum() < len(recent):
        assert read(before.update(is_pos, scores)) == read(metric)


@pytest.mark.parametrize("past", [{"fading": 0.9}, {"window": 5}])
def test_separated_classes(past):
    metric = PrequentialAUC(**past)
    rng = np.random.default_rng(0)
    for _ in range(100):
        y = rng.permutation([0, 0, 1, 1, 1])
        metric.update(y, y + 0.1 * rng.random(5))
        assert 1 - 1e-15 <= metric.auc <= 1


def test_memory_is_bounded(rng):
    windowed, fading = PrequentialAUC(window=100), PrequentialAUC(fading=0.9)
    tied = PrequentialAUC()
    for _ in range(20):
        y, scores = draw(rng, "random", n=2000)
        windowed.update(y, scores)
        fading.update(y, scores)
        tied.update(y, np.round(scores))
    assert len(pickle.dumps(windowed)) < 100 * 96 + 2000
    assert len(pickle.dumps(fading)) < 28 / (1 - 0.9) * 96 + 2000
    assert len(pickle.dumps(tied)) < 2 * 2100 * 80


def test_a_wide_window_takes_no_room_before_it_is_filled():
    metric = PrequentialAUC(window=10**15).update([0, 1], [0.1, 0.2])
    assert metric.auc == 1
    assert len(pickle.dumps(metric)) < 2000


@pytest.mark.parametrize("past", PASTS[2:])
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_go_on_alike_and_apart(past, copied, rng):
    y, scores = draw(rng, "tied")
    metric = PrequentialAUC(**past, classes=("no", "yes"))
    y = np.array(["no", "yes"])[y]
    metric.update(y[:200], scores[:200])
    before = read(metric)
    twin = copied(metric)
    twin.update(y[200:], scores[200:])
    assert read(metric) == before
    assert read(metric.update(y[200:], scores[200:])) == read(twin)


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        ((0, 1), [False, True]),
        ((0, 1), [0.0, 1.0]),
        ((-1, 1), [-1, 1]),
        ((1, 0), [1, 0]),
        (("no", "yes"), ["no", "yes"]),
        (("no", "yes"), np.array(["no", "yes"], dtype=object)),
        (["no", "yes"], [["no"], ["yes"]]),
    ],
)
def test_any_two_labels(classes, labels):
    metric = PrequentialAUC(classes=classes)
    assert metric.update(labels, [0.1, 0.2]).auc == 1


def test_float32_integers_and_zeros_of_both_signs(rng):
    y, scores = draw(rng, "random")
    scores = scores.astype(np.float32)
    assert PrequentialAUC().update(y, scores).auc == roc_auc(y, scores)
    assert PrequentialAUC().update([0, 1, 1], [3, 2, 4]).auc == 0.5
    assert PrequentialAUC().update([0, 1], [0.0, -0.0]).auc == 0.5
    assert PrequentialAUC().update([0, 1], [-1.7e308, 1.7e308]).auc == 1


@pytest.mark.parametrize("past", [{}, {"window": 3}, {"fading": 0.5}])
@pytest.mark.parametrize(
    ("y", "scores", "message"),
    [
        ([0, 2], [0.1, 0.2], r"holds .*2.*, but classes=\(0, 1\)"),
        (["a", "b"], [0.1, 0.2], "but classes"),
        ([0, np.nan], [0.1, 0.2], "nan"),
        ([0, 1], [0.1, np.nan], "y_score contains NaN"),
        ([0, 1], [-np.inf, 0.1], "y_score contains infinity"),
        ([0, 1], [0.1], "one score per label"),
        ([0, 1], [[0.1, 0.2], [0.3, 0.4]], "predict_proba"),
        ([[0, 1]], [0.1, 0.2], "y_true has shape"),
    ],
)
def test_a_refused_batch_changes_nothing(past, y, scores, message):
    metric = PrequentialAUC(**past).update([0, 1, 1], [0.5, 0.4, 0.6])
    before = read(metric)
    with pytest.raises(ValueError, match=message):
        metric.update(y, scores)
    assert read(metric) == before


def test_a_missing_class_is_explained():
    metric = PrequentialAUC()
    with pytest.raises(ValueError, match="no positive row has arrived yet"):
        _ = metric.auc
    with pytest.raises(ValueError, match="no negative row has arrived yet"):
        _ = metric.update([1, 1], [0.1, 0.2]).error_bound
    recent = PrequentialAUC(window=2).update([0, 1, 1], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match=r"no negative row is recent.*window=2"):
        _ = recent.auc


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 0}, "window must be"),
        ({"window": 2.5}, "window must be"),
        ({"window": "all"}, "window must be"),
        ({"fading": 0}, "fading must be"),
        ({"fading": 1}, "fading must be"),
        ({"fading": np.nan}, "fading must be"),
        ({"fading": "slow"}, "fading must be"),
        ({"window": 5, "fading": 0.5}, "Choose one"),
        ({"classes": (1, 1)}, "two different labels"),
        ({"classes": (1,)}, "two different labels"),
    ],
)
def test_settings_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        PrequentialAUC(**options)
