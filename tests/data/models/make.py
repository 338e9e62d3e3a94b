# SPDX-License-Identifier: BSD-3-Clause
"""Make the model files of this folder, and the outputs that they must give.

    python tests/data/models/make.py

They are of format 1. Once that is released they are never made again: a new format gets
files of its own, beside them.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1]))

from estimator_list import ESTIMATORS, quick  # noqa: E402

from aucmax import KNNOAM, OPAUC, Nystroem, RankSVM  # noqa: E402
from aucmax.io import save  # noqa: E402
from aucmax.metrics import PrequentialAUC  # noqa: E402

# Without a generator, whose numbers could change.
X = np.sin(np.arange(160.0) ** 1.3).reshape(40, 4)
Y = (X @ [1.0, -0.5, 0.25, 0.0] + np.cos(np.arange(40.0)) > 0.2).astype(int)
SPARSE = sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))


def main() -> None:
    """Fit and save all models."""
    outputs = {}
    for old in FOLDER.glob("*.skops"):
        old.unlink()
    for name, model, rows in models():
        save(model, FOLDER / f"{name}.skops")
        outputs[name] = output(model, rows).tolist()
    (FOLDER / "outputs.json").write_text(json.dumps(outputs) + "\n")


def models():
    """Yield names, fitted models, and rows of the kind that they were fitted to."""
    for each in ESTIMATORS:
        yield name_of(each), quick(each, random_state=0).fit(X, Y), X
    for each in (OPAUC(), KNNOAM(random_state=0)):
        yield f"{name_of(each)}-sparse", each.fit(SPARSE, Y), SPARSE
    yield "Pipeline", make_pipeline(StandardScaler(), RankSVM()).fit(X, Y), X
    forest = RandomForestClassifier(3, max_depth=3, random_state=0)
    yield "Forest", make_pipeline(Nystroem(4, random_state=0), forest).fit(X, Y), X
    yield "PrequentialAUC", PrequentialAUC(window=20).update(Y, X[:, 0]), None


def name_of(estimator):
    return re.sub(r"\W+", "-", str(estimator)).strip("-")


def output(model, rows):
    """Return what a model gives for rows: scores, or new features."""
    if rows is None:
        return np.array(model.auc)
    for name in ("decision_function", "predict_proba", "transform"):
        if hasattr(model, name):
            return getattr(model, name)(rows)


if __name__ == "__main__":
    main()
