# SPDX-License-Identifier: BSD-3-Clause
"""From the columns of tables to numbers, for models of all kinds."""

from aucmax.preparation.preparation import Preparation

__all__ = ["Preparation"]
