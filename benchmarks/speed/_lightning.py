# SPDX-License-Identifier: BSD-3-Clause
"""sklearn-contrib-lightning, which runs in an environment of its own.

It is built with an old NumPy only, so a child process with the Python that
AUCMAX_LIGHTNING_PYTHON names holds the data, fits on request, and says how much CPU
time that took. `Lightning.clock` adds this to the time of the own process: by it, both
sides take turns as if they ran in one.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse

PYTHON = os.environ.get("AUCMAX_LIGHTNING_PYTHON")


class Lightning:
    """A child that fits models of lightning to the rows it was given."""

    def __init__(self, X, y, X_test, y_test):
        self.seconds = 0.0
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.npz"
            parts = {"y": y, "y_test": y_test}
            parts |= _arrays(X, "X") | _arrays(X_test, "X_test")
            np.savez(path, **parts)
            self.process = subprocess.Popen(
                [PYTHON, __file__, str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
            self._ask({"do": "load"})

    def fit(self, model, **options):
        self.seconds += self._ask({"do": "fit", "model": model, "options": options})

    def auc(self):
        """Return the AUC of the last fit on the test rows, None if it diverged."""
        return self._ask({"do": "auc"})

    def clock(self):
        return time.process_time() + self.seconds

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def _ask(self, question):
        print(json.dumps(question), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def _arrays(X, name):
    if not sparse.issparse(X):
        return {name: X}
    shape = np.array(X.shape)
    return {f"{name}_{part}": getattr(X, part) for part in CSR} | {f"{name}_n": shape}


CSR = ("data", "indices", "indptr")


def serve(path):
    """Answer one line of JSON with another, until there are no more."""
    import warnings

    from lightning import classification
    from sklearn.metrics import roc_auc_score

    warnings.simplefilter("ignore")
    with np.load(path) as kept:
        X, X_test, y, y_test = (
            _matrix(kept, n) for n in ("X", "X_test", "y", "y_test")
        )
    labels = np.where(y, 1, -1)
    # Coordinate descent goes by columns; it would turn rows around in every fit.
    columns = sparse.csc_matrix(X) if sparse.issparse(X) else np.asfortranarray(X)
    model = None
    for line in sys.stdin:
        question = json.loads(line)
        answer = None
        if question["do"] == "fit":
            make = getattr(classification, question["model"])
            given = columns if question["model"] == "CDClassifier" else X
            start = time.process_time()
            model = make(**question["options"]).fit(given, labels)
            answer = time.process_time() - start
        elif question["do"] == "auc":
            scores = np.ravel(model.decision_function(X_test))
            is_finite = bool(np.isfinite(scores).all())
            answer = float(roc_auc_score(y_test, scores)) if is_finite else None
        print(json.dumps(answer), flush=True)


def _matrix(kept, name):
    if name in kept:
        return kept[name]
    parts = tuple(kept[f"{name}_{part}"] for part in CSR)
    return sparse.csr_matrix(parts, shape=tuple(kept[f"{name}_n"]))


if __name__ == "__main__":
    serve(sys.argv[1])
