# SPDX-License-Identifier: BSD-3-Clause
"""Write benchmarks/reliability.md from results.jsonl and fuzz.json, and nothing else.

python benchmarks/reliability/page.py
"""

import json
import shutil
from pathlib import Path

import _records

HERE = Path(__file__).parent
PAGE = HERE.with_suffix(".md")
FUZZ = HERE / "fuzz.json"
LAST_FUZZ = HERE.parents[1] / "build/fuzz/summary.json"

HEAD = """\
# Reliability

What was tried to make aucmax fail, and what came of it. Made by `make reliability` from
`reliability/results.jsonl` and `reliability/fuzz.json`.
"""
KILLS = """\
## Killed fits

`fit_stream` with a checkpoint after each batch or step, killed by SIGKILL {total} times
in all and started again each time. {n_same} of {n_models} models have the same scores,
bit for bit, as one that was never killed, also after both have learned more rows where
they can.
"""
LOST_WORKERS = """\
## Lost workers

A Dask cluster of two processes, of which one was killed at a random moment of the fit,
in {total} fits. Differences are to an undisturbed fit, relative to the largest score.
"""
FULL_DISK = """\
## Full disks

Writes with room for none, some or nearly all of their bytes. Refused: an error that
names the file or its folder, the old file intact, and no draft left. Written: it took
fewer bytes than expected.
"""
FUZZING = """\
## Fuzzing

`make fuzz MINUTES={minutes:g}`: files damaged as bytes and in their parts, and odd
rows, labels and weights; our kernels check all bounds. Wrong: a crash, an index out of
bounds, more than 20 s of CPU time, more than 1 GB of memory (4 GB in a fit, with up to
100,000 columns), an error that is not a ValueError or TypeError for the user or does
not name the file, a warning of a library, or a score that is not finite for rows that
are.
"""
NOT_TRIED = """\
## Not tried

- Power loss: what a killed process wrote stays in the system's cache, what a machine
  that stops wrote does not. Files are synced before they get their names, but nothing
  here shows it.
- Network file systems, and disks that return wrong bytes or errors when they are read.
- Windows and macOS, and processors other than x86-64.
- Losing the scheduler of a Dask cluster (the tests do), or parts of its network.
- Memory that runs out in the middle of a fit.
- Files made to harm by someone who knows the formats: damage is drawn at random.
- Several processes that write the same file or use the same folder of checkpoints.
- Other versions of pyarrow, numpy, scikit-learn and Dask than those installed.
"""


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def kills(rows):
    told = KILLS.format(
        total=sum(row["kills"] for row in rows),
        n_same=sum(row["same"] for row in rows),
        n_models=len(rows),
    )
    lines = [
        [
            r["model"],
            r["kills"],
            r["after_checkpoint"],
            "yes" if r["same"] else "**no**",
        ]
        for r in rows
    ]
    return told, table(["model", "kills", "after a checkpoint", "same"], lines)


def lost_workers(rows):
    told = LOST_WORKERS.format(total=sum(row["losses"] for row in rows))
    lines = [
        [r["model"], r["losses"], r["same"], f"{r['largest_difference']:.1g}"]
        for r in rows
    ]
    return told, table(["model", "fits", "same bits", "largest difference"], lines)


def full_disk(rows):
    names = ["what", "means", "refused", "written"]
    lines = [
        [*(row[name] for name in names), "; ".join(row["wrong"]) or "none"]
        for row in rows
    ]
    return FULL_DISK, table([*names[:1], "no room by", *names[2:], "wrong"], lines)


def fuzz(result):
    names = ["cases", "result", "refused", "warned", "wrong"]
    lines = [
        [f"`{name}`", *(f"{r[k]:,}" for k in names), f"{r['slowest']:.1f} s"]
        for name, r in result["targets"].items()
    ]
    causes = [
        f"- `{each['target']}`, {each['count']} times, seed {each['seeds'][0]}: "
        f"`{each['cause'].replace('`', '')}`\n"
        for each in result["wrong"]
    ]
    found = ["".join(["What was wrong:\n\n", *causes])] if causes else []
    return (
        FUZZING.format(minutes=result["minutes"]),
        table(["target", *names, "slowest"], lines),
        *found,
    )


SECTIONS = {"kills": kills, "lost_workers": lost_workers, "full_disk": full_disk}


def main():
    if LAST_FUZZ.exists():
        shutil.copy(LAST_FUZZ, FUZZ)
    found = _records.read()
    parts = [HEAD]
    for name, make in SECTIONS.items():
        if name in found:
            parts += make(found[name]["rows"])
    if FUZZ.exists():
        parts += fuzz(json.loads(FUZZ.read_text()))
    PAGE.write_text("\n".join([*parts, NOT_TRIED]))
    print(f"Wrote {PAGE}.")


if __name__ == "__main__":
    main()
