# SPDX-License-Identifier: BSD-3-Clause
"""Models from tables that are read in batches, several times if need be."""

from collections.abc import Callable, Iterable, Iterator, Sequence
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
from aucmax.cli._fitting import SAMPLE_ROWS, score_rows, take
from aucmax.cli._words import told_in_options
from aucmax.io import Checkpoints, read_batches
from aucmax.io._errors import short
from aucmax.io.batches import read_records
from aucmax.metrics import AUCInterval, roc_auc_interval

BATCH_ROWS = 20_000
# Rows of each class left out to measure by: one in so many, and at most these.
HELD_ONE_IN, MOST_HELD = 10, 10_000


Every = tuple[int, int]
# Some rows and their labels, as they are in the files.
Part = tuple[Any, NDArray[Any]]


class Stream(NamedTuple):
    """A table that is read in batches, and what a first pass over it has found."""

    parts: Callable[[], Iterable[Part]]
    paths: tuple[Path, ...]
    kinds: dict[str, str]
    labels: Labels
    # The negative and the positive label to train with: as in the file, or booleans.
    classes: NDArray[Any]
    target: str | None
    n_rows: int
    n_pos: int
    source: str
    # Rows from all over the table, or all if they are few.
    sample: Any

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.sample.shape[1])

    def tables(self) -> Iterator[tuple[Any, BoolArray]]:
        """Give columns, as they are in the files, and which rows are positive."""
        for X, y in self.parts():
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
            yield self.prepare.transform(take(X, rows)), y


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
    parts: Callable[[], Iterable[Part]]
    with told_in_options(can_drop=True):
        if is_libsvm(data, format):
            batches = read_batches(data, format=format, batch_rows=BATCH_ROWS)
            parts, paths = partial(iter, batches), batches.paths
        else:
            choose = all_but(drop)
            records = read_records(
                data,
                target=str(target),
                columns=lambda names: choose([n for n in names if n != target], data),
                format=format,
                separator=separator,
            )
            parts, paths = partial(_frames, records, str(target)), records.paths
        kinds, counts, sample = _look_at(parts(), data)
    values = np.array(list(counts))
    labels, _, y = find_labels(values, positive, what_labels(target, data))
    n_pos = sum(n for v, n in counts.items() if label_text(v) == labels.positive)
    return Stream(
        parts,
        paths,
        kinds,
        labels,
        np.unique(y),
        target,
        sum(counts.values()),
        n_pos,
        data,
        sample,
    )


def _look_at(
    parts: Iterable[Part], source: str
) -> tuple[dict[str, str], dict[Any, int], Any]:
    """Return what columns hold, how often each label comes, and a sample of rows.

    Rows get random numbers, and those below a share are kept: as large a share as
    leaves few enough. The numbers are the same each time, in batches of any size.
    """
    kinds: dict[str, str] | None = None
    counts: dict[Any, int] = {}
    rng, share = np.random.default_rng(0), 1.0
    kept: list[Part] = []
    for X, y in parts:
        kinds = kinds_of(X) if kinds is None else kinds
        for value, n in zip(*np.unique(y, return_counts=True), strict=True):
            counts[value] = counts.get(value, 0) + int(n)
        X, numbers = _below(share, X, rng.random(len(y)))
        kept.append((as_kinds(X, kinds, source, can_drop=True), numbers))
        while sum(len(numbers) for _, numbers in kept) > SAMPLE_ROWS:
            share /= 2
            kept = [_below(share, *part) for part in kept]
    return kinds or {}, counts, _joined([rows for rows, _ in kept])


def _below(share: float, X: Any, numbers: NDArray[Any]) -> Part:
    rows = np.flatnonzero(numbers < share)
    return take(X, rows), numbers[rows]


def _joined(parts: list[Any]) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return import_optional("pandas", "io").concat(parts, ignore_index=True)


def train(
    model: Any, stream: Stream, *, hold: bool, options: FitOptions
) -> tuple[Any, AUCInterval | None]:
    """Fit a pipeline to a stream; return it, and its AUC on rows held out, if any.

    The preparation is found from the sample. A cluster learns all rows.
    """
    prepare, estimator = (step for _, step in model.steps)
    prepare.fit(stream.sample)
    if options.dask_scheduler is not None:
        fitted = _fit_on_cluster(estimator, stream, options, prepare)
        model.steps[-1] = ("model", fitted)
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
            scores.append(score_rows(model, take(X, rows)))
            masks.append(is_pos[rows])
    return roc_auc_interval(np.concatenate(masks), np.concatenate(scores))


def _fit_on_cluster(
    estimator: Any, stream: Stream, options: FitOptions, prepare: Any
) -> Any:
    client = import_optional("distributed", "dask").Client
    from aucmax import distributed

    with client(options.dask_scheduler):
        X, y = distributed.prepared(
            [str(path) for path in stream.paths],
            partial(_part, prepare, stream.kinds, stream.labels, stream.target),
            prepare.transform(take(stream.sample, slice(1))).shape[1],
        )
        kind = getattr(distributed, str(options.dask_model))
        return kind(**estimator.get_params()).fit(X, y).to_local()


def _part(
    prepare: Any, kinds: dict[str, str], labels: Labels, target: str | None, frame: Any
) -> tuple[Any, BoolArray]:
    """Prepare the rows of one part of a file, on a worker."""
    X = as_kinds(frame[list(kinds)], kinds, "a part of the table")
    return prepare.transform(X), _is_positive(frame[target].to_numpy(), labels)


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


def _frames(records: Iterable[Any], target: str) -> Iterator[Part]:
    """Give columns and labels as they are in the files."""
    n_before = 0
    for record in records:
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
