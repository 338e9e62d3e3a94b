# SPDX-License-Identifier: BSD-3-Clause
"""Models by name, each with the preparation of columns that it needs."""

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import click

from aucmax.cli._base import EXPECTED


class Recipe(NamedTuple):
    """Where a model is, how columns are prepared for it, and what is set."""

    module: str
    name: str
    # "scaled": filled and scaled numbers; "raw": for trees, which split at any value
    # and take missing ones; "none": the model takes the table as it is.
    prepare: str = "scaled"
    settings: Mapping[str, Any] = {}
    # Whether partial_fit of all rows, in any order, learns the same as fit.
    streams: bool = False


MODELS = {
    "auto": Recipe("aucmax", "AUCClassifier", "none"),
    "adaoam": Recipe("aucmax", "AdaOAM", streams=True),
    "kernelranksvm": Recipe("aucmax", "KernelRankSVM"),
    "knnoam": Recipe("aucmax", "KNNOAM", streams=True),
    "leastsquaresauc": Recipe("aucmax", "LeastSquaresAUC"),
    "nbauc": Recipe("aucmax", "NBAUC"),
    "nsauc": Recipe("aucmax", "NSAUC"),
    "oam": Recipe("aucmax", "OAM", streams=True),
    "oilk": Recipe("aucmax", "OILK", streams=True),
    "onlineunivariate": Recipe("aucmax", "OnlineUnivariate", streams=True),
    "opauc": Recipe("aucmax", "OPAUC", streams=True),
    "ranksvm": Recipe("aucmax", "RankSVM"),
    "ranksvmcv": Recipe("aucmax", "RankSVMCV"),
    "rfauc": Recipe("aucmax", "RFAUC"),
    "solam": Recipe("aucmax", "SOLAM", streams=True),
    "sparsekernelauc": Recipe("aucmax", "SparseKernelAUC"),
    "spdam": Recipe("aucmax", "SPDAM"),
    "univariateauc": Recipe("aucmax", "UnivariateAUC"),
    "logistic": Recipe(
        "sklearn.linear_model", "LogisticRegression", settings={"max_iter": 1000}
    ),
    "svc": Recipe("sklearn.svm", "SVC"),
    "knn": Recipe("aucmax.cli._neighbors", "Neighbors"),
    "forest": Recipe("sklearn.ensemble", "RandomForestClassifier", "raw"),
    "hgb": Recipe("sklearn.ensemble", "HistGradientBoostingClassifier", "raw"),
    "lightgbm": Recipe("aucmax.cli._boosted", "LightGBM", "raw", {"verbose": -1}),
}

# Those that learn a table of any size, batch by batch.
IN_BATCHES = (
    *(name for name, recipe in MODELS.items() if recipe.streams),
    *("leastsquaresauc", "nbauc", "ranksvm"),
)
# Those that run on a cluster, and what they are called there.
DASK_MODELS = {
    "leastsquaresauc": "DaskLeastSquaresAUC",
    "nbauc": "DaskNBAUC",
    "opauc": "DaskOPAUC",
    "ranksvm": "DaskRankSVM",
}


class ModelName(click.ParamType):  # type: ignore[type-arg]
    """The name of a model, in small or large letters."""

    name = "model"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the name in small letters, or end the command."""
        small = str(value).strip().lower()
        if small not in MODELS:
            raise click.UsageError(
                f"There is no model {value!r}. There are: {', '.join(MODELS)}."
            )
        return small


class Setting(click.ParamType):  # type: ignore[type-arg]
    """A parameter of a model and its value, such as alpha=0.1.

    Examples
    --------
    >>> from aucmax.cli._models import Setting
    >>> [Setting().convert(text) for text in ("alpha=0.1", "loss=hinge", "rank=None")]
    [('alpha', 0.1), ('loss', 'hinge'), ('rank', None)]
    """

    name = "setting"

    def convert(self, value: Any, param: Any = None, ctx: Any = None) -> Any:
        """Return the parameter and its value, or end the command."""
        key, equals, text = str(value).partition("=")
        if not equals or not key.strip().isidentifier():
            raise click.UsageError(
                f"--set takes a parameter and its value, such as alpha=0.1; got "
                f"{value!r}."
            )
        try:
            return key.strip(), ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            return key.strip(), text.strip()


@contextmanager
def told_settings(name: str, settings: Mapping[str, Any]) -> Iterator[None]:
    """Turn what a bad value makes a model raise into a sentence that names it."""
    try:
        yield
    except EXPECTED:
        raise
    # Models of three libraries fail in their own ways on a value they do not like.
    except Exception as error:
        if not settings:
            raise
        chosen = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        raise ValueError(
            f"{name} cannot learn with {chosen} (--set): {str(error).rstrip('.')}. "
            "Give another value."
        ) from error


def make_estimator(
    name: str, settings: Mapping[str, Any], *, seed: int = 0, **more: Any
) -> Any:
    """Return the model alone, without preparation; ``more`` is set where it exists."""
    recipe = MODELS[name]
    try:
        kind = getattr(import_module(recipe.module), recipe.name)
    except ModuleNotFoundError:
        raise  # A part of what is installed: nothing that the user has left out.
    except ImportError as error:
        raise click.UsageError(f"There is no model {name} here: {error}") from error
    estimator = kind(**recipe.settings)
    known = estimator.get_params(deep=False)
    if unknown := [each for each in settings if each not in known]:
        raise click.UsageError(
            f"{name} has no parameter {unknown[0]!r}. It has: {', '.join(known)}."
        )
    own = {"random_state": seed, **more, **recipe.settings}
    own = {key: value for key, value in own.items() if key in known}
    return estimator.set_params(**(own | dict(settings)))


def make_model(name: str, estimator: Any, *, is_sparse: bool = False) -> Any:
    """Return the estimator behind the preparation of columns that it needs."""
    recipe = MODELS[name]
    if recipe.prepare == "none":
        return estimator
    if name == "hgb" and is_sparse:
        raise ValueError("hgb takes no sparse rows. Use lightgbm, or another model.")
    from sklearn.pipeline import Pipeline

    from aucmax.preparation import Preparation

    prepare = Preparation(scale=recipe.prepare == "scaled")
    return Pipeline([("prepare", prepare), ("model", estimator)])
