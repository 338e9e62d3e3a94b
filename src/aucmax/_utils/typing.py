# SPDX-License-Identifier: BSD-3-Clause
"""Names for the arrays that travel between layers."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]

# A validated feature matrix: an ndarray of float64/float32, or a CSR array or matrix.
# scipy's sparse classes share no useful static base, hence Any.
Matrix: TypeAlias = Any
