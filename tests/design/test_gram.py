# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucmax.design.gram import Gram


class Counted:
    """A kernel matrix that counts how many of its values were asked for."""

    def __init__(self, matrix):
        self.matrix = matrix
        self.count = 0

    def __call__(self, columns, dtype):
        def values(rows, out=None):
            block = self.matrix[rows][:, columns].astype(dtype)
            self.count += block.size
            if out is None:
                return block
            out[...] = block
            return out

        return values


def draw_kernel(rng, n):
    rows = rng.normal(size=(n, 3))
    return np.exp(-0.3 * ((rows[:, None] - rows[None]) ** 2).sum(-1))


@pytest.mark.parametrize("n", [1, 7, 8, 9, 50])
@pytest.mark.parametrize("budget", [0, 300, 2000, 10**9])
def test_products_with_any_part_kept(n, budget, rng, monkeypatch):
    monkeypatch.setattr("aucmax.design.gram.STRIP", 3)
    kernel, vector = draw_kernel(rng, n), rng.normal(size=n)
    gram = Gram(Counted(kernel), n, memory_budget=budget, dtype=np.float64, tile=8)
    assert gram.n_bytes_kept <= budget
    assert_allclose(gram.dot(vector), kernel @ vector, rtol=0, atol=1e-13 * n)
    assert gram.trace == pytest.approx(n)


def test_blocked_equals_full(rng):
    kernel, vector = draw_kernel(rng, 300), rng.normal(size=300)
    full, blocked = (
        Gram(Counted(kernel), 300, memory_budget=budget, dtype=np.float64, tile=64)
        for budget in (10**9, 1)
    )
    assert full.n_bytes_kept == full.n_bytes
    assert blocked.n_bytes_kept == 0
    assert_allclose(blocked.dot(vector), full.dot(vector), rtol=1e-12, atol=1e-12)


def test_half_the_kernel_is_computed_once(rng):
    kernel = Counted(draw_kernel(rng, 100))
    gram = Gram(kernel, 100, memory_budget=10**9, tile=10)
    assert kernel.count == (100 * 100 + 100 * 10) / 2
    assert gram.n_bytes == gram.n_bytes_kept == 8 * kernel.count
    gram.dot(np.ones(100))
    gram.dot(np.ones(100))
    assert kernel.count == (100 * 100 + 100 * 10) / 2


def test_only_what_was_not_kept_is_computed_again(rng):
    kernel = Counted(draw_kernel(rng, 100))
    gram = Gram(kernel, 100, memory_budget=20_000, dtype=np.float64, tile=10)
    assert 19_000 < gram.n_bytes_kept <= 20_000
    before = kernel.count
    gram.dot(np.ones(100))
    assert kernel.count - before == (gram.n_bytes - gram.n_bytes_kept) / 8


def test_precision_follows_the_budget(rng):
    kernel = draw_kernel(rng, 100)
    bytes_64 = Gram(Counted(kernel), 100, memory_budget=10**9, tile=10).n_bytes
    for budget, dtype, share in (
        (bytes_64, np.float64, 1.0),
        (bytes_64 - 1, np.float32, 1.0),
        (bytes_64 // 2, np.float32, 1.0),
        (bytes_64 // 4, np.float32, 0.5),
    ):
        gram = Gram(Counted(kernel), 100, memory_budget=budget, tile=10)
        assert gram.dtype == dtype
        assert gram.n_bytes_kept == pytest.approx(share * gram.n_bytes, rel=0.02)


def test_float32_values_are_added_up_in_float64(rng):
    n = 400
    kernel, vector = np.ones((n, n)), np.where(np.arange(n) < 8, 1e7, 0.1)
    gram = Gram(Counted(kernel), n, memory_budget=10**9, dtype=np.float32, tile=8)
    out = gram.dot(vector)
    assert out.dtype == np.float64
    assert_allclose(out, vector.sum(), rtol=1e-9)


def test_block_of_any_rows(rng):
    kernel = draw_kernel(rng, 30)
    gram = Gram(Counted(kernel), 30, memory_budget=10**6, tile=8)
    index = np.array([20, 3, 3])
    assert_array_equal(gram.block(slice(0, 30), index), kernel[:, index])
    assert_array_equal(gram.rows(index), kernel[index])
    assert_array_equal(gram.block(index, index), kernel[np.ix_(index, index)])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_must_be_finite(bad, rng):
    kernel = draw_kernel(rng, 30)
    kernel[25, 2] = kernel[2, 25] = bad
    with pytest.raises(ValueError, match="NaN or infinite"):
        Gram(Counted(kernel), 30, memory_budget=10**6, tile=8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernel_must_be_symmetric(dtype, rng):
    kernel = draw_kernel(rng, 30)
    kernel[3, 2] += 1e-3
    with pytest.raises(ValueError, match=r"not symmetric.*differ by 0\.001"):
        Gram(Counted(kernel), 30, memory_budget=10**6, dtype=dtype, tile=8)
