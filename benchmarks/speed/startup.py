# SPDX-License-Identifier: BSD-3-Clause
"""What a fresh process pays: imports, and the first fit of each model.

Every number is from processes of its own, in CPU seconds; those of all candidates take
turns. Beside peers stands all that a process has spent when its first fit is done, on
2,000 rows of 10 features: the start of Python, imports, loading compiled code, the fit.
For the bars, a first fit is timed with sklearn already loaded, from the import of
aucmax on, and the same fit once more, which is the arithmetic, is taken off. That is
repeated with an empty folder for compiled loops, as on the day of the installation. So
is the import of a model: `import aucmax` alone loads little, and most of what the
import of a model costs is sklearn. Bars are for RankSVM; others are shown.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import _suite

IMPORT = """
import time
{before}
start = time.process_time()
{statement}
print(time.process_time() - start)
"""

FIRST_FIT = """
import time
import numpy as np
{before}
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 10)), (rng.random(2000) < 0.1).astype(int)
start = time.process_time()
{make}
{fit}
done = time.process_time()
{make}
again = time.process_time()
{fit}
print(done, done - start - (time.process_time() - again))
"""

# Statements, and those run before and not timed.
IMPORTS = {
    "import aucmax": ("import aucmax", ""),
    "import aucmax after sklearn": ("import aucmax", "import sklearn"),
    "import aucmax.metrics": ("import aucmax.metrics", ""),
    "from aucmax import RankSVM": ("from aucmax import RankSVM", ""),
    "from aucmax import RankSVM after sklearn.linear_model": (
        "from aucmax import RankSVM",
        "import sklearn.linear_model",
    ),
}
PEER_IMPORTS = {
    "import sklearn.linear_model": ("import sklearn.linear_model", ""),
    "import lightgbm": ("import lightgbm", ""),
    "import xgboost": ("import xgboost", ""),
    "import river.linear_model": ("import river.linear_model", ""),
}
FIT = "model.fit(X, y)"
SKLEARN = "import sklearn.linear_model"
# How to make the model, and how to fit it.
OURS = {
    "RankSVM": ("from aucmax import RankSVM; model = RankSVM()", FIT),
    "OPAUC": ("from aucmax import OPAUC; model = OPAUC()", FIT),
    "NBAUC": (
        "from aucmax import NBAUC; model = NBAUC(100, gamma=0.1, alpha=1e-4)",
        FIT,
    ),
}
PEERS = {
    "LogisticRegression": (
        "from sklearn.linear_model import LogisticRegression as M; model = M()",
        FIT,
    ),
    "LightGBM": (
        "import lightgbm; model = lightgbm.LGBMClassifier(n_jobs=1, verbose=-1)",
        FIT,
    ),
    "XGBoost": ("import xgboost; model = xgboost.XGBClassifier(n_jobs=1)", FIT),
    "River LogisticRegression": (
        "from river import linear_model as m; model = m.LogisticRegression()",
        "for x, t in zip(X.tolist(), y.tolist()): "
        "model.learn_one(dict(enumerate(x)), bool(t))",
    ),
}
# CPU seconds of ours.
IMPORT_BARS = {
    "import aucmax": 0.6,
    "import aucmax after sklearn": 0.1,
    "from aucmax import RankSVM after sklearn.linear_model": 0.6,
}
EMPTY_BAR, WARM_BAR = 5.0, 0.6
# With nothing compiled; each takes seconds.
EMPTY_REPEATS = 3
GOAL = 11
OPTIONAL = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "River": "river"}


def measurements(*, quick=False):
    absent = [p for p in OPTIONAL.values() if importlib.util.find_spec(p) is None]
    for name, package in OPTIONAL.items():
        if package in absent:
            _suite.leave_out(f"{name} is not installed.")
    yield from imports(absent, quick=quick)
    yield from warm_cache(absent, quick=quick)
    yield from empty_cache(quick=quick)


def imports(absent, *, quick):
    statements = dict(list(IMPORTS.items())[:2]) if quick else IMPORTS | PEER_IMPORTS
    codes = {
        name: IMPORT.format(statement=statement, before=before)
        for name, (statement, before) in statements.items()
        if not any(package in statement for package in absent)
    }
    for name, [seconds] in in_turns(codes, 3, quick).items():
        bar = IMPORT_BARS.get(name)
        yield _suite.absolute(
            min(seconds),
            seconds,
            what=name,
            where="fresh process",
            unit="s",
            bar=bar,
            goal=None if bar is None else GOAL,
        )


def warm_cache(absent, *, quick):
    models = OURS | PEERS
    codes = {
        name: first_fit_code(make, fit)
        for name, (make, fit) in models.items()
        if not any(package in make for package in absent)
    }
    if quick:
        codes = {name: codes[name] for name in ("RankSVM", "LogisticRegression")}
    # The first round fills the cache.
    runs = in_turns(codes, 3, quick)
    totals = {name: total for name, (total, _) in runs.items()}
    for name in filter(runs.__contains__, OURS):
        yield first_fit(name, runs[name][1], "compiled before", WARM_BAR)
        for other in filter(runs.__contains__, PEERS):
            yield _suite.ratio(
                totals,
                name,
                other,
                what=f"{name}, all until its first fit is done",
                where="fresh process, 2,000 x 10, compiled before",
                kind="peer",
            )


def empty_cache(*, quick):
    for name in ["RankSVM"] if quick else OURS:
        make, fit = OURS[name]
        seconds = []
        for _ in range(1 if quick else EMPTY_REPEATS):
            with tempfile.TemporaryDirectory() as folder:
                code = first_fit_code(make, fit)
                seconds.append(printed(code, NUMBA_CACHE_DIR=folder)[1])
                n_loops = len(list(Path(folder).rglob("*.nbi")))
        made = first_fit(name, seconds, "nothing compiled", EMPTY_BAR)
        yield replace(made, details={"loops compiled": n_loops})


def first_fit_code(make, fit):
    # River has no use for sklearn, and must not pay for it.
    before = "" if "river" in make else SKLEARN
    return FIRST_FIT.format(before=before, make=make, fit=fit)


def first_fit(name, seconds, cache, bar):
    has_bar = name == "RankSVM"
    return _suite.absolute(
        min(seconds),
        seconds,
        what=f"{name}, import and first fit beyond a second one",
        where=f"fresh process, 2,000 x 10, {cache}",
        unit="s",
        bar=bar if has_bar else None,
        goal=GOAL if has_bar else None,
    )


def in_turns(codes, repeats, quick):
    """Return the numbers each of the codes prints, after a round that is not counted.

    Fresh processes take turns; for each number there is a list, one entry per turn.
    """
    first = 0 if quick else 1
    runs = {name: [] for name in codes}
    for _ in range(1 if quick else repeats + first):
        for name, code in codes.items():
            runs[name].append(printed(code))
    return {n: list(zip(*found[first:], strict=True)) for n, found in runs.items()}


def printed(code, **environment):
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    text = subprocess.check_output(
        [sys.executable, "-c", code],
        text=True,
        env=os.environ | one_thread | environment,
    )
    return [float(word) for word in text.split()]


if __name__ == "__main__":
    _suite.main(measurements)
