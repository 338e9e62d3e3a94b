# SPDX-License-Identifier: BSD-3-Clause
"""Rank the rows of a data frame with text, dates and missing values.

Run it with ``python examples/first_ranking.py``. With ``--plot FILE`` it also saves a
figure, which needs matplotlib: ``pip install "aucmax[plot]"``.
"""

import argparse
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from aucmax import AUCClassifier
from aucmax.plots import RocDisplay

N_ROWS = 800


def main() -> None:
    """Fit, tell what was learned, and print the customers to call first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="save a figure there")
    file = parser.parse_args().plot

    customers, left = draw_customers()
    print(customers.head(3).to_string(), end="\n\n")
    X, X_test, y, y_test = train_test_split(
        customers, left, test_size=0.4, stratify=left, random_state=0
    )
    model = AUCClassifier(families=["linear", "boosting"], random_state=0).fit(X, y)
    print(model.explain(X_test, y_test), end="\n\n")
    print_first(model, X_test)
    if file:
        display = RocDisplay.from_estimator(model, X_test, y_test)
        display.figure_.savefig(file, dpi=150)


def draw_customers() -> tuple[pd.DataFrame, Any]:
    """Make up customers of a telephone company; some 15 % leave."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "plan": rng.choice(
                ["basic", "family", "business"], N_ROWS, p=[0.6, 0.3, 0.1]
            ),
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 1800, N_ROWS), unit="D"),
            "calls_to_support": rng.poisson(1.0, N_ROWS),
            "monthly_bill": rng.gamma(8.0, 5.0, N_ROWS).round(2),
            "pays_by": pd.Categorical(rng.choice(["card", "bank", "cheque"], N_ROWS)),
        }
    )
    years = (pd.Timestamp("2025-01-01") - frame["since"]).dt.days / 365
    wish = 0.9 * frame["calls_to_support"] - 0.6 * years + 0.03 * frame["monthly_bill"]
    wish += 1.2 * (frame["plan"] == "basic") + rng.logistic(size=N_ROWS)
    left = np.where(wish > wish.quantile(0.85), "left", "stayed")
    # Nobody knows everything of everybody.
    frame.loc[rng.random(N_ROWS) < 0.1, "monthly_bill"] = np.nan
    frame.loc[rng.random(N_ROWS) < 0.1, "pays_by"] = None
    # The larger label is the positive one, and "stayed" comes after "left".
    return frame, (left == "left").astype(int)


def print_first(model: Any, X: pd.DataFrame) -> None:
    """Print the rows with the highest scores."""
    chances = model.predict_proba(X)[:, 1]
    first = np.argsort(-model.decision_function(X))[:5]
    print("Call these first:")
    print(X.iloc[first].assign(probability=chances[first].round(2)).to_string())


if __name__ == "__main__":
    main()
