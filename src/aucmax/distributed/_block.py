# SPDX-License-Identifier: BSD-3-Clause
"""Some rows and their design, as they live on a worker."""

from collections.abc import Callable
from typing import Any, NamedTuple

from aucmax._utils.threads import one_thread
from aucmax._utils.typing import BoolArray, FloatArray, Matrix
from aucmax.design import Design


class Part(NamedTuple):
    """Checked rows, which of them are positive, and how often each counts."""

    rows: Matrix
    is_pos: BoolArray
    weight: FloatArray

    def take(self, index: Any) -> "Part":
        """Return some of the rows."""
        return Part(self.rows[index], self.is_pos[index], self.weight[index])


class Block:
    """Rows of one partition and the design made of them once.

    Parameters
    ----------
    part : Part
        The rows.
    make : callable
        Makes their design.
    """

    def __init__(self, part: Part, make: Callable[[Matrix], Design]) -> None:
        self.part = part
        self._make = make
        # Makes n_threads() one: a worker has as many as it was given.
        with one_thread("openmp"):
            self.design = make(part.rows)

    def __reduce__(self) -> tuple[Any, ...]:
        # A design has views of the rows: they would travel twice.
        return Block, (self.part, self._make)

    def __sizeof__(self) -> int:
        """Return the bytes of the rows, or Dask would think they move for free."""
        rows = self.part.rows
        arrays = [rows] if hasattr(rows, "nbytes") else [rows.data, rows.indices]
        cache = getattr(self.design, "cache", None)
        arrays += [self.part.is_pos, self.part.weight]
        arrays += [] if cache is None else [cache]
        return int(sum(array.nbytes for array in arrays))
