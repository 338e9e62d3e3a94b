# SPDX-License-Identifier: BSD-3-Clause
"""One AUC per method and variant, on a set that ships with aucmax.

    python papers/tests/golden.py > papers/tests/golden.csv

Run it after the ``results_version`` of a method was raised, and only then.
"""

import csv
import sys
from dataclasses import replace
from pathlib import Path
from unittest import mock

from aucmax_papers.problem import load_problem
from aucmax_papers.protocol import KEYS, load_paper
from aucmax_papers.rows import dump_params
from aucmax_papers.tasks import Task, evaluate, merge_limits

FILE = Path(__file__).with_name("golden.csv")
LEAST_AUC = 0.65
COLUMNS = ("paper", "method", "variant", "params", "results_version", "auc")


def methods():
    """Yield the key of the paper, the method and the variant, of all that are run."""
    for key in KEYS:
        for method in load_paper(key).methods.values():
            if not method.copied:
                for variant in method.variants:
                    yield key, method, variant


def candidates(method, variant):
    """Return parameters as JSON, from the middle of the grid outwards."""
    grid = method.candidates() if variant == "published" else [{}]
    middle = len(grid) // 2
    order = sorted(range(len(grid)), key=lambda i: abs(i - middle))
    return [dump_params(grid[i]) for i in order]


def measure(key, method, variant, params):
    """Return the AUC on the first fold of german, and the error, if any."""
    use = load_paper("gao2013").sets["german"]
    task = Task(
        key,
        "full",
        merge_limits(use, method),
        method.on("german"),
        variant,
        "test",
        partition=0,
        run=0,
        params=params,
    )
    (row,) = evaluate(task)
    return row.auc, row.error


def is_stable(key, method, variant, params):
    """Say whether the AUC stays when the rows change in their last digits."""

    def load(use, partition):
        problem = load_problem(use, partition)
        return replace(problem, X=problem.X * (1 + 1e-13))

    exact, _ = measure(key, method, variant, params)
    with mock.patch("aucmax_papers.tasks.load_problem", load):
        moved, _ = measure(key, method, variant, params)
    return abs(moved - exact) < 1e-4


def main():
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for key, method, variant in methods():
        for params in candidates(method, variant):
            auc, error = measure(key, method, variant, params)
            # Others have learned nothing that could change, or hang on the last digit.
            is_good = not error and auc > LEAST_AUC
            if is_good and is_stable(key, method, variant, params):
                break
        else:
            sys.exit(f"{key} {method.name} {variant}: {error or auc}")
        version = method.results_version
        writer.writerow([key, method.name, variant, params, version, f"{auc:.6f}"])


if __name__ == "__main__":
    main()
