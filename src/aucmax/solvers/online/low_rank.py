# SPDX-License-Identifier: BSD-3-Clause
"""OPAUC with covariances of low rank, for very many features.

With ``d = mean_pos - mean_neg`` and class covariances S, the mean over pairs of
``(1 - coef'(x_pos - x_neg))^2`` plus ``alpha / 2 |coef|^2`` is least where
``(S_pos + S_neg + d d' + alpha / 2 I) coef = d``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax import _kernels
from aucmax._utils.state import (
    FLOATS,
    expect,
    expect_array,
    expect_count,
    expect_number,
    expect_type,
)
from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import BoolArray, FloatArray, Matrix, is_sparse
from aucmax.saved import saved_as
from aucmax.solvers.base import check_finite
from aucmax.solvers.closed_form import penalty_for, solve_semidefinite
from aucmax.solvers.online._origin import FromOrigin
from aucmax.solvers.online.base import Diverged, LinearModel
from aucmax.solvers.online.opauc import refuse_turning_around
from aucmax.summaries.low_rank import (
    LowRankMoments,
    draw_signs,
    feature_blocks,
    sums_dtype,
)

# Penalty when none is given, as a share of the mean squared distance between a positive
# and a negative row. The variance that the sketch misses is a penalty, too, so it is
# less than without: AUC on rcv1-small, sector and news20 0.951, 0.960, 0.981, with
# 3e-5 0.940, 0.968, 0.987.
SHARE_OF_DISTANCE = 1e-4
# Rows whose draws are held at a time.
FEW_ROWS = 1024
# Rows after which the weights are written out, at least.
FOLD_ROWS = 10_000
# Products of larger values do not fit into sums of float32.
LARGEST_SINGLE = 1e15


@saved_as("LowRankGradient")
class LowRankGradient:
    """One gradient step per row, the covariance of the other class a random sketch.

    The paper's method with the sketch centred: a row x of its class with a draw r from
    N(0, I / rank) adds ``x r'`` to a sum Z, and with the mean c and the sum s of the
    draws, the covariance is ``(Z - c s')(Z - c s')' / n``. A step costs nnz times rank
    plus rank squared, whatever the number of features.

    Parameters
    ----------
    n_features, rank : int
        Size of the sketch of each class.
    alpha : float
        Strength of the penalty; the paper's lambda is half of it.
    step_size : float or None
        A number is the paper's constant step, and the model its last iterate. None is
        one over the trace of the curvature of the row, and the model the average of the
        iterates, weighted by the square of their number. That cannot diverge. Rows far
        from the other class count a little less, which moves the weights by less than
        the sketch does.
    rng : Generator
        Draws rank normal numbers per row.
    """

    is_order_free = False

    def __init__(
        self,
        n_features: int,
        *,
        rank: int,
        alpha: float,
        step_size: float | None,
        rng: np.random.Generator,
    ) -> None:
        refuse_turning_around(step_size, alpha)
        self.ridge = 0.5 * alpha
        self.step_size = step_size
        self.rng = rng
        # As much work as 32 nonzeros more in each row.
        self.fold_every = max(FOLD_ROWS, n_features // 16)
        n_columns = 2 * (rank + 1)
        # Zeros that nobody has written to take no memory.
        self.state = _kernels.low_rank.State(
            sums=np.zeros((n_features, n_columns), sums_dtype(n_features, n_columns)),
            gram=np.zeros((n_columns, n_columns)),
            image=np.zeros(n_columns),
            mix=np.zeros(n_columns),
            mix_sum=np.zeros(n_columns),
            parts=np.zeros((n_features, 2)),
            totals=np.zeros((2, rank + 1)),
            scalars=np.array([1.0, 0.0, 0.0, 0.0]),
        )

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return len(self.state.sums)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        state = expect_type(self, "state", _kernels.low_rank.State)
        width = expect_array(state, "totals", (2, None)).shape[1]
        expect(width > 1, self, "its rank is zero")
        n_columns = 2 * width
        d = expect_array(state, "sums", (None, n_columns), FLOATS).shape[0]
        expect_array(state, "gram", (n_columns, n_columns))
        for name in ("image", "mix", "mix_sum"):
            expect_array(state, name, (n_columns,))
        expect_array(state, "parts", (d, 2))
        expect_array(state, "scalars", (4,))
        with np.errstate(over="ignore"):
            n_seen = state.totals[:, -1].sum()
        expect(np.isfinite(n_seen), self, "it has seen no number of rows")
        expect_count(self, "fold_every", low=1)
        expect_number(self, "ridge")
        if self.step_size is not None:
            expect_number(self, "step_size")
        expect_type(self, "rng", np.random.Generator)

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        rank = self.state.totals.shape[1] - 1
        for low in range(0, X.shape[0], FEW_ROWS):
            part = slice(low, low + FEW_ROWS)
            rows = _as_csr(X[part], self.state.sums.dtype, low)
            before = self.rng.bit_generator.state
            n_done = self._step(rows, is_pos[part])
            if n_done < rows.shape[0]:
                # As if the rows after it had never come.
                self.rng.bit_generator.state = before
                self.rng.standard_normal((n_done, rank))
                n_seen = int(self.state.totals[:, rank].sum())
                raise Diverged(
                    f"The step after {n_seen} rows overflows with step_size="
                    f"{self.step_size}. Lower it, use 'auto', or scale the features.",
                    low + n_done,
                )

    def model(self) -> LinearModel:
        """Return the last weights, or their average if the step size is automatic."""
        mass = self.state.scalars[3]
        last, total = _kernels.low_rank.write_out(self.state).T
        is_last = self.step_size is not None or mass == 0.0
        return LinearModel(np.array(last) if is_last else total / mass)

    def _step(self, rows: Matrix, is_pos: BoolArray) -> int:
        """Draw for all rows, and step until one would overflow; return its number."""
        rank = self.state.totals.shape[1] - 1
        draws = np.ones((rows.shape[0], rank + 1))
        draws[:, :rank] = self.rng.standard_normal((rows.shape[0], rank))
        draws[:, :rank] /= np.sqrt(rank)
        return _kernels.low_rank.sketch_steps(
            _kernels.rows.as_rows(rows),
            is_pos,
            draws,
            self.ridge,
            self.step_size or 0.0,
            self.fold_every,
            self.state,
        )


@saved_as("LowRankExact")
class LowRankExact(FromOrigin):
    """Sums of both classes; the model is the minimiser for all rows so far.

    Not in the paper. Its sketch is made for steps that see the rows themselves as well.
    Alone it fails on text: it puts all the variance of a class into 50 random
    directions and none elsewhere, although 50 well chosen ones hold a twentieth of it.
    The AUC on sector is then 0.912, against 0.980 of the steps (alpha = 1e-3; on news20
    0.876 and 0.944). So covariances are kept in fixed random directions instead, from
    which Nyström's approximation finds where the variance is, and every feature gets
    the exact variance that this misses: 0.959 and 0.938, and with alpha = 1e-5, 0.980
    and 0.964. The order of the rows does not matter, and with a rank of ``n_features``
    nothing is approximate.

    Parameters
    ----------
    n_features, rank : int
        Size of the sums of each class.
    alpha : float or None
        Strength of the penalty. None is a share of the mean squared distance between a
        positive and a negative row.
    rng : Generator
        Draws the directions.
    """

    is_order_free = True

    def __init__(
        self,
        n_features: int,
        *,
        rank: int,
        alpha: float | None,
        rng: np.random.Generator,
    ) -> None:
        self.alpha = alpha
        signs = draw_signs(n_features, rank, rng)
        dtype = sums_dtype(n_features, 2 * (signs.shape[1] + 2))
        self.moments = [LowRankMoments.empty(signs, dtype) for _ in range(2)]

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return len(self.moments[0].signs)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        neg, pos = expect_type(self, "moments", list)
        fits = isinstance(neg, LowRankMoments) and isinstance(pos, LowRankMoments)
        expect(fits and neg.sums.shape == pos.sums.shape, self, "moments do not fit")
        if self.alpha is not None:
            expect_number(self, "alpha")
        self._check_origin(self.n_features)

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        rows = _as_csr(self._from_origin(X), self.moments[0].sums.dtype)
        for own, moments in enumerate(self.moments):
            index = np.flatnonzero(is_pos == own)
            if len(index):
                moments.add(rows if len(index) == len(is_pos) else rows[index])

    def model(self) -> LinearModel:
        """Return the minimiser; zero while one class is missing."""
        neg, pos = self.moments
        if min(neg.count, pos.count) == 0:
            return LinearModel(np.zeros(len(neg.signs)))
        # BLAS rounds differently with a different number of threads.
        with one_blas_thread():
            alpha = self.alpha
            if alpha is None:
                distance = pos.squared_distance(neg)
                alpha = penalty_for(distance, SHARE_OF_DISTANCE)
            return LinearModel(solve_low_rank(pos, neg, alpha=alpha))


def solve_low_rank(
    pos: LowRankMoments, neg: LowRankMoments, *, alpha: float
) -> FloatArray:
    """Return the minimiser given the moments of the classes; O(d rank^2).

    The matrix is ``diag(D) + F F'``, and Woodbury's formula inverts it with a system of
    twice the rank. Features come in blocks, so that F is never held as a whole.
    """
    covariances = (pos.covariance(), neg.covariance())
    blocks = feature_blocks(*pos.signs.shape)

    def parts(block: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        mean_pos, factor_pos, rest_pos = covariances[0].features(block)
        mean_neg, factor_neg, rest_neg = covariances[1].features(block)
        diagonal = rest_pos + rest_neg + 0.5 * alpha
        return mean_pos - mean_neg, np.hstack([factor_pos, factor_neg]), diagonal

    size = 2 * pos.signs.shape[1]
    small, target = np.eye(size), np.zeros(size)
    for block in blocks:
        gap, factor, diagonal = parts(block)
        small += factor.T @ (factor / diagonal[:, None])
        target += factor.T @ (gap / diagonal)
    check_finite(float(small.sum()), target)
    weight = solve_semidefinite(small, target)
    coef = np.empty(len(pos.signs))
    metric_ratio = 1.0
    for block in blocks:
        gap, factor, diagonal = parts(block)
        coef[block] = (gap - factor @ weight) / diagonal
        metric_ratio += float(gap @ coef[block])
    # Sherman and Morrison: the rank-one term only shortens the solution.
    coef /= metric_ratio
    return coef


def _as_csr(rows: Matrix, dtype: np.dtype[Any], n_before: int = 0) -> Matrix:
    """Return CSR rows whose products fit into sums of this type."""
    rows = rows if is_sparse(rows) else sparse.csr_matrix(rows)
    values: NDArray[Any] = rows.data
    if dtype == np.float32 and np.abs(values).max(initial=0.0) > LARGEST_SINGLE:
        raise Diverged(
            f"X holds values above {LARGEST_SINGLE:g}, and with so many features sums "
            "are kept in float32, where they would overflow. Scale the features.",
            n_before,
        )
    return rows
