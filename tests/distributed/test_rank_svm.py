# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM on Dask has the coefficients of RankSVM, whatever the blocks."""

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from aucmax import RankSVM
from aucmax.distributed import DaskRankSVM

UNEVEN = (7, 150, 1, 0, 142)


def blocks(X, y, sizes, weight=None):
    """Dask arrays of the same rows."""
    parts = [da.from_array(X, chunks=(sizes, X.shape[1])), da.from_array(y, (sizes,))]
    if weight is not None:
        parts.append(da.from_array(weight, (sizes,)))
    return parts


def assert_same(model, local):
    assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-10)
    assert_allclose(model.intercept_, local.intercept_, rtol=0, atol=1e-10)
    assert model.coef_.dtype == local.coef_.dtype
    assert np.array_equal(model.classes_, local.classes_)
    assert model.objective_ == pytest.approx(local.objective_, rel=1e-12)
    assert model.n_features_in_ == local.n_features_in_


def test_uneven_and_empty_blocks_with_weights(scheduler, data, weight):
    X, y = data
    model = DaskRankSVM().fit(*blocks(X, y, UNEVEN, weight))
    assert_same(model, RankSVM().fit(X, y, weight))


def test_blocks_of_one_class(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    n_neg = int(np.sum(y == 0))
    model = DaskRankSVM().fit(*blocks(X, y, (n_neg, 300 - n_neg)))
    assert_same(model, RankSVM().fit(X, y))


@pytest.mark.parametrize("sizes", [(40,), (1,) * 40], ids=["one", "one per row"])
def test_one_block_and_one_row_per_block(data, sizes):
    X, y = data[0][:40], data[1][:40]
    model = DaskRankSVM().fit(*blocks(X, y, sizes))
    assert_same(model, RankSVM().fit(X, y))


def test_more_partitions_than_rows(data):
    X, y = data[0][:6], np.array([0, 1, 0, 1, 1, 0])
    model = DaskRankSVM().fit(*blocks(X, y, (0, 1, 0, 2, 0, 0, 1, 1, 1)))
    assert_same(model, RankSVM().fit(X, y))


def test_csr_blocks(scheduler, data, weight):
    X, y = data
    X = np.where(X > 1, X, 0)
    rows, *others = blocks(X, y, UNEVEN, weight)
    model = DaskRankSVM().fit(rows.map_blocks(sparse.csr_matrix), *others)
    assert_same(model, RankSVM().fit(sparse.csr_matrix(X), y, weight))


def test_float32_is_the_same_to_the_last_bit_of_the_sums(scheduler, data):
    X, y = data
    X = X.astype(np.float32)
    model = DaskRankSVM().fit(*blocks(X, y, UNEVEN))
    assert_same(model, RankSVM().fit(X, y))


def test_float32_beside_float64_is_float64(data):
    X, y = data
    X = X.astype(np.float32)
    mixed = da.concatenate(
        [da.from_array(X[:100]), da.from_array(X[100:].astype(np.float64))]
    )
    # What a block holds counts, not what the collection says.
    model = DaskRankSVM().fit(mixed.rechunk((100, 4)), da.from_array(y, 100))
    assert_same(model, RankSVM().fit(X.astype(np.float64), y))


def test_enough_rows_to_draw_some_of_them(rng):
    n = 7000
    X = rng.normal(size=(n, 5))
    y = (X[:, 0] + rng.normal(size=n) > 1).astype(int)
    model = DaskRankSVM(alpha=1e-5).fit(*blocks(X, y, (2500, 4500)))
    assert_same(model, RankSVM(alpha=1e-5).fit(X, y))


def test_hinge(data):
    X, y = data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = DaskRankSVM(0.1, loss="hinge", tol=1e-2).fit(*blocks(X, y, (120, 180)))
    assert_same(model, RankSVM(0.1, loss="hinge", tol=1e-2).fit(X, y))


def test_columns_in_several_chunks(data):
    X, y = data
    model = DaskRankSVM().fit(da.from_array(X, (100, 2)), da.from_array(y, 75))
    assert_same(model, RankSVM().fit(X, y))


def test_unknown_chunk_sizes(data):
    X, y = data
    rows, labels = blocks(X, y, (100, 200))
    used = da.from_array(X[:, 0] > 4, (100, 200))
    model = DaskRankSVM().fit(rows[used], labels[used])
    keep = X[:, 0] > 4
    assert_same(model, RankSVM().fit(X[keep], y[keep]))


def test_warm_start_goes_on_from_the_last_fit(data):
    X, y = blocks(*data, (100, 200))
    model = DaskRankSVM(tol=1e-8, warm_start=True).fit(X, y)
    coef = model.coef_
    assert len(model.fit(X, y).history_) < len(DaskRankSVM(tol=1e-8).fit(X, y).history_)
    assert_allclose(model.coef_, coef, atol=1e-6)
    with pytest.raises(ValueError, match="continues a fit on 4 features"):
        model.fit(X[:, :2], y)
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("scores", ["exact", "binned"])
def test_default_alpha_is_that_of_the_rows_in_memory(scores):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(900, 3)), 1)
    y = X[:, 0] + rng.normal(size=900) > 1.0
    rows, labels = da.from_array(X, chunks=(250, -1)), da.from_array(y, chunks=250)
    model = DaskRankSVM(scores=scores).fit(rows, labels)
    assert model.alpha_ == pytest.approx(RankSVM().fit(X, y).alpha_, rel=1e-12)
