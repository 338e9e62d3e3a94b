# SPDX-License-Identifier: BSD-3-Clause
"""The promises of the package as a whole: imports, names, installation."""

import os
import shutil
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path

import pytest

import aucmax

ROOT = Path(__file__).parents[1]

FIT = """
import numpy as np
import aucmax
X = np.random.default_rng(0).normal(size=(40, 2))
model = aucmax.RankSVM().fit(X, X[:, 0] > 0)
print(aucmax.__file__, model.score(X, X[:, 0] > 0) > 0.99)
"""


def run_python(*args: str, **env: str) -> str:
    """Run a fresh interpreter, in which warnings are errors, and return its stdout."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *args],
        env=os.environ | env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_nothing_heavy():
    loaded = run_python("-c", "import aucmax, sys; print(*sys.modules)").split()
    heavy = {"numpy", "scipy", "sklearn", "numba", "pandas", "polars", "joblib"}
    assert "aucmax" in loaded
    assert heavy.isdisjoint(loaded)


def test_import_of_estimators_does_not_load_numba():
    # In one process, as each takes a second.
    code = "import aucmax, sys; [getattr(aucmax, name) for name in aucmax.__all__]"
    loaded = run_python("-c", f"{code}; print(*sys.modules)").split()
    assert "aucmax.estimators.rank_svm" in loaded
    assert "numba" not in loaded


@pytest.mark.parametrize("name", aucmax.__all__)
def test_public_name_is_listed_and_resolves(name):
    assert name in dir(aucmax)
    assert getattr(aucmax, name).__name__.rpartition(".")[2] == name


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'aucmax' has no attribute 'RankSVN'"):
        _ = aucmax.RankSVN


def test_version_is_the_installed_one():
    assert aucmax.__version__ == metadata.version("aucmax")


def test_types_are_shipped():
    assert (resources.files("aucmax") / "py.typed").is_file()


def test_fit_works_where_nothing_can_be_written(tmp_path):
    package = tmp_path / "site" / "aucmax"
    shutil.copytree(
        Path(aucmax.__file__).parent,
        package,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    # A file where the cache folders would go: unlike chmod, it also stops root.
    for folder in [package, *package.rglob("*/")]:
        (folder / "__pycache__").touch()
    blocked = tmp_path / "blocked"
    blocked.touch()
    nowhere = str(blocked / "below")
    out = run_python(
        "-B",
        "-c",
        FIT,
        PYTHONPATH=str(package.parent),
        HOME=nowhere,
        XDG_CACHE_HOME=nowhere,
        NUMBA_CACHE_DIR=nowhere,
    )
    assert out.split() == [str(package / "__init__.py"), "True"]
