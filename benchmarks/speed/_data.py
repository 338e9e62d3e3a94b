# SPDX-License-Identifier: BSD-3-Clause
"""Real data for the benchmarks: ``NAME.svm.bz2`` files in the folder AUCMAX_DATA."""

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

# File, number of features, and which labels are positive.
SETS = {
    "covtype": ("covtype.svm.bz2", 54, lambda y: y >= 4),
    "connect-4": ("connect-4.svm.bz2", 126, lambda y: y == -1),
    "magic04": ("magic04.svm.bz2", 10, lambda y: y == 1),
    "ijcnn1": ("ijcnn1.train.svm.bz2", 22, lambda y: y == 1),
    "w8a": ("w8a.train.svm.bz2", 300, lambda y: y == 1),
    "news20": ("news20.train.svm.bz2", 62_061, lambda y: y == 1),
}


def data_folder():
    """Return the folder, or leave with a sentence that says what is missing."""
    folder = os.environ.get("AUCMAX_DATA")
    if not folder:
        print("Left out: AUCMAX_DATA is not set to a folder of NAME.svm.bz2 files.")
        sys.exit(0)
    return Path(folder)


def load(name, *, standardise=True):
    """Return X_train, X_test, y_train, y_test: 80/20, seed 0, boolean labels."""
    file, n_features, is_positive = SETS[name]
    path = data_folder() / file
    if not path.exists():
        sys.exit(f"{path} is missing; AUCMAX_DATA must hold {file}.")
    X, y = load_svmlight_file(str(path), n_features=n_features)
    y = is_positive(y)
    parts = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    if not standardise:
        return parts
    X_train, X_test, y_train, y_test = parts
    scaler = StandardScaler().fit(X_train.toarray())
    return (
        np.ascontiguousarray(scaler.transform(X_train.toarray())),
        np.ascontiguousarray(scaler.transform(X_test.toarray())),
        y_train,
        y_test,
    )
