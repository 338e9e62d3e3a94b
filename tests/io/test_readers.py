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
from aucmax.io import TableError, read_csv, read_libsvm
from aucmax.io.tables.numbers import MOST_COLUMNS

PACKERS = {"": bytes, ".bz2": bz2.compress, ".gz": gzip.compress, ".xz": lzma.compress}


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


LONG = {
    read_libsvm: ("", "{} 1:{}\n"),
    read_csv: ("a,b\n", "{},{}\n"),
}


@pytest.mark.parametrize("suffix", [".bz2", ".gz", ".xz"])
@pytest.mark.parametrize("read", LONG)
def test_file_that_is_cut_off(tmp_path, suffix, read):
    head, line = LONG[read]
    text = head + "".join(line.format(k % 7, k * k % 9973) for k in range(5000))
    file = tmp_path / f"rows{suffix}"
    file.write_bytes(PACKERS[suffix](text.encode()))
    assert len(read(file)[1]) == 5000
    file.write_bytes(PACKERS[suffix](text.encode())[:-20])
    with pytest.raises(ValueError, match=f"{re.escape(str(file))} is cut off or dam"):
        read(file)


# The same table for each reader, to be written with any line ends.
SAME = {
    read_libsvm: ["# rows", "1 1:2 2:0.5 # first", "-1 2:4", ""],
    read_csv: ["a,b,kind", "2,0.5,1", "", "0,4,-1", ""],
}


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "marked"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("read", SAME)
def test_line_ends_and_a_byte_order_mark(tmp_path, read, end, mark):
    file = tmp_path / "rows"
    file.write_bytes((mark + end.join(SAME[read])).encode())
    X, y = read(file)
    assert_array_equal(X.toarray() if sparse.issparse(X) else X, [[2, 0.5], [0, 4]])
    assert_array_equal(y, [1, -1])
    # A fault is found in its line, too.
    *lines, row, _ = SAME[read]
    bad = row.replace("4", "x")
    file.write_bytes((mark + end.join([*lines, bad, ""])).encode())
    with pytest.raises(ValueError, match=rf", line {len(lines) + 1}: .*'x'.* is not a"):
        read(file)


@pytest.mark.parametrize("read", SAME)
def test_numbers_that_only_python_knows(tmp_path, read):
    file = tmp_path / "rows"
    for odd in ("1_0", "\u0661", "1\xa0"):
        text = "\n".join(SAME[read]).replace("0.5", odd)
        file.write_text(text, encoding="utf-8")
        expected = rf"line .*{re.escape(repr(odd)[1:-1])}.* is not a"
        with pytest.raises(ValueError, match=expected):
            read(file)


@pytest.mark.parametrize("read", [read_libsvm, read_csv])
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


@pytest.mark.parametrize("read", [read_libsvm, read_csv])
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
    "1_0 1:1": "'1_0' is not a label",
    "1 1_0:1": "'1_0:1' is not an index:value pair",
    "1 1:1_0": "the value '1_0' of index 1 is not a finite number",
    "1 --1:2": "'--1:2' is not an index:value pair",
    "1 1:2 qid:3": "'qid:3' is not an index:value pair",
    "1,2 1:0.5": "'1,2' is not a label. A line must start with a number, then have "
    "index:value pairs, or with several labels, read it with multilabel=True",
    "9007199254740992 1:1": "the label '9007199254740992' is too large to be told "
    "from the next number. Number the classes from 0",
    "-1e300 1:1": "the label '-1e300' is too large",
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


def test_libsvm_underscores_in_comments_mean_nothing(tmp_path):
    file = tmp_path / "rows.svm"
    file.write_bytes(b"# made_by_hand \xe9\n1 qid:1 1:2 # row_1\n2 1:3\n")
    assert_array_equal(read_libsvm(file)[1], [1, 2])


def test_libsvm_largest_labels_are_exact(tmp_path):
    file = tmp_path / "rows.svm"
    file.write_text("9007199254740991 1:1\n-9007199254740991 1:1\n")
    assert read_libsvm(file)[1].tolist() == [2**53 - 1, 1 - 2**53]


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
    file.write_text("1:1\n2:3\n")
    assert read_libsvm(file, multilabel=True)[1].shape == (2, 0)


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        (
            "1,b",
            "'1,b' is not a label. Labels are whole numbers from 0 on, with commas",
        ),
        ("1,", "'1,' is not a label"),
        ("1, 2", "'1,' is not a label"),
        ("-1,2", "'-1,2' is not a label"),
        ("1.5,2", "'1.5,2' is not a label"),
        ("nan", "'nan' is not a label"),
        ("1_0", "'1_0' is not a label"),
        ("3,1000000", "the label '1000000' is too large. Number the labels from 0"),
    ],
)
def test_libsvm_faults_of_many_labels(tmp_path, labels, problem):
    file = tmp_path / "rows.svm"
    file.write_text(f"0,2 1:1\n{labels} 1:3\n")
    with pytest.raises(ValueError, match=re.escape(f"{file}, line 2: {problem}")):
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


@pytest.mark.parametrize(
    "labels",
    [
        ["9007199254740992", "9007199254740993"],
        ["9223372036854775807", "-9223372036854775808"],
    ],
)
def test_csv_large_labels_are_exact(tmp_path, labels):
    file = tmp_path / "rows.csv"
    file.write_text(f"a,kind\n1,{labels[0]}\n2,{labels[1]}\n")
    y = read_csv(file)[1]
    assert y.dtype == np.int64
    assert y.tolist() == list(map(int, labels))


@pytest.mark.parametrize(
    "labels",
    [
        ["99999999999999999998", "99999999999999999999"],
        ["1_0", "1_1"],
        ["nan", "inf_"],
        ["\u0661", "\u0662"],
        ["inf", "finite"],
    ],
)
def test_csv_labels_that_are_text(tmp_path, labels):
    file = tmp_path / "rows.csv"
    file.write_text(f"a,kind\n1,{labels[0]}\n2,{labels[1]}\n", encoding="utf-8")
    assert read_csv(file)[1].tolist() == labels


@pytest.mark.parametrize("label", ["nan", "NaN", "inf", "-Infinity", "1e400"])
def test_csv_labels_that_are_not_finite(tmp_path, label):
    file = tmp_path / "rows.csv"
    file.write_text(f"a,kind\n1,0\n2,{label}\n3,1\n")
    expected = f"{file}, line 3: the label '{label}' is not a finite number. Leave"
    with pytest.raises(ValueError, match=re.escape(expected)):
        read_csv(file)


@pytest.mark.parametrize(
    ("text", "options", "mark"),
    [
        ("a;b;kind\n1;2;x\n", {}, "';' rather than by ','"),
        ("a;b;kind\n1;2;x\n", {"target": "kind"}, "';' rather than by ','"),
        ("a;b;kind\n1,5;2,5;x\n", {"target": "kind"}, "';' rather than by ','"),
        ("1\t2\tx\n3\t4\ty\n", {"header": False}, "'\\t' rather than by ','"),
        ("1 2 x\n3 4 y\n", {"header": False}, "' ' rather than by ','"),
        ("a,b,kind\n1,2,x\n", {"separator": ";"}, "',' rather than by ';'"),
        ("a,b,kind\n1,2,x\n", {"separator": " "}, "',' rather than by ' '"),
    ],
)
def test_csv_with_another_separator(tmp_path, text, options, mark):
    file = tmp_path / "rows.csv"
    file.write_text(text)
    advice = f"Pass separator={mark.partition(' rather')[0]}."
    mark = mark.replace("by ','", "by a comma")
    expected = f"it seems to be separated by {mark}. {advice}"
    with pytest.raises(ValueError, match=re.escape(expected)) as caught:
        read_csv(file, **options)
    assert caught.type is TableError
    assert f"{file} has one cell in its first line" in str(caught.value)


def test_csv_separator_of_several_characters(tmp_path):
    with pytest.raises(ValueError, match="separator must be one character; got '::'"):
        read_csv(tmp_path / "rows.csv", separator="::")


def test_csv_without_features(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("kind\n1\n2\n")
    with pytest.raises(ValueError, match="has no column besides the target"):
        read_csv(file)
    file.write_text("id,kind\n1,x\n2,y\n")
    with pytest.raises(ValueError, match="no column besides those left out"):
        read_csv(file, drop=["id"])


def test_csv_line_breaks_inside_quotes(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text('a,note,kind\n1,"two\nlines",x\n2,"",y\n')
    assert_array_equal(read_csv(file, drop=["note"])[0], [[1], [2]])
    file.write_text('a,note,kind\n1,"two\nlines",x\nred,"",y\n')
    with pytest.raises(ValueError, match="line 4: 'red' in column 'a' is not a finite"):
        read_csv(file, drop=["note"])


def test_csv_that_is_not_utf_8(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_bytes(b"a,kind\n1,caf\xe9\n")
    with pytest.raises(ValueError, match="line 2: the byte 0xe9 is not UTF-8"):
        read_csv(file)


def test_csv_column_that_is_not_there_in_a_damaged_file(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n1,2\n1,2,3,4\n")
    with pytest.raises(ValueError, match="has no column 'c'") as caught:
        read_csv(file, target="c")
    assert caught.type is TableError


CSV_FAULTS = {
    "1,2_0,x": "'2_0' in column 'b' is not a finite number",
    '1,"2,x': "unexpected end of data",
    "1,,x": "'' in column 'b' is not a finite number",
    "1,nan,x": "'nan' in column 'b' is not a finite number",
    "inf,2,x": "'inf' in column 'a' is not a finite number",
    "1,red,x": "'red' in column 'b' is not a finite number. Mend or encode it",
    "1,2,": "the label is missing",
    "1": "1 column, where 3 were expected",
    "1,2": "2 columns, where 3 were expected",
    "1,2,x,4": "4 columns, where 3 were expected",
}


@pytest.mark.parametrize("fault", CSV_FAULTS)
def test_csv_faults(tmp_path, fault):
    file = tmp_path / "rows.csv"
    file.write_text(f"a,b,kind\n1,2,x\n\n{fault}\n3,4,y\n")
    line = 5 if '"' in fault else 4
    expected = f"{file}, line {line}: {CSV_FAULTS[fault]}"
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
        ValueError, match=f"no column {column!r}. It has 2 columns: 'a', 'b'"
    ):
        read_csv(file, target=column)
    with pytest.raises(
        ValueError, match=f"no column {column!r}. It has 2 columns: 'a', 'b'"
    ):
        read_csv(file, drop=[column])


def test_readers_are_among_the_data_sets_too():
    assert datasets.read_libsvm is read_libsvm
    assert datasets.read_csv is read_csv


def test_old_line_ends_are_no_columns(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_bytes(b"a,b,y\r" + b"1,2,0\r3,4,1\r" * (MOST_COLUMNS // 2))
    X, _ = read_csv(file, target="y")
    assert X.shape == (MOST_COLUMNS, 2)


def test_too_many_columns(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("a,b,y\n" + "1," * MOST_COLUMNS + "1\n")
    with pytest.raises(ValueError, match=f"has {MOST_COLUMNS + 1} columns"):
        read_csv(file, target="y")


def test_long_header_over_short_rows_is_no_huge_table(tmp_path, monkeypatch):
    file = tmp_path / "rows.csv"
    file.write_text("a" + ",b" * 5000 + "\n" + "1,2\n" * 100)
    monkeypatch.delattr("pandas.read_csv")
    with pytest.raises(ValueError, match=r"line 2: 2 columns, where 5001"):
        read_csv(file)
