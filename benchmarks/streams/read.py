# SPDX-License-Identifier: BSD-3-Clause
"""A pass over Parquet files with read_batches, beside bare reading with pyarrow.

A set of random numbers is written to a temporary folder. Bare reading throws away each
batch that pyarrow decodes; a pass with `read_batches` also fills a dense array per
batch, checks its values, and multiplies it with a vector. They take turns, and the
fastest turn of each counts. The bar is 60% of the throughput of bare reading, by the
clock on the wall. Memory is that of a process which does nothing but passes.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
from threadpoolctl import threadpool_limits

from aucmax.io import read_batches

BAR = 0.6
N_FILES = 4
GROUP_ROWS = 131_072


def write(folder, megabytes, n_features, dtype):
    """Write files with so many megabytes of numbers, a row group at a time."""
    rng = np.random.default_rng(0)
    n_rows = megabytes * 2**20 // (n_features * np.dtype(dtype).itemsize)
    names = [f"x{k}" for k in range(n_features)]
    for number in range(N_FILES):
        writer, left = None, n_rows // N_FILES
        while left:
            n = min(left, GROUP_ROWS)
            columns = [rng.standard_normal(n).astype(dtype) for _ in names]
            y = (columns[0] + rng.standard_normal(n) > 1).astype(np.int8)
            table = pa.table([*columns, y], names=[*names, "y"])
            if writer is None:
                path = folder / f"part-{number}.parquet"
                writer = pyarrow.parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
            left -= n
        writer.close()


def bare_files(folder, batch_rows):
    for path in sorted(folder.glob("*.parquet")):
        # The faster way, which read_batches takes too.
        with pyarrow.parquet.ParquetFile(path, pre_buffer=False) as file:
            for _ in file.iter_batches(batch_rows):
                pass


def bare_dataset(folder, batch_rows):
    for _ in pyarrow.dataset.dataset(folder).to_batches(batch_size=batch_rows):
        pass


def scores(folder, batch_rows):
    batches = read_batches(folder, target="y", batch_rows=batch_rows)
    coef = None
    for X, _ in batches:
        coef = np.ones(X.shape[1], dtype=X.dtype) if coef is None else coef
        X @ coef


def scores_and_adjoint(folder, batch_rows):
    batches = read_batches(folder, target="y", batch_rows=batch_rows)
    for X, _ in batches:
        X.T @ (X @ np.ones(X.shape[1], dtype=X.dtype))


def peak_megabytes(folder, batch_rows):
    """Return the most that a process has resident, before a pass and after it."""
    command = [sys.executable, __file__, "--child", str(folder), str(batch_rows)]
    return [float(part) for part in subprocess.check_output(command).split()]


def peak_so_far():
    # Not ru_maxrss, which counts what the parent had when it started this process.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def child(folder, batch_rows):
    before = peak_so_far()
    scores(Path(folder), int(batch_rows))
    print(before, peak_so_far())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float64")
    parser.add_argument("--batch-rows", type=int, default=65_536)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    candidates = [bare_files, bare_dataset, scores, scores_and_adjoint]
    wall = dict.fromkeys(candidates, float("inf"))
    cpu = dict(wall)
    # More threads make a product that waits for memory no faster, and take time from
    # those that decode.
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        folder = Path(name)
        write(folder, options.megabytes, options.features, options.dtype)
        for run in candidates:
            run(folder, options.batch_rows)
        for _ in range(options.repeats):
            for run in candidates:
                start = time.perf_counter(), time.process_time()
                run(folder, options.batch_rows)
                wall[run] = min(wall[run], time.perf_counter() - start[0])
                cpu[run] = min(cpu[run], time.process_time() - start[1])
        before, after = peak_megabytes(folder, options.batch_rows)
    fastest = min(wall[bare_files], wall[bare_dataset])
    least = min(cpu[bare_files], cpu[bare_dataset])
    print("                    seconds   MB/s  of bare  CPU seconds  of bare")
    for run in candidates:
        speed = options.megabytes / wall[run]
        print(
            f"{run.__name__:18s}  {wall[run]:7.3f}  {speed:5.0f}"
            f"  {fastest / wall[run]:7.2f}  {cpu[run]:11.3f}  {least / cpu[run]:7.2f}"
        )
    ratio = fastest / wall[scores]
    verdict = "met" if ratio >= BAR else "missed"
    print(f"A pass has {ratio:.0%} of bare reading. Bar of {BAR:.0%}: {verdict}.")
    print(f"Peak resident: {after:.0f} MB, of which {before:.0f} MB are the libraries.")


if __name__ == "__main__":
    main()
