# SPDX-License-Identifier: BSD-3-Clause
"""Names for the arrays that travel between layers."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]
# float64 or float32. A name, because functions made at every step spell their types out
# at every step.
AnyFloats: TypeAlias = NDArray[Any]

# A validated feature matrix: an ndarray of float64/float32, or a CSR array or matrix.
# scipy's sparse classes share no useful static base, hence Any.
Matrix: TypeAlias = Any


def to_dense(X: Matrix) -> NDArray[Any]:
    """Return ``X`` as an ndarray."""
    dense: NDArray[Any] = X if isinstance(X, np.ndarray) else X.toarray()
    return dense


def as_plain(values: NDArray[Any]) -> FloatArray:
    """Return float64 values in C order that may be written.

    For others, compiled loops would have to be compiled once more.
    """
    flags = values.flags
    if values.dtype == np.float64 and flags.c_contiguous and flags.writeable:
        return values
    return np.require(values, np.float64, ["C", "W"])


def is_sparse(X: Matrix) -> bool:
    """Say whether ``X`` is one of scipy's sparse arrays or matrices."""
    return bool(sparse.issparse(X))
