# SPDX-License-Identifier: BSD-3-Clause
"""The suite of benchmarks/speed: its arithmetic, its scripts, and a quick run."""

import importlib
import inspect
import json
import re
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from browser import open_browser, visit

FOLDER = Path(__file__).parents[1] / "benchmarks" / "speed"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))
# Which script has the bars of each goal.
GOAL_SCRIPTS = {
    1: "linear_limits", 2: "linear_limits", 3: "fit", 4: "products", 5: "embedding",
    6: "kernel_fit", 7: "solver", 8: "pair_sgd", 9: "opauc", 10: "metrics",
    11: "startup", 12: "floor",
}  # fmt: skip

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
    origin = {
        "date": "2026-01-01",
        "commit": "abc",
        "has_data": True,
        "machine": {"processor": "P", "cores": 2, "system": "S", "python": "3"},
        "versions": {"numpy": "2"},
    }
    origin |= {key: changes[key] for key in origin if key in changes}
    run = origin | {
        "quick": False,
        "failed": [],
        "scripts": {m.script: origin | {"left_out": []} for m in measurements},
        "measurements": list(measurements),
    }
    return run | changes


def test_ratio_is_of_the_least_turns(module):
    turns = {"ours": [2.0, 1.0, 4.0], "other": [4.0, 5.0, 2.0]}
    made = module("_suite").ratio(
        turns, "ours", "other", where="rows", kind="peer", unit="us per row", per=10
    )
    assert made.ratio == 0.5
    assert (made.low, made.high) == (0.2, 2.0)
    assert (made.ours, made.other) == (1e5, 2e5)


def test_one_turn_is_held_against_each_of_several(module):
    turns = {"ours": [6.0], "other": [4.0, 2.0, 3.0]}
    made = module("_suite").ratio(turns, "ours", "other", where="rows", kind="peer")
    assert (made.ratio, made.low, made.high) == (3.0, 1.5, 3.0)


class Clock:
    """Time that passes only in the calls that are timed."""

    def __init__(self):
        self.now, self.calls = 0.0, []

    def call(self, name, seconds):
        def run():
            self.calls.append(name)
            self.now += seconds

        return run

    def __call__(self):
        return self.now


def test_candidates_take_turns(module):
    clock = Clock()
    runs = {"a": clock.call("a", 2.0), "b": clock.call("b", 1.0)}
    found = module("_timing").take_turns(runs, repeats=2, clock=clock)
    assert found == {"a": [2.0, 2.0], "b": [1.0, 1.0]}
    assert "".join(clock.calls) == "aabb" + "abab"
    clock.calls.clear()
    module("_timing").take_turns(runs, repeats=1, clock=clock, warm_up=False)
    assert "".join(clock.calls) == "ab"


def test_short_calls_are_repeated_within_a_turn(module):
    clock = Clock()
    short = {"a": clock.call("a", 0.001)}
    found = module("_timing").take_turns(short, repeats=1, clock=clock)
    assert found["a"] == [pytest.approx(0.001)]
    assert len(clock.calls) == 2 + 20


def test_growth_is_the_exponent_from_the_least_size_on(module):
    growth = module("_growth").growth
    curve = [(10, 50.0), (100, 1.0), (1000, 100.0), (10_000, 10_000.0)]
    made = growth(curve, least=100, what="fit", where="rows", grows="rows")
    assert made.ratio == pytest.approx(2.0)
    assert (made.low, made.high) == (pytest.approx(2.0), pytest.approx(2.0))
    assert (made.kind, made.ours, len(made.curve)) == ("growth", 10_000.0, 4)
    with pytest.raises(ValueError, match="Two sizes of at least 2000"):
        growth(curve, least=2000, what="fit", where="rows", grows="rows")


@pytest.mark.parametrize("is_kept", [True, False])
def test_peak_memory_counts_what_was_freed_again(module, monkeypatch, is_kept):
    memory = module("_memory")
    if not memory.CAN_READ:
        pytest.skip(memory.WHY_NOT)
    if not is_kept:
        monkeypatch.setattr(memory, "forget_peak", lambda: False)

    def run():
        values = np.ones(64 * memory.MEGABYTE // 8)
        time.sleep(0.05)
        return values.sum()

    assert memory.peak_beyond(lambda: None) < 8 * memory.MEGABYTE
    for _ in range(2):
        found = memory.peak_beyond(run) / memory.MEGABYTE
        assert 60 < found < 80


def test_one_read_is_the_fastest_way(module):
    reading = module("_reading")
    turns = {"read, compiled": [3.0, 2.0], "read, numpy": [1.0, 4.0], "sort": [0.1]}
    assert reading.fastest(turns) == ([1.0, 4.0], "numpy")
    X = np.arange(6.0).reshape(3, 2)
    assert reading.read(X.ravel()) == 15.0
    assert sorted(reading.readers([X])) == [
        "read, BLAS",
        "read, compiled",
        "read, numpy",
    ]
    for run in reading.readers([X]).values():
        run()


@pytest.mark.parametrize(
    ("now", "slower", "faster"),
    [(1.0, 0, 0), (1.2, 0, 0), (1.3, 1, 0), (0.85, 0, 0), (0.7, 0, 1)],
)
def test_what_changed_is_told_by_ratio(module, make, now, slower, faster):
    found = module("_versus_last").compare(a_run(make(now)), a_run(make(1.0)))
    assert (len(found.slower), len(found.faster)) == (slower, faster)


def test_another_processor_is_told(module, make):
    compare = module("_versus_last").compare
    last = a_run(make(1.0))
    other = last["machine"] | {"processor": "Q"}
    told = compare(a_run(make(1.0), machine=other), last).sentence
    assert told.endswith("That was on another processor (P; this is Q).")
    assert "processor" not in compare(a_run(make(1.0)), last).sentence


def test_a_wide_spread_of_the_last_run_is_no_change(module, make):
    compare = module("_versus_last").compare
    last = a_run(make(1.0, high=1.4))
    assert not compare(a_run(make(1.35)), last).slower
    assert compare(a_run(make(1.45)), last).slower
    # However wide, it excuses no more than a half.
    last = a_run(make(1.0, low=0.1, high=9.0))
    assert not compare(a_run(make(1.45)), last).slower
    assert compare(a_run(make(1.55)), last).slower
    assert compare(a_run(make(0.6)), last).faster


@pytest.mark.parametrize(
    "form",
    [
        {"kind": "growth", "unit": "s"},
        {"kind": "outcome", "unit": "AUC points"},
        {"kind": "absolute", "unit": "AUC points", "bar": 0.2},
    ],
)
@pytest.mark.parametrize("before", [-0.24, -1e-3, 0.0, 1e-9, 0.06, 1.02])
def test_what_may_be_zero_is_compared_by_difference(module, make, form, before):
    compare = module("_versus_last").compare
    last = a_run(make(before, **form))
    for difference in (-0.09, 0.0, 0.09):
        same = compare(a_run(make(before + difference, **form)), last)
        assert not same.slower
        assert not same.faster
    assert compare(a_run(make(before + 0.11, **form)), last).slower
    assert compare(a_run(make(before - 0.11, **form)), last).faster


def test_gaps_are_compared_by_a_difference_of_their_own(module, make):
    compare = module("_versus_last").compare
    form = {"kind": "outcome", "unit": "of the objective"}
    last = a_run(make(1e-12, **form))
    assert not compare(a_run(make(9e-5, **form)), last).slower
    assert not compare(a_run(make(-1e-12, **form)), last).slower
    assert compare(a_run(make(2e-4, **form)), last).slower


def test_counts_are_compared_without_a_bar(module, make):
    compare = module("_versus_last").compare
    last = a_run(make(10.0, kind="outcome", unit="products"))
    assert compare(a_run(make(20.0, kind="outcome", unit="products")), last).slower


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
        make(
            1.05, kind="growth", against="", curve=[[1e4, 0.1], [1e5, 1.0]],
            grows="rows of text",
        ),
    ]  # fmt: skip
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


def test_growth_is_plotted_by_what_grows_and_unit(module, make):
    curve = [(1e4, 0.1), (1e5, 1.0)]
    made = [
        make(1.0, kind="growth", curve=curve, grows=grows, unit=unit)
        for grows, unit in (("rows", "s"), ("rows", "us"), ("features", "s"))
    ]
    plots = dict(module("_plots").draw_growth([*made, replace(made[0], what="more")]))
    assert list(plots) == [
        "rows: s over features", "rows: s over rows", "rows: us over rows"
    ]  # fmt: skip
    svg = plots["rows: us over rows"]
    assert "CPU us" in svg
    assert "CPU s<" not in svg


def test_goals_that_nothing_was_measured_for_say_so(module, make):
    run = a_run(
        make(0.4, bar=0.5, goal=3),
        make(0.7, bar=0.5, goal=3, where="few rows"),
        make(0.3, dropped=0.2, goal=3, where="a twin"),
        make(0.3, dropped=0.2, goal=6),
        make(2.0, goal=1),
    )
    held = {int(number): said for number, _, said in module("_page").goal_rows(run)}
    assert held[3] == "1 of 2, 1 dropped"
    assert held[6] == "no bar, 1 dropped"
    assert held[1] == "no bar"
    assert held[12] == "not measured"
    text = module("_page").markdown(run)
    assert "| fit | a twin | peer | 0.3 | 0.2 |" in text
    assert "0.7 | 0.63 to 0.77 | 0.5 | missed" in text


def test_what_was_left_out_is_said(module, make):
    run = a_run(make(1.0))
    assert "Left out" not in module("_page").markdown(run)
    run["scripts"]["floor"] = run["scripts"]["fit"] | {"left_out": ["No LightGBM."]}
    assert "## Left out\n\n- floor: No LightGBM." in module("_page").markdown(run)


def run_main(module, monkeypatch, tmp_path, run, last, *options):
    """Return the exit status of run.py, whose scripts have found `run`."""
    whole = module("run")
    module("_page").write_results(tmp_path, last, None, with_page=False)
    monkeypatch.setattr(whole, "run_all", lambda names, quick: run)
    folders = ["--last", tmp_path / "results.json", "--out", tmp_path / "out"]
    monkeypatch.setattr(sys, "argv", ["run.py", *map(str, folders), *options])
    with pytest.raises(SystemExit) as stopped:
        whole.main()
    return int(stopped.value.code)


def test_strict_fails_if_anything_is_slower(
    module, make, monkeypatch, tmp_path, capsys
):
    last = a_run(make(1.0, bar=1.5), make(1.0, what="predict"))
    slower = a_run(make(1.6, bar=1.5))
    same = a_run(make(1.1, bar=1.5))
    shared = (module, monkeypatch, tmp_path)
    assert run_main(*shared, same, last, "--strict") == 0
    assert "1 of 1 bars hold" in capsys.readouterr().out
    assert run_main(*shared, slower, last) == 0
    assert run_main(*shared, slower, last, "--strict") == 1
    said = capsys.readouterr().out
    assert "0 of 1 bars hold" in said
    assert "  missed: fit | rows | peer: 1.6, bar 1.5" in said
    assert "  slower: fit | rows | peer: 1 -> 1.6" in said
    assert "  no longer measured: predict | rows | peer" in said
    assert run_main(*shared, same | {"failed": ["fit"]}, last) == 1


@pytest.mark.parametrize("options", [[], ["--quick"]])
def test_script_prints_and_writes(module, make, monkeypatch, tmp_path, capsys, options):
    suite = module("_suite")

    def measurements(*, quick):
        suite.leave_out("River is not installed.")
        yield make(0.7, bar=0.5, goal=3)

    file = tmp_path / "made.json"
    monkeypatch.setattr(sys, "argv", ["fit.py", "--json", str(file), *options])
    suite.main(measurements)
    written = json.loads(file.read_text())
    assert written["left_out"] == ["River is not installed."]
    bars = [(made["bar"], made["dropped"]) for made in written["measurements"]]
    assert bars == ([(None, 0.5)] if options else [(0.5, None)])
    assert ("MISSED" in capsys.readouterr().out) is not bool(options)


def test_readme_has_the_goals(module):
    text = (FOLDER / "README.md").read_text().split("## Goals")[1].split("##")[0]
    listed = {int(n): words for n, words in re.findall(r"^(\d+)\. (.+)\.$", text, re.M)}
    assert listed == module("_goals").GOALS


def test_committed_page_is_of_the_committed_figures(module):
    run = module("run").read(FOLDER / "results.json")
    assert (FOLDER / "RESULTS.md").read_text() == module("_page").markdown(run)


def test_committed_figures_are_of_every_script_and_goal(module):
    run = module("run").read(FOLDER / "results.json")
    assert not run["quick"]
    assert {made.script for made in run["measurements"]} == {*SCRIPTS} - {"run"}
    found = {
        (made.goal, made.script) for made in run["measurements"] if made.bar is not None
    }
    assert {(goal, name) for goal, name in found if goal} == {*GOAL_SCRIPTS.items()}


def test_quick_run_writes_everything(module, monkeypatch, tmp_path, capsys):
    options = ["--quick", "--only", "metrics", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["run.py", *options])
    with pytest.raises(SystemExit) as stopped:
        module("run").main()
    assert not stopped.value.code
    assert "bars hold" in capsys.readouterr().out
    run = json.loads((tmp_path / "results.json").read_text())
    assert {*run["scripts"]} == {"metrics"}
    assert len(run["measurements"]) == 6
    for made in run["measurements"]:
        assert (made["script"], made["goal"]) == ("metrics", 10)
        assert made["ours"] > 0
        # At tiny sizes no bar counts.
        assert made["bar"] is None
        assert made["dropped"] > 0
    assert (tmp_path / "index.html").exists()


def test_quick_runs_are_not_kept(module, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run.py", "--quick", "--keep"])
    with pytest.raises(SystemExit) as stopped:
        module("run").main()
    assert stopped.value.code == 2
    assert "--keep needs real sizes" in capsys.readouterr().err


def test_kept_scripts_replace_their_own_lines(module, make):
    last = a_run(make(1.0), make(2.0, script="metrics"), make(3.0, script="no more"))
    new = a_run(
        make(0.5, script="metrics"), make(0.6, script="metrics", what="new"),
        date="2026-02-02", commit="def", versions={"numpy": "3"}, has_data=False,
    )  # fmt: skip
    kept = module("run").replace_scripts(last, new)
    found = [(made.script, made.ratio) for made in kept["measurements"]]
    assert found == [("metrics", 0.5), ("metrics", 0.6), ("fit", 1.0)]
    assert module("run").replace_scripts(None, new) == new
    # Each says when and by what it was made.
    assert {name: o["date"] for name, o in kept["scripts"].items()} == {
        "metrics": "2026-02-02", "fit": "2026-01-01"
    }  # fmt: skip
    text = module("_page").markdown(kept)
    assert "\nRun on 2026-02-02 at commit def.\n" in text
    was = "2026-01-01 at commit abc, with the real data sets, with numpy 2."
    assert f"\nRun on {was}\n" in text


def test_runs_of_old_have_one_origin(module, make, tmp_path):
    old = a_run(make(1.0))
    del old["scripts"], old["commit"]
    plain = old | {"measurements": [asdict(made) for made in old["measurements"]]}
    (tmp_path / "old.json").write_text(json.dumps(plain))
    found = module("run").read(tmp_path / "old.json")["scripts"]["fit"]
    assert (found["date"], found["left_out"]) == ("2026-01-01", [])
