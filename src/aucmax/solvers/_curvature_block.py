# SPDX-License-Identifier: BSD-3-Clause
"""The Hessian of wide rows, where it matters, from a sample of active rows.

Columns in which the loss curves less than the penalty need no more than a diagonal. For
the others a dense block is estimated from rows drawn in proportion to the root of their
curvature, each weighted with the inverse of its chance. Few columns matter at a large
alpha and all at a tiny one, so the block costs little until it is needed.
"""

import numpy as np
from scipy.linalg import lapack

from aucmax._utils.checkpoint import State
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, to_dense
from aucmax.design import Design
from aucmax.losses import PairLoss, Terms
from aucmax.solvers._sampling import draw_rows

# Rows that estimate the diagonal: one in so many, at least and at most these. A column
# taken for flat by chance costs more products than the rows that would have shown it.
FEW_SHARE, FEW_ROWS, FEW_AT_MOST = 80, 400, 1000
# The least rows that estimate the block.
LEAST_ROWS = 2000
# Rows per column of the block; fewer do for the first block from a start at zero.
ROWS_PER_COLUMN, FIRST_ROWS_PER_COLUMN = 3.0, 1.5
# A block of nearly all columns is a block of all.
NEARLY_ALL = 0.8
# Products with all rows that a block of k columns from m rows costs, per m k^2 / (n d).
COST = 0.055
# Only one triangle is computed, in so many panels: 0.58 of the work.
PANELS = 6
# What the sample does not show must not look flat; relative to the trace.
SHIFT = 1e-7
# With all rows at hand in a few milliseconds, there is nothing to estimate.
SMALL_PROBLEM, SMALL_ROWS = 10**8, 2000
ESTIMATED = (
    "curvature",
    "is_small",
    "diagonal",
    "columns",
    "is_cut",
    "cost",
    "is_complete",
    "_block",
)


class CurvatureBlock:
    """``H + alpha I``: dense for the columns that matter, diagonal for the rest.

    The diagonal is estimated here, or is ``diagonal_share`` times the curvature of all
    rows, where a guess from elsewhere will do.
    """

    def __init__(
        self,
        design: Design,
        loss: PairLoss,
        scores: FloatArray,
        terms: Terms,
        is_pos: BoolArray,
        weight: FloatArray,
        *,
        alpha: float,
        rows_per_column: float,
        budget: float,
        diagonal_share: FloatArray | None = None,
    ) -> None:
        n, d = design.shape
        draw = Draw(design, loss, scores, terms, is_pos, weight)
        self.curvature = draw.curvature
        self.is_small = is_small(design)
        n_active = int(np.count_nonzero(draw.importance))
        self.diagonal = np.zeros(d)
        self.columns = np.arange(0)
        self.is_cut, self.cost, self.is_complete = False, 0.0, True
        if n_active == 0:
            self._block = np.zeros((0, 0), order="F")
            self.factorise(alpha)
            return
        if self.is_small:
            self.columns = np.arange(d)
            self._block = draw.block(n, self.columns)
            self.diagonal = np.diagonal(self._block).copy()
            self.factorise(alpha)
            return
        if diagonal_share is None:
            self.diagonal = draw.diagonal()
        else:
            self.diagonal = draw.total * diagonal_share
        columns = np.flatnonzero(self.diagonal > alpha)
        if len(columns) > NEARLY_ALL * d:
            columns = np.arange(d)
        n_rows = _n_rows(len(columns), rows_per_column)
        unit = COST / (n * d)
        if unit * min(n_rows, n_active) * len(columns) ** 2 > budget:
            self.is_cut = True
            n_columns = _affordable(budget / unit)
            strongest = np.argsort(-self.diagonal, kind="stable")[:n_columns]
            columns = np.sort(strongest)
            n_rows = _n_rows(n_columns, ROWS_PER_COLUMN)
        self.columns = columns
        self.cost = unit * min(n_rows, n_active) * len(columns) ** 2
        self.is_complete = n_rows >= n_active
        self._block = draw.block(n_rows, columns)
        self.factorise(alpha)

    def state(self) -> State:
        """Return what was estimated, and how."""
        return {name: getattr(self, name) for name in ESTIMATED}

    @classmethod
    def restored(cls, state: State, alpha: float) -> "CurvatureBlock":
        """Return the block of such a state."""
        block = cls.__new__(cls)
        for name in ESTIMATED:
            setattr(block, name, state[name])
        block.factorise(alpha)
        return block

    def factorise(self, alpha: float) -> None:
        """Prepare ``solve`` for this ``alpha``."""
        self._scale = self.diagonal + alpha
        k = len(self.columns)
        shift = alpha + SHIFT * float(self.diagonal.sum())
        if self.is_small:
            shift = alpha
        while k > 0:
            shifted = self._block.copy(order="F")
            shifted.flat[:: k + 1] += shift
            self._factor, failed = lapack.dpotrf(shifted, lower=True, overwrite_a=True)
            if not failed:
                break
            shift = 10.0 * shift + np.finfo(float).eps * self.diagonal.max()

    def solve(self, vector: FloatArray) -> FloatArray:
        """Return ``(H + alpha I)^-1 vector``."""
        solution = vector / self._scale
        if len(self.columns):
            some = vector[self.columns]
            # scipy's cho_solve takes longer to check its arguments than to solve.
            solution[self.columns] = lapack.dpotrs(self._factor, some, lower=True)[0]
        return solution

    def drift(self, terms: Terms) -> float:
        """Return the share of the curvature that has moved between rows since."""
        now = terms.hess_diag()
        total = float(now.sum())
        now -= self.curvature
        return float(np.abs(now).sum()) / total if total > 0.0 else 0.0


def is_small(design: Design) -> bool:
    """Say whether the Hessian of all rows takes a few milliseconds."""
    n, d = design.shape
    return n * d * d <= SMALL_PROBLEM and n <= SMALL_ROWS


def _n_rows(n_columns: int, rows_per_column: float) -> int:
    return max(LEAST_ROWS, int(rows_per_column * n_columns))


def _affordable(volume: float) -> int:
    """Return the most columns k whose rows times k^2 stay within ``volume``."""
    k = max(1, int((volume / ROWS_PER_COLUMN) ** (1 / 3)))
    return min(k, max(1, int((volume / LEAST_ROWS) ** 0.5)))


class Draw:
    """Rows drawn in proportion to the root of their curvature."""

    def __init__(
        self,
        design: Design,
        loss: PairLoss,
        scores: FloatArray,
        terms: Terms,
        is_pos: BoolArray,
        weight: FloatArray,
    ) -> None:
        self.design = design
        self.loss = loss
        self.scores = scores
        self.is_pos = is_pos
        self.weight = weight
        self.curvature = terms.hess_diag()
        total = self.total = float(self.curvature.sum())
        share = self.curvature / total if total > 0.0 else self.curvature
        self.importance = np.sqrt(share).astype(np.float32)

    def diagonal(self) -> FloatArray:
        """Estimate the diagonal of the Hessian."""
        size = min(max(FEW_ROWS, len(self.scores) // FEW_SHARE), FEW_AT_MOST)
        index, terms, scale = self._sample(size)
        rows = to_dense(self.design.rows(index))
        columns = np.ascontiguousarray(rows.T)
        curved = terms.hess_dot(columns)
        diagonal: FloatArray = np.einsum("ij,ij->i", columns, curved)
        return np.maximum(diagonal, 0.0) * scale

    def block(self, n_rows: int, columns: IntArray) -> FloatArray:
        """Estimate the lower triangle of some columns of the Hessian."""
        k = len(columns)
        index, terms, scale = self._sample(n_rows)
        rows = self.design.rows(index, None if k == self.design.shape[1] else columns)
        # An estimate needs no more digits than float32; all rows deserve float64.
        dtype = np.float64 if is_small(self.design) else np.float32
        values = np.ascontiguousarray(to_dense(rows).T, dtype=dtype)
        block = np.zeros((k, k), order="F")
        width = max(1, -(-k // PANELS))
        for low in range(0, k, width):
            high = min(low + width, k)
            some = values[low:high]
            curved = terms.hess_dot(some, out=np.empty_like(some))
            block[low:high, :high] = curved @ values[:high].T
        block *= scale
        return block

    def _sample(self, size: int) -> tuple[IntArray, Terms, float]:
        """Return some rows, the loss on them alone, and its share of all curvature."""
        size = self.design.shape[0] if is_small(self.design) else size
        index, chance = draw_rows(self.importance, self.is_pos, size)
        # In the order of their scores, the sweeps over them run along memory.
        order = np.argsort(self.scores[index], kind="stable")
        index, chance = index[order], chance[order]
        terms = self.loss.evaluate(
            self.scores[index], self.is_pos[index], self.weight[index] / chance
        )
        # A loss divides by the mass it sees, and the sample holds no idle rows.
        seen = float(terms.hess_diag().sum())
        return index, terms, self.total / seen if seen > 0.0 else 0.0
