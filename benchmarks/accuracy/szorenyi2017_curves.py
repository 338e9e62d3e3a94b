# SPDX-License-Identifier: BSD-3-Clause
"""szorenyi2017, the online protocol: AUC_t over the rows so far, in random orders.

All methods with our defaults. KNNOAM is shown twice: "without self" does not let a row
count among its own neighbours, which tells how much of the curve is memory.
"""

import argparse
import time

from _online import read, scaled, smallest

from aucmax import KNNOAM, OAM, OPAUC, AdaOAM
from aucmax.bench import online_curves

SETS = ("fourclass", "german", "svmguide1", "satimage")
# Before, chance rules.
FIRST = 30
SHARES = (0.1, 0.3, 1.0)
WITHOUT = "KNNOAM without self"
MODELS = {
    "KNNOAM": KNNOAM(),
    "OAMseq": OAM(update="sequential"),
    "OAMgra": OAM(update="gradient"),
    "OPAUC": OPAUC(solver="gradient"),
    "AdaOAM": AdaOAM(),
}


def follow(name, args):
    X, labels = read(name, letter_test=True)
    X, y = scaled(X), smallest(labels)
    options = {
        "n_runs": args.runs,
        "grid": sorted({*points(len(y), args.points), *shares(len(y))}),
        "random_state": 0,
        "n_jobs": args.jobs,
        "verbose": args.verbose,
    }
    curves = online_curves(MODELS, X, y, **options)
    alone = {WITHOUT: MODELS["KNNOAM"]}
    return curves | online_curves(alone, X, y, exclude_self=True, **options)


def points(n, size):
    """Return about so many numbers of rows, evenly on a logarithmic scale."""
    return {round(FIRST * (n / FIRST) ** (i / (size - 1))) for i in range(size)}


def shares(n):
    return [max(2, round(share * n)) for share in SHARES]


def print_rows(name, curves, seconds):
    for model, curve in curves.items():
        where = [curve.n_rows.tolist().index(t) for t in shares(curve.n_rows[-1])]
        cells = [f"{curve.mean[i]:.4f} ± {curve.std[i]:.4f}" for i in where]
        print(f"| {name} | {model} | {' | '.join(cells)} |", flush=True)
    print(f"| {name} | {seconds:.0f} s in all |" + " |" * len(SHARES), flush=True)


def plot(results, file):
    from matplotlib import pyplot

    from aucmax.plots import CurveDisplay

    n_columns = min(2, len(results))
    n_lines = -(-len(results) // n_columns)
    figure, axes = pyplot.subplots(
        n_lines,
        n_columns,
        figsize=(5.6 * n_columns, 3.6 * n_lines),
        squeeze=False,
        layout="constrained",
    )
    for ax in axes.flat[len(results) :]:
        ax.remove()
    for ax, (name, curves) in zip(axes.flat, results.items(), strict=False):
        CurveDisplay.from_curves(curves, ax=ax)
        ax.set_title(name, loc="left", fontweight="bold")
    figure.savefig(file, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--points", type=int, default=40, help="of each curve")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--plot", metavar="FILE", help="figure of all curves")
    args = parser.parse_args()
    titles = [f"t = {share:.0%}" for share in SHARES]
    print(f"| set | method | {' | '.join(titles)} |\n" + "|---" * 5 + "|", flush=True)
    results = {}
    for name in args.sets:
        start = time.perf_counter()
        results[name] = follow(name, args)
        print_rows(name, results[name], time.perf_counter() - start)
    if args.plot:
        plot(results, args.plot)


if __name__ == "__main__":
    main()
