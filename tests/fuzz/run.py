# SPDX-License-Identifier: BSD-3-Clause
"""Fuzz for minutes or hours, or run one case again.

PYTHONPATH=tests python -m fuzz.run --minutes 60
PYTHONPATH=tests python -m fuzz.run --target read_table --seed 17
"""

import argparse
import json
import shutil
import sys
import time
from collections import defaultdict
from multiprocessing.connection import wait
from pathlib import Path

from fuzz.judging import signature
from fuzz.workers import Worker, run_case, start_server

FOLDER = Path("build/fuzz")
KINDS = ["result", "refused", "wrong"]
KEPT_SEEDS = 5


class Tally:
    """Counts of outcomes by target, and what was wrong by its cause."""

    def __init__(self, targets):
        self.counts = {
            name: dict.fromkeys(["cases", *KINDS, "warned"], 0) for name in targets
        }
        self.seconds = dict.fromkeys(targets, 0.0)
        self.slowest = dict.fromkeys(targets, 0.0)
        self.wrong = defaultdict(list)

    def add(self, target, seed, outcome):
        count = self.counts[target]
        count["cases"] += 1
        count[outcome.kind] += 1
        count["warned"] += outcome.warned
        self.seconds[target] += outcome.seconds
        self.slowest[target] = max(self.slowest[target], outcome.seconds)
        if outcome.kind == "wrong":
            self.wrong[target, signature(outcome.cause)].append((seed, outcome))

    def total(self, kind):
        return sum(count[kind] for count in self.counts.values())

    def as_dict(self):
        return {
            "targets": {
                name: count
                | {
                    "cpu_seconds": round(self.seconds[name], 1),
                    "slowest": round(self.slowest[name], 2),
                }
                for name, count in self.counts.items()
            },
            "wrong": [
                {
                    "target": target,
                    "cause": found[0][1].cause,
                    "count": len(found),
                    "seeds": [seed for seed, _ in found[:KEPT_SEEDS]],
                }
                for (target, _), found in sorted(self.wrong.items())
            ],
        }


def fuzz(targets, *, minutes, n_workers, first_seed):
    """Run cases until the time is over; return the tally."""
    context = start_server(kernels=FOLDER.resolve() / "kernels")
    tally = Tally(targets)
    seeds = dict.fromkeys(targets, first_seed)
    spent = dict.fromkeys(targets, 0.0)
    workers = {}
    for _ in range(n_workers):
        worker = Worker(context)
        workers[worker.conn] = worker
    start = last = time.monotonic()

    def send(worker):
        # Each target has the same time.
        target = min(spent, key=spent.get)
        worker.send(target, seeds[target])
        seeds[target] += 1
        # Until it is known, so that the others have their turn.
        spent[target] += 0.01

    for worker in workers.values():
        send(worker)
    while workers:
        ready = wait(list(workers), timeout=5)
        late = [w.conn for w in workers.values() if time.monotonic() - w.since > 300]
        for conn in {*ready, *late}:
            worker = workers.pop(conn)
            (target, seed), since = worker.case, worker.since
            outcome = worker.receive()
            spent[target] += time.monotonic() - since
            if outcome.kind == "wrong":
                folder = new_folder("wrong", target, seed)
                outcome = confirm(worker, target, seed, outcome, folder)
                report(target, seed, outcome, folder, tally)
            tally.add(target, seed, outcome)
            if time.monotonic() - start < 60 * minutes:
                workers[worker.conn] = worker
                send(worker)
            else:
                worker.stop()
        if time.monotonic() - last > 60:
            last = time.monotonic()
            print(
                f"{(last - start) / 60:.0f} min: {tally.total('cases')} cases, "
                + ", ".join(f"{tally.total(kind)} {kind}" for kind in KINDS)
                + f", {len(tally.wrong)} causes",
                flush=True,
            )
    return tally


def confirm(worker, target, seed, outcome, keep=None):
    """Run a case that was wrong again, in a process that had no other before.

    What takes long may have been compiled for the first time; what crashed may have
    been brought about by a case before it. Its files are kept in a folder.
    """
    worker.restart()
    again = worker.run(target, seed, keep)
    if again.kind == "wrong" or outcome.cause.startswith(("hang", "memory")):
        return again
    outcome.cause += " (not when run alone)"
    return outcome


def report(target, seed, outcome, folder, tally):
    """Say what is wrong for the first time; keep the files of the first cases."""
    known = tally.wrong.get((target, signature(outcome.cause)), [])
    if outcome.kind != "wrong" or len(known) >= KEPT_SEEDS:
        shutil.rmtree(folder)
        return
    if not known:
        print(f"WRONG {target} --seed {seed}: {outcome.cause}", flush=True)
    (folder / "outcome.txt").write_text(
        f"PYTHONPATH=tests python -m fuzz.run --target {target} --seed {seed}\n\n"
        f"{outcome.cause}\n\n{outcome.detail}\n"
    )


def show(tally):
    print(
        f"{'target':14}{'cases':>9}{'result':>9}{'refused':>9}{'warned':>9}{'wrong':>7}"
    )
    for name, count in tally.counts.items():
        columns = [count[kind] for kind in ("cases", "result", "refused", "warned")]
        print(f"{name:14}" + "".join(f"{n:9}" for n in columns) + f"{count['wrong']:7}")
    for each in tally.as_dict()["wrong"]:
        print(
            f"WRONG {each['target']} x{each['count']} seeds {each['seeds']}: "
            f"{each['cause']}"
        )


def new_folder(kind, target, seed):
    """Return an empty folder for the files of a case."""
    folder = FOLDER / kind / f"{target}-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def repeat(target, seed):
    """Run one case in this process; its files stay, also if the process crashes."""
    folder = new_folder("again", target, seed)
    outcome = run_case(target, seed, keep=folder)
    print(f"{outcome.kind}: {outcome.cause}\n{outcome.detail}")
    print(f"{outcome.seconds:.2f} s, {outcome.megabytes:.0f} MB; files in {folder}")
    return outcome.kind == "wrong"


def main():
    from fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(
        prog="python -m fuzz.run", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--target", choices=[*TARGETS], nargs="+", default=[*TARGETS])
    parser.add_argument("--seed", type=int, help="run only this case, in this process")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=0)
    args = parser.parse_args()
    if args.seed is not None:
        sys.exit(max(repeat(target, args.seed) for target in args.target))
    tally = fuzz(
        args.target,
        minutes=args.minutes,
        n_workers=args.workers,
        first_seed=args.first_seed,
    )
    show(tally)
    FOLDER.mkdir(parents=True, exist_ok=True)
    told = {"minutes": args.minutes, "first_seed": args.first_seed, **tally.as_dict()}
    (FOLDER / "summary.json").write_text(json.dumps(told, indent=1) + "\n")
    sys.exit(bool(tally.wrong))


if __name__ == "__main__":
    main()
