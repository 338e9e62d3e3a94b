# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM fits to 1e-3 of the optimum beside what their passes over the rows must cost.

Their rival, LIBLINEAR-RankSVM in C++, is not on PyPI. So the limit is the machine's:
as many reads of X as the fit has made passes over it, two for a product, by the
fastest of several loops in the same run, and one ``np.argsort`` for each gradient. Of
sparse rows their values and column numbers are read. The products of a fit, which no
machine changes, are a figure of their own. Dense rows are standardised, sparse ones
are not; alpha is 1e-3, C = 1000 / (n_pos n_neg). One thread, CPU time.
"""

import _suite
import numpy as np
from _data import load
from _reading import fastest, readers
from _timing import take_turns
from scipy import sparse
from threadpoolctl import threadpool_limits

from aucmax import RankSVM

ALPHA, TOL = 1e-3, 1e-3
DENSE = ["magic04", "ijcnn1", "covtype", "connect-4", "w8a"]
SPARSE = ["w8a", "a9a", "news20"]


def measurements(*, quick=False):
    for goal, names in ((1, DENSE), (2, SPARSE)):
        for name in names[:1] if quick else names:
            data = load(name, standardise=goal == 1, quick=quick)
            with threadpool_limits(1):
                optimum = RankSVM(alpha=ALPHA, tol=1e-8).fit(data.X, data.y).objective_
            for dtype in (np.float32, np.float64):
                yield from beside_limit(data.astype(dtype), optimum, goal, quick)


def beside_limit(data, optimum, goal, quick):
    X, y = data.X, data.y
    parts = [X.data, X.indices] if sparse.issparse(X) else [X]
    model = RankSVM(alpha=ALPHA, tol=TOL).fit(X, y)
    scores = model.decision_function(X).astype(float) - y
    n_passes, n_gradients = model.history_[-1].n_passes, model.n_iter_ + 1
    turns = take_turns(
        {
            "fit": lambda: model.fit(X, y),
            **readers(parts),
            "argsort": lambda: np.argsort(scores),
        },
        repeats=2 if quick else 5,
    )
    one_read, reader = fastest(turns)
    turns["limit"] = [
        n_passes * reading + n_gradients * sorting
        for reading, sorting in zip(one_read, turns["argsort"], strict=True)
    ]
    shared = {"where": data.where, "goal": goal}
    yield _suite.ratio(
        turns,
        "fit",
        "limit",
        what="RankSVM fit to 1e-3",
        against="its reads of X and argsorts",
        kind="limit",
        details={"read by": reader},
        **shared,
    )
    yield _suite.outcome(
        n_passes / 2,
        what="RankSVM fit to 1e-3, products",
        unit="products",
        details={"gradients": n_gradients},
        **shared,
    )
    yield _suite.outcome(
        model.objective_ / optimum - 1,
        what="RankSVM fit to 1e-3, above the optimum",
        unit="of the objective",
        bar=TOL,
        **shared,
    )


if __name__ == "__main__":
    _suite.main(measurements)
