# SPDX-License-Identifier: BSD-3-Clause
"""The AUC of scores that arrive in batches or live on several machines."""

from heapq import heapify, heappop, heappush
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax import _kernels
from aucmax._utils.typing import FloatArray
from aucmax.metrics._inputs import as_vector, check_scores, refuse_nonfinite
from aucmax.metrics.auc import auc_of_pairs, check_total

MANTISSA_BITS = 52
# Batches wait until there are this many rows, or as many as the table has columns.
MIN_PENDING = 4096


class StreamingAUC:
    """Mergeable summary of scores and labels, from which the AUC is read at any time.

    The summary is a table: per distinct score the mass of positives and of negatives.
    Rows may arrive one by one, in batches or on several machines and be merged; the
    table, and so the AUC, is the same. (With fractional weights, up to the rounding of
    their sums.)

    With ``bins_per_octave`` scores are first cut to the leading bits of their binary
    form: sign, exponent, and the top of the mantissa. That needs no range of the scores
    beforehand, keeps any two summaries mergeable, and bounds the memory by the number
    of occupied bins. Pairs within one bin count one half, so the result is off by at
    most :attr:`error_bound`, half the share of such pairs.

    Adding n rows costs O(n log n). Memory is 24 bytes per distinct score or bin, and 8
    per row that waits to be sorted, 16 with weights, besides some hundred per batch.

    Parameters
    ----------
    bins_per_octave : int, default=None
        None keeps all scores and is exact. A power of two, such as 1024, is the number
        of bins between a score and its double; a bin is ``1 / bins_per_octave`` wide,
        relative to the score. Probabilities crowd below 1, where bins are widest;
        log-odds or margins are resolved better.
    classes : pair, default=(0, 1)
        The negative and the positive label. A batch need not hold both; any other label
        is refused.

    Examples
    --------
    >>> from aucmax.metrics import StreamingAUC
    >>> monday = StreamingAUC().update([0, 0], [0.1, 0.4])
    >>> tuesday = StreamingAUC().update([1, 1], [0.35, 0.8])
    >>> monday.merge(tuesday).auc
    0.75
    >>> coarse = StreamingAUC(bins_per_octave=1)
    >>> coarse.update([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).auc
    0.875
    >>> coarse.error_bound
    0.125
    """

    def __init__(
        self,
        *,
        bins_per_octave: int | None = None,
        classes: tuple[Any, Any] = (0, 1),
    ) -> None:
        self.bins_per_octave = bins_per_octave
        self.classes = tuple(classes)
        self._kept_bits = _check_bins(bins_per_octave)
        if len(self.classes) != 2 or self.classes[0] == self.classes[1]:
            raise ValueError(
                f"classes must be two different labels, got {self.classes!r}. "
                "Pass the negative label, then the positive one."
            )
        # Rows: distinct scores in increasing order, mass of positives, of negatives.
        self._table = np.empty((3, 0))
        # What is not in there yet: tables, scores of positives and of negatives, and
        # with weights, batches of scores and signed weights.
        self._more_tables: list[FloatArray] = []
        self._pos: list[FloatArray] = []
        self._neg: list[FloatArray] = []
        self._weighted: list[FloatArray] = []
        self._n_pending = 0

    def update(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add a batch of rows; nothing is added if any of them is refused.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels out of ``classes``; a batch may hold one class only, or no row.
        y_score : array-like of shape (n_samples,)
            Finite scores; higher means more positive.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; a row of weight zero is absent.

        Returns
        -------
        self : StreamingAUC
            The same object, so that calls can be chained.
        """
        labels = as_vector(y_true, name="y_true")
        is_pos, is_neg = labels == self.classes[1], labels == self.classes[0]
        is_known = is_pos | is_neg
        if not is_known.all():
            unknown = labels[~is_known].tolist()[0]
            raise ValueError(
                f"y_true holds {unknown!r}, but classes={self.classes!r}. Name the two "
                "labels when the summary is made."
            )
        scores = check_scores(y_score, labels.shape[0])
        if scores.shape[0]:
            refuse_nonfinite(scores.min(), scores.max())
        if self._kept_bits is not None:
            raw = scores.astype(np.float64).view(np.int64)
            raw &= -1 << (MANTISSA_BITS - self._kept_bits)
            scores = raw.view(np.float64)
        is_pos = is_pos.astype(bool, copy=False)
        if sample_weight is None:
            both = np.empty(labels.shape[0])
            n_pos = _kernels.counts.split_by_class(scores, is_pos, both)
            self._pos.append(both[:n_pos])
            self._neg.append(both[n_pos:])
        else:
            weight = _check_batch_weight(sample_weight, labels.shape[0])
            _kernels.counts.sign_weights(weight, is_pos)
            is_there = weight != 0.0
            self._weighted.append(np.array([scores[is_there], weight[is_there]]))
        self._count(labels.shape[0])
        return self

    def merge(self, other: "StreamingAUC") -> "StreamingAUC":
        """Return a new summary of the rows of both; the two are left as they are.

        Parameters
        ----------
        other : StreamingAUC
            A summary with the same ``bins_per_octave`` and ``classes``.

        Returns
        -------
        merged : StreamingAUC
            As if one summary had seen all rows.
        """
        if not isinstance(other, StreamingAUC):
            raise TypeError(
                f"Only another StreamingAUC can be merged, got {type(other).__name__}."
            )
        for setting in ("bins_per_octave", "classes"):
            mine, theirs = getattr(self, setting), getattr(other, setting)
            if mine != theirs:
                raise ValueError(
                    f"Summaries of different settings cannot be merged: {setting} is "
                    f"{mine!r} here and {theirs!r} there. Make both with the same."
                )
        merged = StreamingAUC(
            bins_per_octave=self.bins_per_octave, classes=self.classes
        )
        # What they share is replaced, never written to.
        merged._table = self._table
        merged._more_tables = [*self._more_tables, other._table, *other._more_tables]
        merged._pos, merged._neg = self._pos + other._pos, self._neg + other._neg
        merged._weighted = self._weighted + other._weighted
        merged._n_pending = self._n_pending
        merged._count(other._table.shape[1] + other._n_pending)
        return merged

    @property
    def mass_pos(self) -> float:
        """Sum of the weights of the positives; their number if unweighted."""
        return float(self._settled()[1].sum())

    @property
    def mass_neg(self) -> float:
        """Sum of the weights of the negatives; their number if unweighted."""
        return float(self._settled()[2].sum())

    @property
    def auc(self) -> float:
        """Area under the ROC curve of all rows so far."""
        return auc_of_pairs(*self._weigh_pairs())

    @property
    def error_bound(self) -> float:
        """Largest possible distance of :attr:`auc` from the exact AUC."""
        ordered, tied, misordered = self._weigh_pairs()
        total = check_total(ordered + tied + misordered)
        return 0.0 if self._kept_bits is None else 0.5 * tied / total

    def __getstate__(self) -> dict[str, Any]:
        self._settled()
        return self.__dict__.copy()

    def _count(self, n_more: int) -> None:
        self._n_pending += n_more
        # Settling as often as the table doubles keeps the cost per row logarithmic.
        if self._n_pending > max(MIN_PENDING, self._table.shape[1]):
            self._settled()

    def _settled(self) -> FloatArray:
        """Bring what is pending into the table, one column per distinct score."""
        if self._n_pending:
            tables = [self._table, *self._more_tables]
            if self._pos:
                tables.append(_counted(self._pos, self._neg))
            if self._weighted:
                tables.append(_weighed(self._weighted))
            self._table = _merged(tables)
        self._more_tables, self._pos, self._neg, self._weighted = [], [], [], []
        self._n_pending = 0
        return self._table

    @np.errstate(over="ignore", invalid="ignore")  # an infinite total is refused later
    def _weigh_pairs(self) -> tuple[float, float, float]:
        _, mass_pos, mass_neg = self._settled()
        ordered, tied, misordered, *masses = _kernels.tables.weigh_table(
            mass_pos, mass_neg
        )
        for mass, which in zip(masses, ("positive", "negative"), strict=True):
            if mass == 0.0:
                raise ValueError(
                    f"The AUC needs both classes, but no {which} row has arrived yet. "
                    "Update with at least one row of each class first."
                )
        return ordered, tied, misordered


def _counted(pos: list[FloatArray], neg: list[FloatArray]) -> FloatArray:
    """Return the table of scores of both classes."""
    both = np.concatenate(pos), np.concatenate(neg)
    for scores in both:
        _kernels.order.sort(scores)
    table = np.empty((3, both[0].shape[0] + both[1].shape[0]))
    return _first_columns(table, _kernels.tables.tabulate_sorted(*both, table))


def _weighed(batches: list[FloatArray]) -> FloatArray:
    """Return the table of batches of scores and signed weights."""
    scores, signed = np.concatenate(batches, axis=1)
    table = np.empty((3, scores.shape[0]))
    order = _kernels.order.argsort(scores)
    return _first_columns(table, _kernels.tables.tabulate(scores, signed, order, table))


def _merged(tables: list[FloatArray]) -> FloatArray:
    """Return the table of all, merged two by two, the shortest first."""
    heap = [(t.shape[1], k, t) for k, t in enumerate(tables) if t.size]
    heapify(heap)
    for k in range(len(heap) - 1):
        left, right = heappop(heap)[-1], heappop(heap)[-1]
        table = np.empty((3, left.shape[1] + right.shape[1]))
        table = _first_columns(table, _kernels.tables.merge_tables(left, right, table))
        heappush(heap, (table.shape[1], len(tables) + k, table))
    return heap[0][-1] if heap else tables[0]


def _first_columns(table: FloatArray, n: int) -> FloatArray:
    """Return so many columns; a copy, unless that is all of them."""
    return table if n == table.shape[1] else table[:, :n].copy()


def _check_bins(bins_per_octave: int | None) -> int | None:
    """Return how many bits of the mantissa are kept; None keeps all scores."""
    if bins_per_octave is None:
        return None
    bits = int(bins_per_octave).bit_length() - 1
    if bins_per_octave != 1 << max(bits, 0) or bits > MANTISSA_BITS:
        raise ValueError(
            f"bins_per_octave must be a power of two up to 2**{MANTISSA_BITS}, got "
            f"{bins_per_octave!r}. Pass for example 1024, or None to keep all scores."
        )
    return bits


def _check_batch_weight(sample_weight: ArrayLike, n: int) -> FloatArray:
    """As ``check_weight``, but a batch may hold one class or none."""
    weight = as_vector(sample_weight, name="sample_weight").astype(np.float64)
    if weight.shape[0] != n:
        raise ValueError(
            f"sample_weight holds {weight.shape[0]} weights for {n} labels. "
            "Pass one weight per row."
        )
    # The comparison is false for NaN as well.
    if n and not (weight.min() >= 0 and weight.max() < np.inf):
        raise ValueError(
            f"sample_weight must be finite and not negative, got values from "
            f"{weight.min():g} to {weight.max():g}. Give rows to be left out weight 0."
        )
    return weight
