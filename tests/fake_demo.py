# SPDX-License-Identifier: BSD-3-Clause
"""Results of the demonstration that were never run."""

import math
from types import SimpleNamespace

import numpy as np

from aucmax.datasets.bundled import Bundle
from aucmax.demo.run import ModelRun, SetRun
from aucmax.metrics import AUCInterval, roc_auc_interval, roc_auc_test

OURS = "AUCClassifier"
SENTENCES = "There were rows.\nA <b>model</b> was chosen."


def entry(name, auc, weight, low=None, note=""):
    low = auc - 0.05 if low is None else low
    return SimpleNamespace(
        name=name, family="linear", auc=auc, low=low, high=auc + 0.05, seconds=0.25,
        weight=weight, note=note,
    )  # fmt: skip


BOARD = (
    entry("linear, alpha=0.3", 0.85, 0.75),
    entry("kernel <wide>", 0.84, 0.25),
    entry("forest", 0.6, 0.0, low=math.nan, note="dropped: far behind"),
)


def make_set(noises, *, name="invented", n=400, probable=(OURS,)):
    """Models whose scores are the label with noise, more or less of it."""
    rng = np.random.default_rng(7)
    y = np.arange(n) % 4 == 0
    shared = rng.normal(size=n)
    data = Bundle(
        name=name,
        title="Invented & small",
        X=np.zeros((2 * n, 3)),
        y=np.tile(y, 2).astype(int),
        X_test=np.zeros((n, 3)),
        y_test=y.astype(int),
        description="Rows of <nothing>.",
        source="Nobody & Co.",
        licence="CC0",
    )
    runs = []
    for model, noise in noises.items():
        scores = y + noise * (shared + 0.3 * rng.normal(size=n))
        runs.append(
            ModelRun(
                name=model,
                chosen="" if not runs else "C=1",
                scores=scores,
                probabilities=1 / (1 + np.exp(1 - scores))
                if model in probable
                else None,
                interval=roc_auc_interval(y, scores),
                test=roc_auc_test(y, runs[0].scores, scores) if runs else None,
                seconds=1.25,
            )
        )
    return SetRun(
        data=data, runs=tuple(runs), expected=AUCInterval(0.8, 0.75, 0.85, 0.025),
        leaderboard=BOARD, explanation=SENTENCES,
    )  # fmt: skip
