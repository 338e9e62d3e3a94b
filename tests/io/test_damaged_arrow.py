# SPDX-License-Identifier: BSD-3-Clause
"""Arrow files whose offsets and indices point to where there is nothing."""

import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from batch_files import write_bad_index

from aucmax.io import read_batches, read_table

# In a process of its own, as reading such a file could end it.
READ = """
import sys
from aucmax.io import read_batches, read_table

for file in sys.argv[2:]:
    try:
        if sys.argv[1] == "batches":
            list(read_batches(file, target="y", categories="one-hot"))
        elif sys.argv[1] == "stdin":
            sys.stdin = open(file)
            read_table("-", target="y", format=file.rpartition(".")[2])
        else:
            read_table(file, target="y")
    except ValueError as error:
        print(error)
    else:
        print("read without an error")
"""


def strings(offsets):
    """Three texts in a buffer of six bytes."""
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abcdef")]
    return pa.Array.from_buffers(pa.string(), 3, buffers)


def codes(indices):
    dictionary = pa.array(["a", "b", "c"])
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, pa.int8()), dictionary, safe=False
    )


FAULTS = {
    "beyond the buffer": strings([0, 2**30, 2, 6]),
    "before the buffer": strings([0, -5, 2, 6]),
    "index too small": codes([-1, 0, 1]),
    "index too large": codes([3, 0, 1]),
}


def write_arrow(file, table, kind):
    new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with new(str(file), table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("how", ["table", "batches", "stdin"])
def test_values_that_are_nowhere(tmp_path, how):
    good = pa.array(["a", "b", "a"])
    files = []
    for fault, bad in FAULTS.items():
        for column in "xy":
            for kind in ("file", "stream"):
                table = pa.table({"x": good, "y": good} | {column: bad})
                files.append(tmp_path / f"{fault}-{column}-{kind}.arrow")
                write_arrow(files[-1], table, kind)
    done = subprocess.run(
        [sys.executable, "-c", READ, how, *map(str, files)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for file, said in zip(files, done.stdout.splitlines(), strict=True):
        name = "the standard input" if how == "stdin" else str(file)
        assert said.startswith(f"{name} is not an Arrow or Feather file"), (file, said)


def write_other_encoding(file, column):
    buffers = pa.array([b"\xff\xfe", b"a"]).buffers()
    good = pa.array(["a", "b"])
    bad = pa.Array.from_buffers(pa.string(), 2, buffers)
    pa.parquet.write_table(pa.table({"x": good, "y": good} | {column: bad}), file)


@pytest.mark.parametrize("column", ["x", "y"])
@pytest.mark.parametrize("write", [write_bad_index, write_other_encoding])
def test_parquet_values_that_pyarrow_takes_without_a_word(tmp_path, column, write):
    file = tmp_path / "rows.parquet"
    write(file, column)
    expected = re.escape(f"{file} is not a Parquet file, or it is damaged")
    with pytest.raises(ValueError, match=expected):
        read_table(file, target="y")
    with pytest.raises(ValueError, match=expected):
        list(read_batches(file, target="y", categories="one-hot"))
