# SPDX-License-Identifier: BSD-3-Clause
"""Exponents: how a cost grows with a size."""

import numpy as np
from _suite import Measurement


def growth(curve, *, grows, least=0.0, unit="s", **rest):
    """Return the exponent fitted to the points whose size is at least `least`.

    `grows` says what the sizes are. The line goes through the logarithms by least
    squares. `low` and `high` are the exponents between neighbours; the cost shown is
    that of the largest size.
    """
    points = [(size, cost) for size, cost in curve if size >= least]
    if len(points) < 2:
        raise ValueError(f"Two sizes of at least {least:g} are needed, got {points}.")
    sizes, costs = np.log(points).T
    between = np.diff(costs) / np.diff(sizes)
    return Measurement(
        **{"kind": "growth", "against": ""} | rest,
        ours=points[-1][1],
        other=1.0,
        unit=unit,
        ratio=float(np.polyfit(sizes, costs, 1)[0]),
        low=float(between.min()),
        high=float(between.max()),
        curve=[(float(size), float(cost)) for size, cost in curve],
        grows=grows,
    )
