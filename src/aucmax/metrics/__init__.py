# SPDX-License-Identifier: BSD-3-Clause
"""Exact, fast and mergeable AUC, with intervals and tests, of sets and of streams."""

from aucmax.metrics.auc import roc_auc
from aucmax.metrics.delong import (
    AUCInterval,
    AUCTest,
    roc_auc_interval,
    roc_auc_test,
)
from aucmax.metrics.evaluate_stream import StreamRecord, evaluate_stream
from aucmax.metrics.partial import partial_auc
from aucmax.metrics.prequential import PrequentialAUC
from aucmax.metrics.streaming import StreamingAUC

__all__ = [
    "AUCInterval",
    "AUCTest",
    "PrequentialAUC",
    "StreamRecord",
    "StreamingAUC",
    "evaluate_stream",
    "partial_auc",
    "roc_auc",
    "roc_auc_interval",
    "roc_auc_test",
]
