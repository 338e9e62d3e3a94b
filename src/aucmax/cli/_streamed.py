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
from aucmax.cli._data import TableInput, all_but
from aucmax.cli._fitting import SAMPLE_ROWS, score_rows, take
from aucmax.io import Checkpoints, read_batches
from aucmax.io.tables.files import look_at
from aucmax.io.tables.labels import LabelColumn, Labels, find_labels
from aucmax.io.tables.schema import ColumnKinds, conform
from aucmax.io.tables.source import check_readable
from aucmax.io.tables.table import read_frames
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
    kinds: ColumnKinds
    labels: Labels
    # The negative and the positive label to train with: as in the file, or booleans.
    classes: NDArray[Any]
    place: LabelColumn
    n_rows: int
    n_pos: int
    # Rows from all over the table, or all if they are few.
    sample: Any

    @property
    def source(self) -> str:
        """The name of the first file."""
        return self.place.file

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.sample.shape[1])

    def tables(self) -> Iterator[tuple[Any, BoolArray]]:
        """Give columns, as they are in the files, and which rows are positive."""
        for X, y in self.parts():
            X = conform(X, self.kinds, self.kinds, self.source)
            yield X, self.labels.are_positive(y)


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


def open_stream(rows: TableInput, drop: Sequence[str], positive: str | None) -> Stream:
    """Look at the columns and the labels of files."""
    check_readable(rows.sources, rows.format)
    paths = tuple(source.path for source in rows.sources if source.path is not None)
    kinds: ColumnKinds = {}
    parts: Callable[[], Iterable[Part]]
    if rows.format == "libsvm":
        batches = read_batches(paths, format=rows.format, batch_rows=BATCH_ROWS)
        parts = partial(iter, batches)
    else:
        tables = look_at(
            rows.sources,
            rows.format,
            target=rows.target,
            columns=partial(all_but, rows, drop),
            separator=rows.separator,
        )
        kinds = tables.kinds
        parts = partial(read_frames, tables.with_floats(tables.whole), BATCH_ROWS)
    counts, sample = _look_through(parts(), kinds, rows.name)
    labels, is_pos, y = find_labels(np.array(list(counts)), positive, rows.labels)
    n_pos = sum(n for n, own in zip(counts.values(), is_pos, strict=True) if own)
    n_rows = sum(counts.values())
    classes = np.unique(y)
    return Stream(
        parts, paths, kinds, labels, classes, rows.labels, n_rows, n_pos, sample
    )


def _look_through(
    parts: Iterable[Part], kinds: ColumnKinds, source: str
) -> tuple[dict[Any, int], Any]:
    """Return how often each label comes, and a sample of rows.

    Rows get random numbers, and those below a share are kept: as large a share as
    leaves few enough. The numbers are the same each time, in batches of any size.
    """
    counts: dict[Any, int] = {}
    rng, share = np.random.default_rng(0), 1.0
    kept: list[Part] = []
    for X, y in parts:
        for value, n in zip(*np.unique(y, return_counts=True), strict=True):
            counts[value] = counts.get(value, 0) + int(n)
        X, numbers = _below(share, X, rng.random(len(y)))
        kept.append((conform(X, kinds, kinds, source), numbers))
        while sum(len(numbers) for _, numbers in kept) > SAMPLE_ROWS:
            share /= 2
            kept = [_below(share, *part) for part in kept]
    return counts, _joined([rows for rows, _ in kept])


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
            stream.paths,
            partial(_part, prepare, stream.kinds, stream.labels, stream.place.column),
            prepare.transform(take(stream.sample, slice(1))).shape[1],
            columns=[*stream.kinds, str(stream.place.column)],
        )
        kind = getattr(distributed, str(options.dask_model))
        return kind(**estimator.get_params()).fit(X, y).to_local()


def _part(
    prepare: Any, kinds: dict[str, str], labels: Labels, target: str | None, frame: Any
) -> tuple[Any, BoolArray]:
    """Prepare the rows of one part of a file, on a worker."""
    X = conform(frame[list(kinds)], kinds, kinds, "a part of the table")
    return prepare.transform(X), labels.are_positive(frame[target].to_numpy())


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
