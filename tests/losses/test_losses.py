# SPDX-License-Identifier: BSD-3-Clause
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import balanced_value, pair_terms
from scipy.optimize import brentq

from aucmax.losses import (
    Exponential,
    Hinge,
    Logistic,
    Square,
    SquaredHinge,
    UnivariateSquare,
)

PAIRWISE = [SquaredHinge, Hinge, Square]
UNIVARIATE = [Logistic, UnivariateSquare, Exponential]
SMOOTH = [SquaredHinge, Square, *UNIVARIATE]
ALL = PAIRWISE + UNIVARIATE


def name(loss):
    return loss.__name__


def both_have_mass(is_pos, weight):
    return weight[is_pos].sum() > 0 and weight[~is_pos].sum() > 0


@pytest.mark.parametrize("weights", ["ones", "integers", "any"])
@pytest.mark.parametrize("decimals", [0, 1, 8])
@pytest.mark.parametrize("loss", PAIRWISE, ids=name)
def test_matches_all_pairs(loss, decimals, weights):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 30))
        scores = np.round(2 * rng.normal(size=n), decimals)
        is_pos, weight = draw_labels(rng, n), draw_weight(rng, n, weights)
        if not both_have_mass(is_pos, weight):
            continue
        fast = loss().evaluate(scores, is_pos, weight)
        slow = pair_terms(loss.__name__, scores, is_pos, weight)
        assert_allclose(fast.value, slow.value, rtol=1e-12, atol=1e-14)
        if loss is Hinge and decimals < 8:
            continue  # a kink has many subgradients: see the next test
        assert_allclose(fast.grad, slow.grad, atol=1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_hinge_subgradient_at_kinks_supports_the_loss(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-2, 3, 25).astype(float)
    is_pos, weight = draw_labels(rng, 25), draw_weight(rng, 25, "any")
    here = Hinge().evaluate(scores, is_pos, weight)
    for _ in range(20):
        other = scores + rng.normal(size=25) * rng.choice([0.1, 1.0, 3.0])
        there = Hinge().evaluate(other, is_pos, weight)
        assert there.value >= here.value + here.grad @ (other - scores) - 1e-12


@pytest.mark.parametrize("margin", [0.5, 2.0])
@pytest.mark.parametrize("loss", PAIRWISE, ids=name)
def test_margin(loss, margin, rng):
    scores, is_pos = rng.normal(size=20), draw_labels(rng, 20)
    weight = np.ones(20)
    fast = loss(margin).evaluate(scores, is_pos, weight)
    slow = pair_terms(loss.__name__, scores, is_pos, weight, margin)
    assert fast.value == pytest.approx(slow.value)
    assert_allclose(fast.grad, slow.grad, atol=1e-13)


@pytest.mark.parametrize("weights", ["ones", "integers", "any"])
@pytest.mark.parametrize("loss", [SquaredHinge, Square], ids=name)
def test_curvature_matches_all_pairs(loss, weights, rng):
    for n in (2, 3, 17, 40):
        # No rounding: at a kink the curvature may be any value in between.
        scores = rng.normal(size=n)
        is_pos, weight = draw_labels(rng, n), draw_weight(rng, n, weights)
        if not both_have_mass(is_pos, weight):
            continue
        terms = loss().evaluate(scores, is_pos, weight)
        slow = pair_terms(loss.__name__, scores, is_pos, weight).hessian
        dense = np.column_stack([terms.hess_dot(unit) for unit in np.eye(n)])
        assert_allclose(dense, slow, atol=1e-13)
        # Of many vectors at once, and in float32.
        vectors = rng.normal(size=(3, n)).astype(np.float32)
        products = terms.hess_dot(vectors, out=np.empty_like(vectors))
        assert_allclose(products, vectors @ slow, atol=1e-5)
        assert_allclose(terms.hess_dot(vectors[0]), products[0], atol=1e-5)
        # An upper bound of the diagonal; exact for the squared hinge.
        assert np.all(terms.hess_diag() >= np.diag(slow) - 1e-12)
        if loss is SquaredHinge:
            assert_allclose(terms.hess_diag(), np.diag(slow), atol=1e-13)


@pytest.mark.parametrize("tied", [False, True])
def test_curvature_is_symmetric_and_semidefinite_at_kinks_too(tied, rng):
    scores = rng.normal(size=30)
    if tied:
        scores = np.round(scores)
    is_pos, weight = draw_labels(rng, 30), draw_weight(rng, 30, "any")
    terms = SquaredHinge().evaluate(scores, is_pos, weight)
    dense = np.column_stack([terms.hess_dot(unit) for unit in np.eye(30)])
    assert_allclose(dense, dense.T, atol=1e-15)
    assert np.linalg.eigvalsh(dense).min() > -1e-14
    assert_allclose(dense @ np.ones(30), 0, atol=1e-14)


@pytest.mark.parametrize("loss", UNIVARIATE, ids=name)
@pytest.mark.parametrize("weights", ["ones", "integers", "any"])
def test_univariate_value_is_the_minimum_over_the_intercept(loss, weights, rng):
    for n in (2, 9, 40):
        scores, is_pos = rng.normal(size=n) + 3, draw_labels(rng, n)
        weight = draw_weight(rng, n, weights)
        if not both_have_mass(is_pos, weight):
            continue
        fast = loss().evaluate(scores, is_pos, weight).value
        slow = balanced_value(loss.__name__, scores, is_pos, weight)
        assert fast == pytest.approx(slow, rel=1e-9, abs=1e-10)


def test_exponential_is_the_root_of_the_pairwise_one(rng):
    scores, is_pos = rng.normal(size=30), draw_labels(rng, 30)
    pairs = np.exp(-(scores[is_pos][:, None] - scores[~is_pos][None, :])).mean()
    value = Exponential().evaluate(scores, is_pos, np.ones(30)).value
    assert value == pytest.approx(np.sqrt(pairs))


@pytest.mark.parametrize("loss", SMOOTH, ids=name)
def test_finite_differences(loss, rng):
    n = 25
    scores, is_pos = 2 * rng.normal(size=n), draw_labels(rng, n)
    weight = draw_weight(rng, n, "any")
    terms = loss().evaluate(scores, is_pos, weight)
    step = 1e-5
    for _ in range(5):
        direction = rng.normal(size=n)
        up = loss().evaluate(scores + step * direction, is_pos, weight)
        down = loss().evaluate(scores - step * direction, is_pos, weight)
        slope = (up.value - down.value) / (2 * step)
        assert slope == pytest.approx(terms.grad @ direction, rel=1e-5, abs=1e-7)
        curved = (up.grad - down.grad) / (2 * step)
        assert_allclose(
            curved, terms.hess_dot(direction), atol=2e-3 * abs(curved).max()
        )


@pytest.mark.parametrize("loss", ALL, ids=name)
def test_shift_invariance_even_far_from_zero(loss, rng):
    n = 60
    # Multiples of 2^-20, so that adding the shift rounds nothing away.
    scores = np.round(rng.normal(size=n) * 2**20) / 2**20
    is_pos, weight = draw_labels(rng, n), draw_weight(rng, n, "any")
    here = loss().evaluate(scores, is_pos, weight)
    for shift in (1.0, -3e3, 2.0**26):
        there = loss().evaluate(scores + shift, is_pos, weight)
        assert there.value == pytest.approx(here.value, rel=1e-7)
        assert_allclose(there.grad, here.grad, atol=1e-7 * abs(here.grad).max())
        vector = rng.normal(size=n)
        assert_allclose(
            there.hess_dot(vector), here.hess_dot(vector), atol=1e-6, rtol=1e-6
        )


@pytest.mark.parametrize("loss", [SquaredHinge, Hinge], ids=name)
def test_pairs_about_a_margin_apart_keep_digits(loss, rng):
    """Where a fit is nearly perfect, the loss is small and the scores are not."""
    for n in range(20, 40):
        is_pos, weight = draw_labels(rng, n), draw_weight(rng, n, "any")
        scores = is_pos + 1e-8 * rng.normal(size=n)
        fast = loss().evaluate(scores, is_pos, weight)
        slow = pair_terms(loss.__name__, scores, is_pos, weight)
        assert fast.value == pytest.approx(slow.value, rel=1e-12)
        assert_allclose(fast.grad, slow.grad, atol=1e-12 * abs(slow.grad).max())


@pytest.mark.parametrize("loss", ALL, ids=name)
def test_gradient_sums_to_zero(loss, rng):
    scores, is_pos = rng.normal(size=500), draw_labels(rng, 500)
    terms = loss().evaluate(scores, is_pos, draw_weight(rng, 500, "any"))
    assert terms.grad.sum() == pytest.approx(0, abs=1e-13)
    assert_allclose(terms.hess_dot(np.ones(500)), 0, atol=1e-13)


@pytest.mark.parametrize("loss", ALL, ids=name)
def test_weight_is_repetition(loss, rng):
    n = 30
    scores, is_pos = rng.normal(size=n), draw_labels(rng, n, 11)
    times = rng.integers(0, 4, n)
    times[np.flatnonzero(is_pos)[0]] = times[np.flatnonzero(~is_pos)[0]] = 2
    repeated = np.repeat(np.arange(n), times)
    weighted = loss().evaluate(scores, is_pos, times.astype(float))
    copied = loss().evaluate(scores[repeated], is_pos[repeated], np.ones(len(repeated)))
    assert weighted.value == pytest.approx(copied.value, rel=1e-13)
    grad = np.zeros(n)
    np.add.at(grad, repeated, copied.grad)
    assert_allclose(weighted.grad, grad, atol=1e-14)
    vector = rng.normal(size=n)
    product = np.zeros(n)
    np.add.at(product, repeated, copied.hess_dot(vector[repeated]))
    assert_allclose(weighted.hess_dot(vector), product, atol=1e-13)


@pytest.mark.parametrize("loss", ALL, ids=name)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 40), decimals=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_convex_along_any_line(loss, seed, n, decimals):
    rng = np.random.default_rng(seed)
    scores = np.round(2 * rng.normal(size=n), decimals)
    is_pos, weight = draw_labels(rng, n), draw_weight(rng, n, "any")
    direction = np.round(rng.normal(size=n), decimals)
    slopes = []
    for t in np.linspace(-2, 2, 9):
        terms = loss().evaluate(scores + t * direction, is_pos, weight)
        slopes.append(terms.grad @ direction)
        assert direction @ terms.hess_dot(direction) >= -1e-10
    assert np.all(np.diff(slopes) >= -1e-9 * (1 + np.abs(slopes).max()))


@pytest.mark.parametrize("loss", ALL, ids=name)
def test_order_of_rows_does_not_matter(loss, rng):
    n = 50
    scores, is_pos = np.round(rng.normal(size=n), 1), draw_labels(rng, n)
    weight, shuffle = draw_weight(rng, n, "any"), rng.permutation(n)
    here = loss().evaluate(scores, is_pos, weight)
    there = loss().evaluate(scores[shuffle], is_pos[shuffle], weight[shuffle])
    assert there.value == pytest.approx(here.value, rel=1e-13)
    if loss is not Hinge:
        assert_allclose(there.grad, here.grad[shuffle], atol=1e-14)


@pytest.mark.parametrize("loss", ALL, ids=name)
def test_float32_scores_accumulate_in_float64(loss, rng):
    scores = rng.normal(size=300).astype(np.float32)
    is_pos, weight = draw_labels(rng, 300, 1), np.ones(300)
    single = loss().evaluate(scores, is_pos, weight)
    double = loss().evaluate(scores.astype(np.float64), is_pos, weight)
    assert single.value == pytest.approx(double.value, rel=1e-6)
    assert single.grad.dtype == np.float64
    assert_allclose(single.grad, double.grad, atol=1e-6)


@pytest.mark.parametrize("loss", PAIRWISE, ids=name)
def test_more_pairs_than_fit_in_32_or_63_bits(loss):
    """10^6 x 10^6 pairs by rows, and 10^10 x 10^10 by weight."""
    n = 2_000_000
    scores = np.zeros(n)
    is_pos = np.arange(n) % 2 == 0
    assert loss().evaluate(scores, is_pos, np.ones(n)).value == pytest.approx(1.0)
    two = loss().evaluate(np.zeros(2), np.array([True, False]), np.full(2, 1e10))
    assert two.value == pytest.approx(1.0)


@pytest.mark.parametrize("loss", ALL, ids=name)
def test_one_row_of_each_class(loss):
    terms = loss().evaluate(np.array([0.25, 0.0]), np.array([True, False]), np.ones(2))
    expected = {
        "SquaredHinge": 0.75**2,
        "Hinge": 0.75,
        "Square": 0.75**2,
        "Logistic": np.log1p(np.exp(-0.125)),
        "UnivariateSquare": (1 - 0.125) ** 2 / 2,
        "Exponential": np.exp(-0.125),
    }
    assert terms.value == pytest.approx(expected[loss.__name__])


@pytest.mark.parametrize("loss", ALL, ids=name)
def test_outlier_without_weight_is_absent(loss, rng):
    scores, is_pos = rng.normal(size=20), draw_labels(rng, 20, 8)
    far, mask, weight = np.r_[scores, 1e4], np.r_[is_pos, False], np.r_[np.ones(20), 0]
    here = loss().evaluate(scores, is_pos, np.ones(20))
    there = loss().evaluate(far, mask, weight)
    assert there.value == pytest.approx(here.value, rel=1e-12)
    assert_allclose(there.grad, np.r_[here.grad, 0], atol=1e-12)


@pytest.mark.parametrize("loss", UNIVARIATE, ids=name)
def test_univariate_derivatives_match_their_formula(loss, rng):
    """Row by row at the best intercept; the Hessian loses the intercept's direction."""
    n = 12
    scores, is_pos = rng.normal(size=n), draw_labels(rng, n, 5)
    weight = draw_weight(rng, n, "any")
    terms = loss().evaluate(scores, is_pos, weight)
    slope, curvature = {
        "Logistic": (
            lambda m: -1 / (1 + np.exp(m)),
            lambda m: np.exp(m) / (1 + np.exp(m)) ** 2,
        ),
        "UnivariateSquare": (lambda m: m - 1, np.ones_like),
        "Exponential": (lambda m: -np.exp(-m), lambda m: np.exp(-m)),
    }[loss.__name__]
    sign = np.where(is_pos, 1.0, -1.0)
    share = weight / np.where(is_pos, weight[is_pos].sum(), weight[~is_pos].sum()) / 2
    best = brentq(lambda b: (share * sign * slope(sign * (scores + b))).sum(), -50, 50)
    margins = sign * (scores + best)
    assert_allclose(terms.grad, share * sign * slope(margins), atol=1e-10)
    diagonal = share * curvature(margins)
    hessian = np.diag(diagonal) - np.outer(diagonal, diagonal) / diagonal.sum()
    dense = np.column_stack([terms.hess_dot(unit) for unit in np.eye(n)])
    assert_allclose(dense, hessian, atol=1e-10)


@pytest.mark.parametrize("loss", UNIVARIATE, ids=name)
def test_saturated_scores_stay_finite(loss):
    scores = np.array([500.0, 400.0, -500.0, -450.0])
    terms = loss().evaluate(scores, np.array([True, True, False, False]), np.ones(4))
    assert np.isfinite(terms.value)
    assert np.all(np.isfinite(terms.hess_dot(np.arange(4.0))))


@pytest.mark.parametrize("loss", [SquaredHinge(), Square(), Logistic()], ids=str)
def test_products_in_several_threads(loss, rng):
    n = 20_000
    scores, is_pos = rng.normal(size=n), rng.random(n) < 0.3
    terms = loss.evaluate(scores, is_pos, np.ones(n))
    vectors = rng.normal(size=(100, n))
    expected = [terms.hess_dot(vector) for vector in vectors]
    with ThreadPoolExecutor(4) as pool:
        assert_array_equal(list(pool.map(terms.hess_dot, vectors)), expected)


@pytest.mark.parametrize("distance", [1e6, 1e9, 1e12])
def test_rows_without_weight_may_be_anywhere(distance, rng):
    scores, is_pos = rng.normal(size=300), np.arange(300) % 3 == 0
    weight = np.ones(300)
    weight[100:], scores[100:] = 0.0, scores[100:] + distance
    here = SquaredHinge().evaluate(scores, is_pos, weight)
    alone = SquaredHinge().evaluate(scores[:100], is_pos[:100], weight[:100])
    assert_allclose(here.value, alone.value, rtol=1e-12)
    assert_allclose(here.grad[:100], alone.grad, rtol=1e-9, atol=1e-15)


def test_square_overflows_quietly(rng):
    # Solvers refuse what is not finite, and say why.
    scores = np.array([1e200, -1e200, 1e200, -1e200])
    is_pos = np.array([True, False, False, True])
    assert Square().evaluate(scores, is_pos, np.ones(4)).value == np.inf
