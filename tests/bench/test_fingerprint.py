# SPDX-License-Identifier: BSD-3-Clause
import re
from dataclasses import replace
from importlib import metadata

import pytest
from bench.small_paper import load_small

from aucmax.bench import fingerprint
from aucmax.bench.fingerprint import _meaning, code_version, protocol_version, versions

SOURCE = '''"""A module."""

LIMIT = "text"


class A:
    """A class."""

    def f(self, x):
        """Say what it does."""
        # Why.
        return x + 1
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A module."""\n', ""),
        ('"""A class."""', '"""Another text, which is longer."""'),
        ('        """Say what it does."""\n', ""),
        ("        # Why.\n", "        # Another reason.\n        # And a line.\n"),
        ("return x + 1", "return (\n            x\n            + 1\n        )"),
        ('"text"', "'text'"),
    ],
)
def test_words_and_layout_mean_nothing(old, new):
    assert old in SOURCE
    assert _meaning(SOURCE.replace(old, new)) == _meaning(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + 1", "x + 2"),
        ("x + 1", "1 + x"),
        ('"text"', '"other"'),
        ("def f(self, x)", "def f(self, x=0)"),
        ('"""Say what it does."""', 'text = """Say what it does."""'),
        ("    def f", "    @property\n    def f"),
    ],
)
def test_statements_do(old, new):
    assert old in SOURCE
    assert _meaning(SOURCE.replace(old, new)) != _meaning(SOURCE)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the tree in which every file is the same small one."""
    for source in fingerprint.SOURCES:
        path = tmp_path / source
        path = path if path.suffix else path / "deep" / "module.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SOURCE)
    monkeypatch.setattr(fingerprint.resources, "files", lambda name: tmp_path)
    return tmp_path


def test_code_version_has_twelve_digits_and_stays():
    assert re.fullmatch("[0-9a-f]{12}", code_version())
    assert code_version.__wrapped__() == code_version()


@pytest.mark.parametrize(
    "name", ["solvers/deep/module.py", "_kernels/deep/module.py", "bench/tasks.py"]
)
def test_code_version_changes_with_a_statement_anywhere(package, name):
    before = code_version.__wrapped__()
    (package / name).write_text(SOURCE.replace("# Why.", "# Because."))
    assert code_version.__wrapped__() == before
    (package / name).write_text(SOURCE.replace("x + 1", "x + 2"))
    assert code_version.__wrapped__() != before


def test_code_version_does_not_depend_on_how_results_are_shown(package):
    before = code_version.__wrapped__()
    (package / "bench" / "report.py").write_text("x = 1")
    (package / "solvers" / "notes.txt").write_text("x = 1")
    assert code_version.__wrapped__() == before
    (package / "solvers" / "new.py").write_text("x = 1")
    assert code_version.__wrapped__() != before


def test_all_that_computes_is_among_the_sources():
    package = fingerprint.resources.files("aucmax")
    folders = {f.name for f in package.iterdir() if (f / "__init__.py").is_file()}
    not_below = {"bench", "cli", "datasets", "distributed", "io", "plots"}
    assert folders - not_below <= set(fingerprint.SOURCES)


@pytest.fixture
def records():
    paper = load_small()
    return paper.sets["german"], paper.methods["OPAUC"], paper.figures["2"]


@pytest.mark.parametrize(
    "changes",
    [
        {"grid": ({"step_size": (0.5, 0.25)},)},
        {"grid": ()},
        {"fixed": {"solver": "exact"}},
        {"default": {}},
        {"default": None},
        {"penalty": "sum"},
        {"estimator": "OAM"},
        {"before": {"estimator": "Nystroem"}},
        {"max_train": 50},
    ],
)
def test_protocol_version_changes_with_the_method(records, changes):
    use, method, _ = records
    changed = replace(method, **changes)
    assert protocol_version(use, changed) != protocol_version(use, method)


@pytest.mark.parametrize(
    "changes",
    [
        {"scaling": ("zscore",)},
        {"scaling": ("range", "unit")},
        {"positive": (1,)},
        {"data": "glass"},
        {"part": "train"},
        {"split": "holdout"},
        {"n_folds": 4},
        {"n_inner_folds": 4},
        {"n_inner_used": 3},
        {"n_inner_repeats": 2},
        {"tune_rows": 100},
        {"max_train": 100},
        {"max_rows": 100},
    ],
)
def test_protocol_version_changes_with_the_use_of_the_set(records, changes):
    use, method, _ = records
    changed = replace(use, **changes)
    assert protocol_version(changed, method) != protocol_version(use, method)


def test_protocol_version_does_not_change_with_words_and_numbers_of_runs(records):
    use, method, figure = records
    other = (
        replace(use, why="-", comparable=False, printed="-", n_repeats=9, n_runs=1),
        replace(method, note="-", cost=9.0, proposed=True, printed="-", n_runs=1),
        replace(figure, caption="-", note="-", values=(1.0,), n_runs=9, log=True),
    )
    assert protocol_version(*other) == protocol_version(*records)
    assert protocol_version(*other[:2]) == protocol_version(*records[:2])


def test_protocol_version_changes_with_the_figure(records):
    use, method, figure = records
    found = {
        protocol_version(use, method),
        protocol_version(use, method, figure),
        protocol_version(use, method, replace(figure, fixed={"average": False})),
        protocol_version(use, method, replace(figure, vary="lambda")),
        protocol_version(use, method, replace(figure, tuned=False)),
        protocol_version(use, method, replace(figure, max_rows=10)),
    }
    assert len(found) == 6


def test_versions_name_the_libraries():
    for name in ("numpy", "scipy", "scikit-learn", "numba"):
        assert f"{name} {metadata.version(name)}" in versions()
