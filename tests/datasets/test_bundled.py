# SPDX-License-Identifier: BSD-3-Clause
import tomllib
from importlib import resources

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aucmax.datasets import info, list_bundled, load_bundled

# Rows and positives, training and test, as counted in the repository they come from.
COUNTS = {
    "german": (1000, 300),
    "glass": (214, 29),
    "satimage": (4435 + 2000, 415 + 211),
    "vehicle": (846, 199),
}


def test_every_set_is_counted_here():
    assert list_bundled() == sorted(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_rows_labels_and_metadata(name):
    data = load_bundled(name)
    n, n_pos = COUNTS[name]
    assert data.name == name
    assert len(data.y) + len(data.y_test) == n
    assert data.y.sum() + data.y_test.sum() == n_pos
    assert set(data.y) == set(data.y_test) == {0, 1}
    assert data.X.shape == (len(data.y), data.X_test.shape[1])
    assert data.X.dtype == data.X_test.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert np.isfinite(data.X_test).all()
    assert data.licence == "CC BY 4.0"
    assert "doi.org" in data.source
    assert f"{n_pos} " in data.description


@pytest.mark.parametrize("name", COUNTS)
def test_facts_are_written_down_once(name):
    data, facts = load_bundled(name), info(name)
    assert (data.title, data.licence) == (facts.title, facts.licence)
    assert data.source == facts.reference
    text = (resources.files("aucmax.datasets") / "data" / "bundled.toml").read_text()
    assert set(tomllib.loads(text)[name]) == {"description", "positive"}


@pytest.mark.parametrize("name", COUNTS)
def test_split_is_the_same_at_every_call(name):
    first, second = load_bundled(name), load_bundled(name)
    assert_array_equal(first.X, second.X)
    assert_array_equal(first.y_test, second.y_test)


def test_callers_may_change_their_copy():
    load_bundled("glass").X[:] = 0
    assert load_bundled("glass").X.any()


def test_made_split_is_stratified():
    data = load_bundled("german")
    assert (len(data.y), len(data.y_test)) == (700, 300)
    assert data.y.mean() == pytest.approx(0.3)
    assert data.y_test.mean() == pytest.approx(0.3)


def test_satimage_has_its_official_split():
    data = load_bundled("satimage")
    assert (len(data.y), len(data.y_test)) == (4435, 2000)
    # The first row of the published training file.
    assert_array_equal(data.X[0, :4], [92, 115, 120, 94])


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"no bundled data set 'iris'.*german, glass"):
        load_bundled("iris")


def test_every_file_has_its_licence_written_down():
    folder = resources.files("aucmax.datasets") / "data"
    licences = (folder / "LICENCES.md").read_text(encoding="utf-8")
    files = [file.name for file in folder.iterdir() if file.name.endswith(".bz2")]
    assert [file for file in files if f"`{file}`" not in licences] == []
    for name in list_bundled():
        assert load_bundled(name).source.rpartition(" ")[2] in licences


def test_data_stay_small():
    folder = resources.files("aucmax.datasets") / "data"
    assert sum(len(file.read_bytes()) for file in folder.iterdir()) < 300_000
