# SPDX-License-Identifier: BSD-3-Clause
import ast
import re
import shutil
from dataclasses import replace
from importlib import metadata

import pytest
from bench.small_paper import load_small

from aucmax.bench import fingerprint
from aucmax.bench.fingerprint import code_version, protocol_version, versions
from aucmax.bench.protocol import Method

SOURCE = '''"""A module."""

LIMIT = "text"


class A:
    """A class."""

    def f(self, x):
        """Say what it does."""
        # Why.
        return x + 1
'''


def meaning(source):
    return ast.dump(fingerprint._stripped(source))


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
    assert meaning(SOURCE.replace(old, new)) == meaning(SOURCE)


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
    assert meaning(SOURCE.replace(old, new)) != meaning(SOURCE)


CACHES = (fingerprint._version, fingerprint._imports, fingerprint._statements)
PAIRS = Method("Linear RankSVM", estimator="RankSVM")
ONE_PASS = Method("OPAUC", estimator="OPAUC")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The sources as they are now, and the versions of two methods."""
    ignored = shutil.ignore_patterns("__pycache__", "data", "papers")
    folder = shutil.copytree(
        fingerprint.resources.files("aucmax"),
        tmp_path_factory.mktemp("sources") / "aucmax",
        ignore=ignored,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprint.resources, "files", lambda name: folder)
        return folder, versions_now()


@pytest.fixture
def before(sources):
    return sources[1]


@pytest.fixture
def package(sources, tmp_path, monkeypatch):
    """A copy of the sources, to change."""
    copy = shutil.copytree(sources[0], tmp_path / "aucmax")
    monkeypatch.setattr(fingerprint.resources, "files", lambda name: copy)
    yield copy
    for cache in CACHES:
        cache.cache_clear()


def versions_now():
    for cache in CACHES:
        cache.cache_clear()
    return code_version(PAIRS), code_version(ONE_PASS)


def add(path, text):
    path.write_text(path.read_text() + text)


def test_code_version_has_twelve_digits_and_stays(package, before):
    assert all(re.fullmatch("[0-9a-f]{12}", version) for version in before)
    assert versions_now() == before


CHANGED = {
    "solvers/nonlinear_cg.py": (True, False),
    "solvers/online/opauc.py": (False, True),
    "_utils/validation.py": (True, True),
    "metrics/auc.py": (True, True),
    "bench/tasks.py": (True, True),
    "bench/report.py": (False, False),
    "estimators/knnoam.py": (False, False),
    "plots/curve.py": (False, False),
}


def test_code_version_does_not_change_with_words(package, before):
    for name in CHANGED:
        add(package / name, "\n# Why.\n")
    assert versions_now() == before


@pytest.mark.parametrize(("name", "changed"), CHANGED.items())
def test_code_version_changes_with_what_a_method_imports(
    package, before, name, changed
):
    add(package / name, "\nx = 1\n")
    after = versions_now()
    assert tuple(a != b for a, b in zip(after, before, strict=True)) == changed


def test_a_new_estimator_changes_nothing(package, before):
    (package / "estimators" / "new.py").write_text("x = 1\n")
    add(package / "metrics" / "__init__.py", "\nfrom aucmax.metrics.new import x\n")
    assert versions_now() == before


def test_names_are_followed_through_packages():
    used = fingerprint._imported({"aucmax.estimators.rank_svm"})
    # From aucmax.losses, which has it from there.
    assert "aucmax.losses.squared_hinge" in used
    assert "aucmax._kernels.active_pairs" in used
    # The decorator of all kernels.
    assert "aucmax._kernels.jit" in used
    assert "aucmax.losses.univariate" not in used
    assert "aucmax" not in used


def test_a_map_in_front_counts(package):
    mapped = replace(ONE_PASS, before={"estimator": "Nystroem"})
    other = replace(ONE_PASS, default_estimator="NBAUC")
    versions_now()
    assert len({code_version(m) for m in (ONE_PASS, mapped, other)}) == 3


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
        protocol_version(use, method, replace(figure, vary="online")),
        protocol_version(use, method, replace(figure, vary="online", values=(3,))),
    }
    assert len(found) == 8


def test_versions_name_the_libraries():
    for name in ("numpy", "scipy", "scikit-learn", "numba"):
        assert f"{name} {metadata.version(name)}" in versions()
