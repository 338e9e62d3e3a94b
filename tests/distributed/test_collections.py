# SPDX-License-Identifier: BSD-3-Clause
"""What fit takes and what it refuses, with which words."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from aucmax import RankSVM
from aucmax.distributed import DaskLeastSquaresAUC, DaskOPAUC, DaskRankSVM

NAMES = ["a", "b", "c", "d"]


@pytest.fixture
def frame(data, weight):
    X, y = data
    return pd.DataFrame(X, columns=NAMES).assign(
        label=np.where(y == 1, "yes", "no"), weight=weight
    )


@pytest.fixture
def local(frame):
    return RankSVM().fit(frame[NAMES], frame["label"], frame["weight"])


def assert_same(model, local):
    assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-10)
    assert_allclose(model.intercept_, local.intercept_, rtol=0, atol=1e-10)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == NAMES


def test_frame_and_series(frame, local):
    rows = dd.from_pandas(frame, npartitions=3)
    model = DaskRankSVM().fit(rows[NAMES], rows["label"], rows["weight"])
    assert_same(model, local)


def test_columns_by_name(frame, local):
    rows = dd.from_pandas(frame, npartitions=3)
    model = DaskRankSVM().fit(rows, "label", sample_weight="weight")
    assert_same(model, local)


def test_parquet_folder_glob_and_list(scheduler, frame, local, tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    paths = [folder / f"part{k}.parquet" for k in range(3)]
    for path, part in zip(paths, np.array_split(np.arange(300), 3), strict=True):
        frame.iloc[part].to_parquet(path)
    ways = [str(folder / "*.parquet")]
    if scheduler is None:
        ways += [folder, paths]
    for way in ways:
        model = DaskRankSVM().fit(way, "label", sample_weight="weight")
        assert_same(model, local)


def test_names_are_forgotten_when_the_next_rows_have_none(frame, data):
    model = DaskRankSVM().fit(dd.from_pandas(frame[[*NAMES, "label"]]), "label")
    assert hasattr(model, "feature_names_in_")
    X, y = data
    model.fit(da.from_array(X, (100, 4)), da.from_array(y, 100))
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (DaskRankSVM(), "RankSVM"),
        (DaskLeastSquaresAUC(), "LeastSquaresAUC"),
        (DaskOPAUC(), "OPAUC"),
    ],
)
def test_rows_in_memory_are_for_the_local_class(data, model, name):
    with pytest.raises(TypeError, match=f"X is a ndarray. Use {name} for rows in mem"):
        model.fit(*data)


def lazily(data, sizes=(100, 200), X=None, y=None):
    X = data[0] if X is None else X
    y = data[1] if y is None else y
    return da.from_array(X, (sizes, X.shape[1])), da.from_array(y, (sizes,))


def spoiled(data, value, dtype=np.float64):
    X = data[0].astype(dtype)
    X[150, 2] = value
    return lazily(data, X=X)


def relabelled(data, where, label, dtype=int):
    y = data[1].astype(dtype)
    y[where] = label
    return lazily(data, y=y)


BAD = {
    "nan": (lambda d: spoiled(d, np.nan), "Block 2 of 2: Input X contains NaN"),
    "infinity": (lambda d: spoiled(d, np.inf), "Block 2 of 2: Input X contains infin"),
    "text": (
        lambda d: lazily(d, X=np.full((300, 2), "x", dtype=object)),
        r"Block 1 of 2: X holds text \('x'\), but numbers are needed",
    ),
    "one class": (
        lambda d: lazily(d, y=np.ones(300)),
        "DaskRankSVM needs both classes, but y holds only one class, 1.0",
    ),
    "three classes": (
        lambda d: relabelled(d, 120, 2),
        "more than two labels: 0, 1, 2",
    ),
    "missing label": (
        lambda d: relabelled(d, 120, np.nan, float),
        "Block 2 of 2: y contains NaN or infinity. Leave out",
    ),
    "missing text label": (
        lambda d: lazily(d, y=np.array(["a", "b", None] * 100)),
        "Block 1 of 2: y has missing labels",
    ),
    "labels of two types": (
        lambda d: lazily(d, y=np.array(["a", 1, 1] * 100, dtype=object)),
        "Block 1 of 2: y mixes labels of the types int, str",
    ),
    "rows and labels differ": (
        lambda d: (lazily(d)[0], da.from_array(d[1][:299], 100)),
        "X has 300 rows, but y has 299",
    ),
    "no rows": (
        lambda d: (da.zeros((0, 4)), da.zeros(0)),
        "needs rows, but all 1 blocks of X are empty",
    ),
    "one axis": (lambda d: (lazily(d)[1], lazily(d)[1]), "X must have two axes"),
    "two columns of labels": (
        lambda d: (lazily(d)[0], lazily(d)[0]),
        "y must have one axis",
    ),
    "no such column": (
        lambda d: (dd.from_pandas(pd.DataFrame(d[0], columns=NAMES)), "label"),
        "X has no column 'label' for y; it has 'a', 'b', 'c', 'd'",
    ),
    "other partitions": (
        lambda d: (
            dd.from_pandas(pd.DataFrame(d[0]), npartitions=3),
            dd.from_pandas(pd.Series(d[1]), npartitions=2),
        ),
        "X has 3 partitions, but y has 2, and their sizes are unknown",
    ),
    "other rows in a partition": (
        lambda d: (
            dd.from_pandas(pd.DataFrame(d[0]), npartitions=1),
            dd.from_pandas(pd.Series(d[1][:299]), npartitions=1),
        ),
        "Block 1 of 1: it has 300 rows, but 299 labels",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_rows_are_refused_and_nothing_changes(data, case):
    make, message = BAD[case]
    model = DaskRankSVM()
    with pytest.raises(ValueError, match=message):
        model.fit(*make(data))
    assert vars(model) == vars(DaskRankSVM())


def test_bad_kinds_are_refused(data):
    X, y = lazily(data)
    with pytest.raises(TypeError, match="X is on Dask, but y is a ndarray"):
        DaskRankSVM().fit(X, data[1])
    with pytest.raises(TypeError, match="names a column, but X is a dask array"):
        DaskRankSVM().fit(X, "label")
    with pytest.raises(TypeError, match="y must be the name of the column"):
        DaskRankSVM().fit("rows.parquet", y)


def test_blocks_must_be_alike(data):
    X, y = lazily(data)
    mixed = da.concatenate([X[:100].map_blocks(sparse.csr_matrix), X[100:]])
    with pytest.raises(ValueError, match="Block 2 is dense, but those before are spar"):
        DaskRankSVM().fit(mixed, y)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1.0, "Block 2 of 2: Negative values in data passed to `sample_weight`: -1"),
        (np.nan, "Block 2 of 2: sample_weight contains NaN or infinity"),
    ],
)
def test_bad_weights_are_refused(data, value, message):
    weight = np.ones(300)
    weight[200] = value
    with pytest.raises(ValueError, match=message):
        DaskRankSVM().fit(*lazily(data), da.from_array(weight, 50))


def test_a_class_without_weight_is_refused(data):
    weight = da.from_array(data[1].astype(float), 50)
    with pytest.raises(ValueError, match="the negative class has no weight"):
        DaskRankSVM().fit(*lazily(data), weight)


def test_very_small_weights_of_one_block_stay_small(data):
    weight = np.ones(300)
    weight[:100] = 1e-160
    model = DaskRankSVM().fit(*lazily(data), da.from_array(weight, 100))
    local = RankSVM().fit(*data, weight)
    assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-10)
