# SPDX-License-Identifier: BSD-3-Clause
"""Files in and out: tables, and models without pickle."""

from aucmax.io.batches import Batches, read_batches
from aucmax.io.libsvm import read_libsvm
from aucmax.io.models import (
    Checkpoints,
    UntrustedModel,
    load,
    model_card,
    read_metadata,
    save,
    trusted_types,
)
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
