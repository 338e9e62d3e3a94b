# SPDX-License-Identifier: BSD-3-Clause
"""An approximate Hessian from a few well chosen rows.

The curvature of the loss is concentrated in rows that belong to many active pairs.
Drawing rows in proportion to the square root of their curvature, weighting each with
the inverse of its chance, and evaluating the *same loss* on them gives an estimate of
the Hessian for the price of about one product over all rows. It works for every loss
and every design because it uses nothing but their interfaces.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from aucmax._utils.typing import BoolArray, FloatArray, IntArray, to_dense
from aucmax.design import Design
from aucmax.losses import PairLoss, Terms
from aucmax.solvers._sampling import draw_rows

# Above this many features the dense block is not worth its d^3.
MAX_FEATURES = 2048
# Rows per feature in the sample: at least, and more than enough.
FEW_ROWS, MANY_ROWS = 8, 400
# In between, n/d times this many, and no more than this share of the rows: their sweeps
# and outer products then take about as long as two passes over all rows.
SAMPLE_VALUES, SAMPLE_SHARE = 24, 1 / 8
# The sample is dealt into batches of n/d times this many float32 rows, the space of
# three vectors of scores.
BATCH_VALUES = 6
# Problems with n d^2 below this take all rows, up to so many: a millisecond or two.
SMALL_PROBLEM, SMALL_ROWS = 10**8, 2000
# A sample is drawn anew when CG has needed more steps than this.
MAX_STEPS = 6
# Up to this many values are kept in float64.
PRECISE_VALUES = 2**20
# Least scale of a column, relative to that of the widest.
LEAST_SCALE = 1e-6


class Preconditioner:
    """``H + alpha I``, H estimated from a sample of rows; identity if d is large."""

    def __init__(self, hessian: FloatArray | None, patience: int = MAX_STEPS) -> None:
        self.hessian = hessian
        # CG steps after which to make a new one.
        self.patience = patience
        # What was added to the diagonal, so that no direction looks flat.
        self.shift = 0.0
        self._factor: FloatArray | None = None

    @classmethod
    def build(
        cls,
        design: Design,
        loss: PairLoss,
        scores: FloatArray,
        terms: Terms,
        is_pos: BoolArray,
        weight: FloatArray,
    ) -> "Preconditioner":
        """Estimate the Hessian of the loss at ``scores``.

        A small problem takes all rows, and a new estimate after each Newton step: the
        fit then follows the same path for repeated rows as for weights, to rounding.
        """
        n, d = design.shape
        curvature = terms.hess_diag()
        total = float(curvature.sum())
        if d > MAX_FEATURES or total == 0.0:
            return cls(None)
        if n * d * d <= SMALL_PROBLEM and n <= SMALL_ROWS:
            return cls(_exact_hessian(design, terms), patience=0)
        importance = _importance(curvature, total)
        del curvature  # as large as all that follows
        least = max(1000, FEW_ROWS * d, min(SMALL_PROBLEM // d**2, SMALL_ROWS))
        enough = min(SAMPLE_VALUES * n // d, int(SAMPLE_SHARE * n), MANY_ROWS * d)
        index, chance = draw_rows(importance, is_pos, max(least, enough))
        n_batches = -(-len(index) // max(least, BATCH_VALUES * n // d))
        hessian, n_used = np.zeros((d, d)), 0
        for k in range(n_batches):
            batch = index[k::n_batches]
            if is_pos[batch].all() or not is_pos[batch].any():
                continue
            sampled = loss.evaluate(
                scores[batch], is_pos[batch], weight[batch] / chance[k::n_batches]
            )
            hessian += _hessian_per_curvature(design, batch, sampled)
            n_used += 1
        if n_used == 0:
            return cls(None)
        # A loss divides by the mass it sees, and the sample holds no idle rows.
        hessian *= total / n_used
        # What few rows cannot show must not look flat, or CG chases it first.
        if np.any(chance < 1.0):
            hessian.flat[:: d + 1] += float(np.trace(hessian)) / len(index)
        return cls(hessian)

    @property
    def is_exact(self) -> bool:
        """Whether it is the Hessian of all rows, but for what ``shift`` adds."""
        return self.hessian is not None and self.patience == 0

    @property
    def is_lasting(self) -> bool:
        """Whether it is an estimate made to serve for several Newton steps."""
        return self.hessian is not None and self.patience > 0

    def factorise(self, alpha: float) -> None:
        """Prepare ``solve`` for this ``alpha``."""
        if self.hessian is None:
            return
        d = self.hessian.shape[0]
        if not np.isfinite(self.hessian).all():
            # Values out of float32's range; LAPACK would not notice.
            self.hessian = None
            return
        # The estimate may be singular in directions the sample does not span.
        shift = alpha + 1e-7 * float(np.trace(self.hessian)) / d
        for _ in range(20):
            shifted = self.hessian.copy()
            shifted.flat[:: d + 1] += shift
            self._factor, failed = lapack.dpotrf(shifted, lower=True)
            if not failed:
                self.shift = shift
                return
            shift *= 10.0
        self.hessian = self._factor = None

    def solve(self, vector: FloatArray) -> FloatArray:
        """Return ``(H + alpha I)^-1 vector``."""
        if self._factor is None:
            return vector.copy()
        # scipy's cho_solve takes longer to check its arguments than to solve.
        solution: FloatArray = lapack.dpotrs(self._factor, vector, lower=True)[0]
        return solution


def _importance(curvature: FloatArray, total: float) -> NDArray[np.float32]:
    """Return the root of each row's share of all curvature, which is overwritten."""
    # A share, because the curvature may be out of float32's range.
    importance = np.sqrt(curvature, out=curvature)
    importance /= np.sqrt(total)
    return importance.astype(np.float32)


def _exact_hessian(design: Design, terms: Terms) -> FloatArray:
    """``X.T @ H @ X``, all rows in memory at once."""
    rows = to_dense(design.rows(np.arange(design.shape[0])))
    columns = rows.T.astype(np.float64, order="C")
    # The Hessian ignores it, and sums keep digits.
    columns -= columns.mean(axis=1, keepdims=True)
    hessian = terms.hess_dot(columns) @ columns.T
    hessian += hessian.T.copy()
    hessian *= 0.5
    return hessian


def _hessian_per_curvature(design: Design, index: IntArray, terms: Terms) -> FloatArray:
    """``rows.T @ H @ rows / sum(diag H)`` of some rows, a few columns at a time."""
    columns, scale = _unit_columns(design, index)
    # One where two rows that were active among all are not among these few.
    total = float(terms.hess_diag().sum()) or 1.0
    d = columns.shape[0]
    hessian = np.empty((d, d))
    width = max(8, d // 8)
    for low in range(0, d, width):
        some = columns[low : low + width]
        curved = terms.hess_dot(some, out=np.empty_like(some))
        hessian[low : low + width] = curved @ columns.T
    hessian *= np.multiply.outer(scale, 0.5 / total * scale)
    return hessian + hessian.T


def _unit_columns(design: Design, index: IntArray) -> tuple[NDArray[Any], FloatArray]:
    """Columns of some rows, dense, shifted and scaled, and the scale of each.

    The Hessian ignores the shift. An estimate from many rows needs no more digits than
    float32, which halves the time and space of its product; the scale keeps it in
    float32's range.
    """
    shape = design.shape[1], len(index)
    precise = shape[0] * shape[1] <= PRECISE_VALUES
    columns = np.empty(shape, dtype=np.float64 if precise else np.float32)
    # A few at a time, because they are copied three times on the way: as much as a
    # quarter of a vector of scores, or half a megabyte.
    size = max(design.shape[0] // 4, 2**16) // design.shape[1] + 1
    gathered = design.rows(index) if design.reads_in_order else None
    for low in range(0, len(index), size):
        some = slice(low, low + size)
        part = to_dense(
            design.rows(index[some]) if gathered is None else gathered[some]
        )
        if low == 0:
            middle = part.mean(axis=0)
            scale = np.abs(part[:256] - middle).max(axis=0).astype(np.float64)
            # A column may be next to constant in these rows and large in others.
            scale = np.maximum(scale, LEAST_SCALE * scale.max())
            scale[scale == 0.0] = 1.0
        columns[:, some] = ((part - middle) / scale).T
    return columns, scale
