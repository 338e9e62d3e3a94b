# SPDX-License-Identifier: BSD-3-Clause
import functools
import pickle

import numpy as np
import pytest
from drawing import draw_labels
from hypothesis import given
from hypothesis import strategies as st
from metrics.problems import labelled_scores

from aucmax.metrics import StreamingAUC, roc_auc

BINS = [None, 1, 16, 1024, 2**52]


def read(summary):
    return summary.auc, summary.error_bound, summary.mass_pos, summary.mass_neg


@pytest.mark.parametrize("sizes", [[1], [3, 0, 50], [5000]])
@pytest.mark.parametrize("bins", BINS)
def test_batches_and_merges_equal_one_pass(bins, sizes, rng):
    n = 10_000 if sizes == [5000] else 500
    y = (rng.random(n) < 0.3).astype(int)
    scores = np.round(rng.normal(size=n) + y, 3)
    whole = StreamingAUC(bins_per_octave=bins).update(y, scores)
    cuts = np.cumsum(np.resize(sizes, n))
    batches = np.split(np.arange(n), cuts[cuts < n])
    stream = StreamingAUC(bins_per_octave=bins)
    parts = []
    for rows in batches:
        stream.update(y[rows], scores[rows])
        parts.append(StreamingAUC(bins_per_octave=bins).update(y[rows], scores[rows]))
    assert read(stream) == read(whole)
    assert read(functools.reduce(StreamingAUC.merge, parts)) == read(whole)


def test_exact_equals_roc_auc(rng):
    y = (rng.random(5000) < 0.3).astype(int)
    scores = np.round(rng.normal(size=5000) + y, 2)
    summary = StreamingAUC().update(y, scores)
    assert read(summary) == (roc_auc(y, scores), 0, y.sum(), 5000 - y.sum())
    weight = rng.random(5000)
    weight[:100] = 0
    summary = StreamingAUC().update(y, scores, sample_weight=weight)
    expected = roc_auc(y, scores, sample_weight=weight)
    assert summary.auc == pytest.approx(expected, abs=1e-12)
    assert summary.mass_pos == pytest.approx(weight @ y)


@given(labelled_scores(), st.sampled_from([1, 2, 8, 256]))
def test_binned_is_within_its_bound(problem, bins):
    is_pos, scores = problem
    summary = StreamingAUC(bins_per_octave=bins).update(is_pos, scores)
    exact = roc_auc(is_pos, scores)
    assert abs(summary.auc - exact) <= summary.error_bound + 1e-15
    # An increasing map that keeps the bins keeps the answer.
    doubled = StreamingAUC(bins_per_octave=bins).update(is_pos, 2 * scores)
    assert read(doubled) == read(summary)


@given(labelled_scores(), st.integers(0, 30), st.sampled_from([None, 1, 64]))
def test_merging_equals_seeing_all(problem, cut, bins):
    is_pos, scores = problem
    first, second, whole = (StreamingAUC(bins_per_octave=bins) for _ in range(3))
    first.update(is_pos[:cut], scores[:cut])
    second.update(is_pos[cut:], scores[cut:])
    whole.update(is_pos, scores)
    assert read(first.merge(second)) == read(second.merge(first)) == read(whole)


@given(labelled_scores(), st.sampled_from([None, 1, 64]))
def test_weight_is_repetition(problem, bins):
    is_pos, scores = problem
    weight = np.arange(len(scores)) % 3
    weight[[np.argmax(is_pos), np.argmin(is_pos)]] += 1
    weighted, repeated = (StreamingAUC(bins_per_octave=bins) for _ in range(2))
    weighted.update(is_pos, scores, sample_weight=weight)
    repeated.update(is_pos.repeat(weight), scores.repeat(weight))
    assert read(weighted) == read(repeated)


def test_finer_bins_have_smaller_bounds(rng):
    y = (rng.random(20_000) < 0.3).astype(int)
    scores = rng.normal(size=20_000) + y
    bounds = [
        StreamingAUC(bins_per_octave=bins).update(y, scores).error_bound
        for bins in (1, 16, 256, 4096)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < 1e-4


def test_bins_bound_the_memory(rng):
    summary = StreamingAUC(bins_per_octave=8)
    for _ in range(50):
        y = draw_labels(rng, 2000)
        summary.update(y, rng.uniform(1, 16, 2000) * rng.choice([-1, 1], 2000))
    assert len(pickle.dumps(summary)) < 4000
    assert summary.mass_pos + summary.mass_neg == 100_000


def test_zeros_of_both_signs_and_subnormals_share_a_bin():
    summary = StreamingAUC(bins_per_octave=4)
    summary.update([0, 1, 0, 1], [0.0, -0.0, -5e-324, 5e-324])
    assert (summary.auc, summary.error_bound) == (0.5, 0.5)
    assert StreamingAUC().update([0, 1], [0.0, -0.0]).auc == 0.5


def test_merge_leaves_both_parts_as_they_were(rng):
    first = StreamingAUC().update([0, 1], [0.3, 0.2])
    second = StreamingAUC().update([0, 1], [0.1, 0.9])
    merged = first.merge(second)
    assert merged.auc == 0.75
    merged.update([1], [5.0])
    assert (first.auc, second.auc) == (0, 1)
    first.update([1], [5.0])
    assert merged.mass_pos == 3


def test_batches_are_copied():
    scores = np.array([0.1, 0.2])
    summary = StreamingAUC(bins_per_octave=1).update([0, 1], scores)
    assert scores.tolist() == [0.1, 0.2]
    scores[:] = scores[::-1].copy()
    assert summary.auc == 1


@pytest.mark.parametrize("bins", [None, 16])
def test_pickles(bins, rng):
    summary = StreamingAUC(bins_per_octave=bins, classes=("no", "yes"))
    summary.update(["no", "yes", "yes"], [0.1, 0.2, 0.05])
    copy = pickle.loads(pickle.dumps(summary))
    assert read(copy) == read(summary)
    more = ["yes", "no"], [0.7, 0.3]
    assert read(copy.update(*more)) == read(summary.update(*more))


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
    summary = StreamingAUC(classes=classes)
    assert summary.update(labels, [0.1, 0.2]).auc == 1


@pytest.mark.parametrize(
    ("y", "scores", "weight", "message"),
    [
        ([0, 2], [0.1, 0.2], None, r"holds .*2.*, but classes=\(0, 1\)"),
        (["a", "b"], [0.1, 0.2], None, "but classes"),
        ([0, np.nan], [0.1, 0.2], None, "nan"),
        ([0, 1], [0.1, np.nan], None, "y_score contains NaN"),
        ([0, 1], [-np.inf, 0.1], None, "y_score contains infinity"),
        ([0, 1], [0.1], None, "one score per label"),
        ([0, 1], [[0.1, 0.2], [0.3, 0.4]], None, "predict_proba"),
        ([[0, 1]], [0.1, 0.2], None, "y_true has shape"),
        ([0, 1], [0.1, 0.2], [1], "one weight per row"),
        ([0, 1], [0.1, 0.2], [1, -1], "not negative"),
        ([0, 1], [0.1, 0.2], [1, np.nan], "finite"),
        ([0, 1], [0.1, 0.2], [1, np.inf], "finite"),
    ],
)
def test_a_refused_batch_changes_nothing(y, scores, weight, message):
    summary = StreamingAUC().update([0, 1, 1], [0.5, 0.4, 0.6])
    with pytest.raises(ValueError, match=message):
        summary.update(y, scores, sample_weight=weight)
    assert read(summary) == (0.5, 0, 2, 1)


@pytest.mark.parametrize("value", ["auc", "error_bound"])
def test_both_classes_must_have_arrived(value):
    summary = StreamingAUC()
    with pytest.raises(ValueError, match="no positive row has arrived"):
        getattr(summary, value)
    summary.update([1, 1], [0.1, 0.2]).update([0], [0.3], sample_weight=[0])
    with pytest.raises(ValueError, match="no negative row has arrived"):
        getattr(summary, value)
    assert (summary.mass_pos, summary.mass_neg) == (2, 0)


@pytest.mark.parametrize("factor", [1e-200, 1e200, 1e308])
@pytest.mark.parametrize("value", ["auc", "error_bound"])
def test_weights_out_of_range_are_explained(value, factor):
    summary = StreamingAUC()
    summary.update([0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], sample_weight=[factor] * 4)
    with pytest.raises(ValueError, match="Divide the weights by their mean"):
        getattr(summary, value)


@pytest.mark.parametrize("bins", [0, -4, 3, 1.5, 2**53])
def test_bins_must_be_a_power_of_two(bins):
    with pytest.raises(ValueError, match="bins_per_octave must be a power of two"):
        StreamingAUC(bins_per_octave=bins)


@pytest.mark.parametrize("classes", [(0,), (1, 1), (0, 1, 2)])
def test_classes_must_be_two(classes):
    with pytest.raises(ValueError, match="two different labels"):
        StreamingAUC(classes=classes)


def test_different_settings_do_not_merge():
    with pytest.raises(ValueError, match="bins_per_octave is None here and 16 there"):
        StreamingAUC().merge(StreamingAUC(bins_per_octave=16))
    with pytest.raises(ValueError, match="classes"):
        StreamingAUC().merge(StreamingAUC(classes=(-1, 1)))
    with pytest.raises(TypeError, match="got list"):
        StreamingAUC().merge([])
