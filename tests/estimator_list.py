# SPDX-License-Identifier: BSD-3-Clause
"""Every public estimator, in each variant that has code of its own."""

from sklearn.base import clone

from aucmax import (
    KNNOAM,
    NBAUC,
    NSAUC,
    OAM,
    OILK,
    OPAUC,
    RFAUC,
    SOLAM,
    SPDAM,
    AdaOAM,
    AUCClassifier,
    FourierFeatures,
    KernelRankSVM,
    LeastSquaresAUC,
    Nystroem,
    OnlinePCA,
    OnlineUnivariate,
    RankSVM,
    RankSVMCV,
    SparseKernelAUC,
    UnivariateAUC,
)

ESTIMATORS = [
    AUCClassifier(families=["linear"], cv=2),
    RankSVM(),
    RankSVM(loss="hinge"),
    RankSVMCV(),
    LeastSquaresAUC(),
    LeastSquaresAUC(solver="cg"),
    UnivariateAUC(),
    UnivariateAUC(loss="square"),
    UnivariateAUC(loss="exponential"),
    SPDAM(),
    NBAUC(),
    RFAUC(),
    NSAUC(),
    KernelRankSVM(),
    SparseKernelAUC(),
    OPAUC(),
    OPAUC(solver="gradient"),
    OPAUC(rank=50),
    OPAUC(rank=3, solver="gradient"),
    OPAUC(reduce="features", n_components=3),
    OPAUC(reduce="projection", n_components=3),
    OPAUC(reduce="pca", n_components=3),
    AdaOAM(),
    AdaOAM(sparse=True),
    OAM(),
    OAM(update="gradient"),
    SOLAM(),
    SOLAM(penalty="ball"),
    OnlineUnivariate(),
    OnlineUnivariate(loss="square"),
    OnlineUnivariate(loss="logistic"),
    OILK(),
    OILK(policy="fifo", n_neighbors=5, compensate=True),
    KNNOAM(),
    KNNOAM(backend="brute"),
    KNNOAM(ties="random", weights="distance", backend="tree"),
    KNNOAM(reduce=OnlinePCA(1), random_state=0),
    Nystroem(),
    FourierFeatures(),
    OnlinePCA(1),
    OnlinePCA(1, method="sga"),
]
FIXED = {"gamma": 0.1, "alpha": 0.01}
# For tests that fit each of them: few parts, and nothing is chosen by trial.
QUICK = {
    RankSVMCV: {"alphas": 3, "cv": 2},
    NBAUC: {"n_landmarks": 8, **FIXED},
    RFAUC: {"n_features": 8, **FIXED},
    NSAUC: {"n_landmarks": 8, **FIXED},
    KernelRankSVM: FIXED,
    SparseKernelAUC: {"n_basis": 8, **FIXED},
    Nystroem: {"n_landmarks": 8},
    FourierFeatures: {"n_features": 8},
}


def quick(estimator, **params):
    """Return a copy that is fitted in no time; with these parameters, if it has any."""
    known = estimator.get_params()
    given = {name: value for name, value in params.items() if name in known}
    return clone(estimator).set_params(**QUICK.get(type(estimator), {}), **given)
