# SPDX-License-Identifier: BSD-3-Clause
import bz2
import datetime
import decimal
import gzip
import io
import lzma
import re
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal
from pyarrow import feather, parquet

from aucmax.io import TableError, read_table
from aucmax.io.tables import source, text

PACKERS = {"": bytes, ".bz2": bz2.compress, ".gz": gzip.compress, ".xz": lzma.compress}
SMALL = b"a,b,kind\n1,2.5,x\n3,4,y\n"


def write(frame, file):
    suffix = file.name.partition(".")[2]
    if suffix.startswith("csv"):
        frame.to_csv(file, index=False)
    elif suffix == "tsv":
        frame.to_csv(file, index=False, sep="\t")
    elif suffix == "parquet":
        frame.to_parquet(file)
    else:
        frame.to_feather(file)


# Text that no reader takes for a number, a date or a gap. Carriage returns, which end a
# line, are written by pandas without quotes.
characters = st.characters(codec="utf-8", exclude_characters="\0\r")
words = st.text(characters).map("w".__add__)


@st.composite
def frames(draw):
    n = draw(st.integers(1, 6))

    def column(values):
        return st.lists(values, min_size=n, max_size=n)

    text = draw(column(words | st.just(""))) if n > 1 else ["w"]
    text[0] = text[0] or "w"
    frame = pd.DataFrame(
        {
            "whole": draw(column(st.integers(-(2**63), 2**63 - 1))),
            "real": np.array(draw(column(st.floats())), dtype=float),
            'odd "name", so': draw(column(st.booleans())),
            "text": text,
        }
    )
    # A gap, but not in all rows: an empty column has no type.
    for k in draw(st.sets(st.integers(1, 6))):
        if k < n:
            frame.loc[k, "text"] = None
    return frame.astype({"whole": np.int64, 'odd "name", so': bool})


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "parquet", "feather"])
@given(frame=frames())
@settings(max_examples=20, deadline=None)
def test_round_trip(tmp_path_factory, suffix, frame):
    file = tmp_path_factory.getbasetemp() / f"round-trip.{suffix}"
    write(frame, file)
    table = read_table(file)
    assert table.y is None
    assert table.names == tuple(frame.columns)
    assert table.source == str(file)
    if "sv" in suffix:
        # pandas writes no quotes around it.
        frame["text"] = frame["text"].replace("", None)
    assert_frame_equal(table.X, frame)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "feather"])
@pytest.mark.parametrize("target", ["kind", 1, -2])
def test_target_by_name_and_position(tmp_path, suffix, target):
    frame = pd.DataFrame({"a": [1, 2], "kind": ["x", "y"], "b": [0.5, 1.5]})
    file = tmp_path / f"rows.{suffix}"
    write(frame, file)
    table = read_table(file, target=target)
    assert table.y.tolist() == ["x", "y"]
    assert_frame_equal(table.X, frame[["a", "b"]])


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_some_columns_in_the_order_asked_for(tmp_path, suffix):
    frame = pd.DataFrame({"a": [1, 2], "b": [0, 1], "c": [3, 4], "d": [5, 6]})
    file = tmp_path / f"rows.{suffix}"
    write(frame, file)
    table = read_table(file, target="b", columns=["d", 0])
    assert table.names == ("d", "a")
    assert_frame_equal(table.X, frame[["d", "a"]])
    assert_array_equal(table.y, [0, 1])


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_text_from_files_and_streams(tmp_path, suffix):
    file = tmp_path / f"rows.csv{suffix}"
    file.write_bytes(PACKERS[suffix](SMALL))
    from_path = read_table(str(file), target="kind")
    # Known by how it begins, as a stream may have no name.
    stream = io.BytesIO(file.read_bytes())
    from_stream = read_table(stream, target="kind")
    with file.open("rb") as opened:
        from_file = read_table(opened, target="kind")
    for table in (from_path, from_stream, from_file):
        assert_frame_equal(table.X, pd.DataFrame({"a": [1, 3], "b": [2.5, 4.0]}))
        assert table.y.tolist() == ["x", "y"]
    assert from_file.source == str(file)


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("name", ["svm", "libsvm", "svmlight"])
def test_libsvm(tmp_path, suffix, name):
    file = tmp_path / f"rows.{name}{suffix}"
    file.write_bytes(PACKERS[suffix](b"1 1:0.5 3:2\n-1 2:1\n"))
    table = read_table(file)
    assert_array_equal(table.X.toarray(), [[0.5, 0, 2], [0, 1, 0]])
    assert table.X.format == "csr"
    assert_array_equal(table.y, [1, -1])
    assert table.names == ()


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(SMALL)

    monkeypatch.setattr(sys, "stdin", Stdin)
    table = read_table("-", target=-1)
    assert table.y.tolist() == ["x", "y"]
    assert table.source == "the standard input"
    Stdin.buffer = io.BytesIO(b"1 1:2\n")
    assert read_table("-", format="libsvm").X.shape == (1, 1)
    Stdin.buffer = io.BytesIO(b"a,b\n1\n")
    with pytest.raises(ValueError, match="the standard input, line 2: 1 column,"):
        read_table("-")


@pytest.mark.parametrize("format", ["parquet", "arrow", "feather", "ipc"])
def test_binary_formats_from_streams(tmp_path, format):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    write(frame, tmp_path / f"rows.{'parquet' if format == 'parquet' else 'feather'}")
    data = next(tmp_path.iterdir()).read_bytes()
    assert_frame_equal(read_table(io.BytesIO(data), format=format).X, frame)


def test_arrow_stream(tmp_path):
    content = pa.table({"a": [1, 2], "y": [True, False]})
    with pa.ipc.new_stream(tmp_path / "rows.arrow", content.schema) as sink:
        sink.write_table(content)
    table = read_table(tmp_path / "rows.arrow", target="y")
    assert_frame_equal(table.X, pd.DataFrame({"a": [1, 2]}))
    assert_array_equal(table.y, [True, False])


def test_files_of_polars(tmp_path):
    frame = pl.DataFrame({"a": [1.5, None], "town": ["Graz", "Linz"], "y": [0, 1]})
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_ipc(tmp_path / "rows.arrow", compression="zstd")
    expected = pd.DataFrame({"a": [1.5, None], "town": ["Graz", "Linz"]})
    for file in tmp_path.iterdir():
        table = read_table(file, target="y")
        assert_frame_equal(table.X, expected)
        assert_array_equal(table.y, [0, 1])


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_row_labels_are_no_feature(tmp_path, suffix):
    frame = pd.DataFrame({"a": [1, 2], "y": [0, 1]}, index=["first", "second"])
    file = tmp_path / f"rows.{suffix}"
    pa_table = pa.Table.from_pandas(frame)
    if suffix == "parquet":
        parquet.write_table(pa_table, file)
    else:
        feather.write_feather(pa_table, file)
    table = read_table(file, target="y")
    assert_frame_equal(table.X, pd.DataFrame({"a": [1, 2]}))


def test_folder_that_looks_like_a_column(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    write(pd.DataFrame({"a": [1]}), folder / "rows.parquet")
    assert read_table(folder / "rows.parquet").names == ("a",)


def test_kinds_of_columns(tmp_path):
    file = tmp_path / "rows.parquet"
    content = {
        "empty": pa.nulls(2),
        "price": [decimal.Decimal("1.5"), None],
        "kind": pa.array(["x", "y"]).dictionary_encode(),
        "day": [datetime.date(2020, 1, 1), None],
        "y": pa.array(["no", "yes"]).dictionary_encode(),
    }
    parquet.write_table(pa.table(content), file)
    table = read_table(file, target="y")
    assert_array_equal(table.X["empty"], [np.nan, np.nan])
    assert_array_equal(table.X["price"], [1.5, np.nan])
    assert table.X["empty"].dtype == table.X["price"].dtype == np.float64
    assert table.X["kind"].tolist() == ["x", "y"]
    assert table.X["day"].dtype.kind == "M"
    assert table.y.tolist() == ["no", "yes"]


@pytest.mark.parametrize("values", [[[1, 2]], [{"b": 1}], [b"bytes"]])
def test_columns_that_are_no_features(tmp_path, values):
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"a": values, "b": [1]}), file)
    with pytest.raises(ValueError, match=r"Column 'a' of .*rows\.parquet holds"):
        read_table(file)
    assert read_table(file, columns=["b"]).names == ("b",)


def test_gaps_in_text():
    data = b'a,b,c\n1,NA,""\n,x,null\nnan,"NA",y\n'
    X = read_table(io.BytesIO(data)).X
    assert X["a"].isna().tolist() == [False, True, True]
    assert X["b"].isna().tolist() == [True, False, False]
    assert X["b"].tolist()[1:] == ["x", "NA"]
    assert X["c"].isna().tolist() == [False, True, False]
    assert X["c"][0] == ""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark(end):
    text = "\ufeff" + end.join(["", "a,b", "1,x", "", "2,y", ""])
    X = read_table(io.BytesIO(text.encode())).X
    assert_frame_equal(X, pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))


def test_types_are_found_from_all_rows(monkeypatch):
    # 30 blocks, of which only the last says that these are no whole numbers.
    monkeypatch.setattr(text, "BLOCK_BYTES", (256, 2**20))
    rows = ["1,1,9007199254740993"] * 2000 + ["1.5,2,7"]
    X = read_table(io.BytesIO("\n".join(["a,b,c", *rows]).encode())).X
    assert X.dtypes.tolist() == [np.float64, np.int64, np.int64]
    assert X["a"].tolist()[-2:] == [1, 1.5]


def test_text_after_numbers(monkeypatch):
    monkeypatch.setattr(text, "BLOCK_BYTES", (256, 2**20))
    rows = ["1,1"] * 2000 + ["1,w"]
    data = "\n".join(["a,b", *rows]).encode()
    with pytest.raises(
        TableError, match=r"row 2000, .* 'w' in column 'b' is not a number"
    ):
        read_table(io.BytesIO(data))
    X = read_table(io.BytesIO(data), text=["b"]).X
    assert X["b"].tolist()[-2:] == ["1", "w"]


def test_row_that_is_longer_than_a_block(monkeypatch):
    monkeypatch.setattr(text, "BLOCK_BYTES", (64, 2**20))
    names = [f"x{k}" for k in range(100)]
    data = "\n".join([",".join(names), ",".join(["1.5"] * 100), ",".join(["2"] * 100)])
    X = read_table(io.BytesIO(data.encode())).X
    assert X.shape == (2, 100)
    assert X.to_numpy().sum() == 350


FAULTS = {
    b"": "is empty",
    b"\n\n": "is empty",
    b"a,b": "has no rows below the names",
    b"a,b\n": "has no rows below the names",
    b"a,b\n\n1,2\n3\n": ", line 4: 1 column, where 2 were expected",
    b"a,b\n1,2\n3,4,5\n": ", line 3: 3 columns, where 2 were expected",
    b'a,b\n1,"x\ny"\n3,4,5\n': ", line 4: 3 columns, where 2",
    b'a,b\n1,2\n3,"4\n5,6\n': ", line 4: unexpected end of data",
    b"a,b\n1,x\n2,caf\xe9\n": ", line 3: the byte 0xe9 is not UTF-8",
    b"caf\xe9,b\n1,x\n": ", line 1: the byte 0xe9 is not UTF-8",
    "a,b\n1,2\n".encode("utf-16"): "is in UTF-16. Save it in UTF-8",
    b"1,2.5,-3e4\n4,5,6\n": "header=False",
    b"a,b,a\n1,2,3\n": "more than one column named 'a'",
    b",a\n0,1\n": "has no name for its column 0",
    b"a;b\n1;2\n": r"separated by ';' rather than by a comma\. Pass separator=';'\.",
    b"a\tb\n1\t2\n": r"Pass separator='\\t'\.",
}


@pytest.mark.parametrize("data", FAULTS)
def test_faults_of_text(tmp_path, data):
    file = tmp_path / "rows.csv"
    file.write_bytes(data)
    with pytest.raises(ValueError, match=FAULTS[data]) as caught:
        read_table(file)
    assert caught.type is TableError
    assert str(file) in str(caught.value)


def test_column_without_a_name_can_be_left_out():
    X = read_table(io.BytesIO(b",a\n7,1\n"), columns=["a"]).X
    assert_frame_equal(X, pd.DataFrame({"a": [1]}))


@pytest.mark.parametrize("mark", [";", "|", "\t", " ", ","])
def test_separator(tmp_path, mark):
    file = tmp_path / "rows.csv"
    file.write_bytes(SMALL.replace(b",", mark.encode()))
    table = read_table(file, target="kind", separator=mark)
    assert_frame_equal(table.X, pd.DataFrame({"a": [1, 3], "b": [2.5, 4.0]}))
    assert table.y.tolist() == ["x", "y"]


def test_separator_that_is_not_between_the_columns():
    words = r"separated by ',' rather than by ';'\. Pass separator=','\."
    with pytest.raises(ValueError, match=words):
        read_table(io.BytesIO(SMALL), separator=";")


@pytest.mark.parametrize("mark", ["", "::", '"', "\n", "\r", "\u00a7"])
def test_separator_that_is_none(mark):
    with pytest.raises(ValueError, match="separator must be one ASCII character"):
        read_table(io.BytesIO(SMALL), separator=mark)


def test_separator_of_what_is_no_text(tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"read as parquet, which has no separator\."):
        read_table(tmp_path / "rows.parquet", separator=";")
    with pytest.raises(ValueError, match=r"read as libsvm, which has no separator\."):
        read_table(io.BytesIO(b"1 1:2\n"), format="libsvm", separator=" ")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_columns_that_a_function_chooses(tmp_path, suffix):
    file = tmp_path / f"rows.{suffix}"
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4], "kind": ["x", "y"]})
    write(frame, file)
    seen = []

    def choose(names):
        seen.append(list(names))
        return ["b"]

    table = read_table(file, target="kind", columns=choose)
    assert seen == [["a", "b", "kind"]]
    assert_frame_equal(table.X, frame[["b"]])

    def refuse(names):
        raise ValueError("None of these.")

    with pytest.raises(ValueError, match=r"^None of these\.$"):
        read_table(file, columns=refuse)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "csv.xz", "csv.zip"])
def test_threads_of_pyarrow_hold_no_file_of_python(tmp_path, monkeypatch, suffix):
    """They may outlive the interpreter, and would abort the process then."""
    file = tmp_path / f"rows.{suffix}"
    file.write_bytes(PACKERS.get(suffix[3:], bytes)(SMALL))
    if suffix == "csv.zip":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("rows.csv", SMALL)
    threads = set()

    class Watched(io.BytesIO):
        def read(self, size=-1):
            threads.add(threading.get_ident())
            return super().read(size)

    monkeypatch.setattr(source, "open_binary", lambda *_: Watched(SMALL))
    assert read_table(file, target="kind").y.tolist() == ["x", "y"]
    assert threads <= {threading.get_ident()}


def test_commas_in_a_file_with_tabs():
    with pytest.raises(ValueError, match=r"rather than by a tab\. Pass separator=','"):
        read_table(io.BytesIO(SMALL), format="tsv")


@pytest.mark.parametrize("suffix", [".bz2", ".gz", ".xz"])
def test_packed_file_that_is_cut_off(tmp_path, suffix):
    rows = "".join(f"{k % 7},{k * k % 9973}\n" for k in range(5000))
    file = tmp_path / f"rows.csv{suffix}"
    file.write_bytes(PACKERS[suffix](b"a,b\n" + rows.encode())[:-20])
    with pytest.raises(ValueError, match="is cut off or damaged after line"):
        read_table(file)
    file.write_bytes(b"<html>not found</html>")
    with pytest.raises(ValueError, match="is cut off or damaged after line 0"):
        read_table(file)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_binary_file_that_is_damaged(tmp_path, suffix):
    file = tmp_path / f"rows.{suffix}"
    write(pd.DataFrame({"a": np.arange(1000)}), file)
    data = file.read_bytes()
    for keep in range(10, 100, 10):
        file.write_bytes(data[: len(data) * keep // 100])
        with pytest.raises(ValueError, match=re.escape(f"{file} is not a")):
            read_table(file)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_tables_without_rows_or_features(tmp_path, suffix):
    file = tmp_path / f"rows.{suffix}"
    write(pd.DataFrame({"a": [1], "b": [2]})[:0], file)
    with pytest.raises(ValueError, match="no rows"):
        read_table(file)
    write(pd.DataFrame({"y": [1, 0]}), file)
    with pytest.raises(ValueError, match="no column besides the target"):
        read_table(file, target="y")


def test_equal_names_in_a_binary_file(tmp_path):
    content = pa.table([[1], [2]], names=["a", "a"])
    feather.write_feather(content, tmp_path / "rows.feather")
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        read_table(tmp_path / "rows.feather")


ARGUMENTS = [
    ({"target": "Kinds"}, "no column 'Kinds'. The nearest names: 'kind'"),
    ({"target": "zzz"}, "no column 'zzz'. Its first columns: 'a', 'b', 'kind'"),
    ({"target": 3}, "no column 3: it has 3"),
    ({"target": -4}, "no column -4: it has 3"),
    ({"target": True}, "got True, a bool"),
    ({"target": 1.0}, "got 1.0, a float"),
    ({"columns": "a"}, "columns must be a list"),
    ({"columns": ["a", "c"]}, "no column 'c'"),
    ({"columns": ["a", 0]}, "Column 'a' of .* is asked for twice"),
    ({"columns": ["kind"], "target": "kind"}, "Column 'kind' of .* twice"),
    ({"columns": [], "target": "kind"}, "no column besides the target"),
    ({"format": "xlsx"}, "format must be one of csv, tsv, jsonl, parquet"),
    ({"format": "libsvm", "target": 0}, "LIBSVM's format.* Leave out target"),
    ({"format": "libsvm", "columns": [0]}, "LIBSVM's format.* Leave out target"),
    ({"format": "parquet"}, "is not a Parquet file, or it is damaged"),
    ({"format": "arrow"}, "is not an Arrow or Feather file, or it is damaged"),
]


@pytest.mark.parametrize(("options", "expected"), ARGUMENTS)
def test_bad_arguments(options, expected):
    with pytest.raises(ValueError, match=expected) as caught:
        read_table(io.BytesIO(SMALL), **options)
    assert caught.type is TableError


@pytest.mark.parametrize("empty", ["", "NA"])
def test_missing_labels(empty):
    data = f"a,y\n1,x\n2,{empty}\n3,{empty}\n".encode()
    with pytest.raises(ValueError, match=r"row 1, .* label is missing in column 'y'"):
        read_table(io.BytesIO(data), target="y")


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        (["0", "inf"], "row 1, .* the label inf is not a finite number in column 'y'"),
        (["0.5", "-inf"], "row 1, .* the label -inf is not .*Leave the row out"),
        (
            ["1", "99999999999999999999"],
            "row 1, .* the label 1e.20 is too large .*Number the cla",
        ),
        (["9007199254740993", "0.5"], "row 0, .* too large to be told from the next"),
    ],
)
def test_labels_that_are_no_classes(labels, problem):
    data = f"a,y\n1,{labels[0]}\n2,{labels[1]}\n".encode()
    with pytest.raises(ValueError, match=problem):
        read_table(io.BytesIO(data), target="y")


def test_large_labels_are_exact(tmp_path):
    data = b"a,y\n1,9007199254740992\n2,9007199254740993\n"
    assert read_table(io.BytesIO(data), target="y").y.tolist() == [2**53, 2**53 + 1]
    # Not rounded by us, as these are numbers in the file already.
    file = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"a": [1, 2], "y": [2.0**60, 0.5]}), file)
    assert read_table(file, target="y").y.tolist() == [2.0**60, 0.5]
    parquet.write_table(pa.table({"a": [1, 2], "y": [0.0, np.nan]}), file)
    with pytest.raises(
        ValueError,
        match=r"row 1, .* the label nan is not a finite number in column 'y'",
    ):
        read_table(file, target="y")


def test_names_that_only_python_takes_for_numbers():
    data = b"1_0,2_0\n1,2\n"
    assert read_table(io.BytesIO(data)).names == ("1_0", "2_0")
    # A number with an underscore is text, as in any other cell.
    X = read_table(io.BytesIO(b"a,b\n1_0,2\n")).X
    assert X["a"].tolist() == ["1_0"]


def test_what_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*rows\.csv"):
        read_table(tmp_path / "rows.csv")
    with pytest.raises(FileNotFoundError, match="has no files named"):
        read_table(tmp_path)
    (tmp_path / "rows.dat").write_bytes(SMALL)
    with pytest.raises(ValueError, match=r"does not say what it holds\. Pass format="):
        read_table(tmp_path / "rows.dat")
    assert read_table(tmp_path / "rows.dat", format="csv").names == ("a", "b", "kind")
    with pytest.raises(ValueError, match="got a DataFrame"):
        read_table(pd.DataFrame())
    with pytest.raises(ValueError, match=r"text rather than bytes\. Open it with"):
        read_table(io.StringIO("a\n1\n"))


MEASURE = """
import sys
from pathlib import Path
import pandas, pyarrow.csv
from aucmax.io import read_table

def peak():
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])

before = peak()
table = read_table(sys.argv[1], target="y")
print(len(table.y), peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_a_small_multiple_of_the_file(tmp_path):
    file = tmp_path / "rows.csv"
    n_rows = 600_000
    file.write_bytes(b"a,b,c,d,town,y\n" + n_rows * b"1.23456,-2.34567,12,3,Graz,no\n")
    size = file.stat().st_size
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(file)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    n_read, n_bytes = map(int, done.stdout.split())
    assert n_read == n_rows
    # Some blocks of text, its columns, and these columns in pandas.
    assert size < n_bytes < 5 * size + 2**25


LABELS = {
    "text": ["no", "yes", "no"],
    "whole": [-1, 1, 1],
    "real": [0.0, 1.0, 0.5],
    "truth": [True, False, True],
    "many": ["a", "b", "c"],
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("n_chunks", [1, 3])
def test_labels_come_as_they_are(tmp_path, name, n_chunks):
    file = tmp_path / "rows.parquet"
    content = pa.table({"x": [1, 2, 3], "y": LABELS[name]})
    parquet.write_table(content, file, row_group_size=3 // n_chunks)
    y = read_table(file, target="y").y
    assert isinstance(y, np.ndarray)
    assert y.tolist() == LABELS[name]
    assert y.dtype == {"whole": np.int64, "real": float, "truth": bool}.get(
        name, object
    )


def test_labels_in_pieces_with_dictionaries_of_their_own(tmp_path):
    pieces = [pa.array(part).dictionary_encode() for part in (["b", "a"], ["a", "c"])]
    content = pa.table({"x": [1, 2, 3, 4], "y": pa.chunked_array(pieces)})
    parquet.write_table(content, tmp_path / "rows.parquet", row_group_size=2)
    y = read_table(tmp_path / "rows.parquet", target="y").y
    assert y.tolist() == ["b", "a", "a", "c"]
