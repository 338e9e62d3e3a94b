# SPDX-License-Identifier: BSD-3-Clause
"""Files in and out."""

from aucmax.io.parquet import read_parquet, write_parquet

__all__ = ["read_parquet", "write_parquet"]
