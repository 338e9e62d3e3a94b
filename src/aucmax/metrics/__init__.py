# SPDX-License-Identifier: BSD-3-Clause
"""Exact, fast and mergeable AUC, with intervals and tests, of sets and of streams."""

from aucmax.metrics.auc import roc_auc
from aucmax.metrics.band import ROCBand, roc_band
from aucmax.metrics.costs import (
    CostCurve,
    OperatingPoint,
    best_threshold,
    cost_curve,
)
from aucmax.metrics.delong import (
    AUCInterval,
    AUCTest,
    roc_auc_interval,
    roc_auc_test,
)
from aucmax.metrics.evaluate_stream import StreamRecord, evaluate_stream
from aucmax.metrics.online_curve import (
    AUCCurve,
    MeanCurve,
    auc_curve,
    online_curves,
)
from aucmax.metrics.partial import partial_auc
from aucmax.metrics.prequential import PrequentialAUC
from aucmax.metrics.roc import ROCCurve, roc_curve
from aucmax.metrics.streaming import StreamingAUC

__all__ = [
    "AUCCurve",
    "AUCInterval",
    "AUCTest",
    "CostCurve",
    "MeanCurve",
    "OperatingPoint",
    "PrequentialAUC",
    "ROCBand",
    "ROCCurve",
    "StreamRecord",
    "StreamingAUC",
    "auc_curve",
    "best_threshold",
    "cost_curve",
    "evaluate_stream",
    "online_curves",
    "partial_auc",
    "roc_auc",
    "roc_auc_interval",
    "roc_auc_test",
    "roc_band",
    "roc_curve",
]
