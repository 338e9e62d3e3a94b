# SPDX-License-Identifier: BSD-3-Clause
import bz2
import gzip
import os
import pickle
import subprocess
import sys
from itertools import islice

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from batch_files import N, assert_same, draw, joined, parts, write
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pyarrow import feather, parquet
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from aucmax.io import Batches, read_batches, read_libsvm, read_table
from aucmax.io.tables import columnar, libsvm
from aucmax.io.tables import text as text_files

TABLES = ["parquet", "feather", "arrow", "csv", "csv.gz", "csv.bz2", "tsv"]
SIZES = [1, 7, 16, 32, 64, 65, 10**12]


def expected(frame):
    """What one-hot rows are, by pandas."""
    towns = pd.get_dummies(frame["town"], prefix="town")
    return pd.concat([frame[["real", "whole", "flag"]], towns], axis=1).astype(float)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("batch_rows", SIZES)
def test_equal_to_the_whole_table(tmp_path, kind, batch_rows):
    frame, pattern = parts(tmp_path, kind)
    batches = read_batches(
        pattern,
        target="y",
        weight="mass",
        categories="one-hot",
        batch_rows=batch_rows,
    )
    found = list(batches)
    sizes = [len(y) for _, y, _ in found]
    assert sizes[:-1] == [batch_rows] * (len(sizes) - 1)
    assert 0 < sizes[-1] <= batch_rows
    for X, y, weight in found:
        assert X.shape == (len(y), batches.n_features)
        assert X.flags.f_contiguous
        assert (X.dtype, y.dtype, weight.dtype) == (float, np.int64, float)
    X, y, weight = joined(found)
    oracle = expected(frame)
    assert batches.names == tuple(oracle.columns)
    assert_array_equal(X, oracle)
    assert_array_equal(y, frame["y"])
    assert_array_equal(weight, frame["mass"])
    # Again, and again broken off.
    assert_same(batches, found)
    assert_same(islice(batches, 1), found[:1])
    for n in {0, 1, len(found) - 1, len(found), len(found) + 3}:
        assert_same(batches.skip(n), found[n:])
    assert_same(batches.skip(1).skip(2), found[3:])


@pytest.mark.parametrize("kind", TABLES)
def test_equal_to_read_table(tmp_path, kind):
    parts(tmp_path, kind, sizes=[N])
    file = tmp_path / f"0.{kind}"
    columns = ["whole", "real"]
    table = read_table(file, target="town", columns=columns)
    X, y = joined(read_batches(file, target=3, columns=columns, batch_rows=10))
    assert_array_equal(X, table.X)
    assert_array_equal(y, table.y)
    assert y.dtype == table.y.dtype == object


@pytest.mark.parametrize("pack", ["", ".gz", ".bz2"])
@pytest.mark.parametrize("batch_rows", SIZES)
def test_libsvm(tmp_path, monkeypatch, pack, batch_rows):
    monkeypatch.setattr(libsvm, "BLOCK_BYTES", 100)
    packer = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[pack]
    frame = draw()
    # The highest index is in one line of the second file only.
    rows = sparse.random_array((N, 30), density=0.1, rng=0).toarray().round(3)
    rows[:, 29] = np.arange(N) == 40
    X, low = sparse.csr_matrix(rows), 0
    for k, size in enumerate([20, 31, 13]):
        plain = tmp_path / "plain"
        part = slice(low, low + size)
        dump_svmlight_file(
            X[part], frame["y"][part], str(plain), zero_based=False, comment="a_b"
        )
        (tmp_path / f"{k}.svm{pack}").write_bytes(packer(plain.read_bytes()))
        low += size
    batches = read_batches(str(tmp_path / f"*.svm{pack}"), batch_rows=batch_rows)
    assert (batches.n_features, batches.names) == (30, ())
    found = list(batches)
    sizes = [len(y) for _, y in found]
    assert sizes[:-1] == [batch_rows] * (len(sizes) - 1)
    assert 0 < sizes[-1] <= batch_rows
    for block, y in found:
        assert block.format == "csr"
        assert block.shape == (len(y), 30)
        assert (block.dtype, y.dtype) == (float, np.int64)
        block.check_format(full_check=True)
    every, y = joined(found)
    assert_array_equal(every, X.toarray())
    assert_array_equal(y, frame["y"])
    assert_same(batches, found)
    for n in {1, len(found)}:
        assert_same(batches.skip(n), found[n:])
    wider = read_batches(
        tmp_path / f"0.svm{pack}", n_features=40, dtype="float32", format="libsvm"
    )
    (block, y), *others = wider
    assert not others
    oracle, _ = read_libsvm(tmp_path / f"0.svm{pack}", 40)
    assert_array_equal(block.toarray(), oracle.toarray().astype(np.float32))
    assert block.dtype == np.float32


def test_libsvm_labels(tmp_path):
    file = tmp_path / "a.svm"
    file.write_text("# a comment\n0.5 1:2\n-1 qid:7 # 9:9\n\n2\r\n3\t2:1")
    X, y = joined(read_batches(file))
    assert_array_equal(X, [[2, 0], [0, 0], [0, 0], [0, 1]])
    assert y.tolist() == [0.5, -1, 2, 3]


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_cut_of_rows_into_files_groups_and_batches(tmp_path_factory, data):
    sizes = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=4))
    n = sum(sizes)
    if not n:
        return
    frame = draw(n)[["real", "whole", "y"]].astype({"whole": float})
    gaps = data.draw(st.sets(st.integers(0, n - 1)))
    frame.loc[list(gaps), "whole"] = np.nan
    folder = tmp_path_factory.mktemp("cut")
    group = data.draw(st.integers(1, 10))
    low = 0
    for k, size in enumerate(sizes):
        write(
            frame[low : low + size],
            folder / f"{k}.parquet",
            row_group_size=group,
        )
        low += size
    batch_rows = data.draw(st.integers(1, n + 1))
    missing = data.draw(st.sampled_from(["drop", -3.5]))
    kept = frame.dropna() if missing == "drop" else frame.fillna(missing)
    batches = read_batches(folder, target="y", missing=missing, batch_rows=batch_rows)
    if kept.empty:
        with pytest.raises(ValueError, match="all have been dropped"):
            list(batches)
        return
    skipped = data.draw(st.integers(0, 3))
    found = list(batches.skip(skipped))
    kept = kept[skipped * batch_rows :]
    assert len(found) == -(-len(kept) // batch_rows)
    if found:
        X, y = joined(found)
        assert_array_equal(X, kept[["real", "whole"]])
        assert_array_equal(y, kept["y"])


@pytest.mark.parametrize("missing", [0.5, "drop"])
@pytest.mark.parametrize("copied", [1, 100, 2**20])
@pytest.mark.parametrize("at_once", [1, 4, 7, 100])
def test_some_columns_of_some_rows_at_a_time(
    tmp_path, monkeypatch, at_once, copied, missing
):
    monkeypatch.setattr(columnar, "LEAST_ROWS", 1)
    monkeypatch.setattr(columnar, "MOST_ROWS", at_once)
    monkeypatch.setattr(columnar, "COPIED_BYTES", copied)
    frame = draw()
    # Each row group has a dictionary of its own.
    frame["town"] = frame["town"].astype("category")
    frame.loc[[3, 30], "real"] = np.nan
    frame, pattern = parts(tmp_path, "parquet", frame=frame)
    kept = frame.dropna() if missing == "drop" else frame.fillna({"real": missing})
    for batch_rows in (1, 7, 64):
        batches = read_batches(
            pattern,
            target="y",
            weight="mass",
            categories="one-hot",
            missing=missing,
            batch_rows=batch_rows,
        )
        for skipped in (0, 1, 2):
            rest = kept[skipped * batch_rows :]
            found = list(batches.skip(skipped))
            assert len(found) == -(-len(rest) // batch_rows)
            if found:
                X, y, weight = joined(found)
                assert_array_equal(X, expected(rest))
                assert_array_equal(y, rest["y"])
                assert_array_equal(weight, rest["mass"])


def test_columns_are_found_by_name(tmp_path):
    frame = draw(10)[["real", "whole", "y"]]
    write(frame[:4], tmp_path / "0.parquet")
    write(frame[["y", "whole", "real"]][4:], tmp_path / "1.parquet")
    X, y = joined(read_batches(tmp_path, target="y"))
    assert_array_equal(X, frame[["real", "whole"]])
    assert_array_equal(y, frame["y"])


def test_positions_count_in_the_first_file(tmp_path):
    frame, pattern = parts(tmp_path, "csv")
    batches = read_batches(pattern, target=-2, weight=-1, columns=[1, "real"])
    X, _, weight = joined(batches)
    assert batches.names == ("whole", "real")
    assert_array_equal(X, frame[["whole", "real"]])
    assert_array_equal(weight, frame["mass"])

    def choose(names):
        assert names == list(frame.columns)
        return ["whole", "real"]

    assert_same(
        read_batches(pattern, target="y", weight="mass", columns=choose), batches
    )


def test_names_that_begin_alike(tmp_path):
    # pyarrow takes the point for a step into a struct.
    frame = pd.DataFrame({"a.b": [1.0, 2], "a": [3.0, 4], "y": [0, 1]})
    write(frame, tmp_path / "a.parquet")
    X, _ = joined(read_batches(tmp_path, target="y", columns=["a"]))
    assert_array_equal(X, [[3], [4]])


def test_labels_of_pandas_rows_are_no_feature(tmp_path):
    frame = draw(9)[["real", "y"]].set_index(pd.Index(range(3, 12), name="id"))
    frame.to_parquet(tmp_path / "a.parquet")
    assert read_batches(tmp_path, target="y").names == ("real",)


@pytest.mark.parametrize(
    ("kinds", "given", "dtype"),
    [
        (["f4", "f4"], "auto", "f4"),
        (["f2", "f4"], "auto", "f4"),
        (["f4", "f8"], "auto", "f8"),
        (["f4", "i2"], "auto", "f8"),
        (["f8", "i8"], "float32", "f4"),
        (["f4", "f4"], "float64", "f8"),
        (["u1", "u8"], "auto", "f8"),
    ],
)
@pytest.mark.parametrize("is_one_file", [True, False])
def test_precision(tmp_path, kinds, given, dtype, is_one_file):
    values = np.array([1, 2, 3])
    labels = {"town": ["a", "b", "a"], "y": [0, 1, 0]}
    if is_one_file:
        table = pa.table({"a": values.astype(kinds[0]), "b": values.astype(kinds[1])})
        tables = [table]
    else:
        tables = [pa.table({"a": values.astype(kind)}) for kind in kinds]
    for k, table in enumerate(tables):
        for name, column in labels.items():
            table = table.append_column(name, pa.array(column))
        parquet.write_table(table, tmp_path / f"{k}.parquet")
    batches = read_batches(tmp_path, target="y", dtype=given, categories="one-hot")
    X, _ = joined(batches)
    assert X.dtype == dtype
    assert_array_equal(X[:3, 0], values)


@pytest.mark.parametrize(
    ("first", "second", "dtype"),
    [
        (pa.array([0, 1]), pa.array([0.0, 1.0]), float),
        (pa.array([False, True]), pa.array([False, True]), bool),
        (pa.array([False, True]), pa.array([0, 1], pa.int8()), np.int8),
        (pa.array([0, 1], pa.int32()), pa.array([0, 1], pa.int64()), np.int64),
        (pa.array(["0", "1"]), pa.array(["0", "1"]).dictionary_encode(), object),
        (pa.array(["0", "1"]), pa.array(["0", "1"], pa.large_string()), object),
        (pa.array([0, 1]).dictionary_encode(),) * 2 + (np.int64,),
        (pa.array(["0", "1"]).cast(pa.decimal128(4, 1)), pa.array([0, 1]), float),
    ],
)
def test_labels_of_several_types(tmp_path, first, second, dtype):
    for name, labels in [("a", first), ("b", second)]:
        table = pa.table({"x": [1.0, 2.0], "y": labels})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    for batch_rows in (1, 4):
        batches = list(read_batches(tmp_path, target="y", batch_rows=batch_rows))
        assert {y.dtype for _, y in batches} == {np.dtype(dtype)}
        _, y = joined(batches)
        assert [int(float(label)) for label in y] == [0, 1, 0, 1]


def test_numbers_of_all_types(tmp_path):
    numbers = [1, None, 3, 0]
    kinds = [
        pa.float16(), pa.float32(), pa.float64(), pa.int8(), pa.uint16(), pa.int64(),
        pa.uint64(), pa.bool_(), pa.decimal128(5, 2),
    ]  # fmt: skip
    for has_gaps in (False, True):
        values = numbers if has_gaps else [1, 0, 1, 0]
        table = pa.table(
            {
                "y": [0, 1, 0, 1],
                **{
                    str(kind): pa.array(
                        [None if v is None else bool(v) for v in values]
                        if kind == pa.bool_()
                        else np.array(values, dtype=object)
                        if kind != pa.float16()
                        else [None if v is None else np.float16(v) for v in values],
                        kind,
                    )
                    for kind in kinds
                },
            }
        )
        feather.write_feather(table, tmp_path / "a.feather")
        X, _ = joined(read_batches(tmp_path / "a.feather", target="y", missing=-1))
        for column, kind in zip(X.T, kinds, strict=True):
            oracle = [-1 if v is None else v for v in values]
            if kind == pa.bool_():
                oracle = [min(v, 1) for v in oracle]
            assert column.tolist() == oracle, kind


def test_missing_values(tmp_path):
    frame = draw()[["real", "whole", "town", "y"]]
    frame["whole"] = frame["whole"].astype("Int64")
    frame.loc[[3, 30], "real"] = np.nan
    frame.loc[[30, 31], "whole"] = None
    frame.loc[[0, 63], "town"] = None
    frame, pattern = parts(tmp_path, "parquet", frame=frame)
    options = {"target": "y", "categories": "one-hot", "batch_rows": 9}
    X, y = joined(read_batches(pattern, missing="drop", **options))
    kept = frame.dropna()
    assert len(kept) == N - 5
    towns = pd.get_dummies(kept["town"])
    assert_array_equal(X, pd.concat([kept[["real", "whole"]], towns], axis=1))
    assert_array_equal(y, kept["y"])
    X, y = joined(read_batches(pattern, missing=0.5, **options))
    filled = frame[["real", "whole"]].astype(float).fillna(0.5)
    # A category that is missing is none of all.
    towns = pd.get_dummies(frame["town"])
    assert_array_equal(X, pd.concat([filled, towns], axis=1))
    assert_array_equal(y, frame["y"])


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_categories(tmp_path, kind):
    frame = draw()[["town", "real", "y"]]
    if kind == "parquet":
        frame["town"] = frame["town"].astype("category")
    frame, pattern = parts(tmp_path, kind, frame=frame)
    dropped = read_batches(pattern, target="y", categories="drop")
    assert dropped.names == ("real",)
    assert_array_equal(joined(dropped)[0], frame[["real"]])
    given = {"town": ["Wels", "Bonn", "Linz", "Graz"]}
    batches = read_batches(pattern, target="y", categories=given)
    assert batches.names == (
        "town_Wels", "town_Bonn", "town_Linz", "town_Graz", "real",
    )  # fmt: skip
    X, _ = joined(batches)
    for k, town in enumerate(given["town"]):
        assert_array_equal(X[:, k], frame["town"] == town)


def test_dictionaries_of_numbers_are_categories(tmp_path):
    codes = pa.array([10, 9, 10, None]).dictionary_encode()
    table = pa.table({"code": codes, "y": [0, 1, 0, 1]})
    feather.write_feather(table, tmp_path / "a.feather")
    batches = read_batches(
        tmp_path / "a.feather", target="y", categories="one-hot", missing=0
    )
    assert batches.names == ("code_10", "code_9")
    assert_array_equal(joined(batches)[0], [[1, 0], [0, 1], [1, 0], [0, 0]])


def test_types_of_text(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "BLOCK_BYTES", (64, 2**20))
    rows = ["a,code,empty,y", *(f"{k},0{k % 2},,{k % 2}" for k in range(40))]
    # Numbers with a point, and numbers at all, come later.
    rows += ["0.5,01,2,1"]
    file = tmp_path / "a.csv"
    file.write_text("\n".join(rows))
    batches = read_batches(
        file,
        target="y",
        types={"code": "string"},
        categories="one-hot",
        missing=9,
        batch_rows=5,
    )
    X, _ = joined(batches)
    assert batches.names == ("a", "code_00", "code_01", "empty")
    assert X[-1].tolist() == [0.5, 0, 1, 2]
    assert_array_equal(X[:-1, 0], range(40))
    assert set(X[:-1, 3]) == {9}


def test_a_row_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "BLOCK_BYTES", (64, 2**20))
    rows = [f"{k},short,{k % 2}" for k in range(30)]
    rows[20] = '20,"' + "long, and of\ntwo lines, " * 20 + '",0'
    file = tmp_path / "a.csv"
    file.write_text("\n".join(["a,text,y", *rows]))
    X, y = joined(read_batches(file, target="y", columns=["a"]))
    assert_array_equal(X[:, 0], range(30))
    assert_array_equal(y, np.arange(30) % 2)


def test_separator(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("a;b;y\n1;2;0\n3;4;1\n")
    X, _ = joined(read_batches(file, target="y", separator=";"))
    assert_array_equal(X, [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match=r"Pass separator=';'"):
        read_batches(file, target="y")


def test_order_of_files(tmp_path):
    for name in ("b", "c", "a"):
        frame = pd.DataFrame({"x": [ord(name) / 1.0], "y": [0]})
        write(frame, tmp_path / f"{name}.parquet")
    (tmp_path / "_metadata").write_text("no table")
    (tmp_path / "below").mkdir()
    frame = pd.DataFrame({"x": [1.0], "y": [0]})
    write(frame, tmp_path / "below" / "z.parquet")

    def order(paths):
        batches = read_batches(paths, target="y")
        X, _ = joined(batches)
        return "".join(path.stem for path in batches.paths), X.ravel().tolist()

    abc = [float(ord(name)) for name in "abc"]
    assert order(tmp_path) == ("abc", abc)
    assert order(str(tmp_path / "?.parquet")) == ("abc", abc)
    assert order([tmp_path / "c.parquet", tmp_path / "a.parquet"]) == (
        "ca",
        [abc[2], abc[0]],
    )
    assert order([tmp_path / "b.parquet", tmp_path / "below"])[0] == "bz"
    assert order(str(tmp_path / "**" / "*.parquet"))[0] == "abzc"


def test_skipped_row_groups_are_not_read(tmp_path):
    frame, _ = parts(tmp_path, "parquet", sizes=[40, 24], frame=draw()[["real", "y"]])
    file = tmp_path / "0.parquet"
    content = parquet.ParquetFile(file).metadata
    batches = read_batches(tmp_path, target="y", batch_rows=10)
    # The third group of the first file, rows 10 to 14.
    start = content.row_group(2).column(0).data_page_offset
    data, times = bytearray(file.read_bytes()), file.stat()
    data[start : start + 20] = b"\xff" * 20
    file.write_bytes(data)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(ValueError, match=r"0\.parquet is not a Parquet file, or it"):
        list(batches)
    X, _ = joined(batches.skip(2))
    assert_array_equal(X[:, 0], frame["real"][20:])


def test_record_batches(tmp_path):
    frame, pattern = parts(tmp_path, "parquet")
    batches = read_batches(
        pattern, target="y", weight="mass", categories="one-hot", batch_rows=10
    )
    order = ["y", "real", "whole", "flag", "town", "mass"]
    found = list(batches.record_batches())
    assert all(batch.schema.names == order for batch in found)
    whole = pa.Table.from_batches(found).to_pandas()
    pd.testing.assert_frame_equal(whole, frame[order])
    rest = pa.Table.from_batches(batches.skip(3).record_batches()).to_pandas()
    assert rest.equals(whole[30:].reset_index(drop=True))
    dropping = read_batches(pattern, target="y", columns=["real"], missing="drop")
    with pytest.raises(ValueError, match="not known how many to skip"):
        next(dropping.skip(1).record_batches())


def test_text_and_pickle(tmp_path):
    _, pattern = parts(tmp_path, "csv")
    batches = read_batches(pattern, target="y", categories="drop", batch_rows=7)
    assert isinstance(batches, Batches)
    text = "Batches(4 files, csv, n_features=4, batch_rows=7"
    assert repr(batches) == f"{text})"
    assert repr(batches.skip(3)) == f"{text}, 3 skipped)"
    assert_same(pickle.loads(pickle.dumps(batches)), batches)


def test_without_pandas(tmp_path):
    _, pattern = parts(tmp_path, "parquet")
    code = (
        "import sys; sys.modules['pandas'] = None; from aucmax.io import read_batches\n"
        f"batches = read_batches({pattern!r}, target='town', missing='drop')\n"
        "assert sum(len(y) for _, y in batches) == 64"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
