# SPDX-License-Identifier: BSD-3-Clause
"""Protocols of the papers: no algorithm here."""
