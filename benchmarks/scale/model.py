# SPDX-License-Identifier: BSD-3-Clause
"""Fit the cost model of docs/scale.md to ``results.jsonl``, and look ahead with it.

    python benchmarks/scale/model.py

All constants are CPU seconds. A predicted time is the sum of what the driver, the
scheduler and one worker do one after the other: what they do at the same time is not
credited, and a network slower than the driver is not charged.
"""

import json
import math
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results.jsonl"
# Features of the measured rows, and blocks.
D, N_BLOCKS = 20, 4
CLUSTER = "2 processes"
AHEAD = [
    (3 * 10**6, 20, 2),
    (10**7, 100, 10),
    (10**8, 100, 10),
    (10**8, 100, 100),
    (10**9, 100, 100),
    (10**9, 1000, 100),
]
# Vectors of n numbers that the solver holds, and four more for the rows of its start.
N_VECTORS = 16
# Checking the rows reads them about as often as so many products.
CHECK_PASSES = 4


def load():
    return [json.loads(line) for line in RESULTS.read_text("utf-8").splitlines()]


def select(lines, what, where=CLUSTER, **fixed):
    return [
        line
        for line in lines
        if line["what"] == what
        and line["where"] == where
        and all(line[name] == value for name, value in fixed.items())
    ]


def slope(lines, field, by="n"):
    """Return how a measurement grows per row or per block."""
    x, y = ([line[name] for line in lines] for name in (by, field))
    return max(float(np.polyfit(x, y, 1)[0]), 0.0)


def constants(lines):
    """Return what the parts cost, in seconds."""
    alone = {line["what"]: line for line in lines if line["where"] == "alone"}
    rows = [
        slope(select(lines, what, "alone"), "driver")
        for what in ("rows times vector", "its transpose")
    ]
    moved = [
        slope(select(lines, what, blocks=N_BLOCKS), "driver")
        for what in ("scores", "adjoint")
    ]
    largest = alone["sort and sweep"]
    c = {
        "task, at driver and scheduler": slope(
            select(lines, "round", n=100_000), "driver", by="blocks"
        ),
        "number moved to or from the driver": sum(moved) / 2,
        "value of X in a product": sum(rows) / 2 / D,
        "row sorted and swept, at 10^7": largest["driver"] / largest["n"],
        "row swept": alone["sweep"]["driver"] / alone["sweep"]["n"],
        "row put in bins": alone["bin"]["driver"] / alone["bin"]["n"],
    }
    for kind in ("exact", "binned", "moments"):
        fits = select(lines, f"fit {kind}")
        c[f"{kind} fit, row, driver"] = slope(fits, "driver")
        c[f"{kind} fit, row, workers"] = slope(fits, "workers")
    return c


def predicted(c, fit, kind, n, d, workers):
    """Return the seconds of a fit with as many passes as the one measured.

    One block per worker. Of what a worker does per row, the passes grow with the
    features, and the rest (labels, bins) does not.
    """
    tasks = fit["tasks"] / fit["blocks"] * workers
    passes = fit["passes"] + CHECK_PASSES
    value = c["value of X in a product"]
    rest = max(c[f"{kind} fit, row, workers"] - passes * D * value, 0.0)
    at_worker = n / workers * (rest + passes * d * value)
    driver = fit["driver"]
    if kind == "exact":
        row = c["exact fit, row, driver"]
        driver = n * row * math.log2(n) / math.log2(fit["n"])
    return tasks * c["task, at driver and scheduler"] + driver + at_worker


def main():
    lines = load()
    c = constants(lines)
    print("CPU nanoseconds per")
    for name, value in c.items():
        print(f"  {name:36} {value * 1e9:10.3g}")
    moved = c["number moved to or from the driver"]
    print(f"  that is {8e-6 / moved:.0f} MB/s through driver and scheduler;")
    even = moved / c["value of X in a product"]
    print(f"  moving a number takes as long as {even:.0f} values of X in a product")
    fits = {}
    for kind in ("in memory", "exact", "binned", "moments"):
        for where in ("threads", CLUSTER):
            for fit in select(lines, f"fit {kind}", where):
                fits[kind] = fit
                print(
                    f"{kind:10} {where:12} n {fit['n']:.0e}  passes {fit['passes']:.0f}"
                    f"  sorts {fit['sorts']}  tasks {fit['tasks']}  wall "
                    f"{fit['seconds']:.2g}  driver {fit['driver']:.2g}  workers "
                    f"{fit['workers']:.2g}  error {fit['error']:.1e}"
                )
    head = ["rows", "features", "workers", "exact", "binned", "driver GB"]
    print(("{:>10}" * len(head)).format(*head))
    for n, d, workers in AHEAD:
        times = [
            predicted(c, fits[kind], kind, n, d, workers)
            for kind in ("exact", "binned")
        ]
        shown = [f"{n:.0e}", d, workers, *(f"{t:.2g}" for t in times)]
        shown.append(f"{N_VECTORS * 8 * n / 1e9:.2g}")
        print(("{:>10}" * len(head)).format(*shown))


if __name__ == "__main__":
    main()
