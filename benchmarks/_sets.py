# SPDX-License-Identifier: BSD-3-Clause
"""Real data as the papers used them, for scripts; in the folder AUCMAX_DATA."""

import sys

from aucmax.datasets import DatasetUnavailable
from aucmax_papers.problem import draw_at_most, load_problem
from aucmax_papers.protocol import load_paper

# The first of these that has a set says how to read it.
PAPERS = ("khalid2018", "kakkar2017", "szorenyi2017")


def problem(name):
    """Return all rows of a set, or leave with a sentence that says what is missing."""
    uses = (load_paper(key).sets.get(name) for key in PAPERS)
    try:
        return load_problem(next(use for use in uses if use is not None), 0)
    except DatasetUnavailable as error:
        sys.exit(str(error))


def load(name, *, seed=0, cap=None):
    """Return X_train, X_test, y_train, y_test: the given split, or 80 to 20."""
    found = problem(name)
    train, test = found.split(seed)
    train = draw_at_most(train, cap or 0, seed)
    return *found.take(train, test), found.is_pos[train], found.is_pos[test]
