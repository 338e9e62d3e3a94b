# SPDX-License-Identifier: BSD-3-Clause
"""Designs: what X is, hidden behind ``scores``, ``adjoint`` and ``rows``."""

from aucmax.design._base import Design
from aucmax.design.local import LocalDesign
from aucmax.design.mapped import MappedDesign
from aucmax.design.mixed import MixedDesign, mixed_design
from aucmax.design.streamed import StreamedDesign

__all__ = [
    "Design",
    "LocalDesign",
    "MappedDesign",
    "MixedDesign",
    "StreamedDesign",
    "mixed_design",
]
