# SPDX-License-Identifier: BSD-3-Clause
"""Linear maps to fewer features, chosen before the first row is learned."""

import numpy as np

from aucmax._utils.typing import Matrix


def choose_projection(
    method: str, X: Matrix, n_components: int, rng: np.random.Generator
) -> Matrix:
    """To be written."""
    raise NotImplementedError
