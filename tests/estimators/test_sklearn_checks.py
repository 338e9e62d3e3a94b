# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's own checks for every public estimator; none may fail."""

from estimator_list import ESTIMATORS
from sklearn.utils.estimator_checks import parametrize_with_checks

import aucmax


@parametrize_with_checks(ESTIMATORS)
def test_sklearn_check(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    public = {
        name for name in aucmax.__all__ if isinstance(getattr(aucmax, name), type)
    }
    assert public == {type(estimator).__name__ for estimator in ESTIMATORS}
