# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM fits to 1e-3 of the optimum beside what their passes over the rows must cost.

Their rival, LIBLINEAR-RankSVM in C++, is not on PyPI. So the limit is the machine's:
as many reads of X as the fit has made passes over it, two for a product, at the
bandwidth of a bare sum in the same run, and one ``np.argsort`` for each gradient. Of
sparse rows their values and column numbers are read. Dense rows are standardised,
sparse ones are not; alpha is 1e-3, C = 1000 / (n_pos n_neg). One thread, CPU time.
"""

import _suite
import numba
import numpy as np
from _data import load
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
                yield beside_limit(data.astype(dtype), optimum, goal, quick)


@numba.njit(nogil=True, fastmath=True)
def read(values):
    total = values.dtype.type(0)
    for i in range(values.shape[0]):
        total += values[i]
    return total


def beside_limit(data, optimum, goal, quick):
    X, y = data.X, data.y
    parts = [X.data, X.indices] if sparse.issparse(X) else [X.ravel()]
    model = RankSVM(alpha=ALPHA, tol=TOL).fit(X, y)
    scores = model.decision_function(X).astype(float) - y
    n_passes, n_gradients = model.history_[-1].n_passes, model.n_iter_ + 1
    turns = take_turns(
        {
            "fit": lambda: model.fit(X, y),
            "read": lambda: [read(part) for part in parts],
            "argsort": lambda: np.argsort(scores),
        },
        repeats=2 if quick else 5,
    )
    turns["limit"] = [
        n_passes * reading + n_gradients * sorting
        for reading, sorting in zip(turns["read"], turns["argsort"], strict=True)
    ]
    return _suite.ratio(
        turns,
        "fit",
        "limit",
        what="RankSVM fit to 1e-3",
        where=data.where,
        against="its reads of X and argsorts",
        kind="limit",
        goal=goal,
        details={
            "products": round(n_passes / 2, 1),
            "gradients": n_gradients,
            "objective off by": f"{model.objective_ / optimum - 1:.1e}",
        },
    )


if __name__ == "__main__":
    _suite.main(measurements)
