# SPDX-License-Identifier: BSD-3-Clause
"""Exact nearest neighbours among rows that keep coming."""
