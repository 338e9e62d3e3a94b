# SPDX-License-Identifier: BSD-3-Clause
"""From a method as the papers write it to an estimator."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

import aucmax
from aucmax._utils.typing import BoolArray, Matrix, is_sparse
from aucmax_papers.protocol import Method

# What our estimators call the number of passes.
PASSES = ("n_passes", "max_passes", "max_iter")


def build(
    method: Method,
    variant: str,
    params: Mapping[str, Any],
    X: Matrix,
    is_pos: BoolArray,
    seed: int,
    n_pairs: float | None = None,
) -> Any:
    """Return the estimator of a method, not yet fitted.

    Parameters
    ----------
    method : Method
        As in the paper's file.
    variant : str
        "published" or "default".
    params : dict
        Parameters from the grid, in the paper's own terms.
    X : array or CSR of shape (n_rows, n_features)
        The training rows, which some terms refer to.
    is_pos : ndarray of shape (n_rows,)
        Which of them are positive.
    seed : int
        ``random_state`` of whatever is random.
    n_pairs : float, default=None
        Number of pairs that a C multiplies the sum over; None is that of these rows.

    Returns
    -------
    estimator : estimator
        With our own parameters.
    """
    if variant == "default":
        name = method.default_estimator or method.estimator
        own = {**(method.default or {}), **params}
    else:
        name, own = method.estimator, {**method.fixed, **params}
    is_other = variant == "default" and method.default_estimator
    before = {} if is_other else dict(method.before)
    model = _seeded(
        _make(name, translate(own, method.penalty, X, is_pos, n_pairs)), seed
    )
    if not before:
        return model
    first = _make(before.pop("estimator"), translate(before, "alpha", X, is_pos))
    return make_pipeline(_seeded(first, seed), model)


def translate(
    params: Mapping[str, Any],
    penalty: str,
    X: Matrix,
    is_pos: BoolArray,
    n_pairs: float | None = None,
) -> dict[str, Any]:
    """Return parameters in our terms.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax_papers.methods import translate
    >>> translate({"C": 0.5}, "sum", np.eye(4), np.array([True, True, False, False]))
    {'alpha': 0.5}
    >>> translate({"sigma": 2.0}, "sum", np.eye(2), np.array([True, False]))
    {'gamma': 0.125}
    """
    if n_pairs is None:
        n_pairs = count_pairs(is_pos)
    own: dict[str, Any] = {}
    for name, value in params.items():
        if name in ("C", "lambda"):
            own["alpha"] = _alpha(value, penalty, n_pairs)
        elif name == "Cs":
            own["alphas"] = sorted(_alpha(C, penalty, n_pairs) for C in value)
        elif name == "sigma":
            own["gamma"] = 1 / (2 * value**2)
        elif name == "gamma_scale":
            own["gamma"] = value / _spread(X)
        else:
            own[name] = value
    return own


def count_pairs(is_pos: BoolArray) -> float:
    """Return the number of pairs of a positive and a negative."""
    return float(is_pos.sum()) * float((~is_pos).sum())


def _alpha(value: float, penalty: str, n_pairs: float) -> float:
    if penalty == "half":
        return 2 * value
    if penalty == "sum":
        return 1 / (value * n_pairs)
    if penalty == "half-sum":
        return 2 / (value * n_pairs)
    return value


def _spread(X: Matrix) -> float:
    """Return the mean squared distance of the rows to their mean."""
    if is_sparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        return float(X.multiply(X).sum() / X.shape[0] - mean @ mean)
    return float(X.var(axis=0).sum())


def _make(name: str, params: dict[str, Any]) -> Any:
    kind = getattr(aucmax, name)
    if "passes" in params:
        known = kind().get_params()
        params[next(word for word in PASSES if word in known)] = params.pop("passes")
    return kind(**params)


def _seeded(model: Any, seed: int) -> Any:
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return model
