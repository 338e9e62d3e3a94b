# SPDX-License-Identifier: BSD-3-Clause
"""LightGBM and XGBoost with their defaults but for the trees, on one thread."""

import importlib.util

from _suite import leave_out

PACKAGES = {"LightGBM": "lightgbm", "XGBoost": "xgboost"}


def is_there(name):
    """Say whether the package is installed that a name begins with, as "XGBoost, 9"."""
    library = name.split(",")[0]
    if importlib.util.find_spec(PACKAGES[library]) is None:
        leave_out(f"{library} is not installed.")
        return False
    return True


def make(name, n_trees):
    if name.startswith("XGBoost"):
        from xgboost import XGBClassifier

        return XGBClassifier(n_estimators=n_trees, n_jobs=1)
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=n_trees, n_jobs=1, verbose=-1)
