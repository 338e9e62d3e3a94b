# SPDX-License-Identifier: BSD-3-Clause
"""Models from tables that are read in batches, several times if need be."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import BoolArray
from aucmax.cli._data import (
    Labels,
    all_but,
    as_kinds,
    find_labels,
    is_libsvm,
    kinds_of,
    label_text,
    what_labels,
)
from aucmax.cli._fitting import SAMPLE_ROWS, score_rows
from aucmax.cli._words import told_in_options
from aucmax.io import Batches, Checkpoints, read_batches
from aucmax.io._errors import short
from aucmax.metrics import AUCInterval, roc_auc_interval

BATCH_ROWS = 20_000
# Rows of each class left out to measure by: one in so many, and at most these.
HELD_ONE_IN, MOST_HELD = 10, 10_000


Every = tuple[int, int]


class Stream(NamedTuple):
    """A table that is read in batches, and what one pass over its labels has found."""

    batches: Batches
    kinds: dict[str, str]
    labels: Labels
    # The negative and the positive label to train with: as in the file, or booleans.
    classes: NDArray[Any]
    target: str | None
    n_rows: int
    n_pos: int
    source: str

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.kinds) or self.batches.n_features

    def tables(self) -> Iterator[tuple[Any, BoolArray]]:
        """Give columns, as they are in the files, and which rows are positive."""
        for X, y in _raw(self.batches, self.target):
            X = as_kinds(X, self.kinds, self.source, can_drop=True)
            yield X, _is_positive(y, self.labels)


class FitOptions(NamedTuple):
    """How to fit: where to keep states, and how often, or on which cluster."""

    checkpoint: Path | None
    every: int
    dask_scheduler: str | None
    # What the estimator is called there.
    dask_model: str | None


class Prepared:
    """The rows to learn from: prepared, and without those held out.

    Of the negatives and of the positives, one in ``hold_every`` is left out; None
    leaves out none.
    """

    def __init__(self, stream: Stream, prepare: Any, hold_every: Every | None) -> None:
        self.stream = stream
        self.prepare = prepare
        self.hold_every = hold_every

    def __iter__(self) -> Iterator[tuple[Any, BoolArray]]:
        for X, is_pos, is_held in _with_held(self.stream, self.hold_every):
            rows = np.flatnonzero(~is_held)
            y = self.stream.classes[is_pos[rows].astype(int)]
            yield _plain(self.prepare.transform(_take(X, rows))), y


def open_stream(
    data: str,
    *,
    format: str | None,
    separator: str | None,
    target: str | None,
    drop: Sequence[str],
    positive: str | None,
) -> Stream:
    """Look at the columns and the labels of files."""
    settings: dict[str, Any] = {"format": format, "batch_rows": BATCH_ROWS}
    if not is_libsvm(data, format):
        choose = all_but(drop)
        settings |= {
            "target": target,
            "separator": separator,
            "categories": "one-hot",
            "columns": lambda names: choose(
                [name for name in names if name != target], data
            ),
        }
    with told_in_options(can_drop=True):
        batches = read_batches(data, **settings)
        counts: dict[Any, int] = {}
        for _, y in _raw(batches, target):
            for value, n in zip(*np.unique(y, return_counts=True), strict=True):
                counts[value] = counts.get(value, 0) + int(n)
    values = np.array(list(counts))
    labels, _, y = find_labels(values, positive, what_labels(target, data))
    n_pos = sum(n for v, n in counts.items() if label_text(v) == labels.positive)
    return Stream(
        batches,
        kinds_of(next(_raw(batches, target))[0]),
        labels,
        np.unique(y),
        target,
        sum(counts.values()),
        n_pos,
        data,
    )


def train(
    model: Any, stream: Stream, *, hold: bool, options: FitOptions
) -> tuple[Any, AUCInterval | None]:
    """Fit a pipeline to a stream; return it, and its AUC on rows held out, if any.

    The preparation is found from the first rows. A cluster learns all rows.
    """
    prepare, estimator = (step for _, step in model.steps)
    head = _head(stream, SAMPLE_ROWS)
    prepare.fit(head)
    if options.dask_scheduler is not None:
        n_columns = prepare.transform(head[:1]).shape[1]
        model.steps[-1] = (
            "model",
            _fit_on_cluster(estimator, stream, options, prepare, n_columns),
        )
        return model, None
    every = _hold_every(stream) if hold else None
    kept: dict[str, Any] = {}
    if options.checkpoint is not None:
        kept["checkpoint"] = Checkpoints(options.checkpoint, every=options.every)
    if hasattr(estimator, "partial_fit"):
        kept["classes"] = stream.classes
    estimator.fit_stream(Prepared(stream, prepare, every), **kept)
    return model, None if every is None else _measure(model, stream, every)


def _measure(model: Any, stream: Stream, every: Every) -> AUCInterval:
    scores, masks = [], []
    for X, is_pos, is_held in _with_held(stream, every):
        rows = np.flatnonzero(is_held)
        if len(rows):
            scores.append(score_rows(model, _take(X, rows)))
            masks.append(is_pos[rows])
    return roc_auc_interval(np.concatenate(masks), np.concatenate(scores))


def _fit_on_cluster(
    estimator: Any, stream: Stream, options: FitOptions, prepare: Any, n_columns: int
) -> Any:
    client = import_optional("distributed", "dask").Client
    from aucmax import distributed

    with client(options.dask_scheduler):
        X, y = distributed.prepared(
            [str(path) for path in stream.batches.paths],
            partial(_part, prepare, stream.kinds, stream.labels, stream.target),
            n_columns,
        )
        kind = getattr(distributed, str(options.dask_model))
        return kind(**estimator.get_params()).fit(X, y).to_local()


def _part(
    prepare: Any, kinds: dict[str, str], labels: Labels, target: str | None, frame: Any
) -> tuple[Any, BoolArray]:
    """Prepare the rows of one part of a file, on a worker."""
    X = as_kinds(frame[list(kinds)], kinds, "a part of the table")
    return _plain(prepare.transform(X)), _is_positive(frame[target].to_numpy(), labels)


def _hold_every(stream: Stream) -> Every | None:
    """Return of how many rows of each class one is held out; None of too few."""
    sizes = stream.n_rows - stream.n_pos, stream.n_pos
    if min(sizes) < HELD_ONE_IN:
        return None
    neg, pos = (max(HELD_ONE_IN, -(-size // MOST_HELD)) for size in sizes)
    return neg, pos


def _with_held(
    stream: Stream, every: Every | None
) -> Iterator[tuple[Any, BoolArray, BoolArray]]:
    """Give rows, which are positive, and which are held out."""
    seen = np.zeros(2, dtype=int)
    for X, is_pos in stream.tables():
        is_held = np.zeros(len(is_pos), dtype=bool)
        for own in (0, 1):
            rows = np.flatnonzero(is_pos == own)
            if every is not None:
                # The second of each class is the first to be held out.
                is_turn = (seen[own] + np.arange(len(rows))) % every[own] == 1
                is_held[rows[is_turn]] = True
            seen[own] += len(rows)
        yield X, is_pos, is_held


def _head(stream: Stream, n_rows: int) -> Any:
    """Return the first rows."""
    parts, n = [], 0
    for X, _ in stream.tables():
        parts.append(X)
        n += X.shape[0]
        if n >= n_rows:
            break
    if hasattr(parts[0], "iloc"):
        return import_optional("pandas", "io").concat(parts, ignore_index=True)
    return sparse.vstack(parts, format="csr")


def _raw(batches: Batches, target: str | None) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Give columns and labels as they are in the files."""
    if target is None:
        yield from batches
        return
    n_before = 0
    for record in batches.record_batches():
        for low in range(0, record.num_rows, BATCH_ROWS):
            frame = record.slice(low, BATCH_ROWS).to_pandas(date_as_object=False)
            is_missing = frame[target].isna().to_numpy()
            if is_missing.any():
                row = n_before + int(is_missing.argmax())
                raise ValueError(
                    f"A label in {short(target)} is missing, the first one in row "
                    f"{row}, counted from 0 through all files. Leave these rows out."
                )
            yield frame.drop(columns=target), frame[target].to_numpy()
            n_before += len(frame)


def _is_positive(y: NDArray[Any], labels: Labels) -> BoolArray:
    values, codes = np.unique(y, return_inverse=True)
    is_pos = np.array([label_text(value) == labels.positive for value in values])
    return is_pos[codes] if len(y) else np.zeros(0, dtype=bool)


def _take(X: Any, rows: NDArray[Any]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _plain(X: Any) -> Any:
    return X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
