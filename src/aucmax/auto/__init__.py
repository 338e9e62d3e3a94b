# SPDX-License-Identifier: BSD-3-Clause
"""The front door: models of several families, chosen, weighted and calibrated."""

from aucmax.auto.classifier import AUCClassifier

__all__ = ["AUCClassifier"]
