# SPDX-License-Identifier: BSD-3-Clause
"""Print the results of run.py as Markdown.

python benchmarks/front_door/table.py > benchmarks/front_door/README.md
"""

import argparse
from itertools import groupby
from pathlib import Path
from statistics import fmean

from _store import OURS, RESULTS, RESULTS_VERSION, RIVALS, read
from _summary import CEILING, MARGIN, METHODS, summarise

TITLES = {**RIVALS, OURS: "AUCClassifier"}
# Column heads: tables are wide enough.
SHORT = {
    "lr": "LR",
    "svc": "SVC",
    "knn": "KNN",
    "hgb": "HGB",
    "lgbm": "LightGBM",
    OURS: "ours",
}
RULES = """\
# `AUCClassifier` beside tuned rivals

Written by `table.py` from `results.jsonl`; do not edit. To run it again, with the sets
in the folder `AUCMAX_DATA`:

    python benchmarks/front_door/run.py
    python benchmarks/front_door/table.py > benchmarks/front_door/README.md

`run.py` goes on where it stopped. `--methods ours --redo-ours` measures the
classifier again after its code has changed.

## Rules

- Every set is a question of two classes; of several, the smallest class in the training
  rows is positive. A class with fewer than 10 training or 5 test rows is passed over
  for the next larger one.
- The official split where there is one, else a fixed stratified 80/20. Sets below 5,000
  rows in all: five random stratified 80/20 splits of all rows, and the mean.
- `AUCClassifier(random_state=0)`, nothing tuned from outside. Each rival is tuned on a
  grid of 3 to 6 points by 5-fold cross-validated AUC inside the training rows, and
  refitted on all of them:
  LogisticRegression (C), SVC (rbf, balanced; C, gamma), KNeighbors (k), all three on
  standardised columns (wide sparse rows: divided by the largest value);
  HistGradientBoosting and LightGBM (leaves, learning rate, trees).
- Tuning is bounded: SVC above 6,000 training rows by five folds of 4,000, and left out
  above 20,000; HistGradientBoosting above 2,000 rows on two of its points by five folds
  of 2,000 (some sets, run earlier, of up to 5,000); LightGBM above 10,000 rows by five
  folds of 10,000. Above 20,000 rows, marked ‡, one 80/20 holdout of at most 50,000 rows
  (HistGradientBoosting: 10,000) replaces the folds; KNeighbors has five folds of 10,000
  there and is left out above 300,000. `results.jsonl` says what was used.
- One thread. Seconds are CPU time of one split, tuning and refit together."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    rows = read(parser.parse_args().results)
    results = summarise(rows)
    print(RULES)
    print(f"\n{_provenance(rows)}")
    if not results:
        print("\nThere are no results yet.")
        return
    print(f"\n## Test AUC in percent\n\n{_auc_table(results)}\n\n{_notes(results)}")
    print(f"\n## CPU seconds to tune and fit\n\n{_time_table(results)}")
    print(f"\n## Over the sets\n\n{_overall(results)}")


def _provenance(rows):
    """Return the versions; results of several are named, not hidden."""
    libraries = sorted(
        {" ".join(f"{k} {v}" for k, v in r["versions"].items()) for r in rows.values()}
    )
    found = {r["results_version"] for r in rows.values() if r["method"] == OURS}
    text = f"Measured with {' and '.join(libraries) or 'nothing'}."
    if found - {RESULTS_VERSION}:
        text += " **Some results of AUCClassifier are of earlier versions of it.**"
    return text


def _auc_table(results):
    head = ["set", "rows", "columns", "positives", "split"]
    head += [SHORT[m] for m in METHODS] + ["ours - best"]
    return _markdown(head, [_auc_row(result) for result in results])


def _auc_row(result):
    facts = result.facts
    n_rows = facts["n_train"] + facts["n_test"]
    marks = "†" * result.is_easy
    marks += "‡" * any("holdout" in c.tuned for c in result.cells.values())
    row = [result.name + marks, f"{n_rows:,}", f"{facts['d']:,}"]
    row += [f"{facts['n_pos_train'] + facts['n_pos_test']:,}", facts["how_split"]]
    row += [_auc_cell(result, method) for method in METHODS]
    is_known = OURS in result.cells and result.best is not None
    return [*row, f"{result.lead(result.best):+.2f}" if is_known else "..."]


def _auc_cell(result, method):
    if method not in result.cells:
        return "-" if method in result.skipped else "..."
    cell = result.cells[method]
    text = f"**{cell.auc:.2f}**" if method == result.best else f"{cell.auc:.2f}"
    return f"{text} ± {cell.spread:.2f}"


def _notes(results):
    text = [
        "Bold: the best rival. ±: standard deviation over the splits, or of one split "
        'DeLong\'s standard error. "-": left out; "...": not run yet. '
        f"† All methods reach {CEILING}: kept, but nothing is left to gain."
    ]
    passed = [r for r in results if r.facts["n_passed_over"]]
    text += [
        f"{r.name}: {r.facts['n_passed_over']} smaller classes are too small; class "
        f"{r.facts['positive']} is positive."
        for r in passed
    ]
    reasons = [
        (SHORT[m], reason, r.name) for r in results for m, reason in r.skipped.items()
    ]
    for (method, reason), group in groupby(sorted(reasons), key=lambda item: item[:2]):
        names = ", ".join(name for _, _, name in group)
        text.append(f"{method} is left out of {names}: {reason}.")
    return "\n".join(f"- {line}" for line in text)


def _time_table(results):
    rows = [
        [r.name, *(_seconds(r.cells[m]) if m in r.cells else "-" for m in METHODS)]
        for r in results
    ]
    return _markdown(["set", *(SHORT[m] for m in METHODS)], rows)


def _seconds(cell):
    return f"{cell.seconds:,.0f}" if cell.seconds >= 10 else f"{cell.seconds:.1f}"


def _overall(results):
    ready = [r for r in results if OURS in r.cells and r.best is not None]
    text = [_means(results)]
    if ready:
        text += [_pairs(ready), _shares(ready), _losses(ready)]
    return "\n\n".join(text)


def _means(results):
    """Return the mean of each method over the sets that all methods have."""
    done = [m for m in METHODS if any(m in r.cells for r in results)]
    common = [r for r in results if all(m in r.cells for m in done)]
    if not common:
        return "No set has been run with every method yet."
    means = {m: fmean(r.cells[m].auc for r in common) for m in done}
    head = ["", *(SHORT[m] for m in done)]
    rows = [["mean AUC", *(f"{means[m]:.2f}" for m in done)]]
    if OURS in means:
        leads = (f"{means[OURS] - means[m]:+.2f}" if m != OURS else "" for m in done)
        rows.append(["ours - it", *leads])
    left = [r.name for r in results if r not in common]
    note = f"Mean over the {len(common)} sets that every method here has"
    note += f"; without {', '.join(left)}." if left else "."
    return f"{note}\n\n{_markdown(head, rows)}"


def _pairs(ready):
    """Return ours beside each rival over all the sets that this rival has."""
    rows = []
    for rival in RIVALS:
        both = [r for r in ready if rival in r.cells]
        if not both:
            continue
        leads = [r.lead(rival) for r in both]
        means = [fmean(r.cells[m].auc for r in both) for m in (rival, OURS)]
        wins = sum(round(lead, 2) > 0 for lead in leads)
        losses = sum(round(lead, 2) < 0 for lead in leads)
        rows.append(
            [
                TITLES[rival],
                str(len(both)),
                *(f"{mean:.2f}" for mean in means),
                f"{fmean(leads):+.2f}",
                f"{wins} / {losses}",
                f"{min(leads):+.2f}",
            ]
        )
    head = ["rival", "sets", "its mean", "our mean", "ours - it", "won / lost", "worst"]
    return "Over all sets that a rival has:\n\n" + _markdown(head, rows)


def _shares(ready):
    leads = [r.lead(r.best) for r in ready]
    close = sum(lead >= -MARGIN for lead in leads)
    text = (
        f"Against the best rival of each set, chosen by its test AUC: ours is at most "
        f"{MARGIN} points below on {close} of {len(ready)} sets "
        f"({100 * close / len(ready):.0f}%), {fmean(leads):+.2f} points on average."
    )
    partial = [r.name for r in ready if not r.is_whole]
    if partial:
        text += f" Not all rivals have been run yet on {', '.join(partial)}."
    return text


def _losses(ready):
    lost = [r for r in ready if round(r.lead(r.best), 2) < 0]
    if not lost:
        return "No set is lost to a rival."
    lost.sort(key=lambda r: r.lead(r.best))
    rows = [
        [
            f"**{r.name}**" if r.lead(r.best) < -MARGIN else r.name,
            f"{r.lead(r.best):+.2f}",
            TITLES[r.best],
            f"{r.cells[r.best].spread:.2f}",
            str(r.facts["n_pos_train"]),
        ]
        for r in lost
    ]
    head = ["set", "ours - best", "best rival", "its ±", "training positives"]
    return (
        f"Sets where the best rival is ahead; bold: by more than {MARGIN} points.\n\n"
        + _markdown(head, rows)
    )


def _markdown(head, rows):
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rule, *rows])


if __name__ == "__main__":
    main()
