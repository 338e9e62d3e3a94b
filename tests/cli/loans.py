# SPDX-License-Identifier: BSD-3-Clause
"""A made-up table with columns of all kinds, and missing values."""

import numpy as np
import pandas as pd


def make_loans(n=240, seed=0):
    rng = np.random.default_rng(seed)
    risk = rng.normal(size=n)
    income = np.round(3 - risk + 0.4 * rng.normal(size=n), 3)
    income[rng.random(n) < 0.1] = np.nan
    town = np.where(risk + rng.normal(size=n) > 0.5, "Linz", "Graz").astype(object)
    town[rng.random(n) < 0.1] = None
    day = np.datetime64("2024-01-01") + rng.integers(0, 300, n)
    return pd.DataFrame(
        {
            "id": np.arange(n) + 1000,
            "income": income,
            "town": town,
            "since": day.astype("M8[s]"),
            "owns": rng.random(n) < 0.5,
            "late": np.where(risk + 0.4 * rng.normal(size=n) > 0.6, "yes", "no"),
        }
    )
