# SPDX-License-Identifier: BSD-3-Clause
"""Model files of every format that was ever released can be read, and score as ever."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from estimator_list import ESTIMATORS
from numpy.testing import assert_allclose

from aucmax.io import load, read_metadata
from aucmax.io.models.metadata import FORMAT

FOLDER = Path(__file__).parents[1] / "data" / "models"
OUTPUTS = json.loads((FOLDER / "outputs.json").read_text())
spec = importlib.util.spec_from_file_location("make", FOLDER / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)


# They are of one version of scikit-learn, and loaded with many.
@pytest.mark.filterwarnings("ignore:.*was saved with scikit-learn:UserWarning")
@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_what_they_were(name):
    model = load(FOLDER / f"{name}.skops")
    rows = make.SPARSE if name.endswith("-sparse") else make.X
    output = make.output(model, None if name == "PrequentialAUC" else rows)
    scale = np.abs(OUTPUTS[name]).max()
    assert_allclose(output, OUTPUTS[name], rtol=0, atol=1e-12 * scale)


def test_every_kind_of_estimator_has_a_file_of_this_format():
    found = [read_metadata(file) for file in FOLDER.glob("*.skops")]
    assert len(found) == len(OUTPUTS)
    kinds = {each["model"] for each in found if each["format"] == FORMAT}
    assert {f"aucmax.{type(each).__name__}" for each in ESTIMATORS} <= kinds
    assert "sklearn.pipeline.Pipeline" in kinds
