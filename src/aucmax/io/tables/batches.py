# SPDX-License-Identifier: BSD-3-Clause
"""Files that are larger than memory, a batch of rows at a time."""

import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeAlias

from aucmax.io.tables.ahead import ahead
from aucmax.io.tables.cache import find_cache, write_cache
from aucmax.io.tables.columns import Columns
from aucmax.io.tables.errors import Option, TableError
from aucmax.io.tables.files import look_at
from aucmax.io.tables.libsvm import plan_sparse
from aucmax.io.tables.plan import Plan, plan_tables
from aucmax.io.tables.source import TEXT, check_readable, format_of, open_sources

PathLike: TypeAlias = str | os.PathLike[str]
DTYPES = ("auto", "float32", "float64")
MISSING = ("error", "drop")


@dataclass(frozen=True, eq=False, repr=False)
class Batches:
    """Rows of files, a batch at a time, as often as wanted.

    `read_batches` makes it. Each iteration reads the files from the start, in threads
    of its own that end with the iteration, also if that is broken off.

    Attributes
    ----------
    batch_rows : int
        Rows of each batch but the last.
    prefetch : int
        Batches that are read ahead.
    """

    _plan: Plan
    batch_rows: int
    prefetch: int
    _first: int = 0

    def __iter__(self) -> Generator[tuple[Any, ...], None, None]:
        plan, n_rows, first = self._plan, self.batch_rows, self._first
        return ahead(lambda: plan.blocks(n_rows, first), self.prefetch)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features; empty for LIBSVM's format, which has none."""
        return self._plan.names

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._plan.n_features

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files, in the order in which they are read."""
        return tuple(file.path for file in self._plan.sources if file.path)

    def skip(self, n_batches: int) -> "Batches":
        """Return the same batches without the first ones.

        Row groups of Parquet files that are skipped are not read, unless
        ``missing="drop"``, where it takes reading to count rows.

        Parameters
        ----------
        n_batches : int
            How many to leave out.

        Returns
        -------
        batches : Batches
            The batches after those.
        """
        _check_count("n_batches", n_batches, 0)
        return replace(self, _first=self._first + n_batches)

    def record_batches(self) -> Generator[Any, None, None]:
        """Yield Arrow record batches: target, features as in the file, weight.

        Their sizes and types are those of the files, and missing values stay so. They
        are read in the thread that asks for them. LIBSVM's format has none.

        Yields
        ------
        batch : pyarrow.RecordBatch
            Some rows.
        """
        return self._plan.records(self._first * self.batch_rows)

    def cached(self, folder: PathLike) -> "Batches":
        """Return the same batches from memory-mapped files, which are written once.

        The folder gets .npy files of features, labels and weights. If they are there
        and the source's files and options are the same, they are used as they are, else
        they are replaced. Nobody sees them before they are complete.

        Parameters
        ----------
        folder : path-like
            Where to write; it is made if it is not there.

        Returns
        -------
        batches : Batches
            The same values. Features are C-ordered and cannot be written to, as they
            are in the file.
        """
        where = Path(folder)
        plan = find_cache(self._plan, where)
        if plan is None:
            whole = replace(self, _first=0)
            write_cache(self._plan, whole, where)
            plan = find_cache(self._plan, where)
        if plan is None:
            raise TableError(
                "was replaced while it was written",
                "give each source a folder of its own",
                file=f"The cache {where}",
            )
        # The system reads ahead.
        return replace(self, _plan=plan, prefetch=0)

    def __repr__(self) -> str:
        n_files = len(self._plan.sources)
        skipped = f", {self._first} skipped" if self._first else ""
        return (
            f"Batches({n_files} file{'' if n_files == 1 else 's'}, {self._plan.title}, "
            f"n_features={self.n_features}, batch_rows={self.batch_rows}{skipped})"
        )


def read_batches(  # noqa: PLR0913
    paths: PathLike | Sequence[PathLike],
    *,
    target: str | int | None = None,
    columns: Columns | None = None,
    weight: str | int | None = None,
    batch_rows: int = 65536,
    format: str | None = None,
    dtype: str = "auto",
    missing: str | float = "error",
    categories: str | Mapping[str, Sequence[str]] = "error",
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    n_features: int | None = None,
    prefetch: int = 2,
) -> Batches:
    r"""Read files of any size in batches of rows: Parquet, CSV, TSV, Arrow or LIBSVM.

    Memory is that of ``prefetch + 2`` batches, and of what is being decoded, however
    large the files are. All but LIBSVM's format need pyarrow.

    Parameters
    ----------
    paths : path, or list of paths
        A file, a pattern such as ``"rows/*.csv"``, a folder of ``*.parquet`` files, or
        a list of those, all of one format. Files are read in the order of the list;
        those of a pattern or folder are sorted by path, as text. CSV, TSV and LIBSVM
        may be packed as .gz or .bz2.
    target : str or int
        The column with the labels, by name, or by its position in the first file.
        LIBSVM's format has labels of its own, so it is left out there.
    columns : sequence of str or int, or callable, default=None
        The features, in this order, or a function that returns their names given those
        of all columns of the first file; None: all other columns, which then must be
        the same in all files. Their order may differ. Others are not read from a
        Parquet file at all.
    weight : str or int, default=None
        The column with the weights of the rows, numbers from 0 on.
    batch_rows : int, default=65536
        Rows of each batch but the last, also across files.
    format : str, default=None
        As in `read_table`; None: what the names end with.
    dtype : "auto", "float32" or "float64", default="auto"
        Precision of the features; "auto": float32 if all numbers in the files are, else
        float64. Float32 rounds whole numbers beyond 2^24.
    missing : "error", "drop" or float, default="error"
        What to do with a row where a feature is missing or NaN: raise, leave the row
        out, or fill in this number. For a missing category, a number means zeros in all
        its columns. A missing label or weight is always an error, and so is a value
        that is infinite.
    categories : "error", "drop", "one-hot" or dict, default="error"
        What to do with columns of text or of Arrow's dictionaries: raise, leave them
        out, or give each text a column of zeros and ones. "one-hot" reads these columns
        once to find the texts, and sorts them; a dict from each of the columns to a
        list of its texts saves that.
    types : dict of str to str, default=None
        Types of columns of CSV and TSV files: "float64", "int64", "bool" or "string".
        Those of the others are found in the first megabyte of the first file that has
        rows, and a value of another type later on is an error.
    separator : str, default=None
        The character between the columns of CSV and TSV files, as in `read_table`.
    n_features : int, default=None
        Number of features in LIBSVM's format; None: the highest index in all files,
        which are read once to find it.
    prefetch : int, default=2
        Batches that are read ahead, in a thread, which has one of its own to decode
        Parquet files; 0: no thread.

    Returns
    -------
    batches : Batches
        Gives ``(X, y)``, or ``(X, y, weight)``, each time it is iterated over. ``X`` is
        a Fortran-ordered array, or CSR for LIBSVM's format.

    Raises
    ------
    TableError
        If a file is empty, damaged, cut off or not of this format, a column is not in
        all files or not of the same kind everywhere, columns have the same name, hold
        dates, or are to be refused by `missing` or `categories`, or if an integer is
        beyond 2^53. The message has the file, and the row or line. What the names and
        types of the columns show is raised here, the rest when the rows are reached.
    FileNotFoundError
        If there is no such file, or none that matches.

    Notes
    -----
    Columns become floats: true is 1, and false is 0. True and false, integers, floats
    and decimals are all numbers, and files may differ in which of these a column is;
    labels then have a type that holds all. Labels of LIBSVM's format are integers if
    the first ones are. Columns of several levels are named ``column_text``.

    A file that changes after this call is refused by later passes.

    Of a Parquet file, 64 MB of rows are decoded at a time, or a quarter of a batch if
    that is more, however large its row groups are, and pyarrow holds a page and a
    dictionary of each column, mostly 1 MB each. Of an Arrow file, one of its record
    batches is read at a time; of a text, a few MB.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from aucmax.io import read_batches
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "loans.csv")
    >>> _ = file.write_text("income,town,default\n3.5,Graz,0\n,Linz,1\n2,Graz,0\n")
    >>> batches = read_batches(
    ...     file, target="default", missing=0, categories="one-hot", batch_rows=2
    ... )
    >>> batches
    Batches(1 file, csv, n_features=3, batch_rows=2)
    >>> batches.names
    ('income', 'town_Graz', 'town_Linz')
    >>> for X, y in batches:
    ...     print(X, y)
    [[3.5 1.  0. ]
     [0.  0.  1. ]] [0 1]
    [[2. 1. 0.]] [0]
    >>> read_batches(file, target="default")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    aucmax...TableError: Column 'town' of ...loans.csv holds text. Pass categories=...
    >>> folder.cleanup()
    """
    _check_count("batch_rows", batch_rows, 1)
    _check_count("prefetch", prefetch, 0)
    if dtype not in DTYPES:
        raise TableError(f"dtype must be one of {', '.join(DTYPES)}; got {dtype!r}")
    _check_missing(missing)
    sources = open_sources(paths)
    kind = format_of(sources, format, separator)
    check_readable(sources, kind)
    first = sources[0].name
    if kind == "libsvm":
        _refuse(
            "is in LIBSVM's format, whose columns have no names and no types, and "
            "whose labels come first",
            first,
            target=target is not None,
            columns=columns is not None,
            weight=weight is not None,
            missing=missing != "error",
            categories=categories != "error",
            types=types is not None,
        )
        if n_features is not None:
            _check_count("n_features", n_features, 1)
        return Batches(plan_sparse(sources, n_features, dtype), batch_rows, prefetch)
    known = f"is read as {kind}, where that is known"
    _refuse(known, first, n_features=n_features is not None)
    _refuse(known, first, types=bool(types) and kind not in TEXT)
    tables = look_at(
        sources,
        kind,
        target=target,
        columns=columns,
        weight=weight,
        types=types,
        separator=separator,
    )
    plan = plan_tables(
        tables,
        dtype=dtype,
        missing=missing,
        categories=categories,
        in_threads=prefetch > 0,
    )
    return Batches(plan, batch_rows, prefetch)


def _check_count(name: str, value: Any, least: int) -> None:
    is_count = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_count or value < least:
        raise TableError(f"{name} must be an integer from {least} on; got {value!r}")


def _check_missing(missing: Any) -> None:
    is_number = isinstance(missing, Real) and not isinstance(missing, bool)
    if missing in MISSING if isinstance(missing, str) else is_number:
        return
    raise TableError(f"missing must be 'error', 'drop' or a number; got {missing!r}")


def _refuse(problem: str, file: str, **given: bool) -> None:
    """Raise if an option is given that such files cannot have."""
    for name, is_given in given.items():
        if is_given:
            raise TableError(problem, Option("leave out", name), file=file)
