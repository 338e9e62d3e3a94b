# SPDX-License-Identifier: BSD-3-Clause
"""Protocols of the papers: no algorithm here."""

from aucmax.bench.online_curve import AUCCurve, MeanCurve, auc_curve, online_curves

__all__ = ["AUCCurve", "MeanCurve", "auc_curve", "online_curves"]
