# SPDX-License-Identifier: BSD-3-Clause
"""The papers' data, from ``NAME.svm.bz2`` files in the folder AUCMAX_DATA."""

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

# Number of features, which labels are positive, and which files there are.
ONE, TRAIN, BOTH = "one file", "train only", "train and test"
SETS = {
    "spambase": (57, lambda y: y == 1, ONE),
    "usps": (256, lambda y: y >= y.min() + 5, BOTH),
    "magic04": (10, lambda y: y == 1, ONE),
    "ijcnn1": (22, lambda y: y == 1, BOTH),
    "connect-4": (126, lambda y: y == -1, ONE),
    "skin": (3, lambda y: y == y.min(), ONE),
    "covtype": (54, lambda y: y >= 4, ONE),
    "sonar": (60, lambda y: y == 1, ONE),
    "glass": (9, lambda y: y == 1, ONE),
    "ionosphere": (34, lambda y: y == 1, ONE),
    "balance": (4, lambda y: y == np.unique(y)[1], ONE),
    "australian": (14, lambda y: y == 1, ONE),
    "vehicle": (18, lambda y: y == y.max(), ONE),
    "fourclass": (2, lambda y: y == 1, ONE),
    "svmguide3": (22, lambda y: y == y.max(), TRAIN),
    "a2a": (123, lambda y: y == 1, TRAIN),
    "segment": (19, lambda y: y == y.min(), ONE),
    "satimage": (36, lambda y: y == 4, BOTH),
    "poker": (10, lambda y: y == 0, TRAIN),
}


def read(name, part="train"):
    """Return the rows of one file, dense, and the mask of the positives."""
    folder = os.environ.get("AUCMAX_DATA")
    if not folder:
        sys.exit("Set AUCMAX_DATA to the folder that holds NAME.svm.bz2 files.")
    n_features, is_positive, files = SETS[name]
    file = f"{name}.svm.bz2" if files == ONE else f"{name}.{part}.svm.bz2"
    X, y = load_svmlight_file(str(Path(folder) / file), n_features=n_features)
    return X.toarray(), is_positive(y)


def load(name, *, seed=0, scale="z", cap=None):
    """Return X_train, X_test, y_train, y_test: the given split, or 80 to 20."""
    if SETS[name][2] == BOTH:
        (X_train, y_train), (X_test, y_test) = read(name), read(name, "test")
    else:
        X, y = read(name)
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.2, random_state=seed, stratify=y
        )
    if cap is not None and len(X_train) > cap:
        kept = np.random.default_rng(seed).permutation(len(X_train))[:cap]
        X_train, y_train = X_train[kept], y_train[kept]
    if scale == "z":
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    return X_train, X_test, y_train, y_test
