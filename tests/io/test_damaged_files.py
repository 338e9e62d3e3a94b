# SPDX-License-Identifier: BSD-3-Clause
"""Files that are damaged at random, or on purpose: a result, or a clear ValueError."""

import bz2
import gzip
import io
import random
import re
import subprocess
import sys
import zipfile
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from aucmax.io import (
    TableError,
    read_batches,
    read_csv,
    read_libsvm,
    read_table,
)
from aucmax.io.tables import lines, text

N_DAMAGED = 40
TABLE = pa.table(
    {
        "real": np.arange(12) / 3,
        "gaps": [k if k % 5 else None for k in range(12)],
        "town": ["Graz", "Línz", "Wels"] * 4,
        "kind": pa.array(["u", "v"] * 6).dictionary_encode(),
        "y": ["no", "yes"] * 6,
    }
)
# What readers trip over.
PIECES = [
    *(b"\0", b"\xff", b"\xff\xff\xff\x7f", b"\xff\xfe", b"\xc3", b'"', b"'", b"\n"),
    *(b"\r", b",", b":", b"\t", b"{", b"}", b"[", b"%", b"#", b"\\", b"1e308"),
    *(b"1e999", b"nan", b"1_0", b"9" * 5000, b" " * 50, b"@data", b"qid:"),
]


def arrow(new):
    sink = pa.BufferOutputStream()
    with new(sink, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=5)
    return sink.getvalue().to_pybytes()


def feather_file():
    file = io.BytesIO()
    feather.write_feather(TABLE, file)
    return file.getvalue()


def parquet_file():
    file = io.BytesIO()
    parquet.write_table(TABLE, file, row_group_size=5)
    return file.getvalue()


def whole_files():
    csv = TABLE.to_pandas().to_csv(index=False).encode()
    json_lines = TABLE.to_pandas().to_json(orient="records", lines=True).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", csv)
    svm = "".join(f"{k % 2} 1:{k} {k + 2}:0.5 # k\n" for k in range(9)).encode()
    return {
        "a.csv": csv,
        "a.tsv": csv.replace(b",", b"\t"),
        "a.csv.gz": gzip.compress(csv),
        "a.svm": svm,
        "a.svm.bz2": bz2.compress(svm),
        "a.jsonl": json_lines,
        "a.zip": file.getvalue(),
        "a.parquet": parquet_file(),
        "a.feather": feather_file(),
        "a.ipc": arrow(pa.ipc.new_file),
        "a.arrow": arrow(pa.ipc.new_stream),
    }


def damage(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(5)
        if what == 0:
            data[at : at + 1] = rng.randbytes(1)
        elif what == 1:
            del data[at : at + rng.choice([1, 4, 50])]
        elif what == 2:
            data[at:at] = rng.choice(PIECES)
        elif what == 3:
            piece = rng.choice(PIECES)
            data[at : at + len(piece)] = piece
        else:
            del data[at:]
    return bytes(data)


def ways_to_read(file):
    if ".svm" in file.name:
        return [lambda: read_table(file), lambda: list(read_batches(file))]
    options = {"target": "y", "categories": "one-hot", "missing": 0.0}
    return [
        lambda: read_table(file, target="y"),
        lambda: list(read_batches(file, **options)),
    ]


def error_of(read):
    """Return the ValueError, or None if the file could be read."""
    try:
        read()
    except ValueError as error:
        return error


@pytest.mark.parametrize("name", whole_files())
def test_damaged_at_random(tmp_path, name):
    rng = random.Random(name)
    file = tmp_path / name
    for _ in range(N_DAMAGED):
        file.write_bytes(damage(whole_files()[name], rng))
        for read in ways_to_read(file):
            error = error_of(read)
            # Not one of pyarrow, which is a ValueError too.
            assert type(error) in (type(None), TableError)
            assert error is None or str(file) in str(error)
            assert len(str(error)) < 1000


# In a process of its own, as it never ended.
HANG = """
import sys
from aucmax.io import read_table
try:
    read_table(sys.argv[1])
except ValueError as error:
    print(error)
"""


def test_long_cells_take_linear_time(tmp_path):
    svm = tmp_path / "a.svm.bz2"
    svm.write_bytes(bz2.compress(b"1 1:" + b"1" * 10**6 + b"x\n"))
    done = subprocess.run(
        [sys.executable, "-c", HANG, svm],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.startswith(f"{svm}, line 1: the value '1111")


def endless(n):
    return {
        "a.csv": b"a,y\n1,0\n" + b"2" * n,
        "a.csv.gz": gzip.compress(b"a,y\n1,0\n" + b"2" * n),
        "a.svm.bz2": bz2.compress(b"1 1:1\n0 1:2\n" + b"3" * n),
    }


def test_blank_lines_that_do_not_end(tmp_path, monkeypatch):
    # A packed file of 130 kB may have a hundred million of them.
    monkeypatch.setattr(lines, "LONGEST_LINE", 2**20)
    file = tmp_path / "a.svm.gz"
    file.write_bytes(gzip.compress(b"1 1:1\n" + b"\n" * 2**21 + b"not a label\n"))
    with pytest.raises(ValueError, match=r"a\.svm\.gz, line \d+: .* blank lines"):
        read_libsvm(file)
    file.write_bytes(gzip.compress(b"1 1:1\n" + b"\n" * 2**19 + b"0 1:2\n" * 2))
    assert read_libsvm(file)[0].shape == (3, 1)


@pytest.mark.parametrize("name", endless(1))
def test_line_that_does_not_end(tmp_path, monkeypatch, name):
    bound, seen = 2**20, 0

    class Counting(lines.BoundedLines):
        def readinto(self, buffer):
            nonlocal seen
            n = super().readinto(buffer)
            seen += n
            return n

    monkeypatch.setattr(lines, "LONGEST_LINE", bound)
    monkeypatch.setattr(lines, "BoundedLines", Counting)
    monkeypatch.setattr(text, "BLOCK_BYTES", (bound,))
    file = tmp_path / name
    file.write_bytes(endless(2**25)[name])
    expected = rf"{re.escape(str(file))}, line 3: .* longer than {bound} bytes"
    with pytest.raises(ValueError, match=expected):
        ways_to_read(file)[0]()
    # To read, where pyarrow does not, and to find the line.
    assert bound <= seen < 4 * bound
    if ".csv" in name:
        with pytest.raises(ValueError, match=expected):
            read_csv(file)
    if ".svm" in name:
        with pytest.raises(ValueError, match=expected):
            list(read_batches(file))


@pytest.mark.parametrize("error", [NameError, AttributeError, TypeError])
def test_mistakes_of_this_code_are_seen(tmp_path, monkeypatch, error):
    def broken(*_, **__):
        raise error("a mistake")

    for name, data in whole_files().items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.setattr("aucmax.io.tables.columnar.validated", broken)
    monkeypatch.setattr("pyarrow.csv.open_csv", broken)
    monkeypatch.setattr("aucmax.io.tables.libsvm.load_svmlight_file", broken)
    for name in whole_files().keys() - {"a.jsonl", "a.zip"}:
        for read in ways_to_read(tmp_path / name):
            with pytest.raises(error, match="a mistake"):
                read()


LONG = "L" * 5000


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG},y\na,0\nb,1\n",
        f"{LONG},y\n,0\n2,1\n",
        f"{LONG},{LONG}\n1,2\n",
        f"x,{LONG}\n1,\n2,1\n",
        f"x,y\n{LONG},0\n",
        f"{LONG}\n1\n",
        f"{LONG};y\n1;1\n",
    ],
)
def test_long_names_and_cells_are_cut(tmp_path, text):
    file = tmp_path / "a.csv"
    file.write_text(text)
    for target in ("y", "z", -1):
        for read in (read_table, read_batches, read_csv):
            error = error_of(partial(read, file, target=target))
            assert len(str(error)) < 500 + len(str(file))


def test_index_with_more_digits_than_python_takes(tmp_path):
    file = tmp_path / "a.svm"
    file.write_text("1 1:1\n0 " + "9" * 5000 + ":1\n")
    for read in (read_table, read_batches, read_libsvm):
        with pytest.raises(ValueError, match=r"line 2: the index '999.* is too large"):
            read(file)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([[1], [2], [3]]),
        pa.array([b"ab", b"cd", b"ef"], pa.binary(2)),
        pa.array([b"ab", b"cd", b"ef"]).dictionary_encode(),
        pa.array([1, 2, 3], pa.timestamp("us", tz="No/where")),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["a", None])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["a", "a"])),
        pa.ExtensionArray.from_storage(
            pa.fixed_shape_tensor(pa.int32(), [1]),
            pa.array([[1], [2], [3]], pa.list_(pa.int32(), 1)),
        ),
    ],
    ids=lambda values: str(values.type)[:20],
)
def test_columns_that_pandas_cannot_have(tmp_path, values):
    file = tmp_path / "a.feather"
    feather.write_feather(pa.table({"x": values, "z": [1, 2, 3]}), file)
    with pytest.raises(ValueError, match=re.escape(str(file))) as caught:
        read_table(file)
    assert type(caught.value) is TableError


def test_labels_that_are_lists_or_gaps_of_a_dictionary(tmp_path):
    file = tmp_path / "a.feather"
    feather.write_feather(pa.table({"y": [[1], [2]], "z": [1, 2]}), file)
    with pytest.raises(ValueError, match=r"Column 'y' of .* holds list"):
        read_table(file, target="y")
    gap = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["a", None]))
    feather.write_feather(pa.table({"y": gap, "z": [1, 2, 3]}), file)
    with pytest.raises(ValueError, match=r"row 1, .* label is missing in column 'y'"):
        read_table(file, target="y")


@pytest.mark.parametrize("metadata", ["[1]", '{"index_columns": 5}', "{", "[" * 10**5])
def test_what_pandas_is_said_to_have_written(tmp_path, metadata):
    file = tmp_path / "a.arrow"
    table = pa.table({"y": [0, 1], "z": [1, 2]})
    table = table.replace_schema_metadata({"pandas": metadata})
    with pa.ipc.new_stream(str(file), table.schema) as writer:
        writer.write_table(table)
    for read in ways_to_read(file):
        error = error_of(read)
        assert error is None or str(file) in str(error)


def test_empty_text(tmp_path):
    file = tmp_path / "a.csv"
    file.touch()
    for read in ways_to_read(file):
        with pytest.raises(ValueError, match=r"a\.csv is empty: .* wrote it finished"):
            read()
