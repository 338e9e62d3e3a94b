# SPDX-License-Identifier: BSD-3-Clause
import bz2
import gzip
import lzma
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from aucmax import datasets
from aucmax.io import read_arff, read_csv, read_libsvm

PACKERS = {"": bytes, ".bz2": bz2.compress, ".gz": gzip.compress, ".xz": lzma.compress}
ARFF = """% a comment
@relation fruit
@attribute weight numeric
@attribute colour {red, green}
@attribute 'is ripe' {no, yes}

@data
80.5,red,yes
77,green,no
"""


def as_dumped(value):
    """Round to the digits that scikit-learn writes."""
    return float(f"{value:.16g}")


@given(
    table=st.lists(
        st.lists(
            st.floats(-1e300, 1e300).map(as_dumped) | st.just(0.0),
            min_size=4,
            max_size=4,
        ),
        min_size=1,
        max_size=6,
    ),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_libsvm_round_trip(table, data, tmp_path_factory):
    labels = st.integers(-(2**31), 2**31) | st.floats(-1e9, 1e9).map(as_dumped)
    y = data.draw(st.lists(labels, min_size=len(table), max_size=len(table)))
    file = tmp_path_factory.getbasetemp() / "round-trip.svm"
    X = sparse.csr_matrix(np.array(table))
    dump_svmlight_file(X, np.array(y, dtype=float), str(file), zero_based=False)
    X_read, y_read = read_libsvm(file, n_features=4)
    assert_array_equal(X_read.toarray(), X.toarray())
    assert_array_equal(y_read, y)


@pytest.mark.parametrize("suffix", PACKERS)
def test_every_compression(tmp_path, suffix):
    def write(name, text):
        file = tmp_path / f"{name}{suffix}"
        file.write_bytes(PACKERS[suffix](text.encode()))
        return file

    X, y = read_libsvm(write("rows.svm", "# made by hand\n1 2:3 # one\n\n2\n"))
    assert_array_equal(X.toarray(), [[0, 3], [0, 0]])
    assert_array_equal(y, [1, 2])
    X, y = read_csv(write("rows.csv", "a,b,c\n1,2,0\n3,4,1\n"))
    assert_array_equal(X, [[1, 2], [3, 4]])
    assert_array_equal(y, [0, 1])
    X, y = read_arff(write("rows.arff", ARFF))
    assert_array_equal(X, [[80.5, 1, 0], [77, 0, 1]])
    assert_array_equal(y, ["yes", "no"])


@pytest.mark.parametrize("suffix", [".bz2", ".gz", ".xz"])
@pytest.mark.parametrize("read", [read_libsvm, read_csv, read_arff])
def test_file_that_is_cut_off(tmp_path, suffix, read):
    lines = "".join(f"{k % 7} 1:{k * k % 9973}\n" for k in range(5000))
    file = tmp_path / f"rows{suffix}"
    file.write_bytes(PACKERS[suffix](lines.encode())[:-20])
    with pytest.raises(ValueError, match=rf"{re.escape(str(file))}.*(cut off|line 1)"):
        read(file)


@pytest.mark.parametrize("read", [read_libsvm, read_csv, read_arff])
def test_file_that_is_not_what_its_name_says(tmp_path, read):
    file = tmp_path / "rows.bz2"
    file.write_bytes(b"<html>not found</html>")
    with pytest.raises(ValueError, match="cut off or damaged after line 0"):
        read(file)


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_libsvm_without_rows(tmp_path, text):
    file = tmp_path / "rows.svm"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"rows\.svm has no rows"):
        read_libsvm(file)


@pytest.mark.parametrize("read", [read_libsvm, read_csv, read_arff])
def test_file_that_is_not_there(tmp_path, read):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*rows"):
        read(tmp_path / "rows")


LIBSVM_FAULTS = {
    "hello world": "'hello' is not a label",
    "<!DOCTYPE html>": "'<!DOCTYPE' is not a label",
    "1:1 2:2": "'1:1' is not a label",
    "nan 1:1": "'nan' is not a label",
    "1 1:nan": "the value 'nan' of index 1 is not a finite number",
    "1 1:1 2:-inf": "the value '-inf' of index 2 is not a finite number",
    "1 1:": "the value '' of index 1 is not a finite number",
    "1 1:2:3": "the value '2:3' of index 1 is not a finite number",
    "1 0:1 1:2": "the index 0 is too small. Indices start at 1",
    "1 -3:1": "the index -3 is too small",
    "1 2:1 1:1": "index 1 comes after index 2. Sort",
    "1 2:1 2:1": "index 2 occurs twice",
    "1 1:1 9:1": "the index 9 is beyond the 4 features asked for. Raise n_features",
    "1 99999999999:1": "the index 99999999999 is beyond the 4 features",
    "1 2": "'2' is not an index:value pair",
    "1 a:2": "'a:2' is not an index:value pair",
    "1 1.5:2": "'1.5:2' is not an index:value pair",
    "1 1:" + "x" * 99: "the value '" + "x" * 40 + "...' of index 1",
}


@pytest.mark.parametrize("fault", LIBSVM_FAULTS)
def test_libsvm_faults(tmp_path, fault):
    file = tmp_path / "rows.svm"
    file.write_text(f"# fine\n1 1:2 3:4\n{fault}\n-1 2:1\n")
    expected = f"{file}, line 3: {LIBSVM_FAULTS[fault]}"
    with pytest.raises(ValueError, match=re.escape(expected)):
        read_libsvm(file, n_features=4)


def test_libsvm_index_that_no_matrix_can_have(tmp_path):
    file = tmp_path / "rows.svm"
    file.write_text("1 99999999999:1\n")
    with pytest.raises(ValueError, match="line 1: the index 99999999999 is too large"):
        read_libsvm(file)


def test_libsvm_bytes_that_are_not_text(tmp_path):
    file = tmp_path / "rows.svm"
    file.write_bytes(b"1 1:2\n\xff\xfe\x00\n")
    with pytest.raises(ValueError, match=r"line 2: .*xff.* is not a label"):
        read_libsvm(file)


def test_libsvm_fractional_labels_stay(tmp_path):
    file = tmp_path / "rows.svm"
    file.write_text("0.5 1:1\n2 1:1\n")
    assert_array_equal(read_libsvm(file)[1], [0.5, 2])


def test_libsvm_many_labels(tmp_path):
    file = tmp_path / "rows.svm"
    file.write_text("0,2 1:1\n 1:3\n1 2:1\n")
    X, y = read_libsvm(file, multilabel=True)
    assert_array_equal(X.toarray(), [[1, 0], [3, 0], [0, 1]])
    assert_array_equal(y, [[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    file.write_text("0,2 1:1\n1,b 1:3\n")
    with pytest.raises(ValueError, match="line 2: '1,b' is not a label"):
        read_libsvm(file, multilabel=True)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"target": "kind"}, "a,kind,b\n1,x,2\n3,y,4\n"),
        ({"target": -1, "header": False}, "1,2,x\n3,4,y\n"),
        ({"target": 0, "header": False, "separator": " "}, "x  1 2\ny 3   4\n"),
        (
            {"target": 1, "separator": "\t", "drop": ["id"]},
            "id\tk\ta\tb\n9\tx\t1\t2\n8\ty\t3\t4\n",
        ),
        ({"target": 3, "header": False, "drop": [0]}, '"Smith, J.",1,2,x\nB,3,4,y\n'),
        ({"target": "kind"}, "a, b, kind\r\n1, 2, x\r\n\r\n3, 4, y\r\n"),
    ],
)
def test_csv_dialects(tmp_path, options, text):
    file = tmp_path / "rows.csv"
    file.write_bytes(text.encode())
    X, y = read_csv(file, **options)
    assert_array_equal(X, [[1, 2], [3, 4]])
    assert y.tolist() == ["x", "y"]


def test_csv_label_that_looks_missing_stays(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("a,kind\n1,NA\n2,None\n")
    assert read_csv(file)[1].tolist() == ["NA", "None"]


CSV_FAULTS = {
    "1,,x": "'' in column 'b' is not a finite number",
    "1,nan,x": "'nan' in column 'b' is not a finite number",
    "inf,2,x": "'inf' in column 'a' is not a finite number",
    "1,red,x": "'red' in column 'b' is not a finite number. Mend or encode it",
    "1,2,": "the label is missing",
    "1,2": "2 columns, where 3 were expected",
    "1,2,x,4": "4 columns, where 3 were expected",
}


@pytest.mark.parametrize("fault", CSV_FAULTS)
def test_csv_faults(tmp_path, fault):
    file = tmp_path / "rows.csv"
    file.write_text(f"a,b,kind\n1,2,x\n\n{fault}\n3,4,y\n")
    expected = f"{file}, line 4: {CSV_FAULTS[fault]}"
    with pytest.raises(ValueError, match=re.escape(expected)):
        read_csv(file, target="kind")


def test_csv_whose_lines_are_all_longer_than_the_header(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("a,b,kind\n1,2,x,0\n3,4,y,0\n")
    with pytest.raises(ValueError, match="line 2: 4 columns, where 3 were expected"):
        read_csv(file)


@pytest.mark.parametrize("text", ["", "a,b\n"])
def test_csv_without_rows(tmp_path, text):
    file = tmp_path / "rows.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"rows\.csv has no rows"):
        read_csv(file)


@pytest.mark.parametrize("column", ["c", 2, -3])
def test_csv_column_that_is_not_there(tmp_path, column):
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(
        ValueError, match=f"no column {column!r}. It has 2 columns: a, b"
    ):
        read_csv(file, target=column)
    with pytest.raises(
        ValueError, match=f"no column {column!r}. It has 2 columns: a, b"
    ):
        read_csv(file, drop=[column])


def test_arff_target_by_name(tmp_path):
    file = tmp_path / "rows.arff"
    file.write_text(ARFF)
    X, y = read_arff(file, target="weight")
    assert_array_equal(X, [[1, 0, 0, 1], [0, 1, 1, 0]])
    assert_array_equal(y, [80.5, 77])
    with pytest.raises(
        ValueError, match=r"no column 'price'. It has 3 columns: weight"
    ):
        read_arff(file, target="price")


def test_arff_numbers_as_classes(tmp_path):
    file = tmp_path / "rows.arff"
    file.write_text(
        ARFF.replace("{no, yes}", "{0, 1}").replace("yes", "1").replace("no\n", "0\n")
    )
    y = read_arff(file)[1]
    assert y.dtype == np.int64
    assert y.tolist() == [1, 0]


ARFF_FAULTS = {
    "77,green": "2 values for 3 attributes",
    "77,green,no,1": "4 values for 3 attributes",
    "77,blue,no": "'blue', for 'colour', is not one of red, green",
    "77,green,?": "'?', for 'is ripe', is not one of no, yes",
    "77,?,no": "'?', for 'colour', is not one of red, green",
    "heavy,green,no": "'heavy', for 'weight', is not a finite number",
    "?,green,no": "'?', for 'weight', is not a finite number",
    "inf,green,no": "'inf', for 'weight', is not a finite number",
}


@pytest.mark.parametrize("fault", ARFF_FAULTS)
def test_arff_faults(tmp_path, fault):
    file = tmp_path / "rows.arff"
    file.write_text(ARFF.replace("77,green,no", fault))
    expected = f"{file}, line 9: {ARFF_FAULTS[fault]}"
    with pytest.raises(ValueError, match=re.escape(expected)):
        read_arff(file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "has no rows"),
        ("hello\n", "line 1: 'hello' is not a declaration"),
        (ARFF.partition("80.5")[0], "has no rows"),
        (ARFF.replace("numeric", "string"), "line 3: the type 'string' of 'weight'"),
    ],
)
def test_arff_that_is_not_one(tmp_path, text, expected):
    file = tmp_path / "rows.arff"
    file.write_text(text)
    with pytest.raises(ValueError, match=expected):
        read_arff(file)


def test_readers_are_among_the_data_sets_too():
    assert datasets.read_libsvm is read_libsvm
    assert datasets.read_csv is read_csv
    assert datasets.read_arff is read_arff
