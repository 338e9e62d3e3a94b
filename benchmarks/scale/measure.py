# SPDX-License-Identifier: BSD-3-Clause
"""What the parts of a fit on Dask take: in this process, and on two worker processes.

Writes one JSON line per measurement to ``results.jsonl``; ``model.py`` fits the cost
model of docs/scale.md to them. ``seconds`` is the least wall time of several turns.
``driver`` and ``workers`` are CPU seconds per turn: of this process, in which the
scheduler runs as well, and of all worker processes together. Unlike wall time they mean
something on a machine that is busy with other things.

    python benchmarks/scale/measure.py [--most-rows 3000000]
"""

import argparse
import json
import os
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.array as da
import distributed
import numpy as np
import psutil

from aucmax import RankSVM
from aucmax.design import LocalDesign
from aucmax.distributed import DaskLeastSquaresAUC, DaskRankSVM
from aucmax.distributed._blocks import BlockwiseDesign
from aucmax.distributed._cluster import fetch, later
from aucmax.distributed._inputs import check_inputs, linear_design
from aucmax.distributed._partitions import partitions_of
from aucmax.losses import BinnedSquaredHinge, SquaredHinge
from aucmax.losses.binned_squared_hinge import bin_rows, sum_bins

RESULTS = Path(__file__).parent / "results.jsonl"
D, N_BLOCKS, TURNS = 20, 4, 7


class Clock:
    """Times calls here and on the workers of a client, if there is one."""

    def __init__(self, client=None):
        pids = {} if client is None else client.run(os.getpid)
        self.workers = [psutil.Process(pid) for pid in pids.values()]

    def time(self, run, turns=TURNS):
        """Return the seconds of a call; the first is not timed."""
        run()
        walls, driver, before = [], time.process_time(), self._cpu()
        for _ in range(turns):
            start = time.perf_counter()
            run()
            walls.append(time.perf_counter() - start)
        spent = [after - cpu for after, cpu in zip(self._cpu(), before, strict=True)]
        return {
            "seconds": min(walls),
            "driver": (time.process_time() - driver) / turns,
            "workers": sum(spent) / turns,
        }

    def _cpu(self):
        return [sum(worker.cpu_times()[:2]) for worker in self.workers]


def record(file, **line):
    for name, value in line.items():
        if isinstance(value, float):
            line[name] = float(f"{value:.4g}")
    print(line, flush=True)
    file.write(json.dumps(line) + "\n")
    file.flush()


def draw(n, n_blocks):
    """Rows made on the workers, one in ten positive."""
    rng = da.random.default_rng(0)
    X = rng.standard_normal((n, D), chunks=(n // n_blocks, D))
    noise = rng.standard_normal(n, chunks=n // n_blocks)
    return dask.persist(X, (X[:, 0] + noise > 1.8).astype(int))


def nothing():
    return None


def measure_products(file, clock, where, n, n_blocks):
    """Time products with the design, and the same from bins."""
    X, y = draw(n, n_blocks)
    partitions = partitions_of(X, y, name="", local="")
    inputs = check_inputs(DaskRankSVM(), partitions)
    design = linear_design(inputs)
    coef = np.random.default_rng(0).normal(size=D) / 10
    scores = design.scores(coef)
    blockwise = BlockwiseDesign(design, inputs.mass.sum())
    loss = BinnedSquaredHinge(1024)
    labels = blockwise.is_pos, blockwise.weight
    terms = loss.evaluate(blockwise.scores(coef), *labels)

    def binned_gradient():
        here = loss.evaluate(blockwise.scores(coef), *labels)
        blockwise.adjoint(here.grad)

    def binned_product():
        blockwise.adjoint(terms.hess_dot(blockwise.scores(coef)))

    runs = {
        "round": lambda: fetch([later(nothing) for _ in range(n_blocks)]),
        "scores": lambda: design.scores(coef),
        "adjoint": lambda: design.adjoint(scores),
        "binned gradient": binned_gradient,
        "binned product": binned_product,
    }
    bins = len(terms._sums().edges)
    for what, run in runs.items():
        spent = clock.time(run)
        record(file, what=what, where=where, n=n, blocks=n_blocks, bins=bins, **spent)


def measure_alone(file, n):
    """Time what the driver, or one worker, does alone; CPU time of one thread."""
    rng = np.random.default_rng(0)
    scores, is_pos, weight = rng.normal(size=n), rng.random(n) < 0.1, np.ones(n)
    out = np.empty(n)
    loss = SquaredHinge()
    terms = loss.evaluate(scores, is_pos, weight)
    runs = {
        "sort and sweep": lambda: loss.evaluate(scores, is_pos, weight),
        "sweep": lambda: terms.hess_dot(scores, out=out),
        "bin": lambda: sum_bins(bin_rows(scores, is_pos, weight, 1.0, 1024)),
    }
    if n * D <= 10**8:
        design = LocalDesign(rng.normal(size=(n, D)))
        design._pool = None
        coef = rng.normal(size=D)
        runs["rows times vector"] = lambda: design.scores(coef, out=out)
        runs["its transpose"] = lambda: design.adjoint(scores)
    for what, run in runs.items():
        record(file, what=what, where="alone", n=n, **Clock().time(run, 5))


@contextmanager
def noting(owner, name, what):
    """Give a list of ``what`` is made of the arguments of every call of a function."""
    original, noted = getattr(owner, name), []

    def wrapper(*args, **kwargs):
        noted.append(what(*args))
        return original(*args, **kwargs)

    setattr(owner, name, wrapper)
    yield noted
    setattr(owner, name, original)


def n_scores(loss, scores, *rest):
    return len(scores)


def measure_fits(file, clock, where, n):
    """Time whole fits; count the sorts of all scores, and the tasks."""
    X, y = draw(n, N_BLOCKS)
    models = {
        "fit exact": (DaskRankSVM(), X, y),
        "fit binned": (DaskRankSVM(scores="binned"), X, y),
        "fit moments": (DaskLeastSquaresAUC(), X, y),
    }
    if where == "threads":
        models["fit in memory"] = (RankSVM(), *dask.compute(X, y))
    for what, (model, *data) in models.items():
        spent = clock.time(lambda fit=model.fit, data=data: fit(*data), 2)
        with (
            noting(SquaredHinge, "evaluate", n_scores) as sizes,
            noting(dask, "delayed", type) as tasks,
        ):
            model.fit(*data)
        record(
            file,
            what=what,
            where=where,
            n=n,
            blocks=N_BLOCKS,
            passes=float(model.history_[-1].n_passes),
            steps=model.n_iter_,
            sorts=sizes.count(n),
            tasks=len(tasks),
            error=float(getattr(model, "objective_error_", 0.0)),
            **spent,
        )


@contextmanager
def running(where):
    if where == "threads":
        yield Clock()
        return
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield Clock(client)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most-rows", type=int, default=3_000_000)
    most = parser.parse_args().most_rows
    sizes = [n for n in (100_000, 300_000, 1_000_000, 3_000_000) if n <= most]
    with RESULTS.open("w", encoding="utf-8") as file:
        for n in [*sizes, 10_000_000]:
            measure_alone(file, n)
        for where in ("threads", "2 processes"):
            with running(where) as clock:
                for n in sizes:
                    measure_products(file, clock, where, n, N_BLOCKS)
                for n_blocks in (16, 64):
                    measure_products(file, clock, where, sizes[0], n_blocks)
                for n in sizes[1:]:
                    measure_fits(file, clock, where, n)


if __name__ == "__main__":
    main()
