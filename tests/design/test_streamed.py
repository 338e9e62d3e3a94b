# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.design import LocalDesign, StreamedDesign
from aucmax.design.streamed import aligned

CUTS = ([40], [1, 0, 7, 32], [39, 1], [1] * 40)


def batches(X, sizes):
    ends = np.cumsum(sizes)
    assert ends[-1] == X.shape[0]
    return [X[end - size : end] for size, end in zip(sizes, ends, strict=True) if size]


def streamed(X, sizes, multiple=1):
    return StreamedDesign(
        batches(X, sizes),
        X.shape,
        lambda _, rows: LocalDesign(rows, np.zeros(X.shape[1], X.dtype)),
        multiple=multiple,
    )


@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("sizes", CUTS)
@pytest.mark.parametrize("multiple", [1, 3, 32, 100])
def test_products_and_rows(convert, sizes, multiple, rng):
    dense = rng.normal(size=(40, 5))
    dense[rng.random(dense.shape) < 0.3] = 0.0
    design = streamed(convert(dense), sizes, multiple)
    coef, vector = rng.normal(size=5), rng.normal(size=40)
    assert_allclose(design.scores(coef), dense @ coef, atol=1e-13)
    assert_allclose(design.adjoint(vector), dense.T @ vector, atol=1e-13)
    index = np.array([39, 0, 17, 17, 2])
    for columns in (None, np.array([4, 1])):
        rows = design.rows(index, columns)
        rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
        wanted = dense[index] if columns is None else dense[np.ix_(index, columns)]
        assert_array_equal(rows, wanted)


def test_scores_into_a_given_array(rng):
    X, coef, out = rng.normal(size=(40, 5)), rng.normal(size=5), np.empty(40)
    assert streamed(X, [13, 27]).scores(coef, out=out) is out
    assert_allclose(out, X @ coef)


@pytest.mark.parametrize("n_later", [39, 41])
def test_batches_that_change_between_passes(n_later, rng):
    X = rng.normal(size=(n_later, 5))
    design = StreamedDesign([X], (40, 5), lambda _, rows: LocalDesign(rows))
    with pytest.raises(ValueError, match="first pass had 40 rows, but a later one"):
        design.scores(np.ones(5))


@pytest.mark.parametrize("sizes", CUTS)
@pytest.mark.parametrize("multiple", [1, 3, 32, 100])
def test_aligned(sizes, multiple, rng):
    X = rng.normal(size=(40, 2))
    parts = list(aligned(batches(X, sizes), multiple))
    assert_array_equal(np.concatenate(parts), X)
    assert all(len(part) for part in parts)
    if multiple > 1:
        assert all(len(part) % multiple == 0 for part in parts[:-1])


def test_what_waits_is_not_overwritten():
    buffer = np.empty((3, 1))

    def reused():
        for value in (0.0, 10.0):
            buffer[:] = value + np.arange(3.0)[:, None]
            yield buffer

    parts = [part.copy() for part in aligned(reused(), 2)]
    assert_array_equal(np.concatenate(parts)[:, 0], [0, 1, 2, 10, 11, 12])
