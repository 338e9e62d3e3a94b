# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace
from importlib import metadata

import pytest
from small_paper import load_small

from aucmax_papers.versions import protocol_version, versions


@pytest.fixture
def records():
    paper = load_small()
    return paper.sets["german"], paper.methods["OPAUC"], paper.figures["2"]


@pytest.mark.parametrize(
    "changes",
    [
        {"grid": ({"step_size": (0.5, 0.25)},)},
        {"grid": ()},
        {"fixed": {"solver": "exact"}},
        {"default": {}},
        {"default": None},
        {"penalty": "sum"},
        {"estimator": "OAM"},
        {"before": {"estimator": "Nystroem"}},
        {"max_train": 50},
    ],
)
def test_protocol_version_changes_with_the_method(records, changes):
    use, method, _ = records
    changed = replace(method, **changes)
    assert protocol_version(use, changed) != protocol_version(use, method)


@pytest.mark.parametrize(
    "changes",
    [
        {"scaling": ("zscore",)},
        {"scaling": ("range", "unit")},
        {"positive": (1,)},
        {"data": "glass"},
        {"part": "train"},
        {"split": "holdout"},
        {"n_folds": 4},
        {"n_inner_folds": 4},
        {"n_inner_used": 3},
        {"n_inner_repeats": 2},
        {"tune_rows": 100},
        {"max_train": 100},
        {"max_rows": 100},
    ],
)
def test_protocol_version_changes_with_the_use_of_the_set(records, changes):
    use, method, _ = records
    changed = replace(use, **changes)
    assert protocol_version(changed, method) != protocol_version(use, method)


def test_protocol_version_does_not_change_with_words_and_numbers_of_runs(records):
    use, method, figure = records
    other = (
        replace(use, why="-", comparable=False, printed="-", n_repeats=9, n_runs=1),
        replace(
            method,
            note="-",
            cost=9.0,
            proposed=True,
            printed="-",
            n_runs=1,
            results_version=2,
        ),
        replace(figure, caption="-", note="-", values=(1.0,), n_runs=9, log=True),
    )
    assert protocol_version(*other) == protocol_version(*records)
    assert protocol_version(*other[:2]) == protocol_version(*records[:2])


def test_protocol_version_changes_with_the_figure(records):
    use, method, figure = records
    found = {
        protocol_version(use, method),
        protocol_version(use, method, figure),
        protocol_version(use, method, replace(figure, fixed={"average": False})),
        protocol_version(use, method, replace(figure, vary="lambda")),
        protocol_version(use, method, replace(figure, tuned=False)),
        protocol_version(use, method, replace(figure, max_rows=10)),
        protocol_version(use, method, replace(figure, vary="online")),
        protocol_version(use, method, replace(figure, vary="online", values=(3,))),
    }
    assert len(found) == 8


def test_versions_name_the_libraries():
    for name in ("numpy", "scipy", "scikit-learn", "numba"):
        assert f"{name} {metadata.version(name)}" in versions()
