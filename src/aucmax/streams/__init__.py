# SPDX-License-Identifier: BSD-3-Clause
"""Learning from rows that come in batches.

``source``
    What the user gave: an iterable of batches.
``labels``, ``passes``
    Reading it several times, for solvers that need all rows: a pass that checks, then
    passes over the rows.
``partial_fit``, ``online``
    Reading it once: one batch after the other, for learners that keep no rows.
``pairs``, ``embedded_blocks``
    Steps on pairs of rows, of batches or of blocks that fit in memory.
"""
