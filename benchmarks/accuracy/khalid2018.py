# SPDX-License-Identifier: BSD-3-Clause
"""Test AUC on the data of khalid2018, beside the figures printed there.

Features are z-scored with the training rows; given splits where there are any, else
80/20 at random. Width, penalty and everything else are the defaults of the estimators:
chosen on training rows alone. Needs AUCMAX_DATA.

    python benchmarks/accuracy/khalid2018.py --methods NBAUC,RFAUC --sets usps,ijcnn1
"""

import argparse
import time

import numpy as np
from _sets import load

from aucmax import NBAUC, NSAUC, RFAUC, RankSVMCV

# Tables 2 and 4, in percent. Table 2 trains on at most 80,000 rows, Table 4 on all.
PAPER = {
    "RankSVMCV": {"spambase": 97.47, "usps": 90.27, "magic04": 84.47, "ijcnn1": 91.56,
                  "connect-4": 88.20, "skin": 94.81, "covtype": 87.75},
    "RFAUC": {"spambase": 97.75, "usps": 97.42, "magic04": 92.83, "ijcnn1": 98.86,
              "connect-4": 91.10, "skin": 100.0, "covtype": 95.99},
    "NBAUC": {"spambase": 98.04, "usps": 99.24, "magic04": 93.06, "ijcnn1": 99.57,
              "connect-4": 94.09, "skin": 99.98, "covtype": 96.03,
              "covtype-all": 96.60, "skin-all": 99.98},
    "NSAUC": {"ijcnn1": 99.69, "connect-4": 94.04, "skin-all": 99.98,
              "covtype-all": 96.00},
}  # fmt: skip
MODELS = {"RankSVMCV": RankSVMCV, "RFAUC": RFAUC, "NBAUC": NBAUC, "NSAUC": NSAUC}


def rows_of(name, seed):
    """Return the data: "covtype-all" is not capped, "connect-4-raw" not scaled."""
    base = name.removesuffix("-all").removesuffix("-raw")
    cap = None if name.endswith("-all") else 80_000
    scale = None if name.endswith("-raw") else "z"
    return load(base, seed=seed, scale=scale, cap=cap)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="NBAUC,RFAUC,NSAUC")
    parser.add_argument(
        "--sets", default="usps,magic04,spambase,ijcnn1,connect-4,connect-4-raw,covtype"
    )
    parser.add_argument("--seeds", type=int, default=1, help="random splits")
    options = parser.parse_args()
    print("data method paper ours sd difference splits seconds gamma*b alpha")
    for name in options.sets.split(","):
        for method in options.methods.split(","):
            aucs, seconds, chosen = [], 0.0, ""
            for seed in range(options.seeds):
                X_train, X_test, y_train, y_test = rows_of(name, seed)
                model = MODELS[method]()
                if "random_state" in model.get_params():
                    model.set_params(random_state=seed)
                start = time.perf_counter()
                model.fit(X_train, y_train)
                seconds += time.perf_counter() - start
                aucs.append(100 * model.score(X_test, y_test))
                if hasattr(model, "gamma_"):
                    spread = X_train.var(axis=0).sum()
                    chosen = f"{model.gamma_ * spread:.3g} {model.alpha_:.0e}"
            paper = PAPER[method].get(name.removesuffix("-raw"), np.nan)
            mean, sd = np.mean(aucs), np.std(aucs)
            print(
                f"{name} {method} {paper:.2f} {mean:.2f} {sd:.2f} {mean - paper:+.2f} "
                f"{len(aucs)} {seconds / len(aucs):.0f} {chosen}",
                flush=True,
            )


if __name__ == "__main__":
    main()
