# SPDX-License-Identifier: BSD-3-Clause
"""Solvers: functions of a loss and a design that return a ``Result``."""
