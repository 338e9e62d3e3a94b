# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted AUCClassifier did, in sentences."""

from typing import Any

import numpy as np

from aucmax._utils.typing import BoolArray, FloatArray, Matrix, is_sparse
from aucmax.auto.ensemble import Ensemble
from aucmax.metrics.auc import roc_auc

N_SHOWN = 10


def explain(
    model: Any,
    rows: Matrix | None = None,
    is_pos: BoolArray | None = None,
    n_repeats: int = 5,
) -> str:
    """Return one sentence per line about ``model``, which is fitted.

    ``rows`` are rows as numbers, for the importance of the columns.
    """
    lines = [*_about_rows(model), *_about_choice(model), *_about_quality(model)]
    if rows is not None and is_pos is not None:
        lines += _about_columns(model, rows, is_pos, n_repeats)
    return "\n".join(lines)


def _about_rows(model: Any) -> list[str]:
    report = model.fit_report_
    lines = [
        f"There were {report['n_rows']:,} rows of {model.n_features_in_:,} columns, "
        f"{report['n_positive']:,} of them of class {model.classes_[1]}, the positive "
        "one."
    ]
    if report["n_used"] < report["n_rows"]:
        lines.append(
            f"For want of time {report['n_used']:,} rows were used, up to half of them "
            "of the rarer class."
        )
    return lines


def _about_choice(model: Any) -> list[str]:
    board = list(model.leaderboard_)
    if not model.fit_report_["n_folds"]:
        return [f"{board[0].name} was fitted; {board[0].note}."]
    finished = [entry for entry in board if not entry.note]
    best = finished[0]
    lines = [
        f"Of {len(board)} candidates {len(finished)} went all the way, the best of "
        f"them {best.name} with an AUC of {best.auc:.4f}."
    ]
    notes = sorted({entry.note for entry in board if entry.note})
    lines += [f"{sum(entry.note == note for entry in board)} {note}." for note in notes]
    shares: dict[str, float] = {}
    for entry in finished:
        shares[entry.family] = shares.get(entry.family, 0.0) + entry.weight
    mixed = sorted(shares.items(), key=lambda item: -item[1])
    chosen = [entry for entry in finished if entry.weight]
    if len(chosen) == 1:
        lines.append(f"The model is {chosen[0].name} alone.")
    else:
        text = ", ".join(f"{family} {share:.0%}" for family, share in mixed if share)
        lines.append(
            f"The model is a weighted sum of {len(chosen)} candidates: {text}. Weights "
            "minimise the squared error over all pairs, pulled to equal shares of the "
            "families that are not clearly worse than the best; with many positives, "
            "candidates are added one by one for the AUC of the sum."
        )
    return lines


def _about_quality(model: Any) -> list[str]:
    auc, low, high, _ = model.auc_interval_
    if np.isnan(auc):
        return ["How well it ranks is not known: no rows could be left out."]
    report = model.fit_report_
    how = (
        f"{report['n_folds']}-fold cross-validation"
        if report["n_folds"] > 1
        else f"{report['share_left_out']:.0%} of the rows, left out"
    )
    gain = auc - report["best_auc"]
    lines = [
        f"By {how}, the AUC is {auc:.4f}, between {low:.4f} and {high:.4f} with 95% "
        "confidence.",
    ]
    if any(0 < entry.weight < 1 for entry in model.leaderboard_):
        lines.append(f"That is {gain:+.4f} compared with the best single candidate.")
    if report["keeps_fold_models"]:
        lines.append("For want of time some models are those of the folds, averaged.")
    if low <= 0.5:
        lines.append("The interval reaches 0.5: this may be no better than chance.")
    return lines


def _about_columns(
    model: Any, rows: Matrix, is_pos: BoolArray, n_repeats: int
) -> list[str]:
    d = rows.shape[1]
    if is_sparse(rows):
        return [f"Which of the {d:,} sparse columns matter is not measured."]
    losses = _permutation_losses(model.ensemble_, rows, is_pos, n_repeats)
    names = getattr(model, "feature_names_in_", [f"column {k}" for k in range(d)])
    means, spreads = losses.mean(axis=1), losses.std(axis=1)
    order = np.argsort(-means, kind="stable")
    counted = [k for k in order if means[k] > 0][:N_SHOWN]
    if not counted:
        return ["No column matters: permuting any of them costs no AUC."]
    listed = ", ".join(
        f"{names[k]} ({means[k]:.4f} ± {spreads[k]:.4f})" for k in counted
    )
    return [f"Permuting a column costs this much AUC: {listed}."]


def _permutation_losses(
    ensemble: Ensemble, rows: FloatArray, is_pos: BoolArray, n_repeats: int
) -> FloatArray:
    """Return what permuting each column costs, one column per repeat.

    On rows as numbers, so that any kind of table will do.
    """
    rng = np.random.default_rng(0)
    auc = roc_auc(is_pos, ensemble.scores(rows))
    losses = np.empty((rows.shape[1], n_repeats))
    changed = rows.copy()
    for k in range(rows.shape[1]):
        for repeat in range(n_repeats):
            changed[:, k] = rng.permutation(rows[:, k])
            losses[k, repeat] = auc - roc_auc(is_pos, ensemble.scores(changed))
        changed[:, k] = rows[:, k]
    return losses
