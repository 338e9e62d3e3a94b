# SPDX-License-Identifier: BSD-3-Clause
"""The compiled steps against the formulas, written out with all rows kept."""

import itertools

import numpy as np
import pytest
from drawing import draw_problem
from scipy import sparse

from aucmax.solvers.online.solam import SaddlePointLearner


def paper_steps(X, is_pos, rates):
    """Steps on w, a, b and dual as printed; returns all w and the weighted average."""
    w, a, b, dual = np.zeros(X.shape[1]), 0.0, 0.0, 0.0
    all_w, steps, n_projected = [], [], 0
    for t in range(1, len(X) + 1):
        x, seen = X[t - 1], X[:t]
        p = is_pos[:t].mean()
        f = w @ x
        step = rates.rate / np.sqrt(t)
        on_w = step
        if rates.is_auto:
            step = rates.rate
            on_w = auto_step(np.sum(seen**2, axis=1), is_pos[:t], rates, n_projected)
        if is_pos[t - 1]:
            slope = 2 * (1 - p) * (f - a - 1 - dual)
            grad_a, grad_b = 2 * (1 - p) * (a - f), 0.0
            grad_dual = -2 * (1 - p) * f - 2 * p * (1 - p) * dual
        else:
            slope = 2 * p * (f - b + 1 + dual)
            grad_a, grad_b = 0.0, 2 * p * (b - f)
            grad_dual = 2 * p * f - 2 * p * (1 - p) * dual
        w = max(0, 1 - on_w * rates.alpha * p * (1 - p)) * w - on_w * slope * x
        a, b, dual = a - step * grad_a, b - step * grad_b, dual + step * grad_dual
        n_projected += np.linalg.norm(w) > rates.radius * (1 + 1e-12)
        w = projected(w, rates.radius)
        most = rates.radius * np.linalg.norm(seen, axis=1).max()
        a, b = np.clip([a, b], -most, most)
        dual = np.clip(dual, -2 * most, 2 * most)
        all_w.append(w)
        steps.append(step)
    return all_w, np.average(all_w, axis=0, weights=steps)


def exact_steps(X, is_pos, rates):
    """The same with a, b, dual and the centre from the rows so far."""
    w = np.zeros(X.shape[1])
    all_w, steps, n_projected = [], [], 0
    sizes = np.full(len(X), np.nan)
    for t in range(1, len(X) + 1):
        x, seen, labels = X[t - 1], X[:t], is_pos[:t]
        p = labels.mean()
        z = x - seen.mean(axis=0)
        if t > 1:
            sizes[t - 1] = z @ z * t / (t - 1)
        step = rates.rate / np.sqrt(t)
        on_w = step
        if rates.is_auto:
            step = rates.rate
            on_w = auto_step(sizes[1:t], labels[1:], rates, n_projected, p)
        slope = 0.0
        if 0 < p < 1:
            a, b = w @ seen[labels].mean(axis=0), w @ seen[~labels].mean(axis=0)
            dual = b - a
            if is_pos[t - 1]:
                slope = 2 * (1 - p) * (w @ x - a - 1 - dual)
            else:
                slope = 2 * p * (w @ x - b + 1 + dual)
        w = max(0, 1 - on_w * rates.alpha * p * (1 - p)) * w - on_w * slope * z
        n_projected += np.linalg.norm(w) > rates.radius * (1 + 1e-12)
        w = projected(w, rates.radius)
        all_w.append(w)
        steps.append(step)
    return all_w, np.average(all_w, axis=0, weights=steps)


def auto_step(sizes, labels, rates, n_projected, p=None):
    """A share of the largest stable step, less after every projection."""
    p = labels.mean() if p is None else p
    pos, neg = sizes[labels], sizes[~labels]
    second = [np.mean(part) if len(part) else 0.0 for part in (pos, neg)]
    fourth = [np.mean(part**2) if len(part) else 0.0 for part in (pos, neg)]
    curvature = p * second[0] + (1 - p) * second[1]
    if sum(second) > 0:
        stable = 2 * ((1 - p) * fourth[0] + p * fourth[1]) / sum(second)
        curvature = max(curvature, stable)
    if curvature == 0:
        return 0.0
    curvature *= np.sqrt(1 + n_projected)
    return 1 / (curvature / rates.rate + 2 * rates.alpha * p * (1 - p))


def projected(w, radius):
    return w * min(1.0, radius / max(np.linalg.norm(w), 1e-300))


CASES = list(
    itertools.product(
        (True, False), (None, 0.7), ((0.0, 0.05), (0.3, 5.0), (1e4, 5.0), (1e-3, 50.0))
    )
)


@pytest.mark.parametrize(("is_exact", "step_size", "penalty"), CASES)
@pytest.mark.parametrize("is_csr", [False, True])
def test_kernel_is_the_formula(is_exact, step_size, penalty, is_csr):
    """Small balls, penalties that leave nothing of the weights, a late class."""
    rng = np.random.default_rng(3)
    X, is_pos, _ = draw_problem(rng, n=60, d=5)
    X[rng.random(X.shape) < 0.4] = 0.0
    X[7] = 0.0
    X[20] = X[21]
    is_pos[:6] = False
    alpha, radius = penalty
    rows = sparse.csr_matrix(X) if is_csr else X
    learner = SaddlePointLearner(
        rows,
        alpha=alpha,
        radius=radius,
        step_size=step_size,
        exact_duals=is_exact,
    )
    learner.learn(rows, is_pos)
    expected = exact_steps if is_exact else paper_steps
    all_w, average = expected(X, is_pos, learner.rates)
    for actual, desired in ((learner.coef, all_w[-1]), (learner.model().coef, average)):
        np.testing.assert_allclose(actual, desired, atol=1e-8 * np.abs(desired).max())
    if radius == 0.05:
        norms = np.linalg.norm(all_w, axis=1)
        assert np.sum(np.isclose(norms, radius)) > 5
