# SPDX-License-Identifier: BSD-3-Clause
"""Write where there is no room: a clear error, the old file intact, no draft left.

    python benchmarks/reliability/full_disk.py

On a small tmpfs that is filled, where mounting is permitted, and under a limit on the
size of files (RLIMIT_FSIZE) everywhere. Each write has room for none, some or nearly
all of its bytes.
"""

import contextlib
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import _records
import numpy as np
from click.testing import CliRunner
from sklearn.datasets import make_classification

from aucmax import OPAUC, RankSVM
from aucmax.cli._main import main as main_command
from aucmax.io import Checkpoints, read_batches, save, write_parquet

SHARES = [0.0, 0.01, 0.2, 0.5, 0.8, 0.95]
DISK_BYTES = 8 * 2**20
X, Y = make_classification(2000, 200, random_state=0)
MODEL = RankSVM(alpha=0.1).fit(X, Y)


def write_model(folder):
    save(MODEL, folder / "model.skops")


def write_columns(folder):
    write_parquet(
        folder / "rows.parquet", {"x": X[:, 0].tolist(), "z": X[:, 1].tolist()}
    )


def write_checkpoints(folder):
    """Two batches the first time, then the others."""
    batches = [(X[k : k + 500], Y[k : k + 500]) for k in range(0, 2000, 500)]
    kept = folder / "kept"
    if not kept.exists():
        batches = batches[:2]
    OPAUC().fit_stream(batches, checkpoint=Checkpoints(kept))


def write_predictions(folder):
    parent = folder.parent
    paths = [str(parent / "model.skops"), str(parent / "data.csv")]
    run_command("predict", *paths, "--out", str(folder / "out.csv"), "--force")


def write_cache(folder):
    """Of float64 the first time, then of float32, which takes its place."""
    cache = folder / "cache"
    batches = read_batches(
        folder.parent / "data.csv",
        target="y",
        batch_rows=500,
        dtype="float32" if cache.exists() else "float64",
    )
    batches.cached(cache)


def run_command(*args):
    result = CliRunner().invoke(main_command, args)
    if result.exit_code:
        raise RuntimeError(result.output)


WRITERS = {
    "model": write_model,
    "parquet": write_columns,
    "checkpoints": write_checkpoints,
    "predictions": write_predictions,
    "cache of batches": write_cache,
}


def attempt(name, folder, limit, conn):
    """In a process of its own: write, and tell what came of it."""
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        WRITERS[name](folder)
    # What it may be is what is looked at.
    except Exception as error:
        conn.send((type(error).__name__, str(error)))
    else:
        conn.send(("", ""))


def judge(name, folder, limit):
    """Return what was wrong after one attempt, if anything; None if it succeeded."""
    before = contents(folder)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=attempt, args=(name, folder, limit, theirs))
    process.start()
    theirs.close()
    try:
        kind, text = ours.recv()
    except EOFError:
        return "the process ended without an error"
    finally:
        process.join()
    if not kind:
        return None
    after = contents(folder)
    lost = [
        file
        for file, data in before.items()
        if file.name != "filler" and after.get(file) != data
    ]
    drafts = [file.name for file in after if file.suffix == ".tmp"]
    if lost:
        return f"{lost[0].name} is not what it was ({kind}: {text})"
    if drafts:
        return f"{drafts[0]} is left ({kind}: {text})"
    if str(folder) not in text:
        return f"no file is named: {kind}: {text}"
    return ""


def contents(folder):
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {file: b"" if file.name == "filler" else file.read_bytes() for file in files}


@contextlib.contextmanager
def small_disk(root):
    """A folder on a file system of few megabytes, or None."""
    place = root / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True).returncode:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def fill(folder, room):
    """Leave so many bytes."""
    filler = folder / "filler"
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    with filler.open("wb") as file:
        file.write(b"\x01" * max(int(free - room), 0))


def largest(folder):
    return max((f.stat().st_size for f in folder.rglob("*") if f.is_file()), default=0)


def try_writer(name, folder, means):
    """Return counts and the first thing that was wrong."""
    WRITERS[name](folder)
    size, total = largest(folder), sum(map(len, contents(folder).values()))
    row = {"what": name, "means": means, "refused": 0, "written": 0, "wrong": []}
    for share in SHARES:
        if means == "tmpfs":
            fill(folder, share * total)
            found = judge(name, folder, None)
            (folder / "filler").unlink()
        else:
            found = judge(name, folder, int(share * size))
        if found is None:
            row["written"] += 1
        elif found:
            row["wrong"].append(f"room for {share:.0%}: {found}")
        else:
            row["refused"] += 1
    return row


def prepare(place):
    """Write a table and a model of it for those who read them."""
    head = ",".join([f"x{k}" for k in range(X.shape[1])] + ["y"])
    file = place / "data.csv"
    np.savetxt(file, np.c_[X, Y][:300], "%.6g", ",", header=head, comments="")
    model = ["--model", "ranksvm", "--cv", "0", "--out", str(place / "model.skops")]
    run_command("fit", str(file), "--target", "y", *model)


def main():
    rows = []
    with tempfile.TemporaryDirectory() as name, small_disk(Path(name)) as disk:
        for means, place in (("RLIMIT_FSIZE", Path(name)), ("tmpfs", disk)):
            if place is None:
                print("A small file system cannot be mounted here: left out.")
                continue
            prepare(place)
            for what in WRITERS:
                folder = place / what.replace(" ", "-")
                folder.mkdir()
                rows.append(try_writer(what, folder, means))
                print(rows[-1], flush=True)
    _records.keep("full_disk", rows=rows)
    sys.exit(any(row["wrong"] for row in rows))


if __name__ == "__main__":
    main()
