# SPDX-License-Identifier: BSD-3-Clause
"""A paper on sets that ship with the package, small enough to be run many times."""

from dataclasses import fields, replace

from aucmax_papers.protocol import parse_paper
from aucmax_papers.rows import Row

TEXT = """
title = "A small paper"
authors = "N. Body"
venue = "Nowhere"
link = "https://example.org"

[protocol]
n_folds = 3
n_repeats = 2
n_inner_folds = 3
n_inner_used = 2

[fast]
n_repeats = 1
n_partitions = 2
n_points = 2
without = ["vehicle"]

[sets.german]
max_rows = 300
[sets.glass]
positive = "halves"
n_partitions = 3
[sets.vehicle]
positive = [4]
n_runs = 1

[methods.OPAUC]
estimator = "OPAUC"
fixed = { solver = "gradient" }
penalty = "half"
grid = { step_size = { base = 2, from = -8, to = 0, step = 4 }, lambda = [0.01] }
default = { solver = "gradient" }
[methods.RankSVM]
estimator = "RankSVM"
penalty = "sum"
grid = { C = [0.1, 1.0] }
[methods.OAM]
default_estimator = "OAM"
default = {}
headline = "default"

[tables.1]
caption = "Small sets"
sets = ["german", "glass", "vehicle"]
methods = ["OPAUC", "RankSVM", "OAM"]
reference = "OPAUC"

[figures.1]
caption = "Influence of the number of rows"
sets = ["german"]
methods = ["OAM"]
vary = "n_rows"
values = [50, 100, 200, 5000]
n_runs = 2
[figures.2]
caption = "Influence of the step size"
sets = ["glass"]
methods = ["OPAUC"]
vary = "step_size"
values = [0.25, 0.5]
n_runs = 1
[figures.3]
caption = "Over time"
sets = ["glass"]
methods = ["OAM"]
vary = "online"
values = [4]
n_runs = 2
"""


def load_small(key="small", *, fast=False):
    return parse_paper(key, TEXT, fast=fast)


def make_row(**changes):
    row = Row(
        paper="small",
        mode="full",
        results_version=1,
        protocol="aa",
        stage="test",
        set="german",
        method="OPAUC",
        variant="published",
        partition=0,
        run=0,
        inner=-1,
        params="{}",
        x=-1.0,
        auc=0.75,
        seconds=0.5,
        scoring=0.25,
        size=-1,
        n_train=80,
        n_test=20,
        seed=0,
        error="",
        versions="aucmax 0",
    )
    return replace(row, **changes)


def untimed(rows):
    """What must not depend on how a run went; NaN is equal to itself here."""
    names = [f.name for f in fields(Row) if f.name not in ("seconds", "scoring")]
    return [tuple(repr(getattr(row, name)) for name in names) for row in rows]
