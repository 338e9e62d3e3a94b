# SPDX-License-Identifier: BSD-3-Clause
"""The AUC of scores on workers."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from aucmax import metrics
from aucmax.distributed import roc_auc

SIZES = (7, 150, 1, 0, 142)


@pytest.fixture
def scored(rng):
    y = rng.random(300) < 0.3
    return y, np.round(rng.normal(size=300) + y, 1)


def on_dask(*vectors, sizes=SIZES):
    return [da.from_array(vector, (sizes,)) for vector in vectors]


def test_exact_auc_is_the_same_float(scheduler, scored):
    assert roc_auc(*on_dask(*scored)) == metrics.roc_auc(*scored)


def test_many_blocks(scored):
    assert roc_auc(*on_dask(*scored, sizes=(3,) * 100)) == metrics.roc_auc(*scored)


def test_weights(scored, rng):
    weight = rng.integers(0, 4, 300) * 0.3
    auc = roc_auc(*on_dask(*scored), sample_weight=on_dask(weight)[0])
    expected = metrics.roc_auc(*scored, sample_weight=weight)
    assert auc == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("bins", [1, 8, 1024])
def test_binned_auc_is_that_of_one_summary_and_within_its_bound(scored, bins):
    summary = metrics.StreamingAUC(bins_per_octave=bins).update(*scored)
    auc = roc_auc(*on_dask(*scored), bins_per_octave=bins)
    assert auc == pytest.approx(summary.auc, rel=1e-14)
    assert abs(auc - metrics.roc_auc(*scored)) <= summary.error_bound
    assert bins > 8 or auc != metrics.roc_auc(*scored)


def test_labels_of_any_kind_and_series(scored):
    y, scores = scored
    labels = np.where(y, "spam", "ham")
    assert roc_auc(*on_dask(labels, scores)) == metrics.roc_auc(y, scores)
    frame = dd.from_pandas(pd.DataFrame({"y": labels, "s": scores}), npartitions=4)
    assert roc_auc(frame["y"], frame["s"]) == metrics.roc_auc(y, scores)


def test_float32_scores(scored):
    y, scores = scored
    scores = scores.astype(np.float32) / 3
    assert roc_auc(*on_dask(y, scores)) == metrics.roc_auc(y, scores)


def test_refused(scored):
    y, scores = on_dask(*scored)
    with pytest.raises(TypeError, match="y_score must be a dask array or series"):
        roc_auc(y, scored[1])
    with pytest.raises(ValueError, match="needs both classes"):
        roc_auc(da.ones_like(y), scores)
    with pytest.raises(ValueError, match="multiclass"):
        roc_auc(da.from_array(np.arange(300) % 3, (SIZES,)), scores)
    with pytest.raises(ValueError, match="X has 300 rows, but y_true has 157"):
        roc_auc(y[:157], scores)
