# SPDX-License-Identifier: BSD-3-Clause
"""Files to be read in batches, and what to compare the batches with."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from numpy.testing import assert_array_equal
from scipy import sparse

N = 64


def draw(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "real": rng.standard_normal(n),
            "whole": rng.integers(-9, 9, n),
            "flag": rng.random(n) < 0.5,
            "town": rng.choice(["Graz", "Linz", "Wels"], n),
            "y": rng.integers(0, 2, n),
            "mass": rng.integers(0, 4, n) / 2,
        }
    )


def write(frame, file, **options):
    kind = file.name.partition(".")[2]
    if "sv" in kind:
        frame.to_csv(file, index=False, sep="\t" if kind == "tsv" else ",")
    elif kind == "parquet":
        frame.to_parquet(file, index=False, **{"row_group_size": 5, **options})
    elif kind == "feather":
        frame.to_feather(file, chunksize=5)
    else:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        # A stream rather than a file.
        with pa.ipc.new_stream(str(file), table.schema) as writer:
            writer.write_table(table, max_chunksize=5)


def write_bad_index(file, column):
    """Write a Parquet file with an index beyond a dictionary, in column "x" or "y"."""
    good, three = pa.array(["a", "b"] * 4), pa.array([*"abcabcab"])
    columns = {"x": good, "y": good} | {column: three.dictionary_encode()}
    pa.parquet.write_table(
        pa.table(columns), file, compression="none", write_statistics=False
    )
    data = file.read_bytes()
    # Two bits each, a group of eight, and then 0, 1, 2, 0, 1, 2, 0, 1.
    assert data.count(b"\x02\x03\x24\x49") == 1
    file.write_bytes(data.replace(b"\x02\x03\x24\x49", b"\x02\x03\x27\x49"))


def parts(folder, kind, sizes=(20, 0, 31, 13), frame=None):
    """Write a table to several files; return it and their pattern."""
    frame = draw() if frame is None else frame
    low = 0
    for k, size in enumerate(sizes):
        write(frame[low : low + size], folder / f"{k}.{kind}")
        low += size
    return frame, str(folder / f"*.{kind}")


def joined(batches):
    """Return all rows, dense."""
    found = [
        [each.toarray() if sparse.issparse(each) else each for each in batch]
        for batch in batches
    ]
    return [np.concatenate(column) for column in zip(*found, strict=True)]


def assert_same(batches, others):
    batches, others = list(batches), list(others)
    assert len(batches) == len(others)
    for batch, other in zip(batches, others, strict=True):
        assert len(batch) == len(other)
        for a, b in zip(batch, other, strict=True):
            assert type(a) is type(b)
            assert a.dtype == b.dtype
            if sparse.issparse(a):
                a, b = a.toarray(), b.toarray()
            assert_array_equal(a, b)
