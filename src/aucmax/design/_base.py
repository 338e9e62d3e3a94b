# SPDX-License-Identifier: BSD-3-Clause
"""What a design is: the protocol every solver relies on."""

from typing import Protocol

from aucmax._utils.typing import FloatArray, IntArray, Matrix


class Design(Protocol):
    """The rows, wherever they are.

    All losses ignore a constant added to every score, so a design may work with
    ``X - offset`` for any fixed row ``offset``, the same in all methods.
    """

    @property
    def reads_in_order(self) -> bool:
        """Whether any rows cost a pass over all: ask for many at once."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        ...

    @property
    def n_values(self) -> int:
        """Numbers that a product reads."""
        ...

    def scores(self, coef: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return ``(X - offset) @ coef`` of shape (n_samples,) in float64.

        Written to ``out`` where given: fresh memory for a vector of scores can take as
        long as the product.
        """
        ...

    def adjoint(self, vector: FloatArray) -> FloatArray:
        """Return ``(X - offset).T @ vector`` of shape (n_features,) in float64."""
        ...

    def square_sums(self, weight: FloatArray) -> FloatArray:
        """Return ``((X - offset) ** 2).T @ weight``, or an estimate of it."""
        ...

    def rows(self, index: IntArray, columns: IntArray | None = None) -> Matrix:
        """Return the given rows of ``X - offset`` in memory: a new ndarray or CSR.

        Only the given columns of them, where a solver asks for some.
        """
        ...
