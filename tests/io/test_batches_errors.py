# SPDX-License-Identifier: BSD-3-Clause
import datetime
import gzip
import lzma
import os
import re

import numpy as np
import pyarrow as pa
import pytest
from batch_files import N, draw, parts, write
from pyarrow import parquet

from aucmax.io import read_batches
from aucmax.io.tables import columnar, libsvm, plan, text


def numbers(n=N):
    return draw(n)[["real", "whole", "y"]]


def refused(message, paths, error=ValueError, target="y", **options):
    """The call raises, before a row is read."""
    with pytest.raises(error, match=message):
        read_batches(paths, target=target, **options)


def fails(message, paths, target="y", **options):
    """The call is fine, but a row is not."""
    batches = read_batches(paths, target=target, **options)
    with pytest.raises(ValueError, match=message):
        list(batches)


def table(file, **columns):
    parquet.write_table(pa.table(columns), file)


# Files.


def test_no_files(tmp_path):
    gone = str(tmp_path / "gone")
    refused(f"There is no file {gone}.csv", f"{gone}.csv", FileNotFoundError)
    pattern = str(tmp_path / "*.parquet")
    refused(re.escape(f"No file matches {pattern!r}."), pattern, FileNotFoundError)
    refused("has no files named", tmp_path, FileNotFoundError)
    (tmp_path / "a.csv").write_text("a,y\n1,0\n")
    refused(r"no files named \*\.parquet.* such as", tmp_path, FileNotFoundError)
    refused("empty list", [])
    refused("a list of those; got a int", [3])
    refused("a list of those; got a bytes", [b"a.csv"])


def test_formats(tmp_path):
    frame = numbers()
    write(frame, tmp_path / "a.parquet")
    write(frame, tmp_path / "b.csv")
    refused(r"b\.csv is read as csv, but .*a\.parquet as parquet", str(tmp_path / "*"))
    refused(
        r"b\.csv is not a Parquet file, or it is", tmp_path / "b.csv", format="parquet"
    )
    refused("format must be one of", tmp_path, format="xls")
    (tmp_path / "b.csv").rename(tmp_path / "b.dat")
    refused(r"b\.dat has a name that does not say what it holds", tmp_path / "b.dat")
    lines = tmp_path / "b.jsonl"
    lines.write_text('{"a": 1, "y": 0}\n')
    refused(r"not read in batches\. Read it as a whole with read_table", lines)
    lines.unlink()
    packed = tmp_path / "a.parquet.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    refused("is packed, in a way in which parquet files cannot be", packed)
    refused("asked for twice", [tmp_path / "a.parquet", tmp_path])


@pytest.mark.parametrize(
    "kind", ["parquet", "feather", "arrow", "csv", "svm", "csv.gz"]
)
def test_empty_file(tmp_path, kind):
    file = tmp_path / f"a.{kind}"
    file.write_bytes(gzip.compress(b"") if kind == "csv.gz" else b"")
    options = {"target": None if kind == "svm" else "y"}
    refused(rf"a\.{kind} has no rows|a\.{kind} is empty", file, **options)


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv", "svm"])
def test_no_rows_at_all(tmp_path, kind):
    for name in "ab":
        file = tmp_path / f"{name}.{kind}"
        if kind == "svm":
            file.write_text("# nothing\n")
        else:
            write(numbers()[:0], file)
    options = {"n_features": 3, "target": None} if kind == "svm" else {}
    fails(
        rf"a\.{kind} and 1 more file has no rows",
        sorted(tmp_path.iterdir()),
        **options,
    )


def test_cut_off(tmp_path):
    frame = numbers(2000)
    for kind in ("parquet", "feather"):
        whole = tmp_path / f"a.{kind}"
        write(frame, whole, **({"row_group_size": 500} if kind == "parquet" else {}))
        data = whole.read_bytes()
        file = tmp_path / f"b.{kind}"
        for cut in {1, 3, 4, 8, 100, len(data) // 2, len(data) - 8, len(data) - 1}:
            file.write_bytes(data[:cut])
            refused(
                rf"b\.{kind} is not .* or it is damaged or not written", [whole, file]
            )
    text = b"".join(b"%d,%d\n" % (k * 7919 % 1009, k % 2) for k in range(5000))
    packed = gzip.compress(b"a,y\n" + text)
    file = tmp_path / "a.csv.gz"
    for cut in (len(packed) // 2, len(packed) - 1):
        file.write_bytes(packed[:cut])
        with pytest.raises(ValueError, match=r"a\.csv\.gz is cut off or damaged after"):
            list(read_batches(file, target="y"))


def test_cut_off_stream(tmp_path):
    file = tmp_path / "a.arrow"
    write(numbers(), file)
    file.write_bytes(file.read_bytes()[:-400])
    fails(r"a\.arrow is not an Arrow or Feather file, or it is damaged", file)


def test_damaged_pages(tmp_path):
    file = tmp_path / "a.parquet"
    parquet.write_table(
        pa.table({"x": np.arange(9000.0), "y": np.arange(9000) % 2}),
        file,
        use_dictionary=False,
    )
    data = bytearray(file.read_bytes())
    data[4:24] = b"\xff" * 20
    file.write_bytes(data)
    fails(r"a\.parquet is not a Parquet file, or it is damaged", file)


@pytest.mark.parametrize("kind", ["parquet", "csv", "svm"])
def test_files_that_change(tmp_path, kind):
    file = tmp_path / f"a.{kind}"
    if kind == "svm":
        file.write_text("1 1:1\n")
    else:
        write(numbers(), file)
    batches = read_batches(file, target=None if kind == "svm" else "y")
    os.utime(file, ns=(1, 1))
    with pytest.raises(ValueError, match=rf"a\.{kind} has changed since read_batches"):
        list(batches)
    file.unlink()
    with pytest.raises(FileNotFoundError, match="There is no file"):
        list(batches)


# Columns.


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
def test_files_with_other_columns(tmp_path, kind):
    frame = numbers()
    write(frame, tmp_path / f"a.{kind}")
    other = tmp_path / f"b.{kind}"
    paths = [*tmp_path.iterdir(), other]
    write(frame.drop(columns="y"), other)
    refused(rf"b\.{kind} has no column 'y', the target, but .*a\.{kind} has", paths)
    refused(rf"b\.{kind} has no column 'y'. Its first columns: 'real'", other)
    write(frame.drop(columns="whole"), other)
    refused(rf"b\.{kind} has no column 'whole', but .*a\.{kind} has", paths)
    assert len(list(read_batches(paths, target="y", columns=["real"]))) == 1
    write(frame.assign(new=1), other)
    refused(rf"b\.{kind} has a column 'new', but .*a\.{kind} has none", paths)
    assert len(list(read_batches(paths, target="y", columns=["real"]))) == 1


def test_files_with_other_types(tmp_path):
    table(tmp_path / "a.parquet", x=[1.0], y=[0])
    other = tmp_path / "b.parquet"
    for column, held in [
        (pa.array(["1"]), r"text \(string\)"),
        (pa.array(["1"]).dictionary_encode(), r"text \(dictionary.*\)"),
        (pa.array([datetime.date(2000, 1, 1)]), r"dates \(date32\[day\]\)"),
        (pa.array([[1.0]]), r"other values \(list<.*>\)"),
    ]:
        table(other, x=column, y=[1])
        refused(
            rf"'x' of .*b\.parquet holds {held}, but numbers \(double\) in .*a\.parq",
            tmp_path,
        )
        table(other, x=[1.0], y=column)
        refused(r"Column 'y' of .*b\.parquet holds .*, but numbers", tmp_path)
    # All gaps: of no type, so of any.
    table(other, x=pa.nulls(1), y=[1])
    fails(r"b\.parquet, row 0, .* missing in column 'x'", tmp_path)
    found = list(read_batches(tmp_path, target="y", missing=7))
    assert found[0][0].tolist() == [[1], [7]]


def test_columns_that_cannot_be_features(tmp_path):
    file = tmp_path / "a.parquet"
    now = datetime.datetime(2000, 1, 1)
    table(file, x=[1.0], t=[now], y=[0])
    refused(r"'t' of .*a\.parquet holds dates or times \(timestamp.*Turn it into", file)
    assert read_batches(file, target="y", columns=["x"]).n_features == 1
    refused(
        "'t' .* holds timestamp.*, but it is the target",
        file,
        target="t",
        columns=["x"],
    )
    refused("'t' .* holds timestamp.*, but it is the weight", file, weight="t")
    table(file, x=[b"1"], y=[0])
    refused("'x' .* holds binary values", file)
    table(file, x=[{"a": 1}], y=[0])
    refused("'x' .* holds struct<a: int64> values", file)
    table(file, x=["1"], y=[0])
    refused(r"'x' of .*a\.parquet holds text. Pass categories='one-hot'", file)
    refused("no columns to learn from", file, categories="drop")
    table(file, y=[0])
    refused("no columns to learn from", file)


class Scaled(pa.ExtensionType):
    """A type with no hash, as those of users."""

    def __init__(self):
        super().__init__(pa.float64(), "aucmax.tests.scaled")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls()


@pytest.fixture
def scaled():
    pa.register_extension_type(Scaled())
    yield pa.ExtensionArray.from_storage(Scaled(), pa.array([1.0, 2.0]))
    pa.unregister_extension_type("aucmax.tests.scaled")


def test_extension_types(tmp_path, scaled):
    file = tmp_path / "a.parquet"
    table(file, x=[1.0, 2.0], e=scaled, y=[0, 1])
    refused(
        r"'e' of .*a\.parquet holds extension<.*> values. Leave the column out with",
        file,
    )
    refused(
        "'e' .* holds extension<.*, but it is the target",
        file,
        target="e",
        columns=["x"],
    )
    refused("'e' .* holds extension<.*, but it is the weight", file, weight="e")
    assert read_batches(file, target="y", columns=["x"]).n_features == 1
    table(tmp_path / "b.parquet", x=[1.0, 2.0], e=[1.0, 2.0], y=[0, 1])
    refused(
        r"'e' of .*b\.parq.* holds numbers \(double\), but other values \(extension",
        tmp_path,
    )


def test_names(tmp_path):
    file = tmp_path / "a.parquet"
    parquet.write_table(pa.table([[1], [2], [3]], names=["x", "x", "y"]), file)
    refused("more than one column named 'x'", file)
    text = tmp_path / "a.csv"
    text.write_text("x,x,y\n1,2,0\n")
    refused("more than one column named 'x'", text)
    text.write_text("x,,y\n1,2,0\n")
    refused("has no name for its column 1", text)
    table(file, x=[1], z=[2], y=[3])
    refused("'y' .* is asked for twice", file, columns=["x", "y"])
    refused("'x' .* is asked for twice", file, columns=["x", "x"])
    refused("'x' .* is asked for twice", file, columns=["x", "z"], weight="x")
    refused("'y' .* is asked for twice", file, weight="y", columns=["x"])
    refused("columns must be a list", file, columns="x")
    refused("has no column 'w'. The nearest|has no column 'w'", file, weight="w")
    refused("has no column 9: it has 3", file, target=9)
    refused("has labels in some column. Name it: target=", file, target=None)
    table(file, a_b=["c"], a=["b_c"], y=[0])
    refused("would be named 'a_b_c'", file, categories="one-hot")


# Values.


@pytest.mark.parametrize("at_once", [3, 1000])
@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
@pytest.mark.parametrize("batch_rows", [1, 7, 1000])
def test_values_that_are_missing(tmp_path, monkeypatch, kind, batch_rows, at_once):
    monkeypatch.setattr(columnar, "LEAST_ROWS", at_once)
    monkeypatch.setattr(columnar, "MOST_ROWS", at_once)
    monkeypatch.setattr(columnar, "COPIED_BYTES", 1)
    frame = numbers()
    frame.loc[25, "real"] = np.nan
    frame, pattern = parts(tmp_path, kind, sizes=[20, 44], frame=frame)
    fails(
        rf"1\.{kind}, row 5, counted from 0: a value is missing in column 'real'\. "
        "Pass missing='drop'",
        pattern,
        batch_rows=batch_rows,
    )


def test_gaps_in_integers_and_texts(tmp_path):
    file = tmp_path / "a.parquet"
    table(file, x=[1, None], y=[0, 1])
    fails("row 1, counted from 0: a value is missing in column 'x'", file)
    table(file, x=["a", None], y=[0, 1])
    fails("row 1, .* is missing in column 'x'", file, categories="one-hot")


@pytest.mark.parametrize("missing", ["error", "drop", 0])
def test_labels_and_weights_must_be_there(tmp_path, missing):
    file = tmp_path / "a.parquet"
    options = {"missing": missing, "columns": ["x"]}
    for labels, problem in [
        ([0, 1, None], "missing"),
        (["a", "b", None], "missing"),
        (pa.array(["a", "b", None]).dictionary_encode(), "missing"),
        ([True, False, None], "missing"),
        ([0, 1, np.nan], "not a finite number"),
        ([0, 1, np.inf], "not a finite number"),
    ]:
        table(file, x=[1.0, None, 2.0], y=labels, w=[1, 2, 3])
        options["missing"] = 0 if missing == "error" else missing
        fails(
            rf"a\.parquet, row 2, .* the label .*is {problem} in column 'y'",
            file,
            **options,
        )
    for weights, problem in [
        ([1, 2, None], "missing"),
        ([1.0, 2.0, np.nan], "missing"),
        ([1.0, 2.0, np.inf], "inf"),
        ([1, 2, -1], "-1"),
    ]:
        table(file, x=[1.0, None, 2.0], y=[0, 1, 0], w=weights)
        fails(
            rf"row 2, .* the weight is {problem} in column 'w'",
            file,
            weight="w",
            **options,
        )


def test_values_that_are_infinite(tmp_path):
    file = tmp_path / "a.parquet"
    for value in (np.inf, -np.inf):
        table(file, x=[1.0, value], y=[0, 1])
        for missing in ("error", "drop", 0):
            fails("row 1, .* infinite, or too large for float64", file, missing=missing)
    table(file, x=[1.0, 1e300], y=[0, 1])
    assert len(list(read_batches(file, target="y"))) == 1
    fails("row 1, .* too large for float32", file, dtype="float32")
    # Only their sum is infinite.
    table(file, x=[1e308, 1e308, -1e308], y=[0, 1, 1])
    assert len(list(read_batches(file, target="y"))) == 1
    text = tmp_path / "a.csv"
    text.write_text("x,y\n1,0\ninf,1\n")
    fails("row 1, .* infinite", text)


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)])
def test_integers_that_would_be_rounded(tmp_path, value):
    file = tmp_path / "a.parquet"
    for first in (0, None):
        table(file, x=[first, value], y=[0, 1])
        fails(rf"row 1, .* the whole number {value} is beyond 2\^53", file, missing=0)
    table(file, x=[0, 2**53 if value > 0 else -(2**53)], y=[0, 1])
    assert len(list(read_batches(file, target="y"))) == 1
    table(file, x=[0, 1], y=[0, value])
    ((_, y),) = read_batches(file, target="y")
    assert y[1] == value
    text = tmp_path / "a.csv"
    text.write_text(f"x,y\n1,0\n{value},1\n")
    fails(r"row 1, .* is beyond 2\^53", text)
    text.write_text(f"x,y\n1.5,0\n{value},1\n")
    assert len(list(read_batches(text, target="y"))) == 1


def test_categories(tmp_path, monkeypatch):
    file = tmp_path / "a.parquet"
    table(file, x=["a", "b", "c"], z=[1, 2, 3], y=[0, 1, 0])
    fails(
        "row 2, .*'c' is none of the categories given in column 'x'",
        file,
        categories={"x": ["b", "a"]},
    )
    refused("categories must be", file, categories="hot")
    refused("'z', which holds no text", file, categories={"x": ["a"], "z": ["1"]})
    refused("'w', which is no feature", file, categories={"w": ["a"]})
    refused("must be a list of texts; got 'abc'", file, categories={"x": "abc"})
    refused("has a text twice", file, categories={"x": ["a", "a"]})
    refused("'x' .* holds text. Pass", file, categories={})
    monkeypatch.setattr(plan, "MOST_LEVELS", 2)
    refused("'x' .* more than 2 different texts", file, categories="one-hot")


# Text.


@pytest.mark.parametrize("kind", ["csv", "csv.gz"])
def test_text_in_a_late_block(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(text, "BLOCK_BYTES", (256, 2**20))
    rows = [f"{k},{k / 2},{'true' if k % 2 else 'false'},{k % 2}" for k in range(500)]
    file = tmp_path / f"a.{kind}"

    def put(cells):
        text = "\n".join(["a,b,c,y", *rows[:400], cells, *rows[400:]]).encode()
        file.write_bytes(gzip.compress(text) if kind == "csv.gz" else text)

    for cells, column, value, what in [
        ("oops,1,true,0", "a", "oops", "a number"),
        ("1,oops,true,0", "b", "oops", "a number"),
        ("1,1,maybe,0", "c", "maybe", "true or false"),
        ("1,1,true,yes", "y", "yes", "a whole number"),
    ]:
        put(cells)
        message = (
            f"a.{kind}, row 400, counted from 0: '{value}' in column '{column}' is not "
            f"{what}, as the first rows or types say"
        )
        fails(re.escape(message), file, batch_rows=50)
    put("oops,1,true,0")
    batches = read_batches(file, target="y", columns=["b"])
    assert sum(len(y) for _, y in batches) == 501
    put("1,1,true")
    fails("line 402: 3 columns, where 4 were expected", file)
    put('1,1,true,"0')
    fails("line 502: unexpected end of data", file)


def test_a_quote_that_is_never_closed(tmp_path):
    file = tmp_path / "a.csv"
    # All that follows is one cell of the last column, which is not asked for.
    file.write_text('a,y,note\n1,0,x\n2,1,"x\n3,0,x\n4,1,x\n')
    fails("line 5: unexpected end of data", file, columns=["a"])
    file.write_text('a,y,note\n1,0,x\n2,1,"two\nlines"\n')
    assert len(list(read_batches(file, target="y", columns=["a"]))) == 1


def test_text_that_is_not_utf_8(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "BLOCK_BYTES", (64, 2**20))
    file = tmp_path / "a.csv"
    rows = [b"a,text,y", *(b"%d,x,%d" % (k, k % 2) for k in range(40))]
    for at in (1, 30):
        file.write_bytes(b"\n".join([*rows[:at], b"1,\xff,0", *rows[at:]]))
        with pytest.raises(
            ValueError, match=rf"line {at + 1}: the byte 0xff is not UTF-8"
        ):
            list(read_batches(file, target="y", categories="one-hot"))


def test_types(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("a,t,y\n1,2000-01-01,0\n2,2000-01-02,1\n")
    refused("'t' .* holds dates", file)
    batches = read_batches(
        file, target="y", types={"t": "string"}, categories="one-hot"
    )
    assert batches.names[1:] == ("t_2000-01-01", "t_2000-01-02")
    refused("has no column 'b'", file, types={"b": "string"})
    refused("types has 'text' for column 't'", file, types={"t": "text"})
    write(numbers(), tmp_path / "a.parquet")
    refused(
        "parquet, where that is known. Leave out types",
        tmp_path,
        types={"real": "float64"},
    )
    refused("which has no separator", tmp_path, separator=";")
    xz = tmp_path / "a.csv.xz"
    xz.write_bytes(lzma.compress(file.read_bytes()))
    refused("cannot be read in batches. Unpack it", xz)


# LIBSVM.


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 0:1", "line 301: the index 0 is too small. Indices start at 1; add 1"),
        ("1 2:1 1:1", "line 301: index 1 comes after index 2"),
        ("1 1:1 1:1", "line 301: index 1 occurs twice"),
        ("1 1:x", "line 301: the value 'x' of index 1"),
        ("1 1:1_0", "line 301: the value '1_0' of index 1"),
        ("1 1:nan", "line 301: the value 'nan' of index 1"),
        ("1 x:1", "line 301: 'x:1' is not an index:value pair"),
        ("1 1", "line 301: '1' is not an index:value pair"),
        ("yes 1:1", "line 301: 'yes' is not a label"),
        ("nan 1:1", "line 301: 'nan' is not a label"),
        ("1 9999999999:1", "line 301: the index 9999999999"),
    ],
)
@pytest.mark.parametrize("n_features", [None, 3])
def test_libsvm_lines(tmp_path, monkeypatch, line, message, n_features):
    monkeypatch.setattr(libsvm, "BLOCK_BYTES", 256)
    file = tmp_path / "a.svm"
    file.write_text("1 1:1 3:2 # a_b\n" * 300 + line + "\n" + "0 2:1\n" * 10)
    with pytest.raises(ValueError, match=re.escape(message)):
        list(read_batches(file, n_features=n_features, batch_rows=50))


def test_libsvm_features_beyond_those_asked_for(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1 3:2\n")
    (tmp_path / "b.svm").write_text("0 1:1\n1 4:1\n")
    pattern = str(tmp_path / "*.svm")
    assert read_batches(pattern).n_features == 4
    fails(
        r"b\.svm, line 2: the index 4 is beyond the 3 features asked for",
        pattern,
        target=None,
        n_features=3,
    )
    (tmp_path / "b.svm").write_text("0.5 1:1\n")
    fails(
        r"b\.svm has the label 0.5, but all before it were whole", pattern, target=None
    )
    (tmp_path / "a.svm").write_text("1\n0\n")
    refused("has no index:value pairs", tmp_path / "a.svm", target=None)


@pytest.mark.parametrize(
    "option",
    [
        {"target": "y"},
        {"columns": [0]},
        {"weight": 0},
        {"missing": "drop"},
        {"missing": 0},
        {"categories": "drop"},
        {"types": {"a": "string"}},
        {"separator": " "},
    ],
)
def test_libsvm_has_no_columns(tmp_path, option):
    file = tmp_path / "a.svm"
    file.write_text("1 1:1\n")
    refused(
        f"libsvm|LIBSVM.* Leave out {next(iter(option))}",
        file,
        **{"target": None, **option},
    )


def test_libsvm_has_no_record_batches(tmp_path):
    file = tmp_path / "a.svm"
    file.write_text("1 1:1\n")
    with pytest.raises(ValueError, match="no Arrow columns"):
        read_batches(file).record_batches()


# Options.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_rows": 0}, "batch_rows must be an integer from 1 on; got 0"),
        ({"batch_rows": 2.0}, "batch_rows must be an integer from 1 on; got 2.0"),
        ({"batch_rows": True}, "batch_rows must be an integer"),
        ({"prefetch": -1}, "prefetch must be an integer from 0 on; got -1"),
        ({"dtype": "int8"}, "dtype must be one of auto, float32, float64; got 'int8'"),
        (
            {"missing": "mean"},
            "missing must be 'error', 'drop' or a number; got 'mean'",
        ),
        ({"missing": None}, "missing must be 'error', 'drop' or a number; got None"),
        ({"missing": True}, "missing must be 'error', 'drop' or a number; got True"),
        ({"missing": np.nan}, "missing must be a number that float64 holds; got nan"),
        ({"n_features": 3}, "parquet, where that is known. Leave out n_features"),
    ],
)
def test_options(tmp_path, options, message):
    write(numbers(), tmp_path / "a.parquet")
    refused(message, tmp_path, **options)


def test_fillers_that_float32_does_not_hold(tmp_path):
    write(numbers().astype({"real": "f4", "whole": "f4"}), tmp_path / "a.parquet")
    refused("missing must be a number that float32 holds", tmp_path, missing=1e300)


def test_skip(tmp_path):
    write(numbers(), tmp_path / "a.parquet")
    batches = read_batches(tmp_path, target="y")
    for n in (-1, 1.0):
        with pytest.raises(ValueError, match="n_batches must be an integer from 0 on"):
            batches.skip(n)
