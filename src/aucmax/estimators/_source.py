# SPDX-License-Identifier: BSD-3-Clause
"""Rows that come from a source in batches, checked and labelled, for ``fit_stream``."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.checkpoint import (
    Checkpoint,
    check_checkpoint,
    describe_fit,
    fingerprint,
    skip,
)
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix, is_sparse
from aucmax._utils.validation import (
    FitInputs,
    check_features,
    check_row_weight,
    check_rows,
    check_weight,
    find_labels,
    split_labels,
)
from aucmax.design import LocalDesign, StreamedDesign
from aucmax.design.local import offset_row, offset_stride
from aucmax.solvers._base import Checkpointing
from aucmax.solvers._sampling import spread_sample

# Batches (X, y) or (X, y, sample_weight), the same ones at every iteration.
Source: TypeAlias = Iterable[Any]
# Rows in memory from which a kernel and landmarks are chosen: at least, at most, and so
# many values in between, 256 MB of float64.
LEAST_SAMPLE, MOST_SAMPLE, SAMPLE_VALUES = 4000, 100_000, 2**25
# Labels in an error message.
N_SHOWN = 5


class Rows:
    """The rows of a source that has been checked, in the form the solvers need.

    Only those where ``used``, if given, is true.
    """

    def __init__(
        self,
        source: Source,
        estimator: Any,
        dtype: np.dtype[Any],
        used: BoolArray | None = None,
    ) -> None:
        self.source = source
        self._estimator = estimator
        self._dtype = dtype
        self._used = used

    def only(self, used: BoolArray) -> "Rows":
        """Return some of the rows."""
        return Rows(self.source, self._estimator, self._dtype, used)

    def __iter__(self) -> Iterator[Matrix]:
        return self.skip(0)

    def skip(self, n_batches: int) -> Iterator[Matrix]:
        """Return the rows after so many batches, where all rows are used."""
        low = 0
        for given, *_ in skip(self.source, n_batches):
            X = _with_shape(given)
            n = X.shape[0]
            if n == 0:
                # One for one with the source, so that batches can be counted.
                yield np.empty((0, self._estimator.n_features_in_), self._dtype)
                continue
            rows = self._converted(X)
            if self._used is not None:
                rows = rows[self._used[low : low + n]]
                low += n
            yield rows

    def _converted(self, X: Any) -> Matrix:
        is_ready = type(X) is np.ndarray or (
            is_sparse(X) and X.format == "csr" and X.has_canonical_format
        )
        # Checked in the first pass; other forms have to be converted once more.
        rows = X if is_ready else check_features(self._estimator, X)
        return rows.astype(self._dtype, copy=False)


@dataclass(frozen=True, slots=True)
class StreamInputs:
    """What the first pass over a source has found.

    Attributes
    ----------
    rows : Rows
        The rows, again and again.
    is_pos : ndarray of shape (n_samples,)
        Mask of the positives.
    weight : ndarray of shape (n_samples,)
        How often each row counts.
    classes : ndarray of shape (2,)
        The labels.
    shape : tuple of int
        Number of rows and of features.
    dtype : dtype
        Precision of the rows: float32 if it is that of all batches, else float64.
    is_sparse : bool
        Whether they are CSR.
    digest : str
        By what the batches are known again, if asked for; else empty.
    """

    rows: Rows
    is_pos: BoolArray
    weight: FloatArray
    classes: NDArray[Any]
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    is_sparse: bool
    digest: str

    def collect(self, function: Callable[[Matrix], NDArray[Any]]) -> NDArray[Any]:
        """Return one number per row, from a function of the rows of a batch."""
        values = np.concatenate([function(rows) for rows in self.rows])
        if len(values) != self.shape[0]:
            raise ValueError(
                f"The first pass had {self.shape[0]} rows, but a later one has "
                f"{len(values)}. The files of a source must not change meanwhile."
            )
        return values


def without_idle_rows(inputs: StreamInputs) -> StreamInputs:
    """Return the rows that have weight: the others are absent, also when counted."""
    used = inputs.weight > 0.0
    if np.all(used):
        return inputs
    return replace(
        inputs,
        rows=inputs.rows.only(used),
        is_pos=inputs.is_pos[used],
        weight=inputs.weight[used],
        shape=(int(np.count_nonzero(used)), inputs.shape[1]),
    )


def sample_rows(inputs: StreamInputs) -> FitInputs:
    """Return all rows if they are few, else a spread of them, gathered in one pass."""
    index, weight = spread_rows(inputs.is_pos, inputs.weight, inputs.shape[1])
    gathered = streamed_design(inputs, centred=False).rows(index)
    return FitInputs(gathered, inputs.is_pos[index], weight, inputs.classes)


def spread_rows(
    is_pos: BoolArray, weight: FloatArray, n_features: int
) -> tuple[IntArray, FloatArray]:
    """Return numbers of rows to choose a kernel from, and their weights.

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
    """Read all batches once; record the features on ``estimator``.

    Whatever is wrong with a batch is said with its number, counted from 1.
    """
    name = type(estimator).__name__
    if isinstance(source, Iterator):
        raise TypeError(
            f"{name}.fit_stream reads the batches several times, but a "
            f"{type(source).__name__} can be read only once. Pass a list, or what "
            "aucmax.io.read_batches returns; for one pass use OPAUC.partial_fit."
        )
    if checkpoint is not None:
        check_checkpoint(checkpoint)
    found = _Found(estimator, digest=checkpoint is not None)
    for number, batch in enumerate(source, start=1):
        try:
            found.add(batch)
        except Exception as error:  # of any kind: it goes on, and says where it was
            error.add_note(f"This was in batch {number} of the source.")
            raise
    return found.inputs(source)


class _Found:
    """What is known of the batches so far."""

    def __init__(self, estimator: Any, *, digest: bool) -> None:
        self.estimator = estimator
        # Of all that has come, if a checkpoint shall know it again.
        self.digest = "" if digest else None
        self.is_object = False
        self.name = type(estimator).__name__
        self.labels: list[Any] = []
        self.codes: list[NDArray[np.int8]] = []
        self.weights: list[FloatArray] = []
        self.dtype: np.dtype[Any] | None = None
        self.is_sparse = False

    def add(self, batch: Any) -> None:
        X, y, weight = _unpack(batch)
        if X.shape[0] == 0:
            return
        is_first = self.dtype is None
        if is_first:
            rows = check_rows(self.estimator, X)[0]
            self.dtype, self.is_sparse = rows.dtype, is_sparse(rows)
        else:
            rows = check_features(self.estimator, X)
            self.dtype = np.result_type(self.dtype, rows.dtype)
        if is_sparse(rows) != self.is_sparse:
            kinds = ("sparse", "dense") if self.is_sparse else ("dense", "sparse")
            raise ValueError(
                f"The first batch is {kinds[0]}, but this one is {kinds[1]}. Give all "
                "batches in the same form."
            )
        if len(y) != rows.shape[0]:
            raise ValueError(
                f"The batch has {rows.shape[0]} rows, but {len(y)} labels. Give one "
                "label per row."
            )
        self.codes.append(self._encode(y))
        # Checked, but as it was: tiny weights are scaled once, for all batches alike.
        checked = check_row_weight(weight, rows.shape[0])
        if weight is not None:
            checked = np.broadcast_to(np.asarray(weight, float), checked.shape).copy()
        self.weights.append(checked)
        if self.digest is not None:
            self.digest = fingerprint(self.digest, rows, self.codes[-1], checked)

    def _encode(self, y: NDArray[Any]) -> NDArray[np.int8]:
        """Return the number of each label in the order in which they were met."""
        if _lacks_labels(y):
            raise ValueError(
                f"y contains NaN, None or infinity. {self.name} needs two distinct "
                "labels; leave out the rows whose label is missing."
            )
        values, which = find_labels(y)
        is_text = y.dtype.kind in "US" or isinstance(values[0], str | bytes)
        self.is_object = self.is_object or y.dtype.kind == "O"
        if self.labels and is_text != isinstance(self.labels[0], str | bytes):
            raise ValueError(
                "The labels are of another kind than before: "
                f"{_shown(values[0])} here, {_shown(self.labels[0])} there. Write them "
                "alike in all batches."
            )
        codes = np.empty(len(values), dtype=np.int8)
        for k, label in enumerate(values):
            if label not in self.labels:
                self.labels.append(label)
            if len(self.labels) > 2:
                shown = ", ".join(_shown(label) for label in self.labels[:N_SHOWN])
                raise ValueError(
                    "Only binary classification is supported, but there are more than "
                    f"two labels: {shown}. Choose two of them, or compare one with the "
                    "rest."
                )
            codes[k] = self.labels.index(label)
        return codes[which]

    def inputs(self, source: Source) -> StreamInputs:
        if self.dtype is None:
            raise ValueError(
                "The source gave no rows. Check that it is not used up, and that its "
                "files are not empty."
            )
        labels = np.array(self.labels, dtype=object if self.is_object else None)
        classes, is_larger = split_labels(labels, name=self.name)
        is_pos = is_larger[np.concatenate(self.codes)]
        weight = check_weight(np.concatenate(self.weights), is_pos)
        rows = Rows(source, self.estimator, self.dtype)
        shape = len(is_pos), int(self.estimator.n_features_in_)
        return StreamInputs(
            rows,
            is_pos,
            weight,
            classes,
            shape,
            self.dtype,
            self.is_sparse,
            self.digest or "",
        )


def _unpack(batch: Any) -> tuple[Any, NDArray[Any], Any]:
    if not isinstance(batch, tuple) or len(batch) not in (2, 3):
        raise ValueError(
            "A batch must be (X, y) or (X, y, sample_weight), but this one is a "
            f"{type(batch).__name__}. Zip rows and labels together."
        )
    X, y = _with_shape(batch[0]), np.asarray(batch[1])
    if y.ndim != 1:
        raise ValueError(f"The labels of a batch must be 1-d, but have {y.ndim} axes.")
    return X, y, batch[2] if len(batch) == 3 else None


def name_features(estimator: Any, source: Source) -> None:
    """Record the names of the features, where only the source knows them.

    At the end: rows without names would be warned about before.
    """
    names = getattr(source, "names", ())
    if names and not hasattr(estimator, "feature_names_in_"):
        estimator.feature_names_in_ = np.array(names, dtype=object)


def _with_shape(X: Any) -> Any:
    """Return rows that may have come as lists."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) == 0:
        raise ValueError(f"The rows of a batch must be a table, but are {X!r}.")
    return X


def streamed_design(inputs: StreamInputs, *, centred: bool = True) -> StreamedDesign:
    """Return the rows as a design, seen less the same row as in memory."""
    n, d = inputs.shape
    offset = np.zeros(d, dtype=inputs.dtype)

    def design() -> StreamedDesign:
        return StreamedDesign(
            inputs.rows,
            inputs.shape,
            lambda _, rows: LocalDesign(rows, offset),
        )

    if centred and not inputs.is_sparse:
        offset = offset_row(design().rows(np.arange(0, n, offset_stride(n))))
    return design()


def resume_fit(
    estimator: Any, inputs: StreamInputs, checkpoint: Checkpoint | None
) -> Checkpointing:
    """Return the state to go on from, if there is one, and where to offer new ones."""
    if checkpoint is None:
        return Checkpointing()
    what = describe_fit(estimator) | {
        "shape": list(inputs.shape),
        "positives": int(np.count_nonzero(inputs.is_pos)),
        "data": inputs.digest,
    }
    return Checkpointing(checkpoint.resume(what), checkpoint.offer)


def _lacks_labels(y: NDArray[Any]) -> bool:
    """Say whether a label is NaN, infinite, None or NaT."""
    if y.dtype.kind == "f":
        return not np.isfinite(y).all()
    if y.dtype.kind in "mM":
        return bool(np.isnat(y).any())
    return y.dtype.kind == "O" and any(map(_is_missing, y))


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # of pandas.NA, which is neither true nor false
        return True


def _shown(label: Any) -> str:
    """Return a label as a user writes it, without numpy's name for its type."""
    return repr(label.item() if isinstance(label, np.generic) else label)
