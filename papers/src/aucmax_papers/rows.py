# SPDX-License-Identifier: BSD-3-Clause
"""One result: one model trained and scored once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Key(NamedTuple):
    """What was run; two results with equal keys are the same run."""

    paper: str
    mode: str
    results_version: int
    protocol: str
    stage: str
    set: str
    method: str
    variant: str
    partition: int
    run: int
    inner: int
    params: str
    x: float


@dataclass(frozen=True, slots=True)
class Row:
    """One result.

    Attributes
    ----------
    paper : str
        Key of the paper.
    mode : str
        "full", or "fast" for the reduced protocol.
    results_version : int
        That of the method: figures of different versions are never mixed.
    protocol : str
        Which version of the paper's entry for this set and method.
    stage : str
        "tune", "test", or "figure N".
    set, method, variant : str
        Names within the paper; variant is "published" or "default".
    partition : int
        Which random half of the classes; 0 where there is none.
    run : int
        Which fold of which repeat, counted through.
    inner : int
        Which inner fold, if tuned; else -1.
    params : str
        Parameters as in the grid, JSON with sorted keys.
    x : float
        The value that a figure varies; -1 elsewhere.
    auc : float
        On the test rows; 0.5 if the method diverged.
    seconds, scoring : float
        CPU time of ``fit``, feature maps included; and of scoring the test rows.
    size : int
        Number of basis functions or support rows; -1 if the model has none.
    n_train, n_test : int
        Numbers of rows.
    seed : int
        What the estimator's ``random_state`` was; the splits are drawn by run.
    error : str
        What the estimator said, if it gave up.
    versions : str
        Of aucmax, Python and the libraries underneath.
    """

    paper: str
    mode: str
    results_version: int
    protocol: str
    stage: str
    set: str
    method: str
    variant: str
    partition: int
    run: int
    inner: int
    params: str
    x: float
    auc: float
    seconds: float
    scoring: float
    size: int
    n_train: int
    n_test: int
    seed: int
    error: str
    versions: str

    @property
    def key(self) -> Key:
        """Return what was run, without what came out."""
        return Key(*(getattr(self, name) for name in Key._fields))


def dump_params(params: Mapping[str, Any]) -> str:
    """Return parameters as text that is the same for the same values."""
    return json.dumps(dict(params), sort_keys=True)
