# SPDX-License-Identifier: BSD-3-Clause
"""Files in and out: tables, and models without pickle."""

from aucmax.io.batches import Batches, read_batches
from aucmax.io.card import model_card
from aucmax.io.checkpoints import Checkpoints
from aucmax.io.libsvm import read_libsvm
from aucmax.io.metadata import read_metadata
from aucmax.io.models import UntrustedModel, load, save, trusted_types
from aucmax.io.parquet import read_parquet, write_parquet
from aucmax.io.table import Table, read_table
from aucmax.io.text import read_csv

__all__ = [
    "Batches",
    "Checkpoints",
    "Table",
    "UntrustedModel",
    "load",
    "model_card",
    "read_batches",
    "read_csv",
    "read_libsvm",
    "read_metadata",
    "read_parquet",
    "read_table",
    "save",
    "trusted_types",
    "write_parquet",
]
