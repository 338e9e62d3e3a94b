# SPDX-License-Identifier: BSD-3-Clause
"""Scores of fitted models, and their names."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def score_rows(estimator: Any, X: Any) -> ArrayLike:
    """Return one score per row: decision_function, else the positive's probability."""
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X))
    elif hasattr(estimator, "predict_proba"):
        scores = np.asarray(estimator.predict_proba(X))
        scores = scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores
    else:
        raise TypeError(
            f"{type(estimator).__name__} has neither decision_function nor "
            "predict_proba, so there are no scores to draw. Pass scores to "
            "from_predictions."
        )
    if scores.ndim != 1:
        raise ValueError(
            f"{type(estimator).__name__} has scores of shape {scores.shape}, but one "
            "per row is needed. Pass a model of two classes."
        )
    return scores


def name_model(estimator: Any) -> str:
    """Return the class of a model, of a pipeline that of its last step."""
    return type(last_step(estimator)).__name__


def last_step(estimator: Any) -> Any:
    """Return the model at the end of a pipeline, or the model itself."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return estimator


def by_name(values: Any, name: str | None) -> dict[str, Any]:
    """Return values by the names of models; one value alone is given a name."""
    if not isinstance(values, Mapping):
        return {"" if name is None else name: values}
    if name is not None:
        raise ValueError(
            f"name={name!r} is for one model. Several have the names of their dict."
        )
    if not values:
        raise ValueError("There is no model to plot. Pass at least one.")
    return {str(key): value for key, value in values.items()}
