# SPDX-License-Identifier: BSD-3-Clause
"""Feature maps: transformers that turn kernels into inner products."""
