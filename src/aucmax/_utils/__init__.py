# SPDX-License-Identifier: BSD-3-Clause
"""Validation and types shared by every layer; knows nothing of AUC."""
