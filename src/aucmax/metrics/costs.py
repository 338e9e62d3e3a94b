# SPDX-License-Identifier: BSD-3-Clause
"""What each threshold costs, and the cheapest one."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._utils.typing import FloatArray
from aucmax.metrics._cuts import sweep_cuts

# Costs this close, relatively, differ by rounding only.
ROUNDING = 1e-12
# Times any number of rows, it stays finite.
LARGEST_COST = 1e100


class OperatingPoint(NamedTuple):
    """A threshold and what it does."""

    threshold: float
    cost: float
    sensitivity: float
    specificity: float
    precision: float


class CostCurve(NamedTuple):
    """Cost and rates of every threshold, from none positive to all positive.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Infinity, then each score that occurs, from high to low; rows with a score at
        least as high are called positive.
    cost : ndarray of shape (n_thresholds,)
        Expected cost per row.
    fpr : ndarray of shape (n_thresholds,)
        Share of negatives called positive, one minus the specificity.
    tpr : ndarray of shape (n_thresholds,)
        Share of positives called positive, the sensitivity or recall.
    precision : ndarray of shape (n_thresholds,)
        Share of positives among the rows called positive; NaN where there are none.
    """

    thresholds: NDArray[Any]
    cost: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    precision: FloatArray

    def best(self) -> OperatingPoint:
        """Return the cheapest threshold, the largest of equals.

        It lies in the middle of the gap between the two scores it separates; it is
        infinite where it separates none.

        Returns
        -------
        point : OperatingPoint
            Named tuple ``threshold, cost, sensitivity, specificity, precision``.
        """
        cheap = self.cost <= self.cost.min() * (1 + ROUNDING)
        k = int(np.flatnonzero(cheap)[0])
        return OperatingPoint(
            self._in_gap(k),
            float(self.cost[k]),
            float(self.tpr[k]),
            float(1 - self.fpr[k]),
            float(self.precision[k]),
        )

    def f_score(self, beta: float = 1.0) -> FloatArray:
        """Return the F score of every threshold; zero where no positive passes.

        Parameters
        ----------
        beta : float, default=1.0
            How many times as much recall counts as precision does.

        Returns
        -------
        f_score : ndarray of shape (n_thresholds,)
            Weighted harmonic mean of precision and recall.
        """
        if not 0 < beta < math.inf:
            raise ValueError(f"beta must be positive, got {beta!r}. Pass 1 for F1.")
        score = np.zeros_like(self.tpr)
        some = self.tpr > 0
        precision, recall = self.precision[some], self.tpr[some]
        score[some] = (
            (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        )
        return score

    def _in_gap(self, k: int) -> float:
        if k == 0:
            return math.inf
        if k == len(self.thresholds) - 1:
            return -math.inf
        above, below = self.thresholds[k], self.thresholds[k + 1]
        # In the precision of the scores, else comparing with them may round it away.
        half = self.thresholds.dtype.type(0.5)
        middle = half * above + half * below
        return float(middle if below < middle <= above else above)


def cost_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    prevalence: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> CostCurve:
    r"""Cost per row to be expected of every threshold.

    .. math::
        (1 - \pi)\, c_\mathrm{fp}\, \mathrm{FPR}(t)
        + \pi\, c_\mathrm{fn}\, (1 - \mathrm{TPR}(t))

    All thresholds in one argsort, O(n log n) time and O(n) memory; tied rows are called
    positive together.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, of any two values; the larger one is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores; higher means more positive.
    cost_fp, cost_fn : float, default=1.0
        Cost of one negative called positive, and of one positive called negative; at
        least zero, and not both zero. With both one, the cost is the error rate.
    prevalence : float, default=None
        Share of positives where the threshold will be used, in (0, 1); None means that
        of ``y_true``. Precision is that at this share.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts; a row of weight zero is absent.

    Returns
    -------
    curve : CostCurve
        Named tuple ``thresholds, cost, fpr, tpr, precision``, with the methods
        ``best()`` and ``f_score(beta)``.

    See Also
    --------
    best_threshold : The cheapest threshold alone.
    aucmax.plots.ThresholdDisplay : Draws the curve.

    Examples
    --------
    >>> from aucmax.metrics import cost_curve
    >>> y_true, y_score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> curve = cost_curve(y_true, y_score, cost_fn=5)
    >>> curve.thresholds.tolist()
    [inf, 0.8, 0.4, 0.35, 0.1]
    >>> curve.cost.tolist()
    [2.5, 1.25, 1.5, 0.25, 0.5]
    >>> curve.best().sensitivity, curve.best().specificity
    (1.0, 0.5)
    """
    _check_costs(cost_fp, cost_fn)
    if prevalence is not None and not 0 < prevalence < 1:
        raise ValueError(
            f"prevalence must be between 0 and 1, got {prevalence!r}. Pass the share "
            "of positives, such as 0.01, or None for that of y_true."
        )
    cuts = sweep_cuts(y_true, y_score, sample_weight, name="cost_curve")
    mass_neg, mass_pos = cuts.false[-1], cuts.true[-1]
    fpr, tpr = cuts.false / mass_neg, cuts.true / mass_pos
    missed = mass_pos - cuts.true
    if prevalence is None:
        # Divided last: costs and counts that are whole numbers give no rounding.
        cost = (cost_fp * cuts.false + cost_fn * missed) / (mass_neg + mass_pos)
        true, passed = cuts.true, cuts.true + cuts.false
    else:
        cost = (1 - prevalence) * cost_fp * fpr
        cost += prevalence * cost_fn * (missed / mass_pos)
        true = prevalence * tpr
        passed = true + (1 - prevalence) * fpr
    precision = np.full_like(cost, np.nan)
    precision[1:] = true[1:] / passed[1:]
    return CostCurve(cuts.thresholds, cost, fpr, tpr, precision)


def best_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    prevalence: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Threshold of the least expected cost.

    Choose it on rows that the model was not trained on; its cost on the same rows is
    lower than on new ones.

    Parameters
    ----------
    y_true, y_score, cost_fp, cost_fn, prevalence, sample_weight
        As in :func:`cost_curve`.

    Returns
    -------
    threshold : float
        In the middle of the gap between two scores; rows above it are called positive.
        Infinity if it is cheapest to call no row positive, minus infinity if all. The
        largest of equals.

    Examples
    --------
    >>> from aucmax.metrics import best_threshold
    >>> best_threshold([0, 0, 1, 1], [0.1, 0.5, 0.25, 0.75])
    0.625
    >>> best_threshold([0, 0, 1, 1], [0.1, 0.5, 0.3, 0.75], cost_fn=5)
    0.2
    """
    curve = cost_curve(
        y_true, y_score, cost_fp=cost_fp, cost_fn=cost_fn, prevalence=prevalence,
        sample_weight=sample_weight,
    )  # fmt: skip
    return curve.best().threshold


def _check_costs(cost_fp: float, cost_fn: float) -> None:
    for name, cost in (("cost_fp", cost_fp), ("cost_fn", cost_fn)):
        if not 0 <= cost <= LARGEST_COST:
            raise ValueError(
                f"{name} must be from 0 to {LARGEST_COST:g}, got {cost!r}. Pass what "
                "one such error costs, in any unit."
            )
    if cost_fp == cost_fn == 0:
        raise ValueError(
            "cost_fp and cost_fn are both zero, so all thresholds are equal. Give at "
            "least one error a cost."
        )
