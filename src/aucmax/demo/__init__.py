# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration: AUCClassifier beside other models on real data."""
