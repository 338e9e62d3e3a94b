# SPDX-License-Identifier: BSD-3-Clause
"""The speed suite: run all scripts of this folder, and see what has changed.

    make bench
    python benchmarks/speed/run.py --only metrics fit

Each script runs in a process of its own; within it, ours and the others take turns.
Writes `results.json`, `RESULTS.md` and `index.html`, a page with plots, and compares
with the last committed run. ``--keep`` puts what has run into the one to commit.
"""

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from _page import write_results
from _suite import Measurement
from _versus_last import compare

HERE = Path(__file__).parent
LAST = HERE / "results.json"
OUT = HERE.parents[1] / "build" / "speed"
# The machine first; then the quick ones.
FIRST = ["limits", "metrics", "products", "fit"]
PACKAGES = [
    "aucmax",
    "lightgbm",
    "numba",
    "numpy",
    "river",
    "scikit-learn",
    "scipy",
    "vowpalwabbit",
    "xgboost",
]


def main():
    names = script_names()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run?")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write to")
    parser.add_argument("--last", type=Path, default=LAST, help="run to compare with")
    parser.add_argument(
        "--keep", action="store_true", help="put these into the committed run"
    )
    parser.add_argument(
        "--strict", action="store_true", help="fail if anything has become slower"
    )
    args = parser.parse_args()
    if args.keep and args.quick:
        parser.error("--keep needs real sizes: leave out --quick.")
    last = read(args.last)
    run = run_all([name for name in names if name in args.only], args.quick)
    changes = compare(run, last)
    write_results(args.out, run, changes, with_page=True)
    if args.keep:
        write_results(HERE, replace_scripts(last, run), changes, with_page=False)
    summarise(run, changes, args.out)
    sys.exit(bool(run["failed"]) or (args.strict and bool(changes.slower)))


def script_names():
    names = {path.stem for path in HERE.glob("[a-z]*.py")} - {Path(__file__).stem}
    return [*FIRST, *sorted(names - set(FIRST))]


def run_all(names, quick):
    """Return a run: its measurements, what made them, and the scripts that failed."""
    run = describe(quick) | {"scripts": {}, "failed": [], "measurements": []}
    for number, name in enumerate(names, start=1):
        print(f"\n== {name} ({number} of {len(names)})", flush=True)
        start = time.perf_counter()
        made = run_script(name, quick)
        if made is None:
            run["failed"].append(name)
            print(f"{name} failed; the others go on.", flush=True)
            continue
        run["measurements"] += [
            Measurement(**each | {"script": name}) for each in made["measurements"]
        ]
        run["scripts"][name] = origin(run) | {"left_out": made["left_out"]}
        print(f"-- {time.perf_counter() - start:.0f} s", flush=True)
    return run


def run_script(name, quick):
    # The scripts limit the threads of each comparison themselves.
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "measurements.json"
        command = [sys.executable, HERE / f"{name}.py", "--json", file]
        command += ["--quick"] if quick else []
        if subprocess.run(command, env=environment).returncode:
            return None
        return json.loads(file.read_text())


def describe(quick):
    """Return what one must know to read the figures: when, where, with what."""
    versions = {}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit(),
        "quick": quick,
        "has_data": bool(os.environ.get("AUCMAX_DATA")),
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "system": platform.system(),
            "python": platform.python_version(),
        },
        "versions": versions,
    }


def origin(run):
    """Return what is kept for each script, as a run may be put together of several."""
    keys = ("date", "commit", "has_data", "versions", "machine")
    return {key: run.get(key) for key in keys}


def commit():
    """Return the commit of the code that is measured, "" where git does not tell."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=9", "--exclude=*"]
    with contextlib.suppress(OSError):
        told = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
        return told.stdout.strip()
    return ""


def processor():
    """Return its name, and the vectors it has: makers give several kinds one name."""
    found = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, told = line.partition(":")
            found.setdefault(name.strip(), told.strip())
    name = found.get("model name") or platform.processor() or platform.machine()
    return f"{name}, AVX-512" if "avx512f" in found.get("flags", "") else name


def read(path):
    """Return a former run, or None where there is none."""
    if not path.exists():
        return None
    try:
        run = json.loads(path.read_text())
        run["measurements"] = [Measurement(**each) for each in run["measurements"]]
        # Runs of old did not say it script by script.
        whole = origin(run) | {"left_out": []}
        run.setdefault("scripts", {m.script: whole for m in run["measurements"]})
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(
            f"{path} is not a run of this suite ({error}); name another by --last."
        )
    return run


def replace_scripts(last, run):
    """Return a run with the scripts that have just run, the others as they were."""
    order, ran = script_names(), run["scripts"]
    before = last["measurements"] if last else []
    kept = [m for m in before if m.script in order and m.script not in ran]
    origins = (last["scripts"] if last else {}) | ran
    made = sorted(kept + run["measurements"], key=lambda m: order.index(m.script))
    scripts = {name: origins[name] for name in order if name in origins}
    return run | {"scripts": scripts, "measurements": made}


def summarise(run, changes, out):
    barred = [made for made in run["measurements"] if made.bar is not None]
    missed = [made for made in barred if not made.holds]
    print(f"\n{len(barred) - len(missed)} of {len(barred)} bars hold.")
    for made in missed:
        print(f"  missed: {made.key}: {made.ratio:.3g}, bar {made.bar:.3g}")
    print(changes.sentence)
    for change in changes.slower:
        print(f"  slower: {change.key}: {change.before:.3g} -> {change.now:.3g}")
    for key in changes.gone:
        print(f"  no longer measured: {key}")
    print(f"Open {out / 'index.html'}")


if __name__ == "__main__":
    main()
