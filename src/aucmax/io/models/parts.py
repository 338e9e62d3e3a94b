# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a loaded model, checked before any row is scored.

Compiled code follows what a model holds without looking. A model is safe to hold, so
its parts are checked once it is there and before it is handed out.
"""

import gc
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from aucmax._utils.state import check_state
from aucmax.io.models.sklearn_parts import (
    check_encoder,
    check_plain,
    check_svm,
    check_vocabulary,
    is_instance,
)
from aucmax.io.models.trees import check_trees

SEARCH = ("sklearn.model_selection._search", "BaseSearchCV")
# What leads out of a model into the code around it.
CODE = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.CodeType,
)


def check_parts(model: Any) -> None:
    """Raise ValueError if compiled code would follow a part of a model out of bounds.

    Parameters
    ----------
    model : object
        What a file held; its types are trusted, its values are not.
    """
    parts = [*_parts(model)]
    masked, owners = set[int](), dict[int, Any]()
    for part in parts:
        if is_instance(part, *SEARCH):
            # Its columns of parameters have masks; nothing but a person reads them.
            masked.update(map(id, getattr(part, "cv_results_", {}).values()))
        check_plain(part)
        if isinstance(part, np.ndarray):
            _check_array(part, may_be_masked=id(part) in masked)
        elif sparse.issparse(part):
            _check_sparse(part)
        elif isinstance(part, np.random.Generator | np.random.RandomState):
            _check_generator(part)
        else:
            check_svm(part)
            check_encoder(part)
            check_vocabulary(part)
            check_state(part, owners)
    check_trees(parts)


def _parts(model: Any) -> Iterator[Any]:
    """Yield everything that a model is made of, owners before what they own."""
    seen, waiting = set(), [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, CODE):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, np.ndarray) and part.dtype == object:
            # Of the buffer itself: a mask would hide elements that compiled code reads.
            waiting.extend(np.asarray(part).ravel().tolist())
        else:
            waiting.extend(gc.get_referents(part))


def _check_array(array: Any, *, may_be_masked: bool) -> None:
    kind = type(array)
    if kind is not np.ndarray and not (may_be_masked and kind is np.ma.MaskedArray):
        raise ValueError(f"it holds a {kind.__name__} in the place of an array")


def _check_generator(generator: Any) -> None:
    """Raise if numpy would draw from a place beyond what a generator keeps."""
    state = (
        generator.bit_generator.state
        if isinstance(generator, np.random.Generator)
        else generator.get_state(legacy=False)
    )
    kind = state["bit_generator"]
    place = state["state"]["pos"] if kind == "MT19937" else state.get("buffer_pos", 0)
    if not 0 <= place <= {"MT19937": 624, "Philox": 4}.get(kind, 0):
        raise ValueError(f"a {kind} generator draws from a place that it has not")


def _check_sparse(matrix: Any) -> None:
    if matrix.format not in ("csr", "csc"):
        raise ValueError(f"it holds a sparse matrix in the format {matrix.format}")
    # The check itself assumes one dimension each, of integers.
    for indices in (matrix.indptr, matrix.indices):
        if indices.ndim != 1 or indices.dtype.kind != "i":
            raise ValueError("it holds a sparse matrix with indices of another kind")
    matrix.check_format(full_check=True)
