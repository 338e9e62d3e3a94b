# SPDX-License-Identifier: BSD-3-Clause
"""Exact AUC beside scikit-learn, and its interval beside DeLong's by three rankings.

Ten per cent positives, one thread, CPU time.
"""

import _suite
import numpy as np
from _timing import take_turns
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from aucmax.metrics import roc_auc, roc_auc_interval

BARS = {"roc_auc": 1 / 20, "roc_auc, weighted": 1 / 8, "roc_auc_interval": 1 / 14}


def measurements(*, quick=False):
    for power in range(4, 5 if quick else 8):
        for kind in ("continuous", "tied"):
            yield from beside_peers(10**power, kind)


def beside_peers(n, kind):
    y, scores, weight = draw(n, kind)
    pairs = {
        "roc_auc": (
            lambda: roc_auc(y, scores),
            lambda: roc_auc_score(y, scores),
        ),
        "roc_auc, weighted": (
            lambda: roc_auc(y, scores, sample_weight=weight),
            lambda: roc_auc_score(y, scores, sample_weight=weight),
        ),
        "roc_auc_interval": (
            lambda: roc_auc_interval(y, scores).std_error,
            lambda: three_rankings(y, scores),
        ),
    }
    for what, (ours, peer) in pairs.items():
        np.testing.assert_allclose(ours(), peer(), rtol=1e-11)
        is_interval = what == "roc_auc_interval"
        turns = take_turns(
            {"ours": ours, "peer": peer},
            repeats=5 if n < 10**7 else 3,
            # Where that takes seconds, the comparison has warmed both up.
            warm_up=n < 10**7,
        )
        yield _suite.ratio(
            turns,
            "ours",
            "peer",
            what=what,
            where=f"{n:,} {kind} scores",
            against="three rankdata" if is_interval else "scikit-learn roc_auc_score",
            kind="peer",
            bar=BARS[what],
            goal=10,
        )


def draw(n, kind):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.1).astype(int)
    scores = rng.normal(size=n) + y
    return y, np.round(scores, 2) if kind == "tied" else scores, rng.random(n)


def three_rankings(y, scores):
    """Standard error by the usual fast DeLong: rank positives, negatives, and all."""
    pos, neg = scores[y == 1], scores[y == 0]
    n_pos, n_neg = len(pos), len(neg)
    ranks = rankdata(np.concatenate([pos, neg]))
    placement_pos = (ranks[:n_pos] - rankdata(pos)) / n_neg
    placement_neg = 1 - (ranks[n_pos:] - rankdata(neg)) / n_pos
    variance = placement_pos.var(ddof=1) / n_pos + placement_neg.var(ddof=1) / n_neg
    return float(np.sqrt(variance))


if __name__ == "__main__":
    _suite.main(measurements)
