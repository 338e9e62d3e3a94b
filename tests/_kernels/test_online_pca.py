# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose

from aucmax._kernels.online_pca import PCAState, ccipca_steps, sga_steps

AMNESIC, STEP, DECAY = 2.0, 3.0, 0.7


def centred(X):
    """What the directions learn from: rows less the mean before, shrunk a little."""
    return [
        np.sqrt((t - 1) / t) * (X[t - 1] - (X[: t - 1].mean(axis=0) if t > 1 else 0.0))
        for t in range(1, len(X) + 1)
    ]


def ccipca(X, q):
    """The published recursion with unnormalised vectors."""
    vectors = []
    for t, z in enumerate(centred(X), 1):
        weight = (1 + AMNESIC) / (t + AMNESIC)
        scale = np.linalg.norm(z)
        for i in range(q):
            if i == len(vectors):
                if np.linalg.norm(z) > 1e-12 * scale:
                    vectors.append(weight * np.linalg.norm(z) * z)
                break
            v = vectors[i]
            v = (1 - weight) * v + weight * (z @ v) / np.linalg.norm(v) * z
            vectors[i] = v
            z = z - (z @ v) * v / (v @ v)
    return vectors


def sga(X, q):
    """The published step with nearly unit lengths; QR after each q-th row."""
    U, variances, spread = np.zeros((0, X.shape[1])), np.zeros(0), 0.0
    for t, z in enumerate(centred(X), 1):
        spread += (z @ z - spread) / t
        weight = (1 + AMNESIC) / (t + AMNESIC)
        along = U @ z
        variances = variances + weight * (along**2 - variances)
        left = z - along @ U
        is_growing = len(U) < q
        step = STEP / spread / t**DECAY if spread > 0 else 0.0
        moved = [
            U[i]
            + step
            * along[i]
            * (z - along[i] * U[i] - 2.0 * sum(along[j] * U[j] for j in range(i)))
            for i in range(len(U))
        ]
        U = np.array(moved).reshape(-1, X.shape[1])
        lengths = np.linalg.norm(U, axis=1, keepdims=True)
        U = U / np.where(np.abs(lengths**2 - 1.0) > 0.01, lengths, 1.0)
        if is_growing and np.linalg.norm(left) > 1e-12 * np.linalg.norm(z):
            U = np.vstack([U, left / np.linalg.norm(left)])
            variances = np.append(variances, weight * (left @ left))
        if t % q == 0 or is_growing:
            Q, R = np.linalg.qr(U.T)
            U = (Q * np.sign(np.diagonal(R))).T
    return U, variances


def draw(rng, n, d):
    X = rng.normal(size=(n, d)) * np.linspace(3.0, 0.5, d) + 10.0
    X[5:8] = X[4]
    return X


def state(q, d):
    zeros = np.zeros(d), np.zeros((q, d)), np.zeros(q), np.zeros(1)
    return PCAState(np.zeros(1, dtype=np.int64), *zeros)


@pytest.mark.parametrize(("q", "d"), [(1, 1), (1, 6), (3, 6), (6, 6), (4, 37)])
def test_ccipca_is_the_published_recursion(rng, q, d):
    X = draw(rng, 60, d)
    known = state(q, d)
    n_seen, mean, directions, variances, _ = known
    for n in (1, 2, 3, 9, 60):
        ccipca_steps(X[n_seen[0] : n], AMNESIC, known)
        vectors = ccipca(X[:n], q)
        assert n_seen[0] == n
        assert_allclose(mean, X[:n].mean(axis=0), rtol=1e-14)
        for i, v in enumerate(vectors):
            assert_allclose(variances[i] * directions[i], v, atol=1e-8, rtol=1e-8)
            assert_allclose(np.linalg.norm(directions[i]), 1.0, rtol=1e-14)
        assert not directions[len(vectors) :].any()
        assert not variances[len(vectors) :].any()


@pytest.mark.parametrize(("q", "d"), [(1, 1), (1, 6), (3, 6), (6, 6), (4, 37)])
def test_sga_is_the_published_step(rng, q, d):
    X = draw(rng, 60, d)
    known = state(q, d)
    n_seen, _, directions, variances, spread = known
    for n in (1, 2, 3, 9, 60):
        sga_steps(X[n_seen[0] : n], AMNESIC, STEP, DECAY, known)
        U, expected = sga(X[:n], q)
        assert_allclose(directions[: len(U)], U, atol=1e-8)
        assert_allclose(variances[: len(U)], expected, rtol=1e-8)
        assert not directions[len(U) :].any()
    assert_allclose(spread, np.mean([z @ z for z in centred(X)]))
    assert_allclose(spread, np.var(X, axis=0).sum())


def test_squares_add_up_to_the_scatter(rng):
    X = draw(rng, 30, 5)
    rows = np.array(centred(X))
    assert_allclose(rows.T @ rows / 30, np.cov(X.T, bias=True), rtol=1e-12)


def test_one_direction_of_equal_weights_has_the_mean_square_of_its_rows(rng):
    X = rng.normal(size=(50, 1))
    known = state(1, 1)
    ccipca_steps(X, 0.0, known)
    assert_allclose(known.variances, np.var(X), rtol=1e-12)
