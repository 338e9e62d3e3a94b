# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of the papers, run again: no algorithm here."""

from aucmax_papers.protocol import load_paper
from aucmax_papers.report import write_report
from aucmax_papers.runner import run

__version__ = "0.1.0.dev0"

__all__ = [
    "load_paper",
    "run",
    "write_report",
]
