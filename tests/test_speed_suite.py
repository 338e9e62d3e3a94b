# SPDX-License-Identifier: BSD-3-Clause
"""The suite of benchmarks/speed: its arithmetic, its page, and a quick run."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks" / "speed"


@pytest.fixture
def module(monkeypatch):
    """Import a module of the folder, for quick runs."""
    monkeypatch.setenv("AUCMAX_BENCH_QUICK", "1")
    monkeypatch.syspath_prepend(str(FOLDER))
    names = [path.stem for path in FOLDER.glob("*.py")]
    # Folders of tests have some of these names.
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)


class Clock:
    """Time that passes only in the calls that are timed."""

    def __init__(self):
        self.now, self.calls = 0.0, ""

    def call(self, name, seconds):
        def run():
            self.calls += name
            self.now += seconds

        return run

    def __call__(self):
        return self.now


@pytest.fixture
def clock(module, monkeypatch):
    timing, clock = module("timing"), Clock()
    monkeypatch.setattr(timing.time, "process_time", clock)
    monkeypatch.setattr(timing.time, "perf_counter", clock)
    monkeypatch.setattr(timing, "SECONDS", 5)
    monkeypatch.setattr(timing, "MORE_SECONDS", 20)
    monkeypatch.setattr(timing, "MOST_TURNS", 9)
    monkeypatch.setattr(timing, "FEW_TURNS", 3)
    return clock


@pytest.mark.parametrize(
    ("seconds", "calls"),
    [
        # Warm-up, then turns until five seconds have passed; three if they are slow;
        # fewer if they are very slow.
        ((0.4, 0.6), "aabb" + 5 * "ab"),
        ((2.0, 3.0), "ab" + 3 * "ab"),
        ((30.0, 3.0), "ab" + "ab"),
    ],
)
def test_ours_and_peer_take_turns(module, clock, seconds, calls):
    ours, peer = (clock.call(*c) for c in zip("ab", seconds, strict=True))
    turns = module("timing").take_turns(ours, peer)
    assert clock.calls == calls
    np.testing.assert_allclose(turns, [seconds] * len(turns))


def test_short_calls_are_repeated_within_a_turn(module, clock):
    turns = module("timing").take_turns(clock.call("a", 0.01), clock.call("b", 0.5))
    assert clock.calls == "aabb" + 9 * "aaaaab"
    np.testing.assert_allclose(turns, [(0.01, 0.5)] * 9)


def test_row_is_of_medians(module):
    turns = [(2.0, 4.0), (1.0, 5.0), (6.0, 2.0)]
    made = module("timing").row("fit", "rows", "peer", turns, per=10)
    assert (made.us, made.them) == (0.2, 0.4)
    assert (made.ratio, made.low, made.high) == (0.5, 0.2, 3.0)


@pytest.mark.parametrize(
    ("goal", "is_met"),
    [
        ({"ratio": 0.5}, True),
        ({"ratio": 0.49}, False),
        ({"us": 2.0}, True),
        ({"us": 1.9}, False),
        ({"auc": True}, False),
        ({"ratio": 0.5, "auc": True}, False),
    ],
)
def test_goals(module, goal, is_met):
    timing = module("timing")
    aucs = {"auc": 0.9, "peer_auc": 0.91}
    made = timing.row("fit", "rows", "peer", [(2.0, 4.0)], **aucs)
    assert timing.Goal(**goal).is_met(made) is is_met


def test_a_page_says_what_is_missed(module):
    timing, render = module("timing"), module("render")
    goal = timing.Goal(ratio=1.0, auc=True)
    aucs = {"auc": 0.9, "peer_auc": 0.8, "goal": goal}
    rows = [
        timing.row("good", "few", "peer", [(1e-3, 4e-3), (2e-3, 4e-3)], **aucs),
        timing.row("bad", "few", "peer", [(2e-6, 1e-6)], **aucs),
        timing.row("small", "few", "peer", [(30.0, 20.0)], unit="MB"),
    ]
    page = render.markdown({"fits": {"origin": "Monday", "rows": rows}})
    assert "3 ratios; 1 of 2 goals are met." in page
    shared = "0.9000 / 0.8000 | ratio ≤ 1, AUC no lower"
    good = "| `good` | few | peer | 1.5 ms | 4 ms | 0.375 | 0.25 to 0.5"
    assert f"{good} | {shared} | yes |" in page
    assert f"| `bad` | few | peer | 2 us | 1 us | 2 |  | {shared} | **no** |" in page
    assert "| `small` | few | peer | 30 MB | 20 MB | 1.5 |  |  |  |  |" in page


def test_groups_say_where_they_come_from(module):
    groups = {name: {"origin": "Monday", "rows": []} for name in ("fits", "memory")}
    render = module("render")
    assert "\nRun on Monday\n" in render.markdown(groups)
    groups["memory"] = {"origin": "Tuesday", "rows": []}
    assert "\n- fits: Monday\n- memory: Tuesday\n" in render.markdown(groups)


@pytest.mark.parametrize("name", ["w8a", "magic04"])
def test_stand_ins_have_the_shape_of_the_set(module, monkeypatch, name):
    data = module("data")
    monkeypatch.setattr(data, "QUICK_ROWS", 2000)
    shape, drawn = data.SETS[name], data.load(name)
    assert drawn.X.shape == (2000, shape.n_features)
    assert drawn.title.startswith(f"like {name}, 2,000 x {shape.n_features}")
    assert not drawn.is_real
    if shape.nonzeros:
        assert drawn.X.nnz / 2000 == pytest.approx(shape.nonzeros, rel=0.2)


def test_real_sets_are_read_from_the_folder(module, monkeypatch):
    """The sets that ship with the package are files as in such a folder."""
    data = module("data")
    folder = Path(sys.modules["aucmax"].__file__).parent / "datasets" / "data"
    monkeypatch.setenv("AUCMAX_DATA", str(folder))
    monkeypatch.setattr(data, "QUICK", False)
    monkeypatch.setitem(data.SETS, "german", data.Shape(800, 24, 0.3))
    satimage = data.Shape(4435, 36, 0.1, 36, True, lambda y: y == 4)
    monkeypatch.setitem(data.SETS, "satimage", satimage)
    found = data.load("german")
    assert (found.title, found.is_real) == ("german, 800 x 24", True)
    assert len(found.y_test) == 200
    np.testing.assert_allclose(found.X.mean(axis=0), 0, atol=1e-9)
    assert data.load("satimage").title == "satimage, 4,435 x 36 CSR"
    assert len(data.load("satimage").y_test) == 2000


def test_committed_page_is_of_the_committed_figures(module):
    results = module("run").read(FOLDER / "results.json")
    assert set(results) <= set(module("run").GROUPS)
    assert (FOLDER / "RESULTS.md").read_text() == module("render").markdown(results)


def test_groups_replace_their_own_rows(module, monkeypatch, tmp_path):
    run, timing = module("run"), module("timing")
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results.json")
    goal = timing.Goal(ratio=0.5)
    made = timing.row("fit", "rows", "peer", [(2.0, 4.0)], goal=goal)
    for name, rows in (("memory", [made, made]), ("fits", [made]), ("memory", [made])):
        run.save(name, rows, "Monday")
    found = run.read(tmp_path / "results.json")
    assert list(found) == ["fits", "memory"]
    assert found["memory"]["rows"] == [made]
    assert "2 ratios; 2 of 2 goals" in (tmp_path / "RESULTS.md").read_text()


def test_quick_run_writes_nothing(module, monkeypatch, capsys):
    pytest.importorskip("lightgbm")
    run = module("run")
    monkeypatch.setattr(sys, "argv", ["run.py", "--quick", "growth"])
    monkeypatch.setattr(run, "save", lambda *args: pytest.fail("something is written"))
    run.main()
    said = capsys.readouterr().out
    assert said.count("| `") == 3
    assert "| `RankSVM` | 40 to 400 rows | LogisticRegression(" in said


def test_unknown_groups_are_refused(module, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run.py", "paths"])
    with pytest.raises(SystemExit):
        module("run").main()
    assert "no such group: paths" in capsys.readouterr().err
