# SPDX-License-Identifier: BSD-3-Clause
"""Rows that live on workers, checked and labelled, for ``fit``."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix
from aucmax._utils.validation import check_weight, split_labels
from aucmax.design import LocalDesign
from aucmax.design.local import offset_row, offset_stride
from aucmax.design.streamed import stacked
from aucmax.distributed._block import Part
from aucmax.distributed._checks import (
    Checked,
    Expected,
    Summary,
    check_partition,
    summarise,
)
from aucmax.distributed._cluster import fetch, keep, later, shared
from aucmax.distributed._partitions import Partition
from aucmax.distributed.design import DaskDesign, gather, keep_blocks

# Labels in an error message.
N_SHOWN = 5


@dataclass(frozen=True)
class DaskInputs:
    """What the first pass over the partitions has found.

    Attributes
    ----------
    parts : list of tasks
        The rows, labels and weights of each block that has rows, on the workers.
    sizes : ndarray of shape (n_blocks,)
        Rows of each block.
    counts : ndarray of shape (n_blocks, 2)
        Negatives and positives of each block.
    mass : ndarray of shape (2,)
        Weight of the negatives and of the positives.
    classes : ndarray of shape (2,)
        The labels.
    shape : tuple of int
        Number of rows and of features.
    dtype : dtype
        Precision of the rows: float32 if it is that of all blocks, else float64.
    is_sparse : bool
        Whether they are CSR.
    is_weighted : bool
        Whether there are weights other than one.
    """

    parts: list[Any]
    sizes: IntArray
    counts: IntArray
    mass: FloatArray
    classes: NDArray[Any]
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    is_sparse: bool
    is_weighted: bool

    @cached_property
    def is_pos(self) -> BoolArray:
        """Mask of the positives."""
        return np.concatenate(fetch([later(_is_pos, part) for part in self.parts]))

    @cached_property
    def weight(self) -> FloatArray:
        """How often each row counts."""
        if not self.is_weighted:
            return np.ones(self.shape[0])
        weights = fetch([later(_weight, part) for part in self.parts])
        return check_weight(np.concatenate(weights), self.is_pos)

    def collect(self, function: Callable[[Matrix], NDArray[Any]]) -> NDArray[Any]:
        """Return one number per row, from a function of the rows of a block."""
        function = shared(function)
        parts = [later(_apply, function, part) for part in self.parts]
        return np.concatenate(fetch(parts))


def check_inputs(
    estimator: Any,
    partitions: list[Partition],
    *,
    multiple: int = 1,
    drop_idle: bool = False,
    classes: NDArray[Any] | None = None,
    goes_on: bool = False,
) -> DaskInputs:
    """Check all partitions where they are; record the features on ``estimator``.

    Blocks, but for the last, have a multiple of ``multiple`` rows. With ``drop_idle``,
    rows of weight zero are left out. With ``classes``, the labels must be of those.
    With ``goes_on``, the features must be as before.
    """
    expected = Expected(type(estimator))
    if goes_on:
        names = getattr(estimator, "feature_names_in_", None)
        expected = expected._replace(n_features=estimator.n_features_in_, names=names)
    wanted = shared(expected)
    checked = keep([later(check_partition, wanted, *part) for part in partitions])
    summaries = fetch([later(summarise, block) for block in checked])
    facts = _agree(summaries, type(estimator).__name__, classes)
    if not goes_on:
        _record_features(estimator, facts.first)
    used = np.flatnonzero(facts.counts.sum(axis=1))
    label = partial(_label, facts.classes, facts.dtype, drop_idle)
    parts = keep([later(label, checked[k]) for k in used])
    counts = facts.counts[used]
    if drop_idle and partitions[0].weight is not None:
        counts = _count_all(parts)
        parts = [part for part, count in zip(parts, counts, strict=True) if any(count)]
        counts = counts[np.any(counts, axis=1)]
    parts, counts = _cut_at_multiples(parts, counts, multiple)
    sizes = counts.sum(axis=1)
    return DaskInputs(
        parts,
        sizes,
        counts,
        facts.mass,
        facts.classes,
        (int(sizes.sum()), facts.first.n_features),
        facts.dtype,
        facts.first.is_sparse,
        partitions[0].weight is not None,
    )


def linear_design(inputs: DaskInputs) -> DaskDesign:
    """Return the rows as a design, seen less the same row as in memory."""
    n, d = inputs.shape
    offset = np.zeros(d, dtype=inputs.dtype)
    if not inputs.is_sparse:
        offset = offset_row(take_rows(inputs, np.arange(0, n, offset_stride(n))))
    blocks = keep_blocks(inputs, partial(LocalDesign, offset=offset))
    return DaskDesign(blocks, inputs.sizes, d, offset=offset)


def take_rows(inputs: DaskInputs, index: IntArray) -> Matrix:
    """Return some of the rows in memory."""
    return gather(partial(later, _take), inputs.parts, inputs.sizes, index)


class _Facts(NamedTuple):
    """What the partitions agree on."""

    first: Summary
    dtype: np.dtype[Any]
    classes: NDArray[Any]
    counts: IntArray
    mass: FloatArray


def _agree(summaries: list[Summary], name: str, classes: NDArray[Any] | None) -> _Facts:
    for number, summary in enumerate(summaries, start=1):
        if summary.error is not None:
            raise ValueError(
                f"Block {number} of {len(summaries)}: {summary.error.rstrip('.')}."
            )
    used = [summary for summary in summaries if summary.n_rows]
    if not used:
        raise ValueError(
            f"{name} needs rows, but all {len(summaries)} blocks of X are empty."
        )
    first = used[0]
    for number, summary in enumerate(summaries, start=1):
        if summary.n_rows:
            _compare(first, summary, number)
    classes = _classes(used, name) if classes is None else classes
    counts = np.zeros((len(summaries), 2), dtype=np.int64)
    mass = np.zeros(2)
    for number, summary in enumerate(summaries, start=1):
        for own, label in enumerate(classes):
            here = summary.labels == label
            counts[number - 1, own] = summary.counts[here].sum()
            mass[own] += summary.masses[here].sum()
        if counts[number - 1].sum() < summary.n_rows:
            unknown = [v for v in summary.labels.tolist() if v not in classes.tolist()]
            raise ValueError(
                f"Block {number} of {len(summaries)}: y holds the label "
                f"{unknown[0]!r}, but the classes are {classes.tolist()}. Pass labels "
                "of these two."
            )
    dtype = np.result_type(*(summary.dtype for summary in used))
    return _Facts(first, dtype, classes, counts, mass)


def _compare(first: Summary, other: Summary, number: int) -> None:
    """Refuse a block that is not like the first."""
    if other.n_features != first.n_features:
        raise ValueError(
            f"Block {number} has {other.n_features} features, but those before have "
            f"{first.n_features}. Give all blocks the same columns."
        )
    if other.is_sparse != first.is_sparse:
        kinds = ("sparse", "dense") if first.is_sparse else ("dense", "sparse")
        raise ValueError(
            f"Block {number} is {kinds[1]}, but those before are {kinds[0]}. Give all "
            "blocks in the same form."
        )
    mine, theirs = ([] if s.names is None else s.names.tolist() for s in (first, other))
    if mine != theirs:
        raise ValueError(
            f"Block {number} has other columns than those before: {theirs} and not "
            f"{mine}. Give all blocks the same columns in the same order."
        )


def _classes(summaries: list[Summary], name: str) -> NDArray[Any]:
    labels = np.unique(np.concatenate([summary.labels for summary in summaries]))
    if len(labels) > 2:
        shown = ", ".join(map(repr, labels[:N_SHOWN].tolist()))
        raise ValueError(
            "Only binary classification is supported, but there are more than two "
            f"labels: {shown}. Choose two of them, or compare one with the rest."
        )
    classes, _ = split_labels(labels, name=name)
    mass = [
        sum(s.masses[s.labels == label].sum() for s in summaries) for label in labels
    ]
    check_weight(np.array(mass), np.array([False, True]))
    return classes


def _record_features(estimator: Any, first: Summary) -> None:
    estimator.n_features_in_ = first.n_features
    if first.names is not None:
        estimator.feature_names_in_ = first.names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _label(
    classes: NDArray[Any], dtype: np.dtype[Any], drop_idle: bool, checked: Checked
) -> Part:
    weight = checked.weight
    rows = checked.rows.astype(dtype, copy=False)
    part = Part(
        rows,
        checked.labels == classes[1],
        np.ones(rows.shape[0]) if weight is None else weight,
    )
    if drop_idle and weight is not None and not np.all(weight > 0.0):
        part = part.take(weight > 0.0)
    return part


def _cut_at_multiples(
    parts: list[Any], counts: IntArray, multiple: int
) -> tuple[list[Any], IntArray]:
    """Move the few rows around the ends of blocks so that they begin at multiples."""
    sizes = counts.sum(axis=1)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    cuts = np.unique(np.append(ends[:-1] // multiple * multiple, [0, ends[-1]]))
    if np.array_equal(cuts[1:], ends):
        return parts, counts
    new = []
    for low, high in pairwise(cuts.tolist()):
        some = np.flatnonzero((starts < high) & (ends > low))
        inside = zip(
            some,
            np.maximum(low - starts[some], 0).tolist(),
            (np.minimum(high, ends[some]) - starts[some]).tolist(),
            strict=True,
        )
        # Not as a list, in which Dask would not see what they depend on.
        new.append(later(_join, *[later(_slice, parts[k], a, b) for k, a, b in inside]))
    new = keep(new)
    return new, _count_all(new)


def _slice(part: Part, low: int, high: int) -> Part:
    if (low, high) == (0, len(part.is_pos)):
        return part
    return part.take(slice(low, high))


def _join(*pieces: Part) -> Part:
    if len(pieces) == 1:
        return pieces[0]
    rows, is_pos, weight = zip(*pieces, strict=True)
    return Part(stacked(rows), np.concatenate(is_pos), np.concatenate(weight))


def _is_pos(part: Part) -> BoolArray:
    return part.is_pos


def _weight(part: Part) -> FloatArray:
    return part.weight


def _count_all(parts: list[Any]) -> IntArray:
    return np.array(fetch([later(_count, part) for part in parts]))


def _count(part: Part) -> tuple[int, int]:
    n_pos = int(np.count_nonzero(part.is_pos))
    return len(part.is_pos) - n_pos, n_pos


def _take(part: Part, index: IntArray) -> Matrix:
    return part.rows[index]


def _apply(function: Callable[[Matrix], NDArray[Any]], part: Part) -> NDArray[Any]:
    return function(part.rows)
