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

NOT_TRIED = """\
## Not tried

- Power loss: a killed process leaves what it wrote in the system's cache; a machine that
  stops does not. Files are synced before they get their name, but nothing here shows it.
- Network file systems, and disks that return wrong bytes or errors when they are read.
- Windows and macOS, and processors other than x86-64.
- Losing the scheduler of a Dask cluster, or parts of its network (the tests do the first).
- Memory that runs out in the middle of a fit.
- Files made to harm by someone who knows the formats: damage is drawn at random.
- Several processes that write the same file or use the same folder of checkpoints.
- Other versions of pyarrow, numpy, scikit-learn and Dask than those installed.
"""


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def yes(value):
    return "yes" if value else "**no**"


def kills(result):
    rows = [
        [r["model"], r["kills"], r["after_checkpoint"], yes(r["same"])]
        for r in result["rows"]
    ]
    total = sum(row[1] for row in rows)
    n_same = sum(each["same"] for each in result["rows"])
    return (
        "## Killed fits\n\n`fit_stream` with a checkpoint after each batch or step, "
        f"killed by SIGKILL {total} times in all and started again each time. {n_same} of "
        f"{len(rows)} models have the same scores, bit for bit, as one that was never "
        "killed, also after both have learned more rows where they can.\n\n"
        + table(["model", "kills", "of these after a checkpoint", "same"], rows)
    )


def lost_workers(result):
    rows = [
        [r["model"], r["losses"], r["same"], f"{r['largest_difference']:.1g}"]
        for r in result["rows"]
    ]
    head = ["model", "fits that lost a worker", "same bits", "largest difference"]
    return (
        "## Lost workers\n\nA Dask cluster of two processes, of which one was killed at "
        "a random moment of the fit. Differences are to an undisturbed fit, relative to "
        "the largest score.\n\n" + table(head, rows)
    )


def full_disk(result):
    rows = [
        [
            r["what"],
            r["means"],
            r["refused"],
            r["written"],
            "; ".join(r["wrong"]) or "none",
        ]
        for r in result["rows"]
    ]
    head = ["what", "no room by", "refused", "written", "wrong"]
    return (
        "## Full disks\n\nWrites with room for none, some or nearly all of their bytes. "
        "Refused: an error that names the file, the old file intact, and no draft left. "
        "Written: it took fewer bytes than expected.\n\n" + table(head, rows)
    )


def fuzz(result):
    rows = [
        [
            f"`{name}`",
            *(f"{r[k]:,}" for k in ("cases", "result", "refused", "warned", "wrong")),
            f"{r['slowest']:.1f} s",
        ]
        for name, r in result["targets"].items()
    ]
    head = ["target", "cases", "result", "refused", "warned", "wrong", "slowest"]
    wrong = [
        f"- `{each['target']}`, {each['count']} times, seed {each['seeds'][0]}: "
        f"`{each['cause'].replace('`', '')}`"
        for each in result["wrong"]
    ]
    return (
        f"## Fuzzing\n\n`make fuzz MINUTES={result['minutes']:g}`: files damaged as bytes "
        "and in their parts, and odd rows, labels, weights. Wrong: a crash, more than 20 s "
        "of CPU time, more than 1 GB of memory, an error that is not a ValueError or "
        "TypeError for the user or does not name the file, a warning of a library, or a "
        "score that is not finite for rows that are.\n\n"
        + table(head, rows)
        + ("\n\nWrong:\n\n" + "\n".join(wrong) if wrong else "\n\nNothing was wrong.")
    )


def main():
    if LAST_FUZZ.exists():
        shutil.copy(LAST_FUZZ, FUZZ)
    found = _records.read()
    sections = {"kills": kills, "lost_workers": lost_workers, "full_disk": full_disk}
    parts = [make(found[name]) for name, make in sections.items() if name in found]
    if FUZZ.exists():
        parts.append(fuzz(json.loads(FUZZ.read_text())))
    head = (
        "# Reliability\n\nWhat was tried to make aucmax fail, and what came of it. Made by "
        "`make reliability` from `reliability/results.jsonl` and `reliability/fuzz.json`."
    )
    PAGE.write_text("\n\n".join([head, *parts, NOT_TRIED]))
    print(f"Wrote {PAGE}.")


if __name__ == "__main__":
    main()
