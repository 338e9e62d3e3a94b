# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import killed
import killed_runs
import numpy as np
import pytest
from small_paper import TEXT, load_small, make_row, untimed

from aucmax.datasets import DatasetUnavailable
from aucmax_papers import missing, progress, runner, tasks
from aucmax_papers.compare import compare
from aucmax_papers.markdown import table_markdown
from aucmax_papers.protocol import parse_paper
from aucmax_papers.runner import run
from aucmax_papers.store import Store


@pytest.fixture(autouse=True)
def small_paper(monkeypatch):
    use_text(monkeypatch, TEXT)


def use_text(monkeypatch, text):
    monkeypatch.setattr(
        runner, "load_paper", lambda key, *, fast: parse_paper(key, text, fast=fast)
    )


def run_small(folder, **choice):
    return run("small", results=folder, **({"n_jobs": 1} | choice))


def rows_of(folder):
    return Store(folder, "small").rows()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Everything of the small paper, run once: the folder and the summary."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        use_text(patch, TEXT)
        return folder, run_small(folder)


def test_everything_is_run_once(whole):
    folder, summary = whole
    assert (summary.n_reused, summary.n_failed, summary.missing) == (0, 0, {})
    counts = Counter((row.set, row.stage, row.method) for row in rows_of(folder))
    # Candidates times inner folds; variants times runs or halves; points times runs.
    expected = {}
    for name, n in (("german", 6), ("glass", 3), ("vehicle", 1)):
        expected |= {
            (name, "tune", "OPAUC"): 3 * 2,
            (name, "tune", "RankSVM"): 2 * 2,
            (name, "test", "OPAUC"): 2 * n,
            (name, "test", "RankSVM"): n,
            (name, "test", "OAM"): n,
        }
    expected["german", "figure 1", "OAM"] = 3 * 2  # not the 5000 rows it has not
    expected["glass", "figure 2", "OPAUC"] = 2
    expected["glass", "figure 3", "OAM"] = 2 * 4
    assert counts == expected
    assert summary.n_done == 3 * 5 + 10 * 4 + 6 + 2 + 2
    assert not (folder / "small" / "parts").exists()


def test_tuned_parameters_are_those_with_the_best_mean_auc(whole):
    rows = rows_of(whole[0])
    for name in ("german", "glass", "vehicle"):
        for method in ("OPAUC", "RankSVM"):
            own = [r for r in rows if (r.set, r.method) == (name, method)]
            tuned = {}
            for row in own:
                if row.stage == "tune":
                    tuned.setdefault(row.params, []).append(row.auc)
            best = max(np.mean(aucs) for aucs in tuned.values())
            used = {
                r.params for r in own if r.stage == "test" and r.variant == "published"
            }
            assert len(used) == 1
            assert np.mean(tuned[used.pop()]) == best
            assert {r.params for r in own if r.variant == "default"} <= {"{}"}


def test_figures_vary_one_parameter_of_the_tuned_ones(whole):
    rows = rows_of(whole[0])
    (best,) = {
        r.params
        for r in rows
        if (r.set, r.method, r.stage, r.variant)
        == ("glass", "OPAUC", "test", "published")
    }
    figured = [r for r in rows if r.stage == "figure 2"]
    assert sorted(r.x for r in figured) == [0.25, 0.5]
    for row in figured:
        assert json.loads(row.params) == json.loads(best) | {"step_size": row.x}


def test_second_run_does_nothing(whole):
    folder, first = whole
    before = Store(folder, "small").file.read_bytes()
    summary = run_small(folder)
    assert (summary.n_done, summary.n_reused) == (0, first.n_done)
    assert Store(folder, "small").file.read_bytes() == before


def test_results_do_not_depend_on_the_number_of_processes(whole, tmp_path):
    summary = run_small(tmp_path, n_jobs=2)
    assert summary.n_done == whole[1].n_done
    assert untimed(rows_of(tmp_path)) == untimed(rows_of(whole[0]))


def test_results_do_not_depend_on_the_order(whole, tmp_path):
    pieces = [
        {"figures": ["3"]},
        {"sets": ["vehicle"], "methods": ["OAM", "RankSVM"]},
        {"tables": ["1"], "methods": ["OPAUC"], "sets": ["glass", "german"]},
        {"figures": ["2", "1"]},
        {"tables": ["1"]},
    ]
    summaries = [run_small(tmp_path, **piece) for piece in pieces]
    assert all(summary.n_done for summary in summaries)
    assert sum(summary.n_done for summary in summaries) == whole[1].n_done
    assert untimed(rows_of(tmp_path)) == untimed(rows_of(whole[0]))


def test_interrupted_run_keeps_its_results_and_goes_on(whole, tmp_path, monkeypatch):
    calls = []

    def evaluate_some(task):
        calls.append(task)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return tasks.evaluate(task)

    monkeypatch.setattr(runner, "evaluate", evaluate_some)
    with pytest.raises(KeyboardInterrupt):
        run_small(tmp_path)
    monkeypatch.undo()
    use_text(monkeypatch, TEXT)
    summary = run_small(tmp_path)
    assert (summary.n_reused, summary.n_done) == (19, whole[1].n_done - 19)
    assert untimed(rows_of(tmp_path)) == untimed(rows_of(whole[0]))


# loky's own thread may look up a task that was dropped a moment before.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_interrupted_run_with_workers_says_nothing(tmp_path, monkeypatch):
    class Stop(Exception):
        pass

    def take(self, task, rows):
        raise Stop

    monkeypatch.setattr(runner._Work, "_take", take)
    # Warnings are errors here, also those of what joblib had to drop.
    with pytest.raises(Stop):
        run_small(tmp_path, n_jobs=2, sets=["glass"], methods=["OAM"])


def test_only_what_was_chosen_is_run(tmp_path):
    run_small(tmp_path, tables=["1"], sets=["vehicle"], methods=["OPAUC"])
    rows = rows_of(tmp_path)
    assert {(r.set, r.method) for r in rows} == {("vehicle", "OPAUC")}
    assert {r.stage for r in rows} == {"tune", "test"}


def test_a_figure_that_is_not_tuned_tunes_nothing(tmp_path, monkeypatch):
    figure = "[figures.2]\n"
    use_text(monkeypatch, TEXT.replace(figure, figure + "tuned = false\n"))
    run_small(tmp_path, figures=["2"])
    rows = rows_of(tmp_path)
    assert {r.stage for r in rows} == {"figure 2"}
    assert {r.params for r in rows} == {'{"step_size": 0.25}', '{"step_size": 0.5}'}


def test_fast_results_are_beside_the_full_ones(tmp_path):
    choice = {"sets": ["glass"], "methods": ["OAM"], "tables": ["1"]}
    assert run_small(tmp_path, **choice).n_done == 3
    assert run_small(tmp_path, fast=True, **choice).n_done == 2
    assert Counter(row.mode for row in rows_of(tmp_path)) == {"full": 3, "fast": 2}
    assert run_small(tmp_path, fast=True, **choice).n_reused == 2


def test_results_of_other_versions_are_kept_and_not_used(tmp_path, monkeypatch):
    choice = {"sets": ["vehicle"], "methods": ["RankSVM"]}
    first = run_small(tmp_path, **choice)
    paper = load_small()
    changed = replace(paper.methods["RankSVM"], results_version=2)
    paper = replace(paper, methods={**paper.methods, "RankSVM": changed})
    monkeypatch.setattr(runner, "load_paper", lambda key, fast: paper)
    second = run_small(tmp_path, **choice)
    assert (second.n_done, second.n_reused) == (first.n_done, 0)
    rows = rows_of(tmp_path)
    counts = Counter(row.results_version for row in rows)
    assert set(counts) == {1, 2}
    assert len(set(counts.values())) == 1
    third = run_small(tmp_path, **choice)
    assert (third.n_done, third.n_reused) == (0, first.n_done)


def test_changed_protocol_is_run_again_where_it_matters(tmp_path, monkeypatch):
    choice = {"sets": ["vehicle"], "methods": ["RankSVM", "OAM"], "tables": ["1"]}
    run_small(tmp_path, **choice)
    use_text(monkeypatch, TEXT.replace("C = [0.1, 1.0]", "C = [0.1, 2.0]"))
    summary = run_small(tmp_path, **choice)
    assert (summary.n_done, summary.n_reused) == (3, 1)
    note = '[methods.OAM]\nnote = "Some words."'
    use_text(monkeypatch, TEXT.replace("[methods.OAM]", note))
    summary = run_small(tmp_path, **choice)
    assert (summary.n_done, summary.n_reused) == (0, 4)


def test_more_repeats_add_to_those_that_are_there(tmp_path, monkeypatch):
    choice = {"sets": ["german"], "methods": ["OAM"], "tables": ["1"]}
    assert run_small(tmp_path, **choice).n_done == 6
    use_text(monkeypatch, TEXT.replace("n_repeats = 2", "n_repeats = 3"))
    summary = run_small(tmp_path, **choice)
    assert (summary.n_done, summary.n_reused) == (3, 6)


def test_failures_are_counted_and_tried_again(tmp_path, monkeypatch):
    def build(method, *rest):
        if method.name == "OAM":
            raise MemoryError("too large")
        return real(method, *rest)

    real = tasks.build
    monkeypatch.setattr(tasks, "build", build)
    choice = {
        "sets": ["vehicle", "glass"],
        "tables": ["1"],
        "methods": ["OAM", "OPAUC"],
    }
    first = run_small(tmp_path, **choice)
    assert first.n_failed == 4
    assert first.error.endswith(", OAM, test: MemoryError: too large")
    failed = [row for row in rows_of(tmp_path) if row.error]
    assert {row.error for row in failed} == {"MemoryError: too large"}
    assert {row.method for row in failed} == {"OAM"}
    assert np.isnan([row.auc for row in failed]).all()
    monkeypatch.setattr(tasks, "build", real)
    second = run_small(tmp_path, **choice)
    assert (second.n_done, second.n_failed, second.error) == (4, 0, "")
    assert second.n_reused == first.n_done - 4
    assert not any(row.error for row in rows_of(tmp_path))


def test_candidates_that_fail_are_not_chosen(tmp_path, monkeypatch):
    def build(method, variant, params, *rest):
        if params.get("C") == 1.0:
            raise ValueError("no")
        return real(method, variant, params, *rest)

    real = tasks.build
    monkeypatch.setattr(tasks, "build", build)
    summary = run_small(tmp_path, sets=["vehicle"], methods=["RankSVM"])
    assert summary.n_failed == 1
    (row,) = (row for row in rows_of(tmp_path) if row.stage == "test")
    assert row.params == '{"C": 0.1}'


@pytest.mark.parametrize(
    ("choice", "complaint"),
    [
        ({"tables": ["1", "9"]}, r"small has no table '9'\. Choose of: 1\."),
        ({"figures": ["4"]}, r"no figure '4'\. Choose of: 1, 2, 3\."),
        ({"sets": ["iris"]}, r"no set 'iris'\. Choose of: german, glass, vehicle\."),
        ({"methods": ["SVM"]}, r"no method 'SVM'\. Choose of: OPAUC, RankSVM, OAM\."),
        ({"sets": ["vehicle"], "fast": True}, r"'vehicle' in its fast form"),
        ({"figures": ["1"], "sets": ["glass"]}, "small has nothing to run for this"),
    ],
)
def test_wrong_choices_are_told_before_anything_is_run(tmp_path, choice, complaint):
    with pytest.raises(ValueError, match=complaint):
        run_small(tmp_path, **choice)
    assert list(tmp_path.iterdir()) == []


def lack(*names):
    def fetch(name, part=None):
        if name in names:
            raise DatasetUnavailable(f"{name} cannot be downloaded.")

    return fetch


def test_missing_sets_are_left_out_and_named(tmp_path, monkeypatch):
    monkeypatch.setattr(missing, "fetch", lack("glass"))
    monkeypatch.setattr(missing, "is_at_hand", lambda use: use.name == "vehicle")
    choice = {"methods": ["OAM"], "sets": ["glass", "vehicle"]}
    told = run_small(tmp_path, **choice).missing["glass"]
    assert "aucmax datasets fetch glass; or put glass.svm.bz2 into" in told
    summary = run_small(tmp_path, **choice, download=True)
    assert summary.missing == {"glass": "glass cannot be downloaded."}
    assert {row.set for row in rows_of(tmp_path)} == {"vehicle"}


def test_without_any_set_there_is_one_explanation(tmp_path, monkeypatch):
    monkeypatch.setattr(missing, "fetch", lack("glass", "german", "vehicle"))
    monkeypatch.setattr(missing, "is_at_hand", lambda use: False)
    with pytest.raises(DatasetUnavailable) as caught:
        run_small(tmp_path, download=True)
    text = str(caught.value)
    assert "(german, glass, vehicle)" in text
    assert "AUCMAX_DATA" in text
    assert text.count("cannot be downloaded") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_told_on_standard_error(tmp_path, capsys, monkeypatch, is_terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    # A line for each result instead of one a minute.
    monkeypatch.setattr(progress, "LINE_SECONDS", -1.0)
    choice = {"sets": ["vehicle"], "methods": ["OPAUC"]}
    run_small(tmp_path, progress=True, **choice)
    out, err = capsys.readouterr()
    assert out == ""
    assert "small:" in err
    assert "left" in err
    assert ("\r" in err) == is_terminal
    run_small(tmp_path, **choice)
    assert capsys.readouterr() == ("", "")


def test_second_run_at_the_same_time_is_refused(tmp_path):
    with (
        Store(tmp_path, "small"),
        pytest.raises(RuntimeError, match="Another run is at work"),
    ):
        run_small(tmp_path)


def test_results_of_another_paper_are_left_alone(tmp_path):
    other = Store(tmp_path, "large")
    other.add([make_row(paper="large")])
    other.compact()
    before = other.file.read_bytes()
    run_small(tmp_path, sets=["vehicle"], methods=["OAM"])
    assert other.file.read_bytes() == before


def parts_in(folder):
    with suppress(FileNotFoundError):  # deleted while they are listed
        return set((folder / "small" / "parts").glob("*.parquet"))
    return set()


def wait_for(folder, n_parts, is_alive):
    """Wait until the run has written so many results."""
    before, deadline = parts_in(folder), time.monotonic() + 120
    while len(parts_in(folder) - before) < n_parts:
        assert time.monotonic() < deadline, "no results"
        assert is_alive()
        time.sleep(0.005)


def check_rest(folder, whole):
    """Run what is left to do, and compare all with a run that nobody killed."""
    expected = rows_of(whole[0])
    assert 0 < len(rows_of(folder)) < len(expected)
    summary = run_small(folder)
    assert summary.n_done + summary.n_reused == whole[1].n_done
    assert summary.n_failed == 0
    assert min(summary.n_done, summary.n_reused) > 0
    rows = rows_of(folder)
    assert untimed(rows) == untimed(expected)
    tables = [table_markdown(compare(load_small(), r, "1")) for r in (rows, expected)]
    assert tables[0] == tables[1]
    assert "Cell by cell" in tables[0]
    left = {path.name for path in (folder / "small").rglob("*")}
    assert left == {"results.parquet", ".lock"}


@pytest.mark.skipif(os.name != "posix", reason="forks processes and kills them")
def test_killed_at_any_moment_it_ends_with_the_same_results(whole, tmp_path):
    rng = np.random.default_rng()
    counts = [0]
    for n_parts in rng.integers(1, 12, 3):
        process = killed.start_fork(killed_runs.run_paper, tmp_path)
        wait_for(tmp_path, n_parts, process.is_alive)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        counts.append(len(rows_of(tmp_path)))
    assert counts == sorted(set(counts))
    check_rest(tmp_path, whole)


SCRIPT = "import killed_runs, sys; killed_runs.run_paper(sys.argv[1], n_jobs=2)"


@pytest.mark.skipif(os.name != "posix", reason="Windows gives orphans no new parent")
def test_workers_do_not_outlive_a_run_that_was_killed(whole, tmp_path):
    tests = Path(__file__).parent
    path = os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        start_new_session=True,  # so that it can be killed with all its workers
    )
    try:
        # A worker watches from its first task on, so both must have begun one.
        wait_for(tmp_path, 8, lambda: process.poll() is None)
        process.kill()
        # They have its standard output, which ends with the last of them: after five
        # minutes if nothing but their idleness ended them.
        process.communicate(timeout=120)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    check_rest(tmp_path, whole)
