# SPDX-License-Identifier: BSD-3-Clause
"""Means and covariances of both classes, merged on the workers."""

from typing import Any

import numpy as np

from aucmax.distributed._block import Part
from aucmax.distributed._cluster import later, merged
from aucmax.solvers.closed_form import Pair, merge_both, moments_of_block


def moments_of(parts: list[Any]) -> Any:
    """Return the moments of the positives and of the negatives of all, as a task."""
    return merged([later(_moments, part) for part in parts], merge_both)


def _moments(part: Part) -> Pair:
    # Squares beyond the range of float64 are infinite, which is noticed later.
    with np.errstate(over="ignore", invalid="ignore"):
        return moments_of_block(part.rows, part.is_pos, part.weight)
