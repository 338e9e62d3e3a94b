# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of the papers, run again: no algorithm here."""

from aucmax.bench.online_curve import AUCCurve, MeanCurve, auc_curve, online_curves
from aucmax.bench.protocol import load_paper
from aucmax.bench.report import write_report
from aucmax.bench.runner import run

__all__ = [
    "AUCCurve",
    "MeanCurve",
    "auc_curve",
    "load_paper",
    "online_curves",
    "run",
    "write_report",
]
