# SPDX-License-Identifier: BSD-3-Clause
"""Record batches of any size as dense blocks of the same size."""

from collections.abc import Generator, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.io.tables.values import (
    Place,
    Rules,
    read_codes,
    read_labels,
    read_numbers,
    read_weights,
)

# Rows of the first block before it is known that there are more.
FIRST_ROWS = 2**16
Block = tuple[Any, ...]


class Feature(NamedTuple):
    """A column of a file: one column of the block, or one per level."""

    name: str
    first: int
    levels: tuple[str, ...] | None = None

    @property
    def width(self) -> int:
        """How many columns of the block it fills."""
        return 1 if self.levels is None else len(self.levels)

    @property
    def names(self) -> list[str]:
        """The names of these columns."""
        if self.levels is None:
            return [self.name]
        return [f"{self.name}_{level}" for level in self.levels]


class Layout(NamedTuple):
    """Where the values of a row go.

    Attributes
    ----------
    target : str
        Column of the labels.
    labels : dtype
        Type of the labels.
    weight : str or None
        Column of the weights.
    features : tuple of Feature
        Columns of the features.
    rules : Rules
        What becomes of their values.
    parsed : bool
        Whether numbers were written as text.
    """

    target: str
    labels: np.dtype[Any]
    weight: str | None
    features: tuple[Feature, ...]
    rules: Rules
    parsed: bool

    @property
    def width(self) -> int:
        """How many columns a block has."""
        return sum(feature.width for feature in self.features)


class Rows(NamedTuple):
    """Values of a record batch, which may lack some of the columns.

    Attributes
    ----------
    n : int
        How many rows.
    columns : list of (Feature, array)
        Of each feature, numbers or positions of levels.
    y, weight : array or None
        Labels and weights.
    """

    n: int
    columns: list[tuple[Feature, NDArray[Any]]]
    y: NDArray[Any] | None
    weight: FloatArray | None


class Span(NamedTuple):
    """Rows that follow one another, some columns at a time.

    Attributes
    ----------
    n : int
        How many rows.
    parts : iterable of (int, Rows)
        Their values, each with the row of the span where they begin.
    """

    n: int
    parts: Iterable[tuple[int, Rows]]


def read_rows(
    layout: Layout, features: Mapping[str, Feature], file: str, row: int, batch: Any
) -> Rows:
    """Return the values of a record batch; rows with gaps are dropped if they are to.

    ``features`` are those of the layout by name, and ``row`` is the position of the
    first row in the file.
    """
    found = dict(zip(batch.schema.names, batch.columns, strict=True))
    y = weight = None
    if layout.target in found:
        place = Place(file, row, layout.target)
        labels = found[layout.target]
        y = read_labels(labels, place, layout.labels, parsed=layout.parsed)
    if layout.weight is not None and layout.weight in found:
        place = Place(file, row, layout.weight)
        weight = read_weights(found[layout.weight], place)
    columns = []
    gone: BoolArray | None = None
    # A sum or a cast that overflows, or is NaN, is looked at.
    with np.errstate(over="ignore", invalid="ignore"):
        for name, column in found.items():
            feature, place = features.get(name), Place(file, row, name)
            if feature is None:
                continue
            if feature.levels is None:
                values, missing = read_numbers(column, place, layout.rules)
            else:
                levels = feature.levels
                values, missing = read_codes(column, levels, place, layout.rules)
            columns.append((feature, values))
            if missing is not None:
                gone = missing if gone is None else gone | missing
    if gone is None:
        return Rows(batch.num_rows, columns, y, weight)
    kept = ~gone
    return Rows(
        int(kept.sum()),
        [(feature, values[kept]) for feature, values in columns],
        None if y is None else y[kept],
        None if weight is None else weight[kept],
    )


def blocks(
    layout: Layout, spans: Iterable[Span], n_rows: int, most: int | None = None
) -> Generator[Block, None, None]:
    """Yield blocks of ``n_rows`` rows, and the rest; there are ``most`` rows at most.

    A block is Fortran-ordered, as Arrow is: filling it is then a plain copy, and the
    products with it are at least as fast as in the other order.
    """
    size = min(n_rows, FIRST_ROWS if most is None else max(most, 1))
    block, filled, done = None, 0, 0
    for n, parts in spans:
        low = 0
        while low < n:
            if block is None:
                block, filled = _empty(layout, size), 0
            elif filled == size:
                size = min(n_rows, 2 * size)
                block = _resized(layout, block, filled, size)
            high = min(n, low + size - filled)
            if low == 0 and high < n:
                # Taken more than once.
                parts = list(parts)
            for first, rows in parts:
                start, stop = max(low - first, 0), min(high - first, rows.n)
                if start < stop:
                    _fill(block, filled + first + start - low, rows, slice(start, stop))
            filled += high - low
            low = high
            if filled == n_rows:
                yield block
                block, done = None, done + n_rows
                if most is not None:
                    size = min(n_rows, max(most - done, 1))
    if block is not None:
        yield _resized(layout, block, filled, filled)


def _empty(layout: Layout, n: int) -> Block:
    X = np.empty((n, layout.width), layout.rules.dtype, order="F")
    y = np.empty(n, layout.labels)
    return (X, y) if layout.weight is None else (X, y, np.empty(n))


def _resized(layout: Layout, block: Block, filled: int, n: int) -> Block:
    """Return a block of another size with the same first rows."""
    if len(block[1]) == n:
        return block
    other = _empty(layout, n)
    for old, new in zip(block, other, strict=True):
        new[:filled] = old[:filled]
    return other


def _fill(block: Block, at: int, part: Rows, rows: slice) -> None:
    """Copy rows of a part to the block."""
    here = slice(at, at + rows.stop - rows.start)
    X = block[0]
    if part.y is not None:
        block[1][here] = part.y[rows]
    if part.weight is not None:
        block[2][here] = part.weight[rows]
    for (_, first, levels), values in part.columns:
        if levels is not None:
            codes = values[rows]
            X[here, first : first + len(levels)] = 0.0
            known = np.flatnonzero(codes >= 0)
            X[at + known, first + codes[known]] = 1.0
        elif values.dtype == X.dtype:
            # Not an assignment, which on an AMD EPYC takes ten times as long where
            # the target begins 16 bytes further into a page than the source: Arrow's
            # large arrays begin at the start of a page, and those of numpy 16 bytes on.
            np.positive(values[rows], out=X[here, first])
        else:
            X[here, first] = values[rows]
