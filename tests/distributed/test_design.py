# SPDX-License-Identifier: BSD-3-Clause
"""The design on workers is the design in memory."""

import pickle
import sys
from functools import partial

import dask
import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax._utils.threads import one_thread
from aucmax._utils.validation import n_threads
from aucmax.design import LocalDesign
from aucmax.distributed import DaskRankSVM, _cluster
from aucmax.distributed._block import Block, Part
from aucmax.distributed._inputs import check_inputs, linear_design
from aucmax.distributed._partitions import partitions_of

SIZES = (7, 150, 1, 0, 142)


def make_design(X, y, sizes=SIZES):
    rows = da.from_array(X, chunks=(sizes, X.shape[1]))
    partitions = partitions_of(
        rows, da.from_array(y, (sizes,)), name="DaskRankSVM", local="RankSVM"
    )
    return linear_design(check_inputs(DaskRankSVM(), partitions))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_and_rows_are_those_in_memory(data, rng, dtype):
    X, y = data
    X = X.astype(dtype)
    design, local = make_design(X, y), LocalDesign(X)
    assert design.shape == local.shape
    assert_array_equal(design.offset, local.offset)
    coef, vector = rng.normal(size=4), rng.normal(size=300)
    assert_array_equal(design.scores(coef), local.scores(coef))
    assert_allclose(
        design.adjoint(vector), local.adjoint(vector), rtol=1e-12, atol=1e-11
    )
    index = rng.integers(0, 300, 50)
    assert_array_equal(design.rows(index), local.rows(index))
    columns = np.array([2, 0])
    assert_array_equal(design.rows(index, columns), local.rows(index, columns))


def test_long_rows_in_float32(rng):
    """They are added up in float32, the same ones together wherever they are."""
    X = rng.normal(size=(300, 1100)).astype(np.float32)
    design, local = make_design(X, rng.random(300) < 0.3), LocalDesign(X)
    vector = rng.normal(size=300)
    assert_allclose(design.adjoint(vector), local.adjoint(vector), atol=1e-12)
    exact = (X - local.offset).astype(np.float64).T @ vector
    assert_allclose(local.adjoint(vector), exact, atol=1e-4)


def test_scores_are_written_where_asked(data):
    design, out = make_design(*data), np.empty(300)
    assert design.scores(np.ones(4), out=out) is out
    assert_array_equal(out, design.scores(np.ones(4)))


def test_adjoint_is_the_adjoint(scheduler, data, rng):
    design = make_design(*data)
    coef, vector = rng.normal(size=4), rng.normal(size=300)
    left, right = design.scores(coef) @ vector, coef @ design.adjoint(vector)
    assert left == pytest.approx(right, rel=1e-12)


def test_designs_are_made_once(data, monkeypatch):
    made = []
    init = LocalDesign.__init__

    def count(self, *args, **kwargs):
        made.append(self)
        init(self, *args, **kwargs)

    monkeypatch.setattr(LocalDesign, "__init__", count)
    design = make_design(*data)
    for _ in range(3):
        design.adjoint(design.scores(np.ones(4)))
    assert len(made) == sum(size > 0 for size in SIZES)


def test_block_travels_without_its_views_and_weighs_what_its_rows_do(data, monkeypatch):
    monkeypatch.setattr("aucmax.design.local.BLOCK_BYTES", 1000)
    X, y = data
    for rows, n_bytes in ((X, X.nbytes), (sparse.csr_matrix(X), 12 * X.size)):
        part = Part(rows, y == 1, np.ones(300))
        block = Block(part, partial(LocalDesign, offset=X[0]))
        assert len(block.design.blocks) > 1
        assert n_bytes <= sys.getsizeof(block) < n_bytes + 16 * 300
        sent = pickle.dumps(block)
        assert len(sent) < n_bytes + 16 * 300 + 4000
        back = pickle.loads(sent)
        scores = block.design.scores(np.ones(4))
        assert_array_equal(back.design.scores(np.ones(4)), scores)


def test_a_task_has_one_thread():
    with one_thread("openmp"):
        assert n_threads() == 1


def test_results_are_merged_in_order_a_few_at_a_time():
    parts = [_cluster.later(list, [k]) for k in range(100)]
    task = _cluster.merged(parts, list.__add__)
    assert _cluster.fetch([task]) == [list(range(100))]
    assert len(task.dask) > 100 + 100 / _cluster.FAN_IN


def test_the_settings_of_dask_stay_as_they_are(data):
    before = str(dask.config.config)
    make_design(*data).scores(np.ones(4))
    assert str(dask.config.config) == before
