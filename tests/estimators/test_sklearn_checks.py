# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's own checks for every public estimator; none may fail."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import aucmax
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
    KNNOAM(ties="random", weights="distance", backend="tree"),
    KNNOAM(reduce=OnlinePCA(1), random_state=0),
    Nystroem(),
    FourierFeatures(),
    OnlinePCA(1),
    OnlinePCA(1, method="sga"),
]


@parametrize_with_checks(ESTIMATORS)
def test_sklearn_check(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    public = {
        name for name in aucmax.__all__ if isinstance(getattr(aucmax, name), type)
    }
    assert public == {type(estimator).__name__ for estimator in ESTIMATORS}
