# SPDX-License-Identifier: BSD-3-Clause
"""The speed suite: what users wait for, beside other libraries, in one run.

    make bench
    python benchmarks/speed/run.py fits streams

Each group that runs replaces its rows in `results.json`, from which `RESULTS.md` is
written. With --quick everything runs on a few rows, and nothing is written.
"""

import argparse
import contextlib
import importlib
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

GROUPS = ["fits", "choices", "streams", "scores", "memory", "startup", "growth"]
PACKAGES = [
    "numpy", "scipy", "numba", "scikit-learn", "lightgbm", "xgboost", "river",
    "vowpalwabbit",
]  # fmt: skip
HERE = Path(__file__).parent
RESULTS = HERE / "results.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", default=GROUPS, metavar="GROUP")
    parser.add_argument("--quick", action="store_true", help="few rows: does it run?")
    args = parser.parse_args()
    if unknown := set(args.groups) - set(GROUPS):
        parser.error(f"no such group: {', '.join(unknown)}; there are {GROUPS}.")
    if args.quick:
        # Read by `timing`, also in processes that groups start.
        os.environ["AUCMAX_BENCH_QUICK"] = "1"
    # Of peers that stop after their default number of passes.
    warnings.simplefilter("ignore")
    # Before results.json changes, and with it the state of the repository.
    made_by, start = origin(), time.perf_counter()
    for name in args.groups:
        rows = run(name)
        if not args.quick:
            save(name, rows, made_by)
    print(f"{time.perf_counter() - start:.0f} s in all")


def run(name: str) -> list:
    """Return the rows of a group, and print each as soon as it is there."""
    from render import cells, line

    start = time.perf_counter()
    rows = []
    for row in importlib.import_module(name).rows():
        rows.append(row)
        print(line(cells(row)), flush=True)
    print(f"-- {name}: {time.perf_counter() - start:.0f} s", flush=True)
    return rows


def save(name: str, rows: list, made_by: str) -> None:
    """Put the rows of a group into results.json, and write RESULTS.md anew."""
    from render import markdown

    results = read(RESULTS) if RESULTS.exists() else {}
    results[name] = {"origin": made_by, "rows": rows}
    results = {name: results[name] for name in GROUPS if name in results}
    (HERE / "RESULTS.md").write_text(markdown(results))
    plain = {
        name: group | {"rows": [asdict(row) for row in group["rows"]]}
        for name, group in results.items()
    }
    RESULTS.write_text(json.dumps(plain, indent=1) + "\n")


def read(path: Path) -> dict:
    from timing import Goal, Row

    results = json.loads(path.read_text())
    for group in results.values():
        for plain in group["rows"]:
            plain["goal"] = plain["goal"] and Goal(**plain["goal"])
        group["rows"] = [Row(**plain) for plain in group["rows"]]
    return results


def origin() -> str:
    """Return what one must know to read figures: when, where, with what."""
    versions = []
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions.append(f"{package} {metadata.version(package)}")
    git, commit = ["git", "describe", "--always", "--dirty", "--exclude=*"], ""
    with contextlib.suppress(OSError):
        commit = subprocess.run(git, cwd=HERE, capture_output=True, text=True).stdout
    threads = os.environ.get("OPENBLAS_NUM_THREADS")
    return (
        f"{datetime.now(UTC):%Y-%m-%d} at commit {commit.strip() or 'unknown'}: "
        f"{processor()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}; {', '.join(versions)}"
        + (f"; OPENBLAS_NUM_THREADS={threads}." if threads else ".")
    )


def processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
