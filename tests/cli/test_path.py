# SPDX-License-Identifier: BSD-3-Clause
"""From a table to the fit in few steps: nobody can follow a path through 70."""

import sys
from pathlib import Path

import aucmax
from aucmax import AUCClassifier
from aucmax.cli.fit import fit

MOST_FUNCTIONS = 40
# Functions only by name: loops of one line.
LOOPS = {"<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"}


class Reached(Exception):
    """The fit of the estimator was called."""


def test_fit_walks_through_few_functions(invoke, folder, monkeypatch):
    """From the body of the command on, with everything imported."""
    arguments = ("fit", "loans.csv", "--target", "late", "--drop", "id", "--out", "new")

    def reach(*_):
        sys.setprofile(None)
        raise Reached

    monkeypatch.setattr(AUCClassifier, "fit", reach)
    invoke(*arguments, code=1)
    home = str(Path(aucmax.__file__).parent)
    start, seen = fit.callback.__code__, {}

    def record(frame, event, _):
        code = frame.f_code
        is_ours = code.co_filename.startswith(home) and code.co_name not in LOOPS
        if event == "call" and is_ours and (seen or code is start):
            seen[code] = f"{code.co_filename.removeprefix(home)}: {code.co_name}"

    sys.setprofile(record)
    try:
        invoke(*arguments, code=1)
    finally:
        sys.setprofile(None)
    assert 10 < len(seen) <= MOST_FUNCTIONS, "\n".join(seen.values())
