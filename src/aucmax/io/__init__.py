# SPDX-License-Identifier: BSD-3-Clause
"""Files in and out: tables, and models without pickle."""

from aucmax.io.models import (
    Checkpoints,
    UntrustedModel,
    load,
    model_card,
    read_metadata,
    save,
    trusted_types,
)
from aucmax.io.tables.batches import Batches, read_batches
from aucmax.io.tables.errors import TableError
from aucmax.io.tables.libsvm import read_libsvm
from aucmax.io.tables.numbers import read_csv
from aucmax.io.tables.parquet import read_parquet, write_parquet
from aucmax.io.tables.table import Table, read_table

__all__ = [
    "Batches",
    "Checkpoints",
    "Table",
    "TableError",
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
