# SPDX-License-Identifier: BSD-3-Clause
"""Rows that come in batches and are never all in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import FloatArray, IntArray, Matrix, is_sparse
from aucmax.design._base import Design

# Makes the design of one batch, given its number, from 0, and its rows.
MakeDesign = Callable[[int, Matrix], Design]
CHANGED = (
    "The first pass had {} rows, but a later one has {}. A source must give the same "
    "batches each time; its files must not change meanwhile."
)


class StreamedDesign:
    """A sequence of designs in memory, made one after another at every pass.

    Products keep BLAS to one thread: a second one would take its time from those that
    read the next batch meanwhile.

    Parameters
    ----------
    batches : re-iterable of ndarray or CSR
        The rows, some at a time; the same ones in the same order at every pass. They
        may be overwritten or dropped when the next ones are asked for.
    shape : tuple of int
        Number of rows, and of columns that the designs show.
    make : callable
        ``make(number, rows)`` returns the design of one batch.
    multiple : int, default=1
        Batches are cut and joined to multiples of so many rows first.
    """

    reads_in_order = True

    def __init__(
        self,
        batches: Iterable[Matrix],
        shape: tuple[int, int],
        make: MakeDesign,
        *,
        multiple: int = 1,
    ) -> None:
        self.shape = shape
        # At most: sparse rows are not counted.
        self.n_values = shape[0] * shape[1]
        self._batches = batches
        self._make = make
        self._multiple = multiple

    def scores(self, coef: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return the scores of all rows: those of each batch, in order."""
        result = np.empty(self.shape[0]) if out is None else out
        for span, design in self._parts():
            with one_blas_thread():
                design.scores(coef, out=result[span])
        return result

    def adjoint(self, vector: FloatArray) -> FloatArray:
        """Return the sum over all batches of what each gives for its rows."""
        return self._sum(lambda span, design: design.adjoint(vector[span]))

    def square_sums(self, weight: FloatArray) -> FloatArray:
        """Return the sum over all batches of what each gives for its rows."""
        return self._sum(lambda span, design: design.square_sums(weight[span]))

    def rows(self, index: IntArray, columns: IntArray | None = None) -> Matrix:
        """Return the given rows, gathered in one pass."""
        order = np.argsort(index, kind="stable")
        wanted = index[order]
        sparse_rows: list[Matrix] = []
        dense: NDArray[Any] | None = None
        for span, design in self._parts():
            low, high = np.searchsorted(wanted, [span.start, span.stop])
            if low == high:
                continue
            rows = design.rows(wanted[low:high] - span.start, columns)
            if is_sparse(rows):
                sparse_rows.append(rows)
                continue
            # Written where they belong, as a copy of all might not fit into memory.
            if dense is None:
                dense = np.empty((len(index), rows.shape[1]), dtype=rows.dtype)
            dense[order[low:high]] = rows
        if dense is not None:
            return dense
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return stacked(sparse_rows)[back]

    def _sum(self, part: Callable[[slice, Design], FloatArray]) -> FloatArray:
        total = np.zeros(self.shape[1])
        for span, design in self._parts():
            with one_blas_thread():
                total += part(span, design)
        return total

    def _parts(self) -> Iterator[tuple[slice, Design]]:
        """Where each batch is among all rows, and its design."""
        n, low = self.shape[0], 0
        for number, rows in enumerate(aligned(self._batches, self._multiple)):
            span = slice(low, low + rows.shape[0])
            if span.stop > n:
                raise ValueError(CHANGED.format(n, "more"))
            low = span.stop
            yield span, self._make(number, rows)
        if low < n:
            raise ValueError(CHANGED.format(n, low))


def aligned(batches: Iterable[Matrix], multiple: int) -> Iterator[Matrix]:
    """Give the same rows in batches whose sizes, but for the last, are multiples.

    Fewer rows than ``multiple`` wait for the next batch. None is empty.
    """
    waiting: Matrix | None = None
    for rows in batches:
        if rows.shape[0] == 0:
            continue
        if multiple == 1:
            yield rows
            continue
        together = rows if waiting is None else stacked([waiting, rows])
        whole = together.shape[0] // multiple * multiple
        if whole:
            yield together[:whole]
        # A copy: what was given may be overwritten.
        rest = together[whole:]
        waiting = rest.copy() if rest.shape[0] else None
    if waiting is not None:
        yield waiting


def stacked(parts: Sequence[Matrix]) -> Matrix:
    """Return rows below each other."""
    if is_sparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)
