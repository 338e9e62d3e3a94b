# SPDX-License-Identifier: BSD-3-Clause
"""`AUCClassifier` beside tuned rivals on real sets; see README.md for the rules.

One thread for each model. Results are appended to results.jsonl one by one, and what is
there already is not run again.

    python benchmarks/front_door/run.py --methods lr,lgbm --sets sonar,glass
    python benchmarks/front_door/run.py --methods ours --redo-ours
    python benchmarks/front_door/table.py > benchmarks/front_door/README.md
"""

import argparse
import os
import sys
import time
import traceback
import warnings
from pathlib import Path

from _rivals import fit_tuned, scores, why_not
from _store import OURS, RESULTS, RESULTS_VERSION, RIVALS, append, read, versions
from _tasks import SETS, task
from threadpoolctl import threadpool_limits

import aucmax
from aucmax.metrics import roc_auc_interval


def main():
    args = _arguments()
    warnings.filterwarnings("ignore")
    done = read(args.results)
    for name in args.sets:
        for method, number in _open(name, args, done):
            try:
                row = measure(method, task(name), number)
            except Exception:
                traceback.print_exc()
                print(f"{name} {number} {method} failed; it is tried again next time.")
                continue
            if method == OURS:
                row["results_version"] = RESULTS_VERSION
            append(row, args.results)
            _tell(row)


def _open(name, args, done):
    """Return what is still to be run of a set."""
    splits = range(len(task(name).splits)) if _is_open(name, args, done) else ()
    return [
        (method, number)
        for number in splits
        for method in args.methods
        if not _has(done.get((name, number, method)), args.redo_ours)
    ]


def _is_open(name, args, done):
    """Return whether the set must be read to know; most files take a while."""
    for method in args.methods:
        row = done.get((name, 0, method))
        n_splits = row["n_splits"] if row else 1
        rows = (done.get((name, number, method)) for number in range(n_splits))
        if not all(_has(row, args.redo_ours) for row in rows):
            return True
    return False


def _has(row, redo_ours):
    if row is None:
        return False
    is_old = row["method"] == OURS and row["results_version"] != RESULTS_VERSION
    return not (redo_ours and is_old)


def measure(method, chosen, number):
    """Return the result of one method on one split."""
    X, X_test, y, y_test = chosen.take(number)
    row = {
        "set": chosen.name,
        "split": number,
        "n_splits": len(chosen.splits),
        "method": method,
        "how_split": chosen.how,
        "positive": chosen.positive,
        "n_passed_over": chosen.n_passed_over,
        "n_train": int(X.shape[0]),
        "n_test": int(X_test.shape[0]),
        "d": int(X.shape[1]),
        "n_pos_train": int(y.sum()),
        "n_pos_test": int(y_test.sum()),
        "versions": versions(),
    }
    reason = None if method == OURS else why_not(method, X)
    if reason:
        return {**row, "skipped": reason}
    with threadpool_limits(1):
        cpu, wall = _cpu_seconds(), time.perf_counter()
        model, params, cv_auc, tuned = _fit(method, X, y)
        row["fit_cpu"] = round(_cpu_seconds() - cpu, 3)
        row["fit_wall"] = round(time.perf_counter() - wall, 3)
        cpu = _cpu_seconds()
        y_score = scores(model, X_test)
        row["predict_cpu"] = round(_cpu_seconds() - cpu, 3)
    result = roc_auc_interval(y_test, y_score)
    return {
        **row,
        "auc": result.auc,
        "se": result.std_error,
        "params": params,
        "cv_auc": cv_auc,
        "tuned": tuned,
    }


def _fit(method, X, y):
    if method != OURS:
        return fit_tuned(method, X, y)
    model = aucmax.AUCClassifier(random_state=0).fit(X, y)
    board = [
        {"name": c.name, "auc": c.auc, "weight": c.weight, "seconds": c.seconds}
        for c in model.leaderboard_
    ]
    return model, {"leaderboard": board}, float(model.auc_interval_.auc), "itself"


def _cpu_seconds():
    """Return the CPU time of this process and of its ended children."""
    return sum(os.times()[:4])


def _tell(row):
    head = f"{time.strftime('%H:%M:%S')} {row['set']} {row['split']} {row['method']}"
    if "skipped" in row:
        print(f"{head}: left out, {row['skipped']}", flush=True)
    else:
        params = "" if row["method"] == OURS else row["params"]
        print(
            f"{head}: {100 * row['auc']:.2f} se {100 * row['se']:.2f}, "
            f"{row['fit_cpu']:.1f} + {row['predict_cpu']:.1f} s CPU {params}",
            flush=True,
        )


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = [*RIVALS, OURS]
    parser.add_argument("--methods", default=",".join(known), help=",".join(known))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument(
        "--redo-ours", action="store_true", help="where its version was raised since"
    )
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    args.methods = _chosen(args.methods, known, "method")
    args.sets = _chosen(args.sets, list(SETS), "set")
    if not os.environ.get("AUCMAX_DATA"):
        sys.exit("AUCMAX_DATA must name the folder with the data sets.")
    if OURS in args.methods and "AUCClassifier" not in aucmax.__all__:
        sys.exit("This aucmax has no AUCClassifier; choose among the rivals instead.")
    return args


def _chosen(text, known, what):
    names = text.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"There is no {what} {unknown[0]!r}; choose among {', '.join(known)}.")
    return [name for name in known if name in names]


if __name__ == "__main__":
    main()
