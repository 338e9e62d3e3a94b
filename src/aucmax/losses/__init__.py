# SPDX-License-Identifier: BSD-3-Clause
"""Losses in score space: n scores, a mask and weights in; value and derivatives out."""

from aucmax.losses._base import PairLoss, Terms
from aucmax.losses.binned_squared_hinge import BinnedSquaredHinge
from aucmax.losses.hinge import Hinge
from aucmax.losses.square import Square
from aucmax.losses.squared_hinge import SquaredHinge
from aucmax.losses.univariate import Exponential, Logistic, UnivariateSquare

__all__ = [
    "BinnedSquaredHinge",
    "Exponential",
    "Hinge",
    "Logistic",
    "PairLoss",
    "Square",
    "SquaredHinge",
    "Terms",
    "UnivariateSquare",
]
