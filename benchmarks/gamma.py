# SPDX-License-Identifier: BSD-3-Clause
"""``gamma="auto"`` beside the paper's rule ``gamma="scale-mean"``, alpha tuned in both.

Test AUC in percent, mean over random 80/20 splits, z-scored. Needs AUCMAX_DATA.
"""

import argparse

import numpy as np
from _sets import load

from aucmax import NBAUC

SETS = (
    "sonar,glass,ionosphere,australian,vehicle,fourclass,svmguide3,segment,"
    "satimage,spambase,usps,magic04"
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    differences = []
    print("data auto rule difference sd")
    for name in options.sets.split(","):
        aucs = np.array([scores(name, seed) for seed in range(options.splits)])
        gain = aucs[:, 0] - aucs[:, 1]
        differences.append(gain.mean())
        auto, rule = aucs.mean(axis=0)
        print(f"{name} {auto:.2f} {rule:.2f} {gain.mean():+.2f} {gain.std():.2f}")
    wins = sum(d > 0 for d in differences)
    print(f"mean {np.mean(differences):+.3f}, better on {wins} of {len(differences)}")


def scores(name, seed):
    X_train, X_test, y_train, y_test = load(name, seed=seed, cap=10_000)
    return [
        100
        * NBAUC(gamma=gamma, random_state=seed)
        .fit(X_train, y_train)
        .score(X_test, y_test)
        for gamma in ("auto", "scale-mean")
    ]


if __name__ == "__main__":
    main()
