# SPDX-License-Identifier: BSD-3-Clause
"""Binary scorers trained to maximise the area under the ROC curve.

>>> from sklearn.datasets import load_breast_cancer
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> import aucmax
>>> X, y = load_breast_cancer(return_X_y=True)
>>> model = make_pipeline(StandardScaler(), aucmax.RankSVM()).fit(X, y)
>>> bool(model.score(X, y) > 0.99)  # score is the AUC
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aucmax import datasets, distributed, io, metrics, plots, preparation
    from aucmax.auto.classifier import AUCClassifier
    from aucmax.estimators.ada_oam import AdaOAM
    from aucmax.estimators.kernel_rank_svm import KernelRankSVM
    from aucmax.estimators.knnoam import KNNOAM
    from aucmax.estimators.least_squares_auc import LeastSquaresAUC
    from aucmax.estimators.nbauc import NBAUC
    from aucmax.estimators.nsauc import NSAUC
    from aucmax.estimators.oam import OAM
    from aucmax.estimators.oilk import OILK
    from aucmax.estimators.online_univariate import OnlineUnivariate
    from aucmax.estimators.opauc import OPAUC
    from aucmax.estimators.rank_svm import RankSVM
    from aucmax.estimators.rank_svm_cv import RankSVMCV
    from aucmax.estimators.rfauc import RFAUC
    from aucmax.estimators.solam import SOLAM
    from aucmax.estimators.sparse_kernel_auc import SparseKernelAUC
    from aucmax.estimators.spdam import SPDAM
    from aucmax.estimators.univariate_auc import UnivariateAUC
    from aucmax.features.fourier import FourierFeatures
    from aucmax.features.nystroem import Nystroem
    from aucmax.features.online_pca import OnlinePCA

__version__ = "0.1.0.dev0"

__all__ = [
    "KNNOAM",
    "NBAUC",
    "NSAUC",
    "OAM",
    "OILK",
    "OPAUC",
    "RFAUC",
    "SOLAM",
    "SPDAM",
    "AUCClassifier",
    "AdaOAM",
    "FourierFeatures",
    "KernelRankSVM",
    "LeastSquaresAUC",
    "Nystroem",
    "OnlinePCA",
    "OnlineUnivariate",
    "RankSVM",
    "RankSVMCV",
    "SparseKernelAUC",
    "UnivariateAUC",
    "datasets",
    "distributed",
    "io",
    "metrics",
    "plots",
    "preparation",
]

# Public names are imported when first asked for, so `import aucmax` costs nothing.
_HOMES = {
    "AUCClassifier": "aucmax.auto.classifier",
    "AdaOAM": "aucmax.estimators.ada_oam",
    "FourierFeatures": "aucmax.features.fourier",
    "KernelRankSVM": "aucmax.estimators.kernel_rank_svm",
    "KNNOAM": "aucmax.estimators.knnoam",
    "LeastSquaresAUC": "aucmax.estimators.least_squares_auc",
    "NBAUC": "aucmax.estimators.nbauc",
    "NSAUC": "aucmax.estimators.nsauc",
    "Nystroem": "aucmax.features.nystroem",
    "OAM": "aucmax.estimators.oam",
    "OILK": "aucmax.estimators.oilk",
    "OnlinePCA": "aucmax.features.online_pca",
    "OnlineUnivariate": "aucmax.estimators.online_univariate",
    "OPAUC": "aucmax.estimators.opauc",
    "RankSVM": "aucmax.estimators.rank_svm",
    "RankSVMCV": "aucmax.estimators.rank_svm_cv",
    "RFAUC": "aucmax.estimators.rfauc",
    "SOLAM": "aucmax.estimators.solam",
    "SparseKernelAUC": "aucmax.estimators.sparse_kernel_auc",
    "SPDAM": "aucmax.estimators.spdam",
    "UnivariateAUC": "aucmax.estimators.univariate_auc",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in __all__:
        value = import_module(f"aucmax.{name}")
    else:
        raise AttributeError(f"module 'aucmax' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
