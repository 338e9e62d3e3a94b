# SPDX-License-Identifier: BSD-3-Clause
"""Learners that see each row once, in the order given."""
