# SPDX-License-Identifier: BSD-3-Clause
from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax_papers.problem import (
    Problem,
    binarise,
    draw_at_most,
    load_problem,
    n_runs,
    scale,
)
from aucmax_papers.protocol import SetUse

SPLITS = ("folds", "holdout", "given")


def draw_labels(rng, counts):
    return rng.permutation(np.repeat(np.arange(len(counts)), counts))


def make_problem(n_pos, n_neg, n_given=0, **rules):
    rng = np.random.default_rng(n_pos * 1000 + n_neg)
    is_pos = rng.permutation(np.arange(n_pos + n_neg) < n_pos)
    X = rng.normal(size=(len(is_pos), 2))
    return Problem(SetUse("s", **rules), X, is_pos, n_given)


def test_larger_of_two_labels():
    assert_array_equal(binarise(np.array([1, -1, 1]), "larger", 0), [1, 0, 1])
    assert_array_equal(binarise(np.array([2.0, 1.0]), "larger", 0), [1, 0])


def test_larger_needs_two_labels():
    with pytest.raises(ValueError, match="There are 3 classes; say which"):
        binarise(np.array([1, 2, 3]), "larger", 0)


def test_chosen_labels():
    labels = np.array([1, 2, 3, 2])
    assert_array_equal(binarise(labels, (2,), 0), [0, 1, 0, 1])
    assert_array_equal(binarise(labels, (3, 1), 0), [1, 0, 1, 0])


@pytest.mark.parametrize("positive", [(7,), (1, 2, 3)])
def test_chosen_labels_must_leave_two_classes(positive):
    with pytest.raises(ValueError, match=r"positive = .* the labels are \[1 2 3\]"):
        binarise(np.array([1, 2, 3]), positive, 0)


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), min_size=2, max_size=6), st.integers(0, 99))
def test_smallest_and_largest_class_by_counting(counts, seed):
    labels = draw_labels(np.random.default_rng(seed), counts)
    n, sizes = len(labels), Counter(labels.tolist())
    largest = max(sizes, key=lambda c: (sizes[c], -c))
    assert_array_equal(binarise(labels, "largest", 0), labels == largest)
    # Less than 50 negatives per positive; the first of equals.
    eligible = [c for c in sizes if n - sizes[c] < 50 * sizes[c]]
    smallest = min(eligible, key=lambda c: (sizes[c], c))
    assert_array_equal(binarise(labels, "smallest", 0), labels == smallest)


def test_smallest_passes_over_what_is_rarer_than_one_in_fifty():
    labels = np.repeat([1, 2, 3], [2, 100, 3])
    # 103 / 2 negatives per positive are too many for class 1, 102 / 3 are not for 3.
    assert_array_equal(binarise(labels, "smallest", 0), labels == 3)


def test_exactly_fifty_negatives_per_positive_are_too_many():
    labels = np.repeat([1, 2, 3], [1, 48, 2])
    assert_array_equal(binarise(labels, "smallest", 0), labels == 3)
    labels = np.repeat([1, 2, 3], [1, 47, 2])
    assert_array_equal(binarise(labels, "smallest", 0), labels == 1)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7])
def test_halves_are_half_of_the_classes(rng, n_classes):
    labels = rng.integers(n_classes, size=200) * 3 - 4
    classes = np.unique(labels)
    drawn = set()
    n_halves = comb(n_classes, n_classes // 2)
    for partition in range(min(n_halves, 20)):
        is_pos = binarise(labels, "halves", partition)
        assert_array_equal(is_pos, binarise(labels, "halves", partition))
        chosen = np.unique(labels[is_pos])
        assert len(chosen) == n_classes // 2
        assert set(chosen).isdisjoint(labels[~is_pos])
        drawn.add(tuple(chosen))
    # None comes twice.
    assert len(drawn) == min(n_halves, 20)
    assert drawn <= set(combinations(classes, n_classes // 2))
    with pytest.raises(ValueError, match=f"have {n_halves} halves, but number"):
        binarise(labels, "halves", n_halves)


def test_the_most_frequent_of_several_labels(rng):
    labels = rng.random((40, 3)) < [0.2, 0.7, 0.4]
    assert_array_equal(binarise(labels, "largest", 0), labels[:, 1])


def test_halves_do_not_depend_on_the_order_of_the_rows(rng):
    labels = rng.integers(6, size=50)
    order = rng.permutation(50)
    assert_array_equal(
        binarise(labels, "halves", 4)[order], binarise(labels[order], "halves", 4)
    )


def test_scaling_step_by_step(rng):
    X = rng.normal(size=(30, 4)) * [1, 10, 100, 1000]
    low, high = X.min(axis=0), X.max(axis=0)
    ranged = 2 * (X - low) / (high - low) - 1
    centred = ranged - ranged.mean(axis=1, keepdims=True)
    rows = sparse.csr_matrix(X)
    assert_allclose(scale(rows, ("range",)), ranged, atol=1e-12)
    assert_allclose(scale(rows, ("range", "center")), centred, atol=1e-12)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    assert_allclose(scale(rows, ("range", "center", "unit")), unit, atol=1e-12)
    assert_allclose(scale(rows, ()), X)
    # z-scores wait for the training rows.
    assert_allclose(scale(rows, ("zscore",)), X)


def test_wide_rows_stay_sparse_and_become_one_long(rng):
    X = sparse.random(20, 2001, density=0.05, format="csr", random_state=0)
    scaled = scale(X, ("unit",))
    assert sparse.issparse(scaled)
    lengths = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    assert_allclose(lengths, 1.0)


def test_zscores_are_of_the_training_rows():
    problem = make_problem(20, 30, scaling=("zscore",))
    train, test = problem.split(0)
    X_train, X_test = problem.take(train, test)
    mean, std = problem.X[train].mean(axis=0), problem.X[train].std(axis=0)
    assert_allclose(X_train, (problem.X[train] - mean) / std)
    assert_allclose(X_test, (problem.X[test] - mean) / std)


def test_without_zscores_rows_are_as_they_are():
    problem = make_problem(20, 30)
    train, test = problem.split(1)
    X_train, X_test = problem.take(train, test)
    assert_array_equal(X_train, problem.X[train])
    assert_array_equal(X_test, problem.X[test])


def test_folds_cover_each_row_once_per_repeat():
    problem = make_problem(13, 40, n_folds=4, n_repeats=3)
    seen = []
    for repeat in range(3):
        tests = []
        for fold in range(4):
            train, test = problem.split(4 * repeat + fold)
            assert_array_equal(np.sort(np.r_[train, test]), np.arange(53))
            assert abs(problem.is_pos[test].sum() - 13 / 4) < 1
            tests.append(test)
        assert_array_equal(np.sort(np.concatenate(tests)), np.arange(53))
        seen.append(tuple(map(tuple, tests)))
    assert len(set(seen)) == 3


def test_holdout_draws_anew_in_every_run():
    problem = make_problem(20, 80, split="holdout", n_folds=5)
    tests = []
    for run in range(4):
        train, test = problem.split(run)
        assert_array_equal(np.sort(np.r_[train, test]), np.arange(100))
        assert len(test) == 20
        assert problem.is_pos[test].sum() == 4
        tests.append(tuple(sorted(test)))
    assert len(set(tests)) == 4


def test_given_split_is_the_same_in_every_run():
    problem = make_problem(20, 30, n_given=35, split="given")
    for run in range(2):
        train, test = problem.split(run)
        assert_array_equal(train, np.arange(35))
        assert_array_equal(test, np.arange(35, 50))


def test_splits_are_reproducible():
    for split in SPLITS:
        one, two = (make_problem(15, 25, n_given=30, split=split) for _ in range(2))
        for a, b in zip(one.split(3), two.split(3), strict=True):
            assert_array_equal(a, b)
        for a, b in zip(one.inner_splits(0), two.inner_splits(0), strict=True):
            assert_array_equal(np.concatenate(a), np.concatenate(b))


@settings(deadline=None, max_examples=60)
@given(
    n_pos=st.integers(16, 40),
    n_neg=st.integers(16, 60),
    split=st.sampled_from(SPLITS),
    n_folds=st.integers(2, 5),
    n_inner_folds=st.integers(2, 3),
    n_inner_repeats=st.integers(1, 3),
    n_inner_used=st.integers(0, 4),
    n_tuned=st.sampled_from([0, 14, 1000]),
)
def test_inner_splits_never_touch_test_rows(
    n_pos,
    n_neg,
    split,
    n_folds,
    n_inner_folds,
    n_inner_repeats,
    n_inner_used,
    n_tuned,
):
    problem = make_problem(
        n_pos,
        n_neg,
        n_given=(n_pos + n_neg) // 2,
        split=split,
        n_folds=n_folds,
        n_inner_folds=n_inner_folds,
        n_inner_repeats=n_inner_repeats,
        n_inner_used=n_inner_used,
    )
    outer, held_out = problem.split(0)
    rows = draw_at_most(outer, n_tuned, 0)
    counts = np.bincount(problem.is_pos[rows], minlength=2)
    if counts.min() < n_inner_folds:
        return  # Too few of a class for so many folds, as only this test draws them.
    splits = problem.inner_splits(n_tuned)
    every = n_inner_folds * n_inner_repeats
    assert len(splits) == min(every, n_inner_used or every)
    for train, test in splits:
        inner = np.concatenate([train, test])
        assert not set(inner) & set(held_out)
        assert_array_equal(np.sort(inner), np.sort(rows))
        assert not set(train) & set(test)
    # Repeats are other folds.
    assert len({tuple(test) for _, test in splits}) == len(splits)


@settings(deadline=None)
@given(st.integers(0, 50), st.integers(0, 60), st.integers(0, 5))
def test_capped_keeps_some_rows_in_their_order(n, limit, seed):
    rows = np.arange(n) * 7
    kept = draw_at_most(rows, limit, seed)
    assert len(kept) == (min(n, limit) if limit else n)
    assert set(kept) <= set(rows)
    assert_array_equal(kept, np.sort(np.unique(kept)))
    assert_array_equal(kept, draw_at_most(rows, limit, seed))


def test_capped_draws_by_seed():
    rows = np.arange(100)
    assert len({tuple(draw_at_most(rows, 10, seed)) for seed in range(5)}) == 5


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"n_folds": 5, "n_repeats": 4}, 20),
        ({"n_folds": 5, "n_repeats": 4, "n_runs": 7}, 7),
        ({"n_folds": 5, "n_repeats": 1, "n_runs": 7}, 5),
        ({"split": "holdout", "n_folds": 5, "n_repeats": 4}, 4),
        ({"split": "given", "n_repeats": 1}, 1),
        ({"n_partitions": 20, "n_repeats": 4}, 1),
    ],
)
def test_number_of_runs(rules, expected):
    assert n_runs(SetUse("s", **rules)) == expected


def test_load_by_name_rule_and_partition():
    use = SetUse("half", data="glass", positive="halves", n_partitions=3)
    problems = [load_problem(use, partition) for partition in range(6)]
    assert problems[0].X.shape == (214, 9)
    assert len({tuple(problem.is_pos) for problem in problems}) > 1
    assert_allclose(problems[0].X.min(axis=0), -1)
    assert_allclose(problems[0].X.max(axis=0), 1)


def test_load_with_the_given_split():
    use = SetUse("s", "satimage", split="given", positive=(4,), scaling=("unit",))
    problem = load_problem(use, 0)
    train, test = problem.split(0)
    assert (len(train), len(test)) == (4435, 2000)
    # As counted at its home: 415 and 211 rows of damp grey soil.
    assert problem.is_pos[train].sum() == 415
    assert problem.is_pos[test].sum() == 211


def test_load_at_most_so_many_rows():
    whole = load_problem(SetUse("g", "german"), 0)
    few = load_problem(SetUse("g", "german", max_rows=100), 0)
    assert whole.X.shape == (1000, 24)
    assert few.X.shape == (100, 24)
    again = load_problem(SetUse("g", "german", max_rows=100), 0)
    assert_array_equal(few.X, again.X)
    # Each is scaled by its own rows.
    assert_allclose([few.X.min(), few.X.max()], [-1, 1])
    assert len(draw_at_most(np.arange(1000), 100, 0)) == len(few.is_pos)
