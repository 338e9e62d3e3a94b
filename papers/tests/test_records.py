# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace

import pytest

from aucmax_papers.records import Method, SetUse, limited


@pytest.mark.parametrize(
    ("own", "limit", "expected"),
    [(0, 5, 5), (5, 0, 5), (5, 3, 3), (3, 5, 3), (0, 0, 0)],
)
def test_the_smaller_limit_counts_and_zero_is_none(own, limit, expected):
    assert limited(SetUse("s", max_rows=own), {"max_rows": limit}).max_rows == expected


def test_by_set():
    method = Method(
        "m", estimator="OAM", fixed={"a": 1, "b": 2}, by_set={"x": {"b": 3, "c": 4}}
    )
    assert method.on("x").fixed == {"a": 1, "b": 3, "c": 4}
    assert method.on("y").fixed == {"a": 1, "b": 2}
    assert method.on("x").default is None
    assert replace(method, default={"b": 9}).on("x").default == {"b": 3, "c": 4}


def test_candidates_are_the_product_and_the_union():
    grid = ({"a": (1, 2), "b": (3, 4)}, {"a": (5,)})
    assert Method("m", grid=grid).candidates() == [
        {"a": 1, "b": 3},
        {"a": 1, "b": 4},
        {"a": 2, "b": 3},
        {"a": 2, "b": 4},
        {"a": 5},
    ]
    assert Method("m").candidates() == [{}]
