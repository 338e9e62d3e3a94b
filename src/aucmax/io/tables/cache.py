# SPDX-License-Identifier: BSD-3-Clause
"""Batches kept in memory-mapped files, so that later passes decode nothing."""

import json
import re
import secrets
import time
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from aucmax._utils.typing import is_sparse
from aucmax.io._atomic import replacing
from aucmax.io.tables.blocks import Block
from aucmax.io.tables.errors import TableError, naming
from aucmax.io.tables.npy import GrowingArray, MappedArray
from aucmax.io.tables.plan import Plan, fingerprint
from aucmax.io.tables.source import Source

MARKER = "cache.json"
VERSION = 1
PART = re.compile(r"(X|data|indices|indptr|y|weight)-[0-9a-f]{16}\.npy")
DTYPE = re.compile(r"[<>|][biuf][1248]")
# Parts that are in no marker, and not written to for so long, are left over.
LEFT_OVER_SECONDS = 3600.0


@dataclass(frozen=True)
class CachePlan:
    """Blocks in a folder.

    Attributes
    ----------
    sources, names, n_features
        Those of the source.
    folder : path
        Where the arrays are.
    marker : dict
        What the marker says.
    """

    sources: tuple[Source, ...]
    names: tuple[str, ...]
    n_features: int
    folder: Path
    marker: dict[str, Any]
    title: str = "cache"

    def blocks(self, n_rows: int, first: int) -> Generator[Block, None, None]:
        """Yield blocks of ``n_rows`` rows, without the first ones."""
        with naming(f"The cache {self.folder}"):
            arrays = {
                name: MappedArray(self.folder, **each)
                for name, each in self.marker["arrays"].items()
            }
            n = len(arrays["y"].values)
            self._check_shapes(arrays, n)
        for low in range(first * n_rows, n, n_rows):
            high = min(low + n_rows, n)
            with naming(f"The cache {self.folder}"):
                if "X" in arrays:
                    X = self._dense(arrays, low, high, min(high + n_rows, n))
                else:
                    X = self._sparse(arrays, low, high)
                others = self._others(arrays, slice(low, high))
            yield X, *others

    def _check_shapes(self, arrays: dict[str, MappedArray], n: int) -> None:
        shapes = {name: array.values.shape for name, array in arrays.items()}
        expected: dict[str, tuple[int, ...]] = {"y": (n,)}
        if "X" in arrays:
            expected["X"] = (n, self.n_features)
        else:
            expected["indptr"] = (n + 1,)
            expected["data"] = expected["indices"] = shapes.get("data", ())
        if "weight" in arrays:
            expected["weight"] = (n,)
        if shapes != expected:
            raise ValueError(f"arrays of the shapes {shapes} instead of {expected}")

    def _dense(
        self, arrays: dict[str, MappedArray], low: int, high: int, next_high: int
    ) -> Any:
        X = arrays["X"]
        X.release(0, low)
        X.announce(high, next_high)
        return X.values[low:high]

    def _sparse(self, arrays: dict[str, MappedArray], low: int, high: int) -> Any:
        starts = arrays["indptr"].values[low : high + 1]
        start, stop = int(starts[0]), int(starts[-1])
        found = []
        for name in ("data", "indices"):
            arrays[name].release(0, start)
            found.append(arrays[name].values[start:stop])
        X = sparse.csr_matrix(
            (*found, starts - start), shape=(high - low, self.n_features)
        )
        # An index beyond the columns would have others read whatever is in memory.
        X.check_format(full_check=True)
        X.has_canonical_format = True
        return X

    def _others(self, arrays: dict[str, MappedArray], rows: slice) -> list[Any]:
        """Return copies of labels and weights, as they are in the source."""
        y = arrays["y"].values[rows]
        levels = self.marker["levels"]
        if levels is not None and y.min() < 0:
            raise ValueError("a label that is not among those listed")
        found = [y.copy() if levels is None else np.array(levels, dtype=object)[y]]
        if "weight" in arrays:
            found.append(arrays["weight"].values[rows].copy())
        return found

    def records(self, skip: int) -> NoReturn:
        """Raise: there are none."""
        raise TableError(
            "holds numbers only",
            "call record_batches of the source that it was made from",
            file=f"The cache {self.folder}",
        )

    def identity(self) -> dict[str, Any]:
        """Return all that the values of the blocks depend on."""
        return {"fingerprint": self.marker["fingerprint"]}


def find_cache(plan: Plan, folder: Path) -> CachePlan | None:
    """Return the finished cache of a source, if it is in the folder."""
    for source in plan.sources:
        source.check_unchanged()
    marker = _read_marker(folder)
    if marker is None or marker.get("fingerprint") != fingerprint(plan):
        return None
    for each in marker["arrays"].values():
        path = folder / each["file"]
        if not path.is_file() or path.stat().st_size != each["size"]:
            return None
    return CachePlan(plan.sources, plan.names, plan.n_features, folder, marker)


def write_cache(plan: Plan, blocks: Iterable[Block], folder: Path) -> None:
    """Write blocks to a folder: a whole cache, or what was there before.

    The arrays have new names, which nobody knows before the marker has them.
    """
    old = _read_marker(folder)
    writer = _Writer(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for block in blocks:
            writer.append(block)
        arrays = writer.finish()
        marker = {
            "version": VERSION,
            "fingerprint": fingerprint(plan),
            "levels": writer.levels,
            "arrays": arrays,
        }
        with replacing(folder / MARKER) as draft:
            draft.write_text(json.dumps(marker), encoding="utf-8")
    except BaseException as error:
        writer.delete()
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(
                error.errno, f"The cache {folder} cannot be written: {error.strerror}"
            ) from error
        raise
    replaced = {} if old is None else old["arrays"]
    _delete_left_over(
        folder,
        known={each["file"] for each in arrays.values()},
        replaced={each["file"] for each in replaced.values()},
    )


class _Writer:
    """The arrays of a cache, made when the first block is there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = secrets.token_hex(8)
        self._arrays: dict[str, GrowingArray] = {}
        self._codes: dict[str, int] | None = None
        self._n_stored = 0

    @property
    def levels(self) -> list[str] | None:
        """The labels if they are text, by their codes."""
        return None if self._codes is None else list(self._codes)

    def append(self, block: Block) -> None:
        """Add the rows of a block."""
        X, y, *weight = block
        if is_sparse(X):
            if not self._arrays:
                self._add("indptr", np.zeros(1, dtype=np.int64))
            self._add("data", X.data)
            self._add("indices", X.indices.astype(np.int32, copy=False))
            self._add("indptr", X.indptr[1:].astype(np.int64) + self._n_stored)
            self._n_stored += X.nnz
        else:
            self._add("X", X)
        self._add("y", self._encoded(y) if y.dtype == object else y)
        if weight:
            self._add("weight", weight[0])

    def finish(self) -> dict[str, dict[str, Any]]:
        """Bring all to the disk; return what the marker says of them."""
        return {name: array.finish() for name, array in self._arrays.items()}

    def delete(self) -> None:
        """Leave nothing."""
        for array in self._arrays.values():
            array.delete()

    def _add(self, name: str, values: Any) -> None:
        if name not in self._arrays:
            path = self._folder / f"{name}-{self._token}.npy"
            self._arrays[name] = GrowingArray(path)
        self._arrays[name].append(values)

    def _encoded(self, y: Any) -> Any:
        codes = self._codes = self._codes or {}
        for label in y:
            codes.setdefault(label, len(codes))
        return np.fromiter((codes[label] for label in y), np.int32, len(y))


def _read_marker(folder: Path) -> dict[str, Any] | None:
    try:
        marker = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_ours = isinstance(marker, dict) and marker.get("version") == VERSION
    arrays = marker.get("arrays") if is_ours else None
    is_whole = isinstance(arrays, dict) and all(map(_is_described, arrays.values()))
    return marker if is_whole else None


def _is_described(array: Any) -> bool:
    """Say whether a marker tells all of an array, as `MappedArray` takes it."""
    return (
        isinstance(array, dict)
        and array.keys() == {"file", "shape", "dtype", "size"}
        and PART.fullmatch(str(array["file"])) is not None
        and DTYPE.fullmatch(str(array["dtype"])) is not None
        and isinstance(array["shape"], list)
        and all(type(n) is int and n >= 0 for n in [*array["shape"], array["size"]])
    )


def _delete_left_over(folder: Path, known: set[str], replaced: set[str]) -> None:
    """Delete what the old marker had, and what a process that was killed has left."""
    for path in folder.iterdir():
        if path.name in known or not PART.fullmatch(path.name):
            continue
        with suppress(OSError):
            age = time.time() - path.stat().st_mtime
            if path.name in replaced or age > LEFT_OVER_SECONDS:
                path.unlink()
