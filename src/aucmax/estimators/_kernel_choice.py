# SPDX-License-Identifier: BSD-3-Clause
"""Choosing the width of a kernel and the penalty together."""

from typing import NamedTuple

from aucmax._utils.validation import FitInputs
from aucmax.features.kernels import mean_square_distance


class KernelChoice(NamedTuple):
    """What was chosen."""

    gamma: float
    alpha: float


def choose_kernel(
    inputs: FitInputs,
    *,
    kernel: object,
    gamma: str | float,
    alpha: str | float,
    degree: float = 3.0,
    coef0: float = 1.0,
    random_state: object = None,
    verbose: int = 0,
) -> KernelChoice:
    """Return the gamma and alpha to use, choosing what is "auto"."""
    chosen = (
        float(gamma)
        if not isinstance(gamma, str)
        else 1.0 / mean_square_distance(inputs.X, inputs.weight)
    )
    return KernelChoice(chosen, 1e-5 if isinstance(alpha, str) else float(alpha))
