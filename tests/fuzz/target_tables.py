# SPDX-License-Identifier: BSD-3-Clause
"""Targets: everything that reads a table."""

import io

import numpy as np
from fuzz import tables
from fuzz.judging import Wrong, naming
from fuzz.mutations import mutate
from scipy import sparse

from aucmax.io import (
    read_batches,
    read_csv,
    read_libsvm,
    read_parquet,
    read_table,
)

MOST_BATCHES = 1000


def draw_file(rng, folder, suffixes=tables.SUFFIXES):
    suffix = rng.choice(suffixes)
    path = folder / f"table.{suffix}"
    path.write_bytes(tables.draw(rng, suffix))
    kind = suffix.partition(".")[0]
    return path, "csv" if kind == "txt" else kind


def table_case(rng, folder):
    path, kind = draw_file(rng, folder)
    format = rng.choice([None, kind])
    target = None if kind == "svm" else rng.choice(["y", "y", "town", -1, None])
    columns = rng.choice([None, None, ["real", "town"]]) if target == "y" else None
    with naming(path, "the file given"):
        if rng.random() < 0.2:
            stream = io.BytesIO(path.read_bytes())
            table = read_table(stream, target=target, format=kind, columns=columns)
        else:
            table = read_table(path, target=target, format=format, columns=columns)
    check_rows(table.X, table.y)


def batches_case(rng, folder):
    suffixes = [s for s in tables.SUFFIXES if "xz" not in s]
    path, kind = draw_file(rng, folder, suffixes)
    options = {"batch_rows": rng.choice([1, 7, 50]), "prefetch": rng.choice([0, 0, 2])}
    if kind != "svm":
        options |= {
            "target": "y",
            "weight": rng.choice([None, "mass"]),
            "missing": rng.choice(["error", "drop", 0.0]),
            "categories": rng.choice(
                ["drop", "one-hot", {"town": ["Graz"], "kind": ["a"]}]
            ),
            "dtype": rng.choice(["auto", "float32"]),
        }
    with naming(path):
        batches = read_batches(path, **options)
        for count, (X, y, *weight) in enumerate(batches):
            check_rows(X, y)
            if not np.all(np.isfinite(X.data if sparse.issparse(X) else X)):
                raise Wrong("read_batches gives features that are not finite")
            if weight and not (np.isfinite(weight[0]).all() and (weight[0] >= 0).all()):
                raise Wrong(
                    "read_batches gives weights that are negative or not finite"
                )
            if count > MOST_BATCHES:
                break
        if kind != "svm" and rng.random() < 0.2:
            for record in batches.record_batches():
                record.validate(full=True)


def readers_case(rng, folder):
    reader, suffixes = rng.choice(
        [
            (read_csv, ["csv", "csv.gz"]),
            (read_libsvm, ["svm", "svm.gz"]),
            (read_parquet, ["parquet"]),
        ]
    )
    path, _ = draw_file(rng, folder, suffixes)
    with naming(path):
        found = reader(path)
    if reader is not read_parquet:
        check_rows(found[0], found[1])


def cache_case(rng, folder):
    """Damage what was kept of a file; what is read then must be refused or right."""
    source = folder / "rows.csv"
    source.write_bytes(tables.whole("csv", 0))
    where = folder / "cache"
    batches = read_batches(
        source, target="y", weight="mass", categories="drop", batch_rows=10
    )
    expected = [batch[0].copy() for batch in batches.cached(where)]
    for _ in range(rng.choice([1, 1, 2])):
        file = rng.choice(sorted(each for each in where.rglob("*") if each.is_file()))
        data = file.read_bytes()
        if file.suffix == ".npy" and rng.random() < 0.4:
            shape = rng.choice(
                [(10**12,), (64, 4), (4, 64), (0,), (63, 5), (-1, 2), ()]
            )
            dtype = rng.choice(["<f8", "<f4", ">f8", "|O", "<U9", "<i8"])
            data = tables.npy_with(
                data, descr=dtype, fortran_order=rng.random() < 0.5, shape=shape
            )
        else:
            data = mutate(rng, data)
        file.write_bytes(data)
    with naming(source, where):
        found = [batch[0].copy() for batch in batches.cached(where)]
    if [each.shape for each in found] != [each.shape for each in expected]:
        raise Wrong("a damaged cache gives batches of other shapes")


def check_rows(X, y):
    if y is not None and X.shape[0] != len(y):
        raise Wrong(f"{X.shape[0]} rows, but {len(y)} labels")
    if not X.shape[0]:
        raise Wrong("a table without rows")
    # To look at all of it shows whether its memory is there.
    if sparse.issparse(X):
        X.sum()
        X.check_format()
    elif isinstance(X, np.ndarray):
        X.sum()
    else:
        # pandas overflows where it rounds what it shows.
        with np.errstate(over="ignore"):
            X.to_string(max_rows=None)
