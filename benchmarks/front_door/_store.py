# SPDX-License-Identifier: BSD-3-Clause
"""Results as lines of JSON: appended at once, so that a run can stop and go on."""

import json
import os
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).with_name("results.jsonl")
# Raise it when a rule or a grid changes: older lines then no longer count.
PROTOCOL = 1
# Raise it when a change of AUCClassifier may change its figures: see --redo-ours.
RESULTS_VERSION = 1
OURS = "ours"
RIVALS = {
    "lr": "LogisticRegression",
    "svc": "SVC",
    "knn": "KNeighbors",
    "hgb": "HistGradientBoosting",
    "lgbm": "LightGBM",
}


def read(path=RESULTS):
    """Return the newest line of each set, split and method."""
    found = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            row = _parsed(line)
            if row is not None and row["protocol"] == PROTOCOL:
                found[row["set"], row["split"], row["method"]] = row
    return found


def _parsed(line):
    try:
        return json.loads(line)
    except ValueError:  # the line that a killed run left half-written
        return None


def append(row, path=RESULTS):
    """Write one line, on a line of its own, with one call."""
    text = json.dumps({"protocol": PROTOCOL, **row}, default=float) + "\n"
    with path.open("ab") as file:
        if file.tell() and not _ends_line(path):
            text = "\n" + text
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def _ends_line(path):
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def versions():
    """Return the versions that a figure depends on."""
    names = ("numpy", "scipy", "scikit-learn", "lightgbm")
    return {name: version(name) for name in names}
