# SPDX-License-Identifier: BSD-3-Clause
"""The suite of benchmarks/speed: its arithmetic, its scripts, and a quick run."""

import importlib
import inspect
import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from browser import open_browser, visit

FOLDER = Path(__file__).parents[1] / "benchmarks" / "speed"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))

pytest.importorskip("jinja2", reason="the page needs the extra bench")


@pytest.fixture
def module(monkeypatch):
    """Import a module of the folder."""
    monkeypatch.syspath_prepend(str(FOLDER))
    # Folders of tests have some of these names.
    for path in FOLDER.glob("*.py"):
        monkeypatch.delitem(sys.modules, path.stem, raising=False)
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).parent == FOLDER:
            del sys.modules[name]


@pytest.fixture
def make(module):
    suite = module("_suite")

    def make(ratio, **changes):
        fields = {
            "what": "fit", "where": "rows", "against": "peer", "kind": "peer",
            "ours": ratio, "other": 1.0, "unit": "s", "script": "fit",
        }  # fmt: skip
        spread = {"ratio": ratio, "low": 0.9 * ratio, "high": 1.1 * ratio}
        return suite.Measurement(**fields | spread | changes)

    return make


def a_run(*measurements, **changes):
    return {
        "date": "2026-01-01",
        "quick": False,
        "has_data": True,
        "failed": [],
        "machine": {"processor": "P", "cores": 2, "system": "S", "python": "3"},
        "versions": {"numpy": "2"},
        "measurements": list(measurements),
    } | changes


def test_ratio_is_of_the_least_turns(module):
    turns = {"ours": [2.0, 1.0, 4.0], "other": [4.0, 5.0, 2.0]}
    made = module("_suite").ratio(
        turns, "ours", "other", where="rows", kind="peer", unit="us per row", per=10
    )
    assert made.ratio == 0.5
    assert (made.low, made.high) == (0.2, 2.0)
    assert (made.ours, made.other) == (1e5, 2e5)


@pytest.mark.parametrize(
    ("now", "slower", "faster"),
    [(1.0, 0, 0), (1.2, 0, 0), (1.3, 1, 0), (0.85, 0, 0), (0.7, 0, 1)],
)
def test_what_changed_is_told_by_ratio(module, make, now, slower, faster):
    found = module("_versus_last").compare(a_run(make(now)), a_run(make(1.0)))
    assert (len(found.slower), len(found.faster)) == (slower, faster)


def test_a_wide_spread_of_the_last_run_is_no_change(module, make):
    compare = module("_versus_last").compare
    last = a_run(make(1.0, high=1.6))
    assert not compare(a_run(make(1.5)), last).slower
    assert compare(a_run(make(1.7)), last).slower


def test_what_was_not_run_is_not_gone(module, make):
    compare = module("_versus_last").compare
    last = a_run(make(1.0), make(1.0, script="other", what="else"))
    assert compare(a_run(make(1.0)), last).gone == []
    others = a_run(make(1.0, where="more rows"))
    assert compare(others, last).gone == ["fit | rows | peer"]
    assert compare(others, last).new == ["fit | more rows | peer"]


def test_machines_and_quick_runs_are_not_compared(module, make):
    compare = module("_versus_last").compare
    bandwidth = make(1.0, kind="absolute")
    assert not compare(a_run(replace(bandwidth, ratio=9.0)), a_run(bandwidth)).slower
    assert not compare(a_run(make(9.0), quick=True), a_run(make(1.0))).slower
    assert "no former run" in compare(a_run(make(1.0)), None).sentence


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_is_a_generator_of_measurements(module, name):
    script = module(name)
    if name != "run":
        assert inspect.isgeneratorfunction(script.measurements)
        assert "quick" in inspect.signature(script.measurements).parameters
        assert script.__doc__


def test_page_in_a_browser(module, make, tmp_path):
    measurements = [
        make(0.4, bar=0.5, goal=3, details={"AUC": 0.9}),
        make(0.7, bar=0.5, goal=3, where="<few> rows"),
        make(1.2, kind="limit", against="two reads"),
        make(1.05, kind="growth", against="", curve=[[1e4, 0.1], [1e5, 1.0]]),
    ]
    run = a_run(*measurements)
    changes = module("_versus_last").compare(run, a_run(make(0.1)))
    module("_page").write_results(tmp_path, run, changes, with_page=True)
    with open_browser() as browser:
        tab, told, asked = visit(browser, tmp_path / "index.html")
        assert told == []
        assert len(asked) == 1
        text = tab.inner_text("body")
        assert "1 of 2" in text
        assert "<few> rows" in text
        assert tab.locator("svg").count() == 3
        assert "mathdefault" not in text
    written = json.loads((tmp_path / "results.json").read_text())
    assert written["measurements"] == [asdict(made) for made in measurements]
    assert "| 3 | Linear fit" in (tmp_path / "RESULTS.md").read_text()


def test_quick_run_writes_everything(tmp_path):
    command = [sys.executable, FOLDER / "run.py", "--quick", "--only", "metrics"]
    done = subprocess.run(
        [*command, "--out", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "bars hold" in done.stdout
    run = json.loads((tmp_path / "results.json").read_text())
    assert {made["script"] for made in run["measurements"]} == {"metrics"}
    assert all(made["ours"] > 0 for made in run["measurements"])
    assert (tmp_path / "index.html").exists()


def test_quick_runs_are_not_kept():
    command = [sys.executable, FOLDER / "run.py", "--quick", "--keep"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--keep needs real sizes" in done.stderr


def test_kept_scripts_replace_their_own_lines(module, make):
    last = a_run(make(1.0), make(2.0, script="metrics"), make(3.0, script="no more"))
    new = a_run(make(0.5, script="metrics"), make(0.6, script="metrics", what="new"))
    kept = module("run").replace_scripts(last, new)["measurements"]
    found = [(made.script, made.ratio) for made in kept]
    assert found == [("metrics", 0.5), ("metrics", 0.6), ("fit", 1.0)]
    assert module("run").replace_scripts(None, new) == new
