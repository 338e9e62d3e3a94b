# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aucmax._utils.validation import all_or_nothing, check_weight, split_labels


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 1, 1], [0, 1]),
        ([-1, 1, 1], [-1, 1]),
        ([2.5, 7.0, 7.0], [2.5, 7.0]),
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
        with all_or_nothing(thing):
            thing.changed, thing.new = 3, 4
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert vars(thing) == {"kept": 1, "changed": 2}
