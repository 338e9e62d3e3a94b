# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.design import LocalDesign, local


def matrix(kind, dtype, rng, n=70, d=5):
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.random((n, d)) < 0.3] = 0
    if kind == "C":
        return X
    if kind == "F":
        return np.asfortranarray(X)
    csr = sparse.csr_matrix(X) if kind == "csr_matrix" else sparse.csr_array(X)
    if kind == "csr_int64":
        csr.indices = csr.indices.astype(np.int64)
        csr.indptr = csr.indptr.astype(np.int64)
    return csr


KINDS = ["C", "F", "csr_array", "csr_matrix", "csr_int64"]


@pytest.fixture(params=[8 * 2**20, 256], ids=["one block", "many blocks"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(local, "BLOCK_BYTES", request.param)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
class TestProducts:
    def test_adjoint_is_the_transpose(self, kind, dtype, rng):
        design = LocalDesign(matrix(kind, dtype, rng))
        coef, vector = rng.normal(size=5), rng.normal(size=70)
        assert design.scores(coef) @ vector == pytest.approx(
            coef @ design.adjoint(vector), rel=1e-12 if dtype is np.float64 else 1e-4
        )

    def test_scores_equal_numpy_up_to_a_constant(self, kind, dtype, rng):
        X = matrix(kind, dtype, rng)
        coef = rng.normal(size=5)
        scores = LocalDesign(X).scores(coef)
        assert scores.dtype == np.float64
        expected = X.astype(np.float64) @ coef
        gap = scores - expected
        tol = 1e-12 if dtype is np.float64 else 1e-5
        assert_allclose(gap, gap[0], atol=tol)

    def test_adjoint_of_a_vector_that_sums_to_zero_equals_numpy(self, kind, dtype, rng):
        X = matrix(kind, dtype, rng)
        vector = rng.normal(size=70)
        vector -= vector.mean()
        tol = 1e-12 if dtype is np.float64 else 1e-5
        expected = X.astype(np.float64).T @ vector
        assert_allclose(LocalDesign(X).adjoint(vector), expected, atol=tol)

    def test_rows_score_as_in_the_whole(self, kind, dtype, rng):
        design = LocalDesign(matrix(kind, dtype, rng))
        index = np.array([3, 60, 1])
        rows = design.rows(index)
        assert rows.dtype == dtype
        coef = rng.normal(size=5)
        assert_allclose(rows @ coef, design.scores(coef)[index], rtol=1e-4, atol=1e-5)


def test_threads_do_not_change_the_result(monkeypatch, rng):
    monkeypatch.setattr(local, "BLOCK_BYTES", 1024)
    X = rng.normal(size=(500, 7))
    coef, vector = rng.normal(size=7), rng.normal(size=500)
    results = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(local, "n_threads", lambda t=threads: t)
        design = LocalDesign(X)
        results.append((design.scores(coef), design.adjoint(vector)))
    for scores, adjoint in results[1:]:
        assert_array_equal(scores, results[0][0])
        assert_array_equal(adjoint, results[0][1])


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_far_from_zero(order, rng):
    """Sums that need not vanish exactly are corrected for the offset."""
    small = np.round(rng.normal(size=(200, 3)) * 2**10) / 2**10
    far = np.asarray(small + 2.0**20, order=order)
    vector = rng.normal(size=200)
    vector -= vector.mean() * (1 + 1e-6)
    near = LocalDesign(np.asarray(small, order=order)).adjoint(vector)
    assert_allclose(LocalDesign(far).adjoint(vector), near, atol=1e-6)
    index = np.array([5, 9])
    assert_allclose(
        np.diff(LocalDesign(far).rows(index), axis=0), np.diff(small[index], axis=0)
    )


@pytest.mark.parametrize("d", [1023, 1024, 4096])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_long_rows(dtype, d, rng, monkeypatch):
    monkeypatch.setattr(local, "BLOCK_BYTES", 2**18)
    X = rng.normal(size=(2100, d)).astype(dtype)
    design = LocalDesign(X)
    assert len(design.blocks) == max(1, 2100 // d)
    exact = X.astype(np.float64) - design.offset
    coef, vector = rng.normal(size=d), rng.normal(size=2100)
    tol = 1e-9 if dtype is np.float64 else 1e-3
    assert_allclose(design.scores(coef), exact @ coef, atol=tol)
    assert_allclose(design.adjoint(vector), exact.T @ vector, atol=tol)


def test_scores_into_a_given_array(rng):
    X, coef, out = rng.normal(size=(30, 4)), rng.normal(size=4), np.empty(30)
    design = LocalDesign(X)
    assert design.scores(coef, out=out) is out
    assert_array_equal(out, design.scores(coef))


def test_does_not_copy(rng, monkeypatch):
    monkeypatch.setattr(local, "BLOCK_BYTES", 256)
    X = rng.normal(size=(500, 3))
    for block in LocalDesign(X).blocks:
        assert np.shares_memory(block.rows, X)
    csr = sparse.csr_array(X)
    design = LocalDesign(csr)
    assert len(design.blocks) > 3
    for block in design.blocks:
        for view in (block.rows, block.transposed):
            assert np.shares_memory(view.data, csr.data)
            assert np.shares_memory(view.indices, csr.indices)


def test_more_features_than_rows(rng):
    X = sparse.csr_array(sparse.random(20, 400, density=0.1, random_state=0))
    design = LocalDesign(X)
    assert design.adjoint(np.ones(20)).shape == (400,)
    assert len(design.blocks) == 1
