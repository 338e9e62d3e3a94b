# SPDX-License-Identifier: BSD-3-Clause
"""Tables of plain values in Parquet files."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.io._atomic import replacing
from aucmax.io._errors import damage_errors


def write_parquet(
    path: str | os.PathLike[str], columns: Mapping[str, Sequence[Any]]
) -> None:
    """Write columns to a file: all of it, or nothing.

    The file is written beside its place and moved there when it is on the disk, so that
    a reader, or a machine that stops, never sees half of it.

    Parameters
    ----------
    path : path-like
        The file; its folder must exist.
    columns : dict of str to sequence
        Values by name, all of the same length.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from aucmax.io import read_parquet, write_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_parquet(Path(folder) / "a.parquet", {"name": ["b"], "auc": [0.9]})
    ...     read_parquet(Path(folder) / "a.parquet")
    {'name': ['b'], 'auc': [0.9]}
    """
    arrow = import_optional("pyarrow", "io")
    parquet = import_optional("pyarrow.parquet", "io")
    table = arrow.table(dict(columns))
    with replacing(Path(path)) as draft, draft.open("wb") as file:
        parquet.write_table(table, file, compression="zstd", write_page_checksum=True)


def read_parquet(path: str | os.PathLike[str]) -> dict[str, list[Any]]:
    """Return the columns of a file that `write_parquet` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    columns : dict of str to list
        Values by name.

    Raises
    ------
    ValueError
        If the file is no Parquet file, or damaged.
    """
    parquet = import_optional("pyarrow.parquet", "io")
    try:
        columns: dict[str, list[Any]] = parquet.read_table(
            path, page_checksum_verification=True
        ).to_pydict()
    except damage_errors() as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(
            f"{path} is not a Parquet file, or it is damaged ({error}). Delete it, or "
            "bring back a good copy."
        ) from error
    return columns
