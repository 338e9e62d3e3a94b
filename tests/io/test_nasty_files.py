# SPDX-License-Identifier: BSD-3-Clause
"""Files as they come: one outcome, whole, in batches, on Dask and in the shell."""

import re

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from aucmax.cli._base import _sentence
from aucmax.cli._data import open_input, read_problem
from aucmax.cli._streamed import open_stream
from aucmax.cli.fit import fit
from aucmax.distributed._files import file_parts
from aucmax.io import TableError, read_batches, read_table
from aucmax.io.tables.files import look_at
from aucmax.io.tables.labels import LabelColumn, find_labels
from aucmax.io.tables.source import format_of, open_sources

KINDS = {"a": "number", "town": "text"}


def rows(cell="{}.5", n=12, first=0):
    towns = ("Graz", "Linz")
    return "".join(
        f"{cell.format(k)},{towns[k % 2]},{int(k % 3 == 0)}\n"
        for k in range(first, first + n)
    )


HEADER = "a,town,y\n"
GOOD = HEADER + rows()


def text(content, name="a.csv"):
    return {name: content if isinstance(content, bytes) else content.encode()}


def table(name="a.parquet", **columns):
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), sink)
    return {name: sink.getvalue().to_pybytes()}


def svm(line):
    return text(f"1 1:1 3:0.5\n{line}\n0 2:1\n", "a.svm")


CATEGORIES = "".join(f"{k}.5,town {k % 10_000},{k % 2}\n" for k in range(20_000))
WHOLE = table(a=np.arange(2000) / 2, y=np.arange(2000) % 2)["a.parquet"]

# What is in the folder; then the kinds of the columns, or what is wrong, where, and
# what Python says of the remedy.
FILES = {
    "byte order mark": (text("\ufeff" + GOOD), KINDS),
    "line ends of Windows": (text(GOOD.replace("\n", "\r\n")), KINDS),
    "UTF-16": (text(GOOD.encode("utf-16")), r"a.csv is in UTF-16. Save it in UTF-8"),
    "NUL in a text": (text(GOOD.replace("Linz", "L\0nz")), KINDS),
    "NUL in a number": (text(HEADER + rows("{}\0.5")), KINDS | {"a": "text"}),
    "no UTF-8": (
        text(GOOD.encode().replace(b"Linz", b"L\xefnz")),
        "line 3: the byte 0xef is not UTF-8. Save the file in UTF-8",
    ),
    "ragged rows": (
        text(GOOD + "1,2\n"),
        "line 14: 2 columns, where 3 were expected. Mend it",
    ),
    "quotes": (text(GOOD.replace("Linz", '"Li""nz, ""\n"')), KINDS),
    "a quote that stays open": (
        text(GOOD + '1,"Linz,0\n' + rows()),
        "line 26: unexpected end of data. Mend it; a quote",
    ),
    "decimal commas": (
        text(HEADER.replace(",", ";") + rows("{},5")),
        "a.csv, line 2: 4 columns, where 1 were|has one cell in its first line",
    ),
    "decimal commas in quotes": (text(HEADER + rows('"{},5"')), KINDS | {"a": "text"}),
    "dates": (text(HEADER + rows("2020-01-{:02}", first=1)), KINDS | {"a": "date"}),
    "codes": (text(HEADER + rows("A{:03}")), KINDS | {"a": "text"}),
    "numbers of rows": (text(HEADER + rows("{}")), KINDS),
    "10,000 categories": (text(HEADER + CATEGORIES), KINDS),
    "an empty column": (text(HEADER + rows("")), KINDS),
    "a constant column": (text(HEADER + rows("7")), KINDS),
    "equal names": (
        text(GOOD.replace("town", "a", 1)),
        "has more than one column named 'a'. Rename all but one",
    ),
    "no rows": (text(HEADER), "has no rows below the names of its columns. Check that"),
    "nothing": (text(""), "is empty: it has no header and no rows. Check that"),
    "no header": (text(rows()), "has no column 'y'. Its first columns: '0.5', 'Graz'"),
    "three labels": (
        text(GOOD + "1,Graz,2\n"),
        "Column 'y' of .* has 3 values, 0, 1, 2, where two are needed. Choose the posi",
    ),
    "one label": (
        text(HEADER + "1.5,Graz,0\n2.5,Linz,0\n"),
        "Column 'y' of .* is 0 in all rows. Rows of two classes are needed",
    ),
    "a label that is missing": (
        text(GOOD + "1,Graz,\n"),
        "row 12, counted from 0: the label is missing in column 'y'. Leave the row out",
    ),
    "five positives": (text(HEADER + "1,Graz,no\n" * 500 + "2,Linz,yes\n" * 5), KINDS),
    "a million rows": (text("a,y\n" + "0.5,0\n1.25,1\n" * 500_000), {"a": "number"}),
    "fractions after whole numbers": (
        text(HEADER + rows("{}", n=100_000) + rows()),
        KINDS,
    ),
    "text after numbers": (
        text(HEADER + rows(n=100_000) + rows("oops")),
        "row 100000, counted from 0: 'oops' in column 'a' is not a number, as the "
        "first rows or types say. Mend it, or leave the column out with columns=, or",
    ),
    "a Parquet file that is cut off": (
        {"a.parquet": WHOLE[:-100]},
        "a.parquet is not a Parquet file, or it is damaged or not written to its end",
    ),
    "lists": (
        table(a=[[1.0], [2.0]], y=[0, 1]),
        "Column 'a' of .* holds list<.*> values. Leave the column out with columns=",
    ),
    "dates as labels": (
        table(a=[1.0, 2.0], y=pd.to_datetime(["2020-01-01", "2021-01-01"])),
        "Column 'y' of .* holds timestamp.* values, but it is the target",
    ),
    "another type in the second file": (
        table(a=[1.0, 2.0], y=[0, 1]) | table("b.parquet", a=["1", "2"], y=[0, 1]),
        "Column 'a' of .*b.parquet holds text .*, but numbers .* in .*a.parquet. Write",
    ),
    "a column less in the second file": (
        table(a=[1.0], b=[1], y=[0]) | table("b.parquet", a=[1.0], y=[1]),
        "b.parquet has no column 'b', but .*a.parquet has. Give files with the same",
    ),
    "indices from 0": (
        svm("0 0:1 1:2"),
        "line 2: the index 0 is too small. Indices start at 1; add 1 to each",
    ),
    "indices that are not sorted": (
        svm("0 3:1 1:2"),
        "line 2: index 1 comes after index 3. Sort the indices of each line",
    ),
}


def labels_of(paths, target, y):
    place = LabelColumn(open_sources(paths)[0].name, target)
    labels, is_pos, _ = find_labels(y, None, place)
    return labels, len(is_pos), int(is_pos.sum())


def kinds_of(paths, target):
    sources = open_sources(paths)
    return look_at(sources, format_of(sources, None), target=target).kinds


def whole(paths, target):
    found = read_table(paths, target=target)
    assert tuple(found.kinds) == found.names == tuple(found.X.columns)
    return found.kinds, *labels_of(paths, target, found.y)


def in_batches(paths, target):
    if target is None:
        y = [y for _, y in read_batches(paths)]
        return {}, *labels_of(paths, target, np.concatenate(y))
    kinds = kinds_of(paths, target)
    # Dates and text of any kind are no numbers yet.
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    options = {"columns": numbers or list(kinds)[1:], "missing": 0.0}
    batches = read_batches(paths, target=target, categories="one-hot", **options)
    y = [y for _, y in batches]
    return kinds, *labels_of(paths, target, np.concatenate(y))


def on_dask(paths, target):
    parts = dask.compute(*file_parts(paths, target=target), scheduler="threads")
    kinds = kinds_of(paths, target)
    assert all(tuple(X.columns) == tuple(kinds) for X, _, _ in parts)
    y = [y for _, y, _ in parts]
    return kinds, *labels_of(paths, target, np.concatenate(y))


def in_the_shell(paths, target):
    found = read_problem(open_input(paths, None, None, target), (), None)
    return found.kinds, found.labels, found.n_rows, found.n_pos


def as_a_stream(paths, target):
    found = open_stream(open_input(paths, None, None, target), (), None)
    return found.kinds, found.labels, found.n_rows, found.n_pos


@pytest.mark.parametrize("name", FILES)
def test_one_outcome(tmp_path, name):
    files, expected = FILES[name]
    for file, data in files.items():
        (tmp_path / file).write_bytes(data)
    is_sparse = "a.svm" in files
    paths = str(tmp_path) if "b.parquet" in files else str(tmp_path / next(iter(files)))
    ways = [whole, in_batches, in_the_shell, as_a_stream]
    # Dask takes no LIBSVM, and parts of a table may have no rows.
    ways += [on_dask] * (not is_sparse and name != "no rows")
    found = []
    for way in ways:
        if isinstance(expected, dict):
            found.append(way(paths, None if is_sparse else "y"))
            assert found[-1][0] == expected, way
            assert found[-1] == found[0], way
            continue
        with pytest.raises(TableError, match=expected) as caught:
            way(paths, None if is_sparse else "y")
        found.append(str(caught.value))
        assert found[-1] == found[0], way
        assert str(tmp_path) in found[-1]
        # The shell names options.
        told = _sentence(caught.value, {option.name for option in fit.params})
        assert not re.search(r"\b\w+=", told), told
