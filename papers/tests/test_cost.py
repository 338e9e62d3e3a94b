# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from small_paper import load_small

from aucmax_papers.cost import count_train
from aucmax_papers.problem import load_problem


def test_progress_of_work_knows_the_size_of_the_sets():
    for use in load_small().sets.values():
        problem = load_problem(use, 0)
        sizes = [len(problem.split(number)[0]) for number in range(3)]
        assert count_train(use) == pytest.approx(np.mean(sizes))
