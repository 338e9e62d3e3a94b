# SPDX-License-Identifier: BSD-3-Clause
"""The models of the demonstration, each used as a data scientist would use it."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from aucmax._utils.optional import import_optional
from aucmax.auto import AUCClassifier

OURS = "AUCClassifier"
LIGHT = "LightGBM"
SEED = 0
N_FOLDS = 5
# With --quick, so that all is over in seconds.
QUICK_FAMILIES = ("linear", "kernel")
QUICK_FOLDS = 3


class Rival(NamedTuple):
    """A model and the parameters that cross-validated AUC chooses among."""

    model: Any
    grid: Mapping[str, Sequence[Any]]
    is_scaled: bool
    n_jobs: int | None = None


def make_models(*, is_quick: bool = False) -> dict[str, Any]:
    """Return the models by name, not fitted: ours first, then those to compare with.

    Parameters
    ----------
    is_quick : bool, default=False
        Whether to try fewer candidates, in fewer folds.

    Returns
    -------
    models : dict of str to classifier
        LightGBM is among them where it is installed.

    Examples
    --------
    >>> from aucmax.demo.models import make_models
    >>> list(make_models())[:3]
    ['AUCClassifier', 'LogisticRegression', 'SVC (rbf)']
    """
    ours = AUCClassifier(random_state=SEED)
    if is_quick:
        ours.set_params(families=QUICK_FAMILIES, cv=QUICK_FOLDS)
    return {OURS: ours} | {
        name: _tuned(rival, is_quick) for name, rival in _rivals().items()
    }


def _rivals() -> dict[str, Rival]:
    rates, leaves = (0.05, 0.1, 0.2), (7, 31)
    rivals = {
        "LogisticRegression": Rival(
            LogisticRegression(max_iter=1000), {"C": (0.01, 0.1, 1, 10, 100)}, True
        ),
        "SVC (rbf)": Rival(
            SVC(class_weight="balanced"),
            {"C": (1, 10, 100), "gamma": ("scale", 0.1)},
            True,
        ),
        "HistGradientBoosting": Rival(
            HistGradientBoostingClassifier(random_state=SEED),
            {"learning_rate": rates, "max_leaf_nodes": leaves},
            False,
            # In a thread of our own it would start one more per core.
            n_jobs=1,
        ),
    }
    if find_spec("lightgbm"):
        lightgbm = import_optional("lightgbm", "boost")
        model = lightgbm.LGBMClassifier(n_jobs=1, random_state=SEED, verbose=-1)
        grid = {"learning_rate": rates, "num_leaves": leaves}
        rivals[LIGHT] = Rival(model, grid, False)
    return rivals


def _tuned(rival: Rival, is_quick: bool) -> GridSearchCV:
    steps = [("scale", StandardScaler())] if rival.is_scaled else []
    # A quick run has every second value.
    step = 2 if is_quick else 1
    return GridSearchCV(
        Pipeline([*steps, ("model", rival.model)]),
        {f"model__{name}": list(v)[::step] for name, v in rival.grid.items()},
        scoring="roc_auc",
        n_jobs=rival.n_jobs,
        cv=StratifiedKFold(
            QUICK_FOLDS if is_quick else N_FOLDS, shuffle=True, random_state=SEED
        ),
    )


def describe_grid(model: Any) -> str:
    """Return what was tuned, and what was chosen once the model is fitted.

    Examples
    --------
    >>> from aucmax.demo.models import describe_grid, make_models
    >>> describe_grid(make_models()["SVC (rbf)"])
    'C of 1, 10, 100; gamma of scale, 0.1'
    """
    if not isinstance(model, GridSearchCV):
        return ""
    if hasattr(model, "best_params_"):
        chosen = model.best_params_.items()
        return ", ".join(f"{_plain(name)}={value}" for name, value in chosen)
    return "; ".join(
        f"{_plain(name)} of {', '.join(map(str, values))}"
        for name, values in model.param_grid.items()
    )


def _plain(name: str) -> str:
    return name.removeprefix("model__")
