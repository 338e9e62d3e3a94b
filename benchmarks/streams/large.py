# SPDX-License-Identifier: BSD-3-Clause
"""Train on a Parquet set larger than the memory allowed, and say what it took.

    python benchmarks/streams/large.py --gigabytes 10 --folder /path/with/room

Makes the set, unless it is there already, then runs in processes of their own: a pass
of each of pyarrow's two readers over all batches, one of `read_batches`, and the fits.
Each does its work on a small set first, so that imports and compiled loops are not
timed.
Prints seconds, the largest memory (peak RSS) and, for the pass of the solver, the
throughput relative to the faster reader of pyarrow.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

N_COLUMNS = 500
FILE_ROWS, GROUP_ROWS = 262_144, 16_384
BATCH_ROWS = 16_384
SMALL = "small"  # a folder in that of the set
SMALL_GIGABYTES = 0.05


def make(folder, gigabytes):
    """Write files of float32 columns and a label; 1 in 20 is positive."""
    import pyarrow
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    n_rows = int(gigabytes * 1e9 / (4 * N_COLUMNS))
    coef = np.random.default_rng(0).normal(size=N_COLUMNS).astype(np.float32)
    for number, low in enumerate(range(0, n_rows, FILE_ROWS)):
        path = folder / f"part-{number:04}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng(number + 1)
        n = min(FILE_ROWS, n_rows - low)
        X = rng.standard_normal((n, N_COLUMNS), dtype=np.float32)
        score = X @ coef / np.sqrt(N_COLUMNS) + rng.standard_normal(n)
        columns = {f"x{j:03}": X[:, j] for j in range(N_COLUMNS)}
        table = pyarrow.table(columns | {"y": (score > 2.3).astype(np.int8)})
        draft = path.with_suffix(".tmp")
        parquet.write_table(
            table,
            draft,
            row_group_size=GROUP_ROWS,
            compression="none",
            use_dictionary=False,
        )
        draft.rename(path)
    return n_rows


def read_files(folder):
    from pyarrow import parquet

    rows = 0
    for path in sorted(folder.glob("*.parquet")):
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            rows += sum(batch.num_rows for batch in file.iter_batches(BATCH_ROWS))
    return {"rows": rows}


def read_dataset(folder):
    import pyarrow.dataset

    rows = 0
    data = pyarrow.dataset.dataset(sorted(folder.glob("*.parquet")))
    for batch in data.to_batches(batch_size=BATCH_ROWS):
        rows += batch.num_rows
    return {"rows": rows}


def source_of(folder):
    from aucmax.io import read_batches

    return read_batches(folder, target="y", batch_rows=BATCH_ROWS)


def read_ours(folder):
    return {"rows": sum(len(y) for _, y in source_of(folder))}


def read_and_multiply(folder):
    """Do what the solver does in a pass: read, and one product."""
    from aucmax.design import LocalDesign, StreamedDesign

    source, n_rows = source_of(folder), n_rows_of(folder)
    zero = np.zeros(N_COLUMNS, dtype=np.float32)
    design = StreamedDesign(
        Features(source), (n_rows, N_COLUMNS), lambda _, X: LocalDesign(X, zero)
    )
    return {"rows": len(design.scores(np.ones(N_COLUMNS)))}


def n_rows_of(folder):
    from pyarrow import parquet

    files = folder.glob("*.parquet")
    return sum(parquet.ParquetFile(path).metadata.num_rows for path in files)


class Features:
    """The rows of a source without their labels."""

    def __init__(self, source):
        self.source = source

    def __iter__(self):
        return (X for X, _ in self.source)


def fit_rank_svm(folder):
    from aucmax import RankSVM

    model = RankSVM(alpha=1e-3).fit_stream(source_of(folder))
    return {"n_iter": model.n_iter_, "passes": model.history_[-1].n_passes}


def fit_opauc(folder):
    from aucmax import OPAUC

    model = OPAUC().fit_stream(source_of(folder), classes=[0, 1])
    return {"rows": model.n_samples_seen_, "norm": float(np.linalg.norm(model.coef_))}


JOBS = {
    "pyarrow, file by file": read_files,
    "pyarrow, a dataset": read_dataset,
    "read_batches": read_ours,
    "read_batches and X @ w": read_and_multiply,
    "OPAUC().fit_stream": fit_opauc,
    "RankSVM().fit_stream": fit_rank_svm,
}
# Those before the fits: two passes of pyarrow and two of ours.
N_PASSES = 4


def peak_bytes():
    # Not ru_maxrss, which counts what the parent had when it started this process.
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=3, help="of the passes")
    parser.add_argument("--passes", action="store_true", help="no fits")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job:
        JOBS[args.job](args.folder / SMALL)
        start = time.perf_counter()
        found = JOBS[args.job](args.folder)
        found["seconds"] = round(time.perf_counter() - start, 2)
        found["peak_MB"] = round(peak_bytes() / 1e6)
        print(json.dumps(found))
        return
    make(args.folder / SMALL, SMALL_GIGABYTES)
    n_rows = make(args.folder, args.gigabytes)
    print(f"{n_rows:,} rows of {N_COLUMNS} float32 columns, {args.gigabytes:g} GB")
    best = {}
    names = list(JOBS)
    for turn in range(args.repeats):
        for name in names[:N_PASSES] if turn or args.passes else names:
            found = run(name, args)
            print(f"{name}: {found}", flush=True)
            best[name] = min(best.get(name, np.inf), found["seconds"])
    fastest = min(best[name] for name in names[:2])
    for name in names[2:N_PASSES]:
        print(f"{name}: {fastest / best[name]:.2f} of the throughput of pyarrow")


def run(name, args):
    command = [sys.executable, __file__, "--folder", str(args.folder), "--job", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
