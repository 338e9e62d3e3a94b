# SPDX-License-Identifier: BSD-3-Clause
import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator

from aucmax.preparation import table
from aucmax.preparation.table import read_rows


class Host(BaseEstimator):
    pass


def learn_columns(host, X):
    return table.learn_columns(host, X, 250)


def polars_frame():
    return pl.DataFrame(
        {
            "number": [1.5, None, 3.0],
            "count": [1, None, 3],
            "flag": [True, None, False],
            "day": [datetime.date(1970, 1, 2), None, datetime.date(1970, 1, 11)],
            "text": ["b", None, "a"],
            "kind": pl.Series(["u", "v", None], dtype=pl.Categorical),
        }
    )


def pandas_frame():
    return pd.DataFrame(
        {
            "number": [1.5, np.nan, 3.0],
            "count": pd.array([1, None, 3], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "day": pd.to_datetime(["1970-01-02", None, "1970-01-11"]),
            "text": ["b", None, "a"],
            "kind": pd.Categorical(["u", "v", None]),
        }
    )


@pytest.mark.parametrize("make", [pandas_frame, polars_frame])
def test_frames_become_numbers(make):
    host = Host()
    columns, rows = learn_columns(host, make())
    nan = np.nan
    expected = [[1.5, 1, 1, 1, 1, 0], [nan] * 5 + [1], [3, 3, 0, 10, 0, nan]]
    assert_array_equal(rows, np.array(expected))
    assert columns.is_categorical(6).tolist() == [False] * 4 + [True] * 2
    assert columns.kinds == ["number"] * 3 + ["date"] + ["category"] * 2
    assert host.n_features_in_ == 6
    assert host.feature_names_in_.tolist() == list(make().columns)
    assert_array_equal(read_rows(host, columns, make()), rows)


def test_new_categories_count_as_missing_and_numbers_stay_numbers():
    host = Host()
    columns, _ = learn_columns(host, pandas_frame())
    other = pandas_frame().assign(text=["new", "a", "b"])
    assert_array_equal(read_rows(host, columns, other)[:, 4], [np.nan, 0, 1])
    with pytest.raises(ValueError, match="'number' held numbers in fit"):
        read_rows(host, columns, pandas_frame().assign(number=["x", "y", "z"]))
    with pytest.raises(ValueError, match="columns of categories, but X is a ndarray"):
        read_rows(host, columns, np.zeros((2, 6)))


def test_objects_are_numbers_only_if_all_are():
    frame = pd.DataFrame(
        {
            "numbers": pd.Series([1, None, 2.5], dtype=object),
            "mixed": pd.Series([1, "x", None], dtype=object),
            "nothing": pd.Series([None, None, None], dtype=object),
        }
    )
    columns, rows = learn_columns(Host(), frame)
    assert columns.kinds == ["number", "category", "empty"]
    nan = np.nan
    assert_array_equal(rows, [[1, 0, nan], [nan, 1, nan], [2.5, nan, nan]])


def test_numbers_and_dates_in_other_clothes():
    frame = pd.DataFrame(
        {
            "sparse": pd.arrays.SparseArray([0.0, 0.0, 1.5]),
            "decimal": [Decimal("1.5"), None, Decimal(2)],
            "date": [datetime.date(9999, 12, 31), None, datetime.date(1970, 1, 2)],
            "moment": pd.Series(
                [pd.Timestamp("1970-01-02"), pd.NaT, None], dtype=object
            ),
        }
    )
    columns, rows = learn_columns(Host(), frame)
    assert columns.kinds == ["number"] * 2 + ["date"] * 2
    nan = np.nan
    assert_array_equal(
        rows, [[0, 1.5, 2932896, 1], [0, nan, nan, nan], [1.5, 2, 1, nan]]
    )
    far = pl.DataFrame({"a": [datetime.date(9999, 12, 31), datetime.date(1600, 1, 1)]})
    assert_array_equal(learn_columns(Host(), far)[1][:, 0], [2932896, -135140])


def test_whole_numbers_name_the_same_category_as_floats():
    host = Host()
    columns, _ = learn_columns(host, pd.DataFrame({"a": pd.Categorical([1, 2, 3])}))
    later = pd.DataFrame({"a": pd.Categorical([1.0, 3.0, None])})
    assert_array_equal(read_rows(host, columns, later)[:, 0], [0, 2, np.nan])


def test_damaged_sparse_rows_are_refused():
    X = sparse.csr_array(np.eye(5))
    X.indices[2] = 10**6
    with pytest.raises(ValueError, match="The matrix is damaged"):
        learn_columns(Host(), X)


def test_rare_categories_share_a_code():
    frame = pd.DataFrame({"id": [f"user {k}" for k in range(1000)]})
    _, rows = learn_columns(Host(), frame)
    assert len(np.unique(rows)) == 250


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame({"a": []}), "0 sample"),
        (pd.DataFrame(index=[1, 2]), "0 feature"),
        (pd.DataFrame({"a": [1.0, np.inf]}), "infinity"),
        (np.array([[1.0], [np.inf]]), "infinity"),
        (sparse.csr_array([[1.0], [np.nan]]), "NaN"),
        (np.zeros(3), "2D"),
        ([["a"], ["b"]], "X holds text"),
        (pl.LazyFrame({"a": [1.0]}), "X.collect"),
        (pl.DataFrame({"a": [[1, 2], [3]]}), "not one value per row"),
    ],
)
def test_bad_tables_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        learn_columns(Host(), X)
