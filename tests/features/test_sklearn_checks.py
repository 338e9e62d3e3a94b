# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's own checks for the feature maps; none may fail.

Not for landmarks="stratified", which needs two classes; the checks pass three to any
transformer.
"""

from sklearn.utils.estimator_checks import parametrize_with_checks

from aucmax.features.fourier import FourierFeatures
from aucmax.features.nystroem import Nystroem

MAPS = [
    Nystroem(),
    Nystroem(8, landmarks="kmeans"),
    Nystroem(8, rank=3),
    Nystroem(kernel="laplacian"),
    Nystroem(kernel="polynomial"),
    FourierFeatures(64),
    FourierFeatures(64, kernel="laplacian"),
    FourierFeatures(64, orthogonal=True),
]


@parametrize_with_checks(MAPS)
def test_sklearn_check(estimator, check):
    check(estimator)
