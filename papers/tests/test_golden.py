# SPDX-License-Identifier: BSD-3-Clause
"""A change of the code that changes a method's figures has to raise its version."""

import csv

import golden
import pytest

# Kernel solvers stop elsewhere within their tolerance on other processors.
TOLERANCE = 5e-4
METHODS = list(golden.methods())


@pytest.fixture(scope="module")
def kept():
    with golden.FILE.open(encoding="utf-8") as file:
        return {
            (row["paper"], row["method"], row["variant"]): row
            for row in csv.DictReader(file)
        }


def test_every_method_has_one(kept):
    assert set(kept) == {(key, method.name, v) for key, method, v in METHODS}


@pytest.mark.parametrize(
    ("key", "method", "variant"),
    METHODS,
    ids=[f"{key} {method.name} {variant}" for key, method, variant in METHODS],
)
def test_auc_is_as_it_was(kept, key, method, variant):
    row = kept[key, method.name, variant]
    assert int(row["results_version"]) == method.results_version, (
        "The version was raised: write golden.csv anew, see golden.py."
    )
    auc, _ = golden.measure(key, method, variant, row["params"])
    assert auc == pytest.approx(float(row["auc"]), abs=TOLERANCE), (
        "The figures of this method change. If that is meant, raise its "
        "results_version in its protocol, and write golden.csv anew."
    )
