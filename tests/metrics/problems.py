# SPDX-License-Identifier: BSD-3-Clause
"""Hypothesis strategies: labels with both classes, and scores with ties."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def labelled_scores(draw, n_scores=1):
    """A mask and score vectors of 2 to 30 rows, whole numbers half of the time."""
    n = draw(st.integers(2, 30))
    is_pos = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    is_pos[draw(st.permutations(range(n)))[:2]] = [False, True]
    number = st.one_of(
        st.integers(-3, 3).map(float),
        st.floats(-1e6, 1e6, allow_subnormal=False),
    )
    vectors = (
        np.array(draw(st.lists(number, min_size=n, max_size=n)))
        for _ in range(n_scores)
    )
    return is_pos, *vectors
