# SPDX-License-Identifier: BSD-3-Clause
"""Files name classes so that they can be renamed and moved."""

import re
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aucmax
from aucmax import OPAUC, saved
from aucmax.io import load, save
from aucmax.streams.online import OnlineStream

SOURCE = Path(aucmax.__file__).parent
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0.3).astype(int)
LOAD = """
import sys
from aucmax.io import load
print(load(sys.argv[1]).n_samples_seen_)
"""


@pytest.fixture
def file(tmp_path):
    save(OPAUC().fit(X, Y), tmp_path / "model.skops")
    return tmp_path / "model.skops"


def test_names_are_given_once_and_where_they_are_looked_for():
    names = Counter()
    for path in SOURCE.rglob("*.py"):
        found = re.findall(r'^@saved_as\(\s*"(\w+)"', path.read_text(), re.M)
        names.update(found)
        package = ".".join(path.relative_to(SOURCE).parts[:-1])
        assert not found or package in saved.PACKAGES
    assert set(names.values()) == {1}
    assert len(names) > 60
    for name in names:
        assert getattr(saved, name) is saved._named[name]


def test_public_names_are_those_of_users():
    for full, name in saved.names_in_files().items():
        module, _, last = name.rpartition(".")
        home, _, today = full.rpartition(".")
        named = getattr(import_module(module), last)
        assert named is getattr(import_module(home), today)
        assert (module == "aucmax") == (last in aucmax.__all__)


def test_file_of_a_class_that_was_renamed_and_moved(file, monkeypatch):
    expected = load(file).decision_function(X)

    class Renamed(OnlineStream):
        """The class under another name, in another module."""

    monkeypatch.setitem(saved._named, "OnlineStream", Renamed)
    loaded = load(file)
    assert type(loaded._stream) is Renamed
    assert_array_equal(loaded.decision_function(X), expected)
    save(loaded, file)
    assert type(load(file)._stream) is Renamed


def test_file_is_loaded_where_nothing_was_imported(file):
    command = [sys.executable, "-c", LOAD, str(file)]
    assert subprocess.check_output(command, text=True).strip() == "60"


def test_names_that_nothing_has():
    assert not saved.is_trusted("aucmax.saved.Nothing")
    assert not saved.is_trusted("aucmax.Nothing")
    assert not saved.is_trusted("aucmax.io")
    assert not saved.is_trusted("aucmax.saved.saved_as")
    assert not saved.is_trusted("aucmax.saved.import_module")
    assert not saved.is_trusted("aucmax.saved.ApproximateIndex")
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = saved.Nothing
