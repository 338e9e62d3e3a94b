# SPDX-License-Identifier: BSD-3-Clause
"""Models in files without pickle: saved, loaded with care, and described."""

from aucmax.io.models.card import model_card
from aucmax.io.models.checkpoints import Checkpoints
from aucmax.io.models.loading import UntrustedModel, load
from aucmax.io.models.metadata import read_metadata
from aucmax.io.models.saving import save
from aucmax.io.models.trusted import trusted_types

__all__ = [
    "Checkpoints",
    "UntrustedModel",
    "load",
    "model_card",
    "read_metadata",
    "save",
    "trusted_types",
]
