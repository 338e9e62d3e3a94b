# SPDX-License-Identifier: BSD-3-Clause
"""Choose a threshold by what errors cost, and see what it costs on new rows.

Run it with ``python examples/threshold.py``. With ``--plot FILE`` it also saves a
figure, which needs matplotlib: ``pip install "aucmax[plot]"``.
"""

import argparse
from typing import Any

from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucmax import RankSVMCV
from aucmax.datasets import load_bundled
from aucmax.metrics import cost_curve
from aucmax.plots import ThresholdDisplay

# Of the makers of the data: to accept a bad risk is five times as bad as to refuse a
# good one.
COSTS = {"cost_fp": 1, "cost_fn": 5}
NOTES = """
Costs are per applicant, in units of a good risk refused. The model's own threshold is
that of the best balanced accuracy. The one by costs was chosen on scores of training
rows that were left out in turn, so the test rows are new to it."""


def main() -> None:
    """Choose the threshold on training rows and compare its cost on test rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="save a figure there")
    file = parser.parse_args().plot

    data = load_bundled("german")
    model = make_pipeline(StandardScaler(), RankSVMCV())
    left_out = cross_val_predict(model, data.X, data.y, method="decision_function")
    best = cost_curve(data.y, left_out, **COSTS).best()
    scores = model.fit(data.X, data.y).decision_function(data.X_test)

    print(f"{'rule':28}{'refused':>9}{'bad ones missed':>17}{'cost':>7}")
    for rule, is_refused in {
        "accept everybody": scores == float("inf"),
        "refuse everybody": scores < float("inf"),
        "the model's own threshold": scores > 0,
        f"by costs: above {best.threshold:.2f}": scores > best.threshold,
    }.items():
        print_rule(rule, data.y_test, is_refused)
    print(NOTES)
    if file:
        display = ThresholdDisplay.from_predictions(
            data.y, left_out, show=["recall", "precision"], **COSTS
        )
        display.figure_.savefig(file, dpi=150)


def print_rule(rule: str, y: Any, is_refused: Any) -> None:
    """Print what a rule does to the test rows."""
    missed, wronged = sum(y[~is_refused] == 1), sum(y[is_refused] == 0)
    cost = (COSTS["cost_fn"] * missed + COSTS["cost_fp"] * wronged) / len(y)
    print(f"{rule:28}{sum(is_refused):9}{missed:17}{cost:7.3f}")


if __name__ == "__main__":
    main()
