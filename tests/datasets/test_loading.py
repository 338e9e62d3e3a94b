# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from aucmax.datasets import DatasetDamaged, info, load

X_TRAIN = [[1, 0, 2.5], [0, 1, 0], [4, 0, 0]]
X_TEST = [[0, 0, 1], [2, 0, 0]]


@pytest.fixture
def filled(toy, mirror):
    toy.register(toy.part("train"), toy.part("test"), toy.part("val"))
    for name in toy.rows:
        (mirror / f"toy.{name}.svm.bz2").write_bytes(toy.packed(name))
    return toy


def test_parts(filled):
    data = load("toy", "train")
    assert sparse.issparse(data.X)
    assert data.X.format == "csr"
    assert data.X.dtype == np.float64
    assert_array_equal(data.X.toarray(), X_TRAIN)
    assert_array_equal(data.y, [1, -1, -1])
    assert data.y.dtype == np.int64
    assert_array_equal(load("toy", "test").X.toarray(), X_TEST)
    assert load("toy", "val").X.shape == (1, 3)


def test_all_stacks_train_and_test(filled):
    data = load("toy")
    assert data.X.format == "csr"
    assert_array_equal(data.X.toarray(), X_TRAIN + X_TEST)
    assert_array_equal(data.y, [1, -1, -1, -1, 1])
    assert data.info is info("toy")


def test_dense(filled):
    X = load("toy", dense=True).X
    assert isinstance(X, np.ndarray)
    assert_array_equal(X, X_TRAIN + X_TEST)


def test_part_that_is_not_there(filled):
    with pytest.raises(
        ValueError, match=r"no part 'valid'. Choose one of train, test, val"
    ):
        load("toy", "valid")


def test_only_part_is_all(toy, mirror):
    toy.register(toy.part("train"))
    (mirror / "toy.train.svm.bz2").write_bytes(toy.packed("train"))
    assert_array_equal(load("toy").X.toarray(), X_TRAIN)


def test_public_table_with_labels_of_its_own(toy, cache):
    toy.register(
        toy.part(
            "train",
            url="https://example.org/toy.data",
            format="csv",
            options={"separator": " ", "target": 1, "drop": [0]},
            labels={"good": 1, "bad": -1},
        )
    )
    table = "7 good 1 0 2.5\n8 bad  0 1 0\n9 bad 4 0 0\n"
    (cache / "toy.data").write_text(table)
    data = load("toy")
    assert_array_equal(data.X.toarray(), X_TRAIN)
    assert_array_equal(data.y, [1, -1, -1])
    (cache / "toy.data").write_text(table.replace("good", "fair"))
    with pytest.raises(DatasetDamaged, match="label 'fair'; expected: good, bad"):
        load("toy")


def test_public_libsvm_file_with_turned_signs(toy, cache):
    toy.register(
        toy.part("train", url="https://example.org/toy", labels={"1": -1, "-1": 1})
    )
    (cache / "toy").write_text("-1 1:1\n+1 2:1\n1 3:1\n")
    assert_array_equal(load("toy").y, [1, -1, -1])


def test_labels_of_a_mirror_are_not_turned(toy, mirror):
    toy.register(
        toy.part("train", url="https://example.org/toy", labels={"1": -1, "-1": 1})
    )
    (mirror / "toy.train.svm.bz2").write_bytes(toy.packed("train"))
    assert_array_equal(load("toy").y, [1, -1, -1])


def test_many_labels_become_a_table(toy, cache):
    toy.register(
        toy.part("train", url="https://example.org/toy", class_counts=None),
        task="multilabel",
    )
    (cache / "toy").write_text("0,2 1:1\n1 2:1\n 3:1\n")
    assert_array_equal(load("toy").y, [[1, 0, 1], [0, 1, 0], [0, 0, 0]])


def test_rows_are_counted_where_no_checksum_is_known(toy, cache):
    toy.register(toy.part("train", url="https://example.org/toy"))
    file = cache / "toy"
    file.write_text("1 1:1\n-1 1:2\n")
    with pytest.raises(DatasetDamaged, match=rf"{file}.*rows 3 expected, 2 found"):
        load("toy")
    file.write_text("1 1:1\n1 1:2\n-1 1:1\n")
    with pytest.raises(DatasetDamaged, match=r"'1': 1} expected, .*'1': 2} found"):
        load("toy")


def test_file_that_cannot_be_parsed_names_the_line(toy, cache):
    toy.register(toy.part("train", url="https://example.org/toy"))
    (cache / "toy").write_text("1 1:1\n-1 4:1\n-1 1:1\n")
    with pytest.raises(
        ValueError, match="line 2: the index 4 is beyond the 3 features"
    ):
        load("toy")


def test_bundled_set_needs_nothing():
    data = load("vehicle")
    assert data.X.shape == (846, 18)
    assert int((data.y == 4).sum()) == 199
    assert "X=" not in repr(data)
