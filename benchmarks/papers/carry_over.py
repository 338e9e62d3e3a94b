# SPDX-License-Identifier: BSD-3-Clause
"""Carry results over to changed code that gives the same results.

    AUCMAX_DATA=folder python benchmarks/papers/carry_over.py --runs 3

A result belongs to the version of the code it came from, and hours of them are stale
as soon as a statement changes, even if it changes nothing about them. This script runs,
for every method and former version of its code, some of the stored tests again: the
quickest ones on different sets. Only if all of them have the same AUC, to 1e-6, do all
results of that version get the new one, those of figures included. The others stay as
they are, and `aucmax bench run` runs them again.
"""

import argparse
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from aucmax.bench.compare import current_protocol
from aucmax.bench.fingerprint import code_version
from aucmax.bench.protocol import KEYS, load_paper
from aucmax.bench.store import Store, _write
from aucmax.bench.tasks import Task, evaluate, merge_limits

# Sums in another order change the last digits; tables have four.
SAME = 1e-6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="of each method, or more")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent)
    args = parser.parse_args()
    for key in KEYS:
        paper, rows = load_paper(key), Store(args.results, key).rows()
        verified = {}
        for (old, new), methods in changed(paper, rows).items():
            worst, n_runs = 0.0, 0
            for method in methods:
                own = [
                    row for row in rows if (row.method, row.code) == (method.name, old)
                ]
                difference, n = verify(paper, method, own, args.runs)
                worst, n_runs = max(worst, difference), n_runs + n
            names = ", ".join(method.name for method in methods)
            print(f"{key} {names} ({old}): {n_runs} runs, difference {worst:.1e}")
            if n_runs and worst <= SAME:
                verified |= {(method.name, old): new for method in methods}
        carried = {}
        for row in rows:
            version = verified.get((row.method, row.code), row.code)
            moved = replace(row, code=version)
            # What the new code has found itself comes first.
            if row.code == version or moved.key not in carried:
                carried[moved.key] = moved
        _write(
            args.results / key / "results.parquet",
            [carried[k] for k in sorted(carried)],
        )


def changed(paper, rows):
    """Return the methods by former and new version of their code."""
    found = defaultdict(list)
    for name, method in paper.methods.items():
        new = code_version(method)
        for old in sorted({row.code for row in rows if row.method == name} - {new}):
            found[old, new].append(method)
    return found


def verify(paper, method, rows, n_runs):
    """Return the largest difference of AUCs, and how many tests were run again."""
    by_set = defaultdict(list)
    for row in rows:
        use = paper.sets.get(row.set)
        if row.stage != "test" or row.mode != "full" or use is None:
            continue
        if row.protocol == current_protocol(use, method) and np.isfinite(row.auc):
            by_set[row.set, row.variant].append(row)
    quickest = sorted(
        (min(found, key=lambda row: row.seconds) for found in by_set.values()),
        key=lambda row: row.seconds,
    )
    chosen = [
        row
        for variant in ("published", "default")
        for row in [row for row in quickest if row.variant == variant][:n_runs]
    ]
    worst = 0.0
    for row in chosen:
        task = Task(
            row.paper,
            row.mode,
            merge_limits(paper.sets[row.set], method),
            method.on(row.set),
            row.variant,
            row.stage,
            row.partition,
            row.run,
            row.params,
            "again",
        )
        (again,) = evaluate(task)
        difference = abs(again.auc - row.auc)
        if not difference <= SAME or again.size != row.size:
            print(f"  {row.set} {row.variant} run {row.run}: {row.auc} {again.auc}")
        worst = max(worst, difference if np.isfinite(difference) else np.inf)
    return worst, len(chosen)


if __name__ == "__main__":
    main()
