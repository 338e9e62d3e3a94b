# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from aucmax.datasets import DatasetDamaged, DatasetUnavailable, info, load

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
    with pytest.raises(DatasetDamaged, match="label good, bad expected, fair found"):
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


def test_rows_that_were_written_by_hand_have_single_labels(toy, mirror):
    toy.register(toy.part("train"), task="multilabel")
    (mirror / "toy.train.svm.bz2").write_bytes(toy.packed("train"))
    assert_array_equal(load("toy").y, [1, -1, -1])


# One line too few, a wrong label, a wrong index.
WRONG = [
    ("1 1:1\n-1 1:2\n", "3 rows expected, 2 found. Delete it and get it again"),
    ("1 1:1\n1 1:2\n-1 1:1\n", "'1': 1} expected, .*'1': 2} found. Delete it"),
    ("1 1:1\n-1 4:1\n-1 1:1\n", "line 2: the index 4 is beyond the 3 features"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_file_that_is_not_the_published_one(toy, mirror, text, message):
    toy.register(toy.part("train", url="https://example.org/toy"))
    file = mirror / "toy"
    file.write_text(text)
    with pytest.raises((DatasetDamaged, ValueError), match=rf"{file}.*{message}"):
        load("toy")


@pytest.fixture
def mixed(toy, mirror, cache):
    """Put training rows of other values into the mirror, and public test rows."""
    toy.register(
        toy.part("train", url="https://example.org/toy", mirror_differs="z-scored"),
        toy.part("test", url="https://example.org/toy.t"),
    )
    (mirror / "toy.train.svm.bz2").write_bytes(toy.packed("train"))
    (cache / "toy.t").write_bytes(toy.rows["test"])
    return toy


def test_different_values_are_not_stacked(mixed, mirror, cache):
    file = mirror / "toy.train.svm.bz2"
    message = f"{file} are not the public ones .z-scored., but those of the part 'test'"
    with pytest.raises(DatasetUnavailable, match=message):
        load("toy")
    # Nor is anything downloaded for it.
    (cache / "toy.t").unlink()
    with pytest.raises(DatasetUnavailable, match=message):
        load("toy")


def test_different_values_may_be_loaded_one_by_one(mixed):
    assert_array_equal(load("toy", "train").X.toarray(), X_TRAIN)
    assert_array_equal(load("toy", "test").X.toarray(), X_TEST)


def test_same_values_may_come_from_different_places(toy, mirror, cache):
    toy.register(toy.part("train"), toy.part("test", url="https://example.org/toy.t"))
    (mirror / "toy.train.svm.bz2").write_bytes(toy.packed("train"))
    (cache / "toy.t").write_bytes(toy.rows["test"])
    assert_array_equal(load("toy").X.toarray(), X_TRAIN + X_TEST)


def test_values_of_one_kind_are_stacked(mixed, mirror, cache):
    (mirror / "toy.test.svm.bz2").write_bytes(mixed.packed("test"))
    assert load("toy").X.shape == (5, 3)
    for file in mirror.iterdir():
        file.unlink()
    (cache / "toy").write_bytes(mixed.rows["train"])
    assert load("toy").X.shape == (5, 3)


def test_bundled_set_needs_nothing():
    data = load("vehicle")
    assert data.X.shape == (846, 18)
    assert int((data.y == 4).sum()) == 199
    assert "X=" not in repr(data)
