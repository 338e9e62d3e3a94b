# SPDX-License-Identifier: BSD-3-Clause
"""A paper that nobody wrote, and results of it."""

from dataclasses import replace

from aucmax_papers.protocol import Printed, parse_paper
from aucmax_papers.rows import Row
from aucmax_papers.tasks import merge_limits
from aucmax_papers.versions import protocol_version

TEXT = """
title = "On <b>nothing</b> & more"
authors = "A. Nobody"
venue = "Nowhere 2020"
link = "https://example.org/a?b=1&c=2"
about = "We had to guess."

[protocol]
n_folds = 2
n_repeats = 2

[fast]
n_repeats = 1
without = ["large"]

[sets.small]
[sets.odd]
printed = "odd*"
[sets.halved]
positive = "halves"
n_partitions = 3
comparable = false
why = "Which half it was is not known."
[sets.large]
why = "Fewer rows than in the paper."

[methods.Best]
estimator = "OPAUC"
default = {}
proposed = true
[methods."Plain | B"]
estimator = "OAM"
default = {}
note = "Its buffer is smaller here."
[methods.Given]
default_estimator = "OPAUC"
default = {}
headline = "default"
[methods.Borrowed]
estimator = "OAM"
copied = "other"
copied_as = ["Lender", "Lender, text"]

[tables.1]
caption = "Test AUC"
sets = ["small", "odd", "halved", "large"]
methods = ["Best", "Plain | B", "Given", "Borrowed"]
metrics = ["auc", "train_s"]
reference = "Best"
note = "Read it with care."
[tables.2]
caption = "Sizes, in per cent"
sets = ["small"]
methods = ["Best"]
metrics = ["auc", "basis_functions"]
percent = true
digits = 1

[figures.1]
caption = "Influence of the rank"
sets = ["small", "odd"]
methods = ["Best", "Plain | B"]
vary = "rank"
values = [1, 10, 100]
n_runs = 2
label = "rank"
log = true
note = "Two sets of many."
[figures.2]
caption = "AUC against time"
sets = ["small"]
methods = ["Best"]
vary = "n_rows"
values = [10, 20]
x = "seconds"
"""

PRINTED = {
    ("1", "small", "Best", "auc"): Printed(0.9, 0.02, ""),
    ("1", "small", "Plain | B", "auc"): Printed(0.8, None, ""),
    ("1", "small", "Given", "auc"): Printed(0.7, None, ""),
    ("1", "small", "Borrowed", "auc"): Printed(0.6, 0.01, ""),
    ("1", "odd*", "Best", "auc"): Printed(0.8, 0.001, ""),
    ("1", "halved", "Best", "auc"): Printed(0.95, 0.01, ""),
    ("1", "small", "Best", "train_s"): Printed(2.0, None, ""),
    ("1", "lost", "Best", "auc"): Printed(0.5, None, ""),
    ("2", "small", "Best", "basis_functions"): Printed(20.0, None, ""),
    ("2", "small", "Best", "auc"): Printed(0.912, None, ""),
}
VERSIONS = "aucmax 0.1 Python 3.11 numpy 2.4"


def fake_paper(*, fast=False):
    return replace(parse_paper("fake", TEXT, fast=fast), printed=PRINTED)


def make_rows(paper, name, method, aucs, /, **changes):
    """One row per AUC: of runs, or of random halves if the set has such."""
    use, entry = paper.sets[name], paper.methods[method]
    version = protocol_version(merge_limits(use, entry), entry.on(name))
    is_halved = use.n_partitions > 1
    rows = [
        Row(
            paper=paper.key,
            mode="fast" if paper.is_fast else "full",
            results_version=1,
            protocol=version,
            stage="test",
            set=name,
            method=method,
            variant=entry.headline,
            partition=i if is_halved else 0,
            run=0 if is_halved else i,
            inner=-1,
            params="{}",
            x=-1.0,
            auc=auc,
            seconds=0.5 + i,
            scoring=0.25,
            size=10 + i,
            n_train=80,
            n_test=20,
            seed=i,
            error="",
            versions=VERSIONS,
        )
        for i, auc in enumerate(aucs)
    ]
    return [replace(row, **changes) for row in rows]


def make_points(paper, figure, name, method, points, /, *, run=0, **changes):
    """One row per point of a figure: from what was varied to the AUC."""
    entry = paper.figures[figure]
    limited = merge_limits(paper.sets[name], paper.methods[method])
    version = protocol_version(limited, paper.methods[method].on(name), entry)
    (blank,) = make_rows(paper, name, method, [0.5])
    blank = replace(
        blank,
        stage=f"figure {figure}",
        protocol=version,
        variant=paper.methods[method].variants[0],
        run=run,
    )
    return [
        replace(blank, x=float(x), auc=auc, seconds=x / 10, **changes)
        for x, auc in points.items()
    ]
