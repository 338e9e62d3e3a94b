# SPDX-License-Identifier: BSD-3-Clause
"""Results on disk: Parquet files that a run adds to and never leaves half written."""

import os
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from aucmax._utils.optional import import_optional
from aucmax.io import read_parquet, write_parquet
from aucmax_papers.rows import Key, Row

COLUMNS = tuple(f.name for f in fields(Row))
# A killed run loses about this much of its work, besides what was not finished.
FLUSH_SECONDS = 2.0


class Store:
    """The results of one paper.

    They are in ``results.parquet``. While a run is at work, it adds small files in
    ``parts``, each of them whole or absent; when it ends, they become one file. A run
    that is killed leaves its parts, which count like the rest.

    Parameters
    ----------
    folder : path-like
        Where the folders of all papers are.
    paper : str
        Key of the paper.

    Examples
    --------
    >>> import tempfile
    >>> from aucmax_papers.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store(folder, "gao2013").rows()
    []
    """

    def __init__(self, folder: str | os.PathLike[str], paper: str) -> None:
        self.folder = Path(folder) / paper
        self._buffer: list[Row] = []
        self._flushed = time.monotonic()
        self._lock: Any = None

    @property
    def file(self) -> Path:
        """Return where the results are, between runs."""
        return self.folder / "results.parquet"

    def rows(self) -> list[Row]:
        """Return all results on disk, in order of their keys, each once."""
        found: dict[Key, Row] = {}
        # The parts first: a run that ends meanwhile puts them into the file.
        for path in (*self._parts(), self.file):
            with suppress(FileNotFoundError):
                for row in _read(path):
                    found.setdefault(row.key, row)
        return [found[key] for key in sorted(found)]

    def add(self, rows: Iterable[Row]) -> None:
        """Keep results; they are on disk when they took `FLUSH_SECONDS`, or a `flush`.

        The next result may be hours away: so what they took counts, not only the time
        since the last flush.
        """
        self._buffer.extend(rows)
        taken = np.nansum([(row.seconds, row.scoring) for row in self._buffer])
        if max(time.monotonic() - self._flushed, taken) > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Put on disk what was added."""
        if self._buffer:
            part = self.folder / "parts" / f"{uuid.uuid4().hex}.parquet"
            part.parent.mkdir(parents=True, exist_ok=True)
            _write(part, self._buffer)
            self._buffer = []
        self._flushed = time.monotonic()

    def compact(self) -> None:
        """Make one file of all parts."""
        self.flush()
        parts = self._parts()
        if not parts:
            return
        _write(self.file, self.rows())
        for part in parts:
            part.unlink()
        with suppress(OSError):  # something else is in it, which stays
            parts[0].parent.rmdir()

    def __enter__(self) -> "Store":
        """Lock the folder, so that two runs do not do the same work."""
        try:
            (self.folder / "parts").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RuntimeError(
                f"Results cannot be kept in {self.folder} ({error.strerror}). Choose "
                "another folder for them."
            ) from error
        filelock = import_optional("filelock", "data")
        # The system drops the lock of a process that is killed.
        self._lock = filelock.FileLock(self.folder / ".lock")
        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            raise RuntimeError(
                f"Another run is at work in {self.folder}. Wait for it, or choose "
                "another folder for the results."
            ) from None
        try:
            # What a killed run was writing.
            for draft in self.folder.rglob("*.parquet.*.tmp"):
                draft.unlink()
            self.compact()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.compact()
        finally:
            self._lock.release()

    def _parts(self) -> list[Path]:
        try:
            return sorted((self.folder / "parts").glob("*.parquet"))
        except FileNotFoundError:  # a run has just ended
            return []


def _read(path: Path) -> list[Row]:
    columns = read_parquet(path)
    if missing := set(COLUMNS) - set(columns):
        raise ValueError(
            f"{path} has no column {', '.join(sorted(missing))}: it is not a file of "
            "results, or of an older version. Move it away and run again."
        )
    return [Row(*values) for values in zip(*(columns[c] for c in COLUMNS), strict=True)]


def _write(path: Path, rows: list[Row]) -> None:
    write_parquet(path, {c: [getattr(row, c) for row in rows] for c in COLUMNS})
