# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in .npy files: written row by row, read without being loaded."""

import mmap
import os
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray


class GrowingArray:
    """An array that is written to a new file, some rows at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] = path.open("xb")
        self._shape: tuple[int, ...] = (0,)
        self._dtype = np.dtype(np.float64)

    def append(self, values: NDArray[Any]) -> None:
        """Add rows, all of the same type."""
        if not self._file.tell():
            self._shape, self._dtype = (0, *values.shape[1:]), values.dtype
            self._write_header()
        self._shape = (self._shape[0] + len(values), *self._shape[1:])
        self._file.write(np.ascontiguousarray(values).data)

    def finish(self) -> dict[str, Any]:
        """Bring it to the disk; return what `MappedArray` needs to know."""
        size = self._file.tell()
        self._file.seek(0)
        # numpy leaves room in it for the number of rows to grow.
        self._write_header()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return {
            "file": self._path.name,
            "shape": list(self._shape),
            "dtype": self._dtype.str,
            "size": size,
        }

    def delete(self) -> None:
        """Leave nothing of it."""
        # What is still in the buffer may not fit on the disk.
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _write_header(self) -> None:
        header = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": self._shape,
        }
        np.lib.format.write_array_header_1_0(self._file, header)


class MappedArray:
    """An array in a file, read where it is used.

    Attributes
    ----------
    values : ndarray
        The array; it cannot be written to.
    """

    def __init__(
        self, folder: Path, file: str, shape: list[int], dtype: str, size: int
    ) -> None:
        try:
            np.dtype(dtype)
        except TypeError as error:
            raise ValueError(f"{file} is of the unknown type {dtype!r}") from error
        with (folder / file).open("rb") as stream:
            self._map = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        self._start = size - prod(shape) * np.dtype(dtype).itemsize
        values = np.frombuffer(self._map, np.uint8, offset=self._start)
        self.values: NDArray[Any] = values.view(dtype).reshape(shape)
        self._row_bytes = self.values.strides[0]

    def announce(self, low: int, high: int) -> None:
        """Have rows read from the disk before they are used."""
        self._advise("MADV_WILLNEED", low, high)

    def release(self, low: int, high: int) -> None:
        """Let go of memory for rows; if they are used again, they are read again."""
        self._advise("MADV_DONTNEED", low, high)

    def _advise(self, advice: str, low: int, high: int) -> None:
        # Not all systems have it.
        option = getattr(mmap, advice, None)
        if option is None or low >= high:
            return
        start = self._start + low * self._row_bytes
        stop = self._start + high * self._row_bytes
        start -= start % mmap.PAGESIZE
        self._map.madvise(option, start, stop - start)
