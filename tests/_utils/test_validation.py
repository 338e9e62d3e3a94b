# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.utils.validation import validate_data

from aucmax import RankSVM
from aucmax._utils.validation import (
    check_features,
    check_fit_inputs,
    check_weight,
    restore_attributes_on_error,
    split_labels,
)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 1, 1], [0, 1]),
        ([-1, 1, 1], [-1, 1]),
        ([2.5, 7.0, 7.0], [2.5, 7.0]),
        ([-1e308, 1e308, 1e308], [-1e308, 1e308]),
        ([False, True, True], [False, True]),
        (["ham", "spam", "spam"], ["ham", "spam"]),
        (np.array(["ham", "spam", "spam"], dtype=object), ["ham", "spam"]),
        (np.array([0, 255, 255], dtype=np.uint8), [0, 255]),
        (np.array([-128, 127, 127], dtype=np.int8), [-128, 127]),
    ],
)
def test_any_two_labels(y, classes):
    found, is_pos = split_labels(y, name="Model")
    assert found.tolist() == classes
    assert_array_equal(is_pos, [False, True, True])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], "y is empty"),
        ([1, 1], "needs both classes"),
        (["a", "a"], "needs both classes, but y holds only one class, .*'a'"),
        ([0, 1, 2], "Only binary classification is supported.*3 classes, 0, 1, 2"),
        (list("abcdefg"), r"7 classes, 'a', 'b', 'c', 'd', 'e', \.\.\."),
        ([0.1, 0.25, 0.7], "Unknown label type: continuous"),
        ([0.0, np.nan, 1.0], "NaN or infinity"),
        ([0.0, np.inf], "NaN or infinity"),
        ([[0, 1], [1, 0]], "1d array"),
    ],
)
def test_other_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        split_labels(y, name="Model")


MASK = np.array([True, False, False])


def test_weights_become_float64():
    assert_array_equal(check_weight(None, MASK), np.ones(3))
    assert_array_equal(check_weight(2, MASK), np.full(3, 2.0))
    assert check_weight([1, 2, 0], MASK).dtype == np.float64


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], r"sample_weight.shape == \(2,\), expected \(3,\)"),
        ([[1, 2, 3]], "1D array or scalar, got 2D"),
        ([1, -0.5, 1], "Negative values.*-0.5"),
        ([1, np.nan, 1], "NaN or infinity"),
        ([1, np.inf, 1], "NaN or infinity"),
        ([0, 0, 0], "positive class has no weight"),
        ([0, 1, 1], "positive class has no weight"),
        ([1, 0, 0], "negative class has no weight"),
        (["a", "b", "c"], "must hold numbers"),
        ([1e200, 1e200, 1], "overflows"),
    ],
)
def test_other_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        check_weight(weight, MASK)


def test_all_or_nothing():
    class Thing:
        pass

    thing = Thing()
    thing.kept, thing.changed = 1, 2

    def interrupted():
        with restore_attributes_on_error(thing):
            thing.changed, thing.new = 3, 4
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert vars(thing) == {"kept": 1, "changed": 2}


@pytest.fixture
def fitted():
    X = np.random.default_rng(0).normal(size=(20, 2))
    return RankSVM().fit(X, X[:, 0] > 0)


@pytest.mark.parametrize(
    "X",
    [
        np.ones((1, 2)),
        np.ones((3, 2), dtype=np.float32),
        np.full((4, 2), 1e70),
        np.full((4, 2), 9e14, dtype=np.float32),
        np.array([[1e70, 1e70], [-1e70, -1e70]]),
        sparse.csr_array([[0.0, 1.0]]),
        np.asfortranarray(np.ones((3, 2))),
    ],
    ids=["one", "float32", "largest", "largest float32", "signs", "sparse", "columns"],
)
def test_rows_to_score_are_taken_as_they_are(fitted, X):
    checked = check_features(fitted, X)
    assert checked.dtype == X.dtype
    assert (checked != X).sum() == 0


@pytest.mark.parametrize(
    "X",
    [
        np.array([[np.nan, 1.0]]),
        np.array([[np.inf, 1.0]]),
        np.array([[0.0, np.inf]], dtype=np.float32),
        sparse.csr_array([[0.0, np.nan]]),
        np.ones((1, 3)),
        np.ones(2),
        np.ones((0, 2)),
        np.ones((1, 1, 2)),
    ],
    ids=["nan", "inf", "float32", "sparse", "wide", "1-D", "empty", "3-D"],
)
def test_rows_to_score_are_refused_as_by_all_checks(fitted, X):
    with pytest.raises(ValueError, match=r"\S") as all_checks:
        validate_data(fitted, X, accept_sparse="csr", reset=False)
    with pytest.raises(ValueError, match=r"\S") as caught:
        check_features(fitted, X)
    assert str(caught.value) == str(all_checks.value)


PLAIN = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("y", [[0, 1, 1], [False, True, True]])
@pytest.mark.parametrize(
    "X",
    [
        PLAIN,
        PLAIN.astype(np.float32),
        np.asfortranarray(PLAIN),
        PLAIN[:, ::-1],
        np.full((3, 2), 1e70),
        np.array([[1e70, 1e70], [-1e70, -1e70], [0, 0]]),
    ],
    ids=["rows", "float32", "columns", "strided", "largest", "signs"],
)
def test_arrays_to_fit_are_taken_as_they_are(X, y):
    model = RankSVM()
    model.feature_names_in_ = np.array(["of", "the", "fit", "before"])
    inputs = check_fit_inputs(model, X, np.array(y))
    assert inputs.X is X
    assert inputs.is_pos.tolist() == [False, True, True]
    assert inputs.weight.tolist() == [1.0, 1.0, 1.0]
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.where(PLAIN == 5, np.nan, PLAIN), [0, 1, 1]),
        (np.where(PLAIN == 5, np.inf, PLAIN), [0, 1, 1]),
        (np.array([[np.inf, 0], [0, 0], [0, 0]], dtype=np.float32), [0, 1, 1]),
        (PLAIN, [0, 1]),
        (PLAIN, [0.0, 1.0, np.nan]),
        (PLAIN, [[0, 1], [1, 1], [1, 0]]),
        (PLAIN[:0], []),
        (PLAIN[:, :0], [0, 1, 1]),
        (PLAIN[0], [0, 1]),
        (PLAIN * 1j, [0, 1, 1]),
    ],
    ids=[
        "nan",
        "inf",
        "float32",
        "short",
        "labels",
        "matrix",
        "no rows",
        "no columns",
        "1-D",
        "complex",
    ],
)
def test_arrays_to_fit_are_refused_as_by_all_checks(X, y):
    y = np.array(y)
    with pytest.raises(ValueError, match=r"\S") as all_checks:
        validate_data(RankSVM(), X, y, dtype=[np.float64, np.float32])
    with pytest.raises(ValueError, match=r"\S") as caught:
        check_fit_inputs(RankSVM(), X, y)
    assert str(caught.value) == str(all_checks.value)


def test_rows_without_names_are_told(fitted):
    pd = pytest.importorskip("pandas")
    rows = np.random.default_rng(0).normal(size=(20, 2))
    named = RankSVM().fit(pd.DataFrame(rows, columns=["a", "b"]), rows[:, 0] > 0)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        check_features(named, rows)


DAMAGE = {
    "indptr beyond the entries": ("indptr", -1, 99),
    "indptr that falls": ("indptr", 1, 5),
    "indptr that begins late": ("indptr", 0, 1),
    "column that is not there": ("indices", 0, 2),
    "column below zero": ("indices", 0, -1),
}


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("damage", DAMAGE)
def test_sparse_matrices_with_entries_outside(fitted, kind, damage):
    X = kind(np.ones((2, 2)))
    name, at, value = DAMAGE[damage]
    getattr(X, name)[at] = value
    with pytest.raises(ValueError, match=r"X has .*\. The matrix is damaged"):
        fitted.decision_function(X)
    with pytest.raises(ValueError, match=r"X has .*\. The matrix is damaged"):
        RankSVM().fit(X, [0, 1])
