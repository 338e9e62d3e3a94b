# SPDX-License-Identifier: BSD-3-Clause
"""Models in MLflow's folders and in plain skops files."""

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucmax import NBAUC, OPAUC, AUCClassifier, RankSVM
from aucmax.io import trusted_types

X = np.random.default_rng(0).normal(size=(120, 4))
Y = np.where(X[:, 0] + X[:, 1] ** 2 > 1, "yes", "no")
MODELS = [
    make_pipeline(StandardScaler(), RankSVM()),
    OPAUC(rank=2),
    NBAUC(8, gamma=0.1, alpha=0.01, random_state=0),
    AUCClassifier(families=["boosting", "forest"], cv=2, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_plain_skops(model):
    model.fit(X, Y)
    same = skops.io.loads(skops.io.dumps(model), trusted=trusted_types())
    assert_array_equal(same.decision_function(X), model.decision_function(X))


# MLflow warns of types of its own when it is imported.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS[::3], ids=lambda model: type(model).__name__)
def test_round_trip_in_mlflow(tmp_path, model):
    import mlflow.pyfunc
    import mlflow.sklearn

    model.fit(X, Y)
    mlflow.sklearn.save_model(
        model,
        tmp_path / "model",
        serialization_format="skops",
        skops_trusted_types=trusted_types(),
        # Else it loads the model in another process to see what that imports.
        pip_requirements=["aucmax"],
    )
    same = mlflow.sklearn.load_model(tmp_path / "model")
    assert_array_equal(same.decision_function(X), model.decision_function(X))
    general = mlflow.pyfunc.load_model(tmp_path / "model")
    assert_array_equal(general.predict(X), model.predict(X))
    scores = general.get_raw_model().decision_function(X)
    assert_array_equal(scores, model.decision_function(X))
