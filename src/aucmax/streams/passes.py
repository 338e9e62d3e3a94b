# SPDX-License-Identifier: BSD-3-Clause
"""Reading a source several times: checked in a first pass, then rows only."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.checkpoint import (
    Checkpoint,
    check_checkpoint,
    describe_fit,
    fingerprint,
    skip_batches,
)
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix, is_sparse
from aucmax._utils.validation import (
    FitInputs,
    check_features,
    check_row_weight,
    check_rows,
    check_weight,
)
from aucmax.design import LocalDesign, StreamedDesign
from aucmax.design.local import offset_row, offset_stride
from aucmax.design.streamed import CHANGED
from aucmax.solvers._sampling import spread_sample
from aucmax.solvers.base import Checkpointing
from aucmax.streams.labels import LabelCodes
from aucmax.streams.source import (
    NO_ROWS,
    Source,
    check_re_iterable,
    naming_batch,
    unpack,
)

# Rows in memory from which a kernel and landmarks are chosen: at least, at most, and so
# many values in between, 256 MB of float64.
LEAST_SAMPLE, MOST_SAMPLE, SAMPLE_VALUES = 4000, 100_000, 2**25


@dataclass(frozen=True, slots=True)
class StreamInputs:
    """The rows of a source, and what the first pass over it has found.

    Iterating over it reads the source again and gives the rows of each batch, in the
    form that solvers need.

    Attributes
    ----------
    source : Source
        The batches.
    estimator : object
        Knows the features.
    is_pos : ndarray of shape (n_samples,)
        Mask of the positives.
    weight : ndarray of shape (n_samples,)
        How often each row counts.
    classes : ndarray of shape (2,)
        The labels.
    dtype : dtype
        Precision of the rows: float32 if it is that of all batches, else float64.
    is_sparse : bool
        Whether they are CSR.
    digest : str
        Fingerprint of all batches, if there is a checkpoint; else empty.
    used : ndarray or None
        Mask of the rows of the source that are given, if not all.
    """

    source: Source
    estimator: Any
    is_pos: BoolArray
    weight: FloatArray
    classes: NDArray[Any]
    dtype: np.dtype[Any]
    is_sparse: bool
    digest: str
    used: BoolArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return len(self.is_pos), int(self.estimator.n_features_in_)

    def __iter__(self) -> Iterator[Matrix]:
        return self.skip(0)

    def skip(self, n_batches: int) -> Iterator[Matrix]:
        """Return the rows after so many batches, where all rows are used."""
        low = 0
        for given, *_ in skip_batches(self.source, n_batches):
            X = _as_table(given)
            n = X.shape[0]
            if n == 0:
                # One for one with the source, so that batches can be counted.
                yield np.empty((0, self.shape[1]), self.dtype)
                continue
            rows = self._converted(X)
            if self.used is not None:
                rows = rows[self.used[low : low + n]]
                low += n
            yield rows

    def _converted(self, X: Any) -> Matrix:
        is_ready = type(X) is np.ndarray or (
            is_sparse(X) and X.format == "csr" and X.has_canonical_format
        )
        # Checked in the first pass; other forms have to be converted once more.
        rows = X if is_ready else check_features(self.estimator, X)
        return rows.astype(self.dtype, copy=False)

    def drop_zero_weight(self) -> "StreamInputs":
        """Return only the rows that have weight."""
        used = self.weight > 0.0
        if np.all(used):
            return self
        return replace(
            self, used=used, is_pos=self.is_pos[used], weight=self.weight[used]
        )

    def collect(self, function: Callable[[Matrix], NDArray[Any]]) -> NDArray[Any]:
        """Return one number per row, from a function of the rows of a batch."""
        values = np.concatenate([function(rows) for rows in self])
        if len(values) != self.shape[0]:
            raise ValueError(CHANGED.format(self.shape[0], len(values)))
        return values

    def design(self, *, centred: bool = True) -> StreamedDesign:
        """Return the rows as a design, less the same row as in memory if centred."""
        n, d = self.shape
        offset = np.zeros(d, dtype=self.dtype)

        def design() -> StreamedDesign:
            return StreamedDesign(
                self, self.shape, lambda _, rows: LocalDesign(rows, offset)
            )

        if centred and not self.is_sparse:
            offset = offset_row(design().rows(np.arange(0, n, offset_stride(n))))
        return design()

    def sample(self) -> FitInputs:
        """Return all rows if they are few, else a sample, gathered in one pass."""
        index, weight = sample_rows(self.is_pos, self.weight, self.shape[1])
        rows = self.design(centred=False).rows(index)
        return FitInputs(rows, self.is_pos[index], weight, self.classes)


def sample_rows(
    is_pos: BoolArray, weight: FloatArray, n_features: int
) -> tuple[IntArray, FloatArray]:
    """Return the indices of rows to choose a kernel from, and their weights.

    Where not all are taken, each stands for several: weights are raised so that either
    class keeps its mass.
    """
    size = max(LEAST_SAMPLE, min(MOST_SAMPLE, SAMPLE_VALUES // n_features))
    if len(is_pos) <= size:
        return np.arange(len(is_pos)), weight
    index = spread_sample(is_pos, weight, size)
    raised = weight[index]
    for mask in (is_pos, ~is_pos):
        drawn = mask[index]
        raised[drawn] *= weight[mask].sum() / raised[drawn].sum()
    return index, raised


def check_source(
    estimator: Any, source: Source, checkpoint: Checkpoint | None = None
) -> StreamInputs:
    """Read and check all batches once; record the features on ``estimator``."""
    name = type(estimator).__name__
    check_re_iterable(
        source, f"{name}.fit_stream", "; for one pass use OPAUC.partial_fit"
    )
    if checkpoint is not None:
        check_checkpoint(checkpoint)
    labels = LabelCodes(name)
    weights: list[FloatArray] = []
    dtype: np.dtype[Any] | None = None
    is_csr, digest = False, ""
    for number, batch in enumerate(source, start=1):
        with naming_batch(number):
            X, y, weight = unpack(batch)
            X, y = _as_table(X), np.asarray(y)
            if y.ndim != 1:
                raise ValueError(
                    f"The labels of a batch must be 1-d, but have {y.ndim} axes."
                )
            if X.shape[0] == 0:
                continue
            if dtype is None:
                rows = check_rows(estimator, X)[0]
                dtype, is_csr = rows.dtype, is_sparse(rows)
            else:
                rows = check_features(estimator, X)
                dtype = np.result_type(dtype, rows.dtype)
            _check_agreement(rows, y, is_csr)
            codes = labels.add(y)
            weights.append(_checked_weight(weight, rows.shape[0]))
            if checkpoint is not None:
                digest = fingerprint(digest, rows, codes, weights[-1])
    if dtype is None:
        raise ValueError(NO_ROWS)
    classes, is_pos = labels.split()
    weight = check_weight(np.concatenate(weights), is_pos)
    return StreamInputs(
        source, estimator, is_pos, weight, classes, dtype, is_csr, digest
    )


def resume_fit(
    estimator: Any, inputs: StreamInputs, checkpoint: Checkpoint | None
) -> Checkpointing:
    """Return the state to resume from, if there is one, and where to offer new ones."""
    if checkpoint is None:
        return Checkpointing()
    what = describe_fit(estimator) | {
        "shape": list(inputs.shape),
        "positives": int(np.count_nonzero(inputs.is_pos)),
        "data": inputs.digest,
    }
    return Checkpointing(checkpoint.resume(what), checkpoint.offer)


def _as_table(X: Any) -> Any:
    """Return rows that may have come as lists."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) == 0:
        raise ValueError(f"The rows of a batch must be a table, but are {X!r}.")
    return X


def _check_agreement(rows: Matrix, y: NDArray[Any], is_csr: bool) -> None:
    if is_sparse(rows) != is_csr:
        kinds = ("sparse", "dense") if is_csr else ("dense", "sparse")
        raise ValueError(
            f"The first batch is {kinds[0]}, but this one is {kinds[1]}. Give all "
            "batches in the same form."
        )
    if len(y) != rows.shape[0]:
        raise ValueError(
            f"The batch has {rows.shape[0]} rows, but {len(y)} labels. Give one label "
            "per row."
        )


def _checked_weight(weight: Any, n: int) -> FloatArray:
    """Return weights as given: tiny ones are scaled later, in all batches alike."""
    checked = check_row_weight(weight, n)
    if weight is None:
        return checked
    return np.broadcast_to(np.asarray(weight, float), checked.shape).copy()
