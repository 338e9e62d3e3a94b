# SPDX-License-Identifier: BSD-3-Clause
"""Tables of scores: each distinct one, with the mass of positives and of negatives."""

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray, IntArray


@jit
def tabulate(
    scores: FloatArray, signed: FloatArray, order: IntArray, table: FloatArray
) -> int:
    """Write the table of scores and their signed weights; return its columns.

    Weights are negative for negatives; ``order`` sorts the scores.
    """
    n = 0
    for i in order:
        mass_pos = max(signed[i], 0.0)
        mass_neg = mass_pos - signed[i]
        if n > 0 and scores[i] == table[0, n - 1]:
            table[1, n - 1] += mass_pos
            table[2, n - 1] += mass_neg
        else:
            table[0, n], table[1, n], table[2, n] = scores[i], mass_pos, mass_neg
            n += 1
    return n


@jit
def tabulate_sorted(pos: FloatArray, neg: FloatArray, table: FloatArray) -> int:
    """Write the table of the sorted scores of two classes; return its columns."""
    n_pos: int = pos.shape[0]
    n_neg: int = neg.shape[0]
    i, j, n = 0, 0, 0
    while i < n_pos or j < n_neg:
        is_next_pos = j == n_neg or (i < n_pos and pos[i] < neg[j])
        score = pos[i] if is_next_pos else neg[j]
        first_pos, first_neg = i, j
        while i < n_pos and pos[i] == score:
            i += 1
        while j < n_neg and neg[j] == score:
            j += 1
        table[0, n], table[1, n], table[2, n] = score, i - first_pos, j - first_neg
        n += 1
    return n


@jit
def merge_tables(left: FloatArray, right: FloatArray, out: FloatArray) -> int:
    """Write the table of both; return how many columns it has."""
    n_left: int = left.shape[1]
    n_right: int = right.shape[1]
    i, j, n = 0, 0, 0
    while i < n_left and j < n_right:
        from_left, from_right = left[0, i], right[0, j]
        # Without a branch, which would be guessed wrong every other time.
        takes_left = from_left <= from_right
        takes_right = from_right <= from_left
        out[0, n] = from_left if takes_left else from_right
        for k in range(1, 3):
            out[k, n] = (left[k, i] if takes_left else 0.0) + (
                right[k, j] if takes_right else 0.0
            )
        i += int(takes_left)
        j += int(takes_right)
        n += 1
    for k in range(3):
        for rest in range(n_left - i):
            out[k, n + rest] = left[k, i + rest]
        for rest in range(n_right - j):
            out[k, n + rest] = right[k, j + rest]
    return n + (n_left - i) + (n_right - j)


@jit
def weigh_table(
    mass_pos: FloatArray, mass_neg: FloatArray
) -> tuple[float, float, float, float, float]:
    """Return the weight of ordered, tied and misordered pairs, and of both classes."""
    ordered, tied, misordered = 0.0, 0.0, 0.0
    below_pos, below_neg = 0.0, 0.0
    for k in range(mass_pos.shape[0]):
        ordered += mass_pos[k] * below_neg
        tied += mass_pos[k] * mass_neg[k]
        misordered += mass_neg[k] * below_pos
        below_pos += mass_pos[k]
        below_neg += mass_neg[k]
    return ordered, tied, misordered, below_pos, below_neg
