# SPDX-License-Identifier: BSD-3-Clause
"""How sure one can be of an ROC curve."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from aucmax._utils.typing import FloatArray
from aucmax.metrics._cuts import sweep_cuts

# Rates at which the band is given, unless others are asked for.
N_RATES = 501


class ROCBand(NamedTuple):
    """Limits of the true positive rate at given false positive rates."""

    fpr: FloatArray
    low: FloatArray
    high: FloatArray


def roc_band(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr: ArrayLike | None = None,
    level: float = 0.95,
    kind: str = "pointwise",
) -> ROCBand:
    r"""Confidence band of the ROC curve, without a model of the scores.

    ``kind="pointwise"`` covers the true positive rate at any one false positive rate x
    with probability ``level``, approximately. Where the true rate is x, the rate seen
    is within :math:`\delta = z \sqrt{x (1 - x) / n_-}` of it; the curve's change over
    that distance and Wilson's interval of the true positive rate (from :math:`l` to
    :math:`u`, of :math:`n_+` rows) are put together as independent errors are:

    .. math::
        R(x) - \sqrt{(R(x) - l)^2 + (R(x) - R(x - \delta))^2}, \qquad
        R(x) + \sqrt{(u - R(x))^2 + (R(x + \delta) - R(x))^2}

    ``kind="joint"`` covers the whole curve at once with probability ``level`` at
    least, for any distributions and numbers of rows: the rates of each class are
    nowhere further than :math:`d = \sqrt{\log(2 / a) / (2 n)}` from the true ones with
    probability :math:`1 - a = \sqrt{\mathtt{level}}`, so the curve lies between
    :math:`R(x - d_-) - d_+` and :math:`R(x + d_-) + d_+`. It is about twice as wide.

    Costs one argsort, O(n log n) time and O(n) memory.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, of any two values; the larger one is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores; higher means more positive.
    fpr : array-like of shape (n_rates,), default=None
        False positive rates at which to give the band; None means 501 from 0 to 1.
    level : float, default=0.95
        Coverage of the band, in (0, 1).
    kind : {"pointwise", "joint"}, default="pointwise"
        What is covered: each point of the curve, or all of it.

    Returns
    -------
    band : ROCBand
        Named tuple ``fpr, low, high``, clipped to [0, 1].

    Notes
    -----
    Ties are straight pieces of the curve, of the true one as well, and the statements
    hold for those. There are no weights: a weight says how often a row counts, not how
    many rows were drawn.

    Left of about :math:`z^2 / n_-` the lower limit is zero: so few negatives cannot
    tell how high the threshold is.

    References
    ----------
    G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a
    general approach", Statistics in Medicine 27, 2008 (the pointwise band).

    G. Campbell, "Advances in statistical methodology for the evaluation of diagnostic
    and laboratory tests", Statistics in Medicine 13, 1994; P. Massart, "The tight
    constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability 18,
    1990 (the joint band).

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.metrics import roc_band
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> band = roc_band(y, rng.normal(size=400) + y, fpr=[0.1, 0.2])
    >>> band.low.round(2), band.high.round(2)
    (array([0.3 , 0.47]), array([0.53, 0.68]))
    """
    if not 0 < level < 1:
        raise ValueError(
            f"level must be between 0 and 1, got {level!r}. "
            "Pass the coverage wanted, such as 0.95."
        )
    if kind not in ("pointwise", "joint"):
        raise ValueError(
            f"kind={kind!r} is not known. Pass one of 'pointwise', 'joint'."
        )
    rates = np.linspace(0.0, 1.0, N_RATES) if fpr is None else _check_rates(fpr)
    cuts = sweep_cuts(y_true, y_score, None, name="roc_band")
    limit = _limit_points if kind == "pointwise" else _limit_all
    curve = _Steps(cuts.false / cuts.false[-1], cuts.true / cuts.true[-1])
    low, high = limit(curve, rates, level, cuts.true[-1], cuts.false[-1])
    return ROCBand(rates, np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0))


class _Steps:
    """A curve that may rise straight up, so that a rate may have two heights."""

    def __init__(self, fpr: FloatArray, tpr: FloatArray) -> None:
        self.fpr, self.tpr = fpr, tpr

    def top(self, rate: FloatArray) -> FloatArray:
        """Return the greatest height at each rate; one at the right of the curve."""
        last = np.searchsorted(self.fpr, rate, side="right") - 1
        return self._between(rate, last, np.minimum(last + 1, len(self.fpr) - 1))

    def bottom(self, rate: FloatArray) -> FloatArray:
        """Return the least height at each rate; zero at the left of the curve."""
        first = np.searchsorted(self.fpr, rate, side="left")
        return self._between(rate, np.maximum(first - 1, 0), first)

    def _between(
        self, rate: FloatArray, left: NDArray[np.intp], right: NDArray[np.intp]
    ) -> FloatArray:
        run = self.fpr[right] - self.fpr[left]
        part = (rate - self.fpr[left]) / np.where(run > 0, run, 1.0)
        rise = self.tpr[right] - self.tpr[left]
        return np.asarray(self.tpr[left] + np.clip(part, 0.0, 1.0) * rise)


def _limit_points(
    curve: _Steps, rates: FloatArray, level: float, n_pos: float, n_neg: float
) -> tuple[FloatArray, FloatArray]:
    z = -float(ndtri((1 - level) / 2))
    reach = z * np.sqrt(rates * (1 - rates) / n_neg)
    low, high = curve.bottom(rates), curve.top(rates)
    change_low = low - curve.bottom(np.maximum(rates - reach, 0.0))
    change_high = curve.top(np.minimum(rates + reach, 1.0)) - high
    return (
        low - np.hypot(low - _wilson(low, n_pos, -z), change_low),
        high + np.hypot(_wilson(high, n_pos, z) - high, change_high),
    )


def _wilson(share: FloatArray, n: float, z: float) -> FloatArray:
    """Return the limit of Wilson's interval that lies in the direction of z."""
    shrink = 1 + z**2 / n
    middle = (share + z**2 / (2 * n)) / shrink
    spread = np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / shrink
    return np.asarray(middle + z * spread)


def _limit_all(
    curve: _Steps, rates: FloatArray, level: float, n_pos: float, n_neg: float
) -> tuple[FloatArray, FloatArray]:
    # The classes are independent, so the probabilities that both hold multiply.
    missed = 1 - math.sqrt(level)
    d_pos, d_neg = (math.sqrt(math.log(2 / missed) / (2 * n)) for n in (n_pos, n_neg))
    return (
        curve.bottom(np.maximum(rates - d_neg, 0.0)) - d_pos,
        curve.top(np.minimum(rates + d_neg, 1.0)) + d_pos,
    )


def _check_rates(fpr: ArrayLike) -> FloatArray:
    rates = np.asarray(fpr, dtype=np.float64)
    if rates.ndim != 1 or not np.all((rates >= 0) & (rates <= 1)):
        raise ValueError(
            f"fpr must hold false positive rates from 0 to 1, got {fpr!r}. Pass a list "
            "such as [0.05, 0.1]."
        )
    return rates
