# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import re
import signal
import time

import pytest
from cli.command import call, invoke_here, start
from small_paper import load_small

from aucmax_papers.command import _narrowed
from aucmax_papers.protocol import KEYS, load_paper
from aucmax_papers.store import Store

# The smallest run of a paper on a set that ships with the package.
CHOICE = ("gao2013", "--fast", "--table", "2")
ALL = ("run", *CHOICE, "--sets", "german", "--jobs", "1")
RUN = (*ALL, "--methods", "OAMseq")
GERMAN = re.compile(r"\| german.* \| OAMseq ")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder in which that run was made, and what it wrote."""
    folder = tmp_path_factory.mktemp("done")
    return folder, *call("bench", *RUN, folder=folder)


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUCMAX_RESULTS", raising=False)
    monkeypatch.delenv("AUCMAX_DATA", raising=False)
    monkeypatch.setenv("AUCMAX_CACHE", str(tmp_path / "cache"))
    return lambda *args: invoke_here("bench", *args)


def test_run_prints_the_table_and_tells_what_it_did(done):
    folder, out, err = done
    assert out.startswith("### gao2013, table 2: ")
    assert "reduced protocol (--fast)" in out
    assert re.search(r"\| german.* \| OAMseq \| 0.7747 ± 0.0411 \| 0.7", out)
    # Only what was chosen.
    assert "| diabetes" not in out
    assert "OAMgra" not in out
    n_tuned, n_tests = 23, 2 * 5
    assert f"{n_tuned + n_tests} new results, 0 reused, 0 failed" in err
    assert len(err.splitlines()) == 1
    assert len(Store(folder / "aucmax-results", "gao2013").rows()) == 2 * 23 + 10


def test_run_again_reuses_everything_and_prints_the_same(done, invoke, monkeypatch):
    folder, out, _ = done
    monkeypatch.chdir(folder)
    again = invoke(*RUN)
    assert (again.exit_code, again.stdout) == (0, out)
    assert "0 new results, 33 reused, 0 failed" in again.stderr


def test_table_from_what_is_there(done, invoke, tmp_path):
    folder, out, _ = done
    results = ("--results", str(folder / "aucmax-results"))
    result = invoke("table", *CHOICE, *results)
    assert result.exit_code == 0
    line = next(x for x in out.splitlines() if GERMAN.match(x))
    assert line in result.stdout
    assert re.search(r"\| german.* \| OAMgra \| 0.7723", result.stdout)
    written = invoke("table", *CHOICE, *results, "--out", "new/table.md")
    assert (written.exit_code, written.stdout) == (0, "")
    assert "new/table.md" in written.stderr
    text = (tmp_path / "new" / "table.md").read_text(encoding="utf-8")
    assert text == result.stdout


def test_table_has_all_tables_and_figures_if_none_is_named(done, invoke):
    results = ("--results", str(done[0] / "aucmax-results"))
    text = invoke("table", "gao2013", "--fast", *results).stdout
    paper = load_paper("gao2013", fast=True)
    shown = [*paper.tables.values(), *paper.figures.values()]
    assert text.count("### gao2013") == sum(bool(each.sets) for each in shown)
    only = invoke("table", "gao2013", "--fast", *results, "--figure", "3").stdout
    assert only.startswith("### gao2013, figure 3")
    assert only.count("###") == 1


def test_results_folder_may_be_named_by_a_variable(done, invoke, monkeypatch):
    monkeypatch.setenv("AUCMAX_RESULTS", str(done[0] / "aucmax-results"))
    assert GERMAN.search(invoke("table", *CHOICE).stdout)


def test_report(done, tmp_path):
    folder = done[0]
    _, err = call("bench", "report", "--fast", "--out", "r.html", folder=folder)
    assert err == "Wrote r.html.\n"
    text = (folder / "r.html").read_text(encoding="utf-8")
    assert "<html" in text
    assert "OAMseq" in text


def test_fast_results_are_shown_as_such(done, invoke):
    results = ("--results", str(done[0] / "aucmax-results"))
    # Without --fast as well, while there is nothing else.
    shown = invoke("table", "gao2013", "--table", "2", *results)
    assert GERMAN.search(shown.stdout)
    assert "the reduced protocol only" in shown.stderr
    result = invoke("report", *results)
    assert result.exit_code == 1
    assert "There are no results of the full protocol in" in result.stderr
    assert "shown with --fast" in result.stderr


def test_without_results_there_is_nothing_to_show(invoke, tmp_path):
    for args in (["table", "gao2013"], ["report"]):
        result = invoke(*args)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "no results of the full protocol in aucmax-results." in result.stderr
        assert "aucmax bench run" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_list(invoke):
    text = invoke("list").stdout
    for key in KEYS:
        paper = load_paper(key)
        assert f"{key}: {paper.title}\n" in text
        for table in paper.tables.values():
            assert f"table {table.name}: {table.caption}" in text
    assert "sets at hand: german\n" in text
    assert "sets to get: diabetes; " in text


def test_list_as_json(invoke):
    listed = {
        paper["key"]: paper for paper in json.loads(invoke("list", "--json").stdout)
    }
    assert list(listed) == list(KEYS)
    gao = listed["gao2013"]
    assert list(gao["tables"]) == ["2", "4"]
    assert gao["sets"]["german"] == {"data": "german", "at_hand": True}
    assert gao["sets"]["sector.lvr"] == {"data": "sector", "at_hand": False}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("run", "gao2014"), "no paper 'gao2014'. Choose one of gao2013"),
        (("run", "gao2013", "--table", "3"), "no table '3'. Choose of: 2, 4."),
        (("run", "gao2013", "--sets", "iris"), "no set 'iris'. Choose of: diabetes,"),
        (("run", "gao2013", "--methods", "SVM"), "no method 'SVM'"),
        (("run", "gao2013", "--sets", "epsilon", "--fast"), "in its fast form"),
        (("run", "gao2013", "--table", "4", "--sets", "german"), "nothing to run"),
        (("run", "gao2013", "--results", __file__), "is a file"),
        (("table", "gao2014"), "no paper 'gao2014'"),
        (("table", "gao2013", "--figure", "9"), "no figure '9'"),
    ],
)
def test_unknown_names_are_wrong_usage(invoke, tmp_path, args, words):
    result = invoke(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_names_with_a_comma_can_be_chosen(invoke):
    args = ("run", "khalid2018", "--sets", "skin, all rows,usps", "--table", "9")
    assert "no table '9'" in invoke(*args).stderr


def test_missing_sets_are_named_with_how_to_get_them(done, invoke, monkeypatch):
    monkeypatch.chdir(done[0])
    result = invoke(*(arg.replace("german", "german,diabetes") for arg in RUN))
    assert result.exit_code == 0
    assert GERMAN.search(result.stdout)
    first, last = result.stderr.splitlines()
    assert first.startswith("diabetes is left out: ")
    assert "AUCMAX_DATA" in first
    assert "33 reused" in last


def test_without_any_data_there_is_one_explanation(invoke, tmp_path):
    result = invoke("run", "gao2013", "--sets", "diabetes,fourclass")
    assert (result.exit_code, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert "None of the sets that this needs is at hand (diabetes, fourclass)" in line
    assert "--download" in line
    assert "AUCMAX_DATA" in line
    assert not (tmp_path / "aucmax-results").exists()


def test_failures_are_told_and_end_with_one(monkeypatch, invoke):
    def fail(*args):
        raise MemoryError("too large")

    monkeypatch.setattr("aucmax_papers.tasks.build", fail)
    args = (*CHOICE, "--sets", "german", "--methods", "batch LS-SVM", "--jobs", "1")
    result = invoke("run", *args)
    assert result.exit_code == 1
    assert "21 new results, 0 reused, 21 failed" in result.stderr
    assert "The same command tries them again." in result.stderr
    assert "the first of them german, batch LS-SVM, tune: MemoryError: too large." in (
        result.stderr
    )


def test_damaged_results_are_named(invoke, tmp_path):
    file = tmp_path / "aucmax-results" / "gao2013" / "results.parquet"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"PAR1")
    result = invoke("table", "gao2013")
    assert result.exit_code == 1
    assert "results.parquet is not a Parquet file, or it is damaged" in result.stderr


def test_narrowed_paper_has_no_reference_that_is_gone():
    paper = _narrowed(load_small(), ["glass"], ["OAM"])
    table, figure = paper.tables["1"], paper.figures["1"]
    assert (table.sets, table.methods, table.reference) == (("glass",), ("OAM",), "")
    assert (figure.sets, figure.methods) == ((), ("OAM",))
    assert _narrowed(load_small(), None, None) == load_small()


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_interrupt_ends_with_130_and_keeps_what_is_done(tmp_path):
    process = start("bench", *ALL, folder=tmp_path)
    folder = tmp_path / "aucmax-results" / "gao2013"
    deadline = time.monotonic() + 120
    while not list(folder.glob("parts/*.parquet")):
        assert time.monotonic() < deadline, "no results"
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.strip() == "Stopped. Resume with the same command; what is done is kept."
    assert Store(tmp_path / "aucmax-results", "gao2013").rows()
    assert not (folder / "parts").exists()
