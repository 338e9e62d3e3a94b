# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace

import numpy as np
import pytest
from fake_papers import VERSIONS, fake_paper, make_rows

from aucmax_papers.compare import (
    compare,
    current_protocol,
    pick_params,
    pick_version,
    read_metric,
)
from aucmax_papers.footnotes import UNTUNED
from aucmax_papers.protocol import Printed, load_paper

PAPER = fake_paper()


def with_method(name="Best", /, **changes):
    """The paper with another entry of a method."""
    entry = replace(PAPER.methods[name], **changes)
    return replace(PAPER, methods={**PAPER.methods, name: entry})


def with_set(name="small", /, **changes):
    entry = replace(PAPER.sets[name], **changes)
    return replace(PAPER, sets={**PAPER.sets, name: entry})


def with_note(method, *notes, table="1"):
    """The paper with notes of a method's printed figures, one per set."""
    printed = {
        (table, paper_set, method, "auc"): Printed(0.8, None, note)
        for paper_set, note in zip(("small", "odd*"), notes, strict=False)
    }
    return replace(PAPER, printed={**PAPER.printed, **printed})


def texts_of(comparison, *key):
    return [comparison.notes[note] for note in comparison.cells[key].notes]


def cell_of(rows, name="small", method="Best", metric="auc", table="1", **options):
    paper = options.pop("paper", PAPER)
    return compare(paper, rows, table, **options).cells[name, method, metric]


def test_all_cells_are_there_in_the_order_of_the_file():
    comparison = compare(PAPER, [], "1")
    assert list(comparison.cells)[:3] == [
        ("small", "Best", "auc"),
        ("small", "Best", "train_s"),
        ("small", "Plain | B", "auc"),
    ]
    assert len(comparison.cells) == 4 * 4 * 2
    assert {cell.verdict for cell in comparison.cells.values()} == {"not run"}
    assert not comparison.has_results
    assert comparison.counts == (0, 0)
    assert comparison.left_out == ("lost",)


def test_mean_and_deviation_of_the_population():
    cell = cell_of(make_rows(PAPER, "small", "Best", [0.90, 0.94]))
    assert cell.main.value == pytest.approx(0.92)
    assert cell.main.std == pytest.approx(0.02)
    assert [tuple(run) for run in cell.main.runs] == [(0, 0, 20), (0, 1, 20)]
    assert cell.difference == pytest.approx(0.02)
    assert cell.n_expected == 4
    assert cell.main.versions == (VERSIONS,)


# The paper printed 0.9 with a deviation of 0.02; 0.8 with 0.001; 0.8 without.
@pytest.mark.parametrize(
    ("name", "method", "auc", "verdict"),
    [
        ("small", "Best", 0.9201, "above"),
        ("small", "Best", 0.92, "within"),
        ("small", "Best", 0.88, "within"),
        ("small", "Best", 0.8799, "below"),
        ("odd", "Best", 0.795, "within"),
        ("odd", "Best", 0.7949, "below"),
        ("small", "Plain | B", 0.805, "within"),
        ("small", "Plain | B", 0.8051, "above"),
        ("small", "Plain | B", 0.795, "within"),
        ("small", "Plain | B", 0.794, "below"),
        ("odd", "Given", 0.9, "not comparable"),
        ("halved", "Best", 0.95, "not comparable"),
    ],
)
def test_verdicts(name, method, auc, verdict):
    cell = cell_of(make_rows(PAPER, name, method, [auc] * 4), name, method)
    assert cell.verdict == verdict
    assert cell.is_comparable == (verdict != "not comparable")


@pytest.mark.parametrize(("n", "verdict"), [(3, "incomplete"), (4, "below")])
def test_all_runs_must_be_there(n, verdict):
    rows = make_rows(PAPER, "small", "Best", [0.5] * n)
    comparison = compare(PAPER, rows, "1")
    cell = comparison.cells["small", "Best", "auc"]
    assert (cell.verdict, cell.is_partial) == (verdict, n < 4)
    assert comparison.counts == (n // 4, 0)


def test_a_failed_run_is_missing():
    rows = make_rows(PAPER, "small", "Best", [0.9] * 3 + [np.nan])
    rows[3] = replace(rows[3], error="no memory")
    assert cell_of(rows).verdict == "incomplete"


# Each alone would do.
@pytest.mark.parametrize(
    "changes", [{"comparable": False}, {"n_partitions": 4, "comparable": True}]
)
def test_another_problem_is_not_comparable(changes):
    paper = with_set(**changes)
    rows = make_rows(paper, "small", "Best", [0.9] * 4)
    cell = cell_of(rows, paper=paper)
    assert cell.n_runs == cell.n_expected == 4
    assert cell.verdict == "not comparable"


def test_limits_of_the_method_count():
    paper = with_method(n_runs=3, max_train=50)
    rows = make_rows(paper, "small", "Best", [0.9] * 3)
    cell = cell_of(rows, paper=paper)
    assert (cell.n_expected, cell.verdict) == (3, "within")
    # They are part of the protocol, too.
    assert cell.main.is_current
    assert not cell_of(rows, paper=with_method(n_runs=3)).main.is_current
    paper = with_method(n_partitions=2)
    rows = make_rows(paper, "halved", "Best", [0.9] * 2)
    assert cell_of(rows, "halved", paper=paper).n_expected == 2


def test_counts_hold_comparable_cells_only():
    rows = [
        *make_rows(PAPER, "small", "Best", [0.5] * 4),
        *make_rows(PAPER, "odd", "Best", [0.9] * 4),
        *make_rows(PAPER, "small", "Plain | B", [0.8] * 4),
        *make_rows(PAPER, "halved", "Best", [0.1] * 3),
    ]
    comparison = compare(PAPER, rows, "1")
    assert comparison.counts == (3, 2)
    assert comparison.proposed_counts == (2, 1)


def test_variants_are_kept_apart():
    rows = make_rows(PAPER, "small", "Best", [0.9])
    rows += make_rows(PAPER, "small", "Best", [0.7], variant="default")
    rows += make_rows(PAPER, "small", "Given", [0.6])
    cell = cell_of(rows)
    assert (cell.main.value, cell.other.value) == (0.9, 0.7)
    given = cell_of(rows, method="Given")
    assert given.headline == "default"
    assert given.main.value == 0.6
    assert given.other is None


def test_only_the_default_was_run():
    rows = make_rows(PAPER, "small", "Best", [0.7], variant="default")
    cell = cell_of(rows)
    assert (cell.verdict, cell.main, cell.other.value) == ("not run", None, 0.7)


def test_partitions():
    cell = cell_of(make_rows(PAPER, "halved", "Best", [0.7, 0.95, 0.9]), "halved")
    assert cell.is_partitioned
    assert cell.main.spread == (0.7, 0.9, 0.95)
    assert cell.n_expected == 3


def test_other_stages_modes_and_papers_do_not_count():
    rows = make_rows(PAPER, "small", "Best", [0.9])
    others = [
        *make_rows(PAPER, "small", "Best", [0.1], stage="tune"),
        *make_rows(PAPER, "small", "Best", [0.2], stage="figure 1"),
        *make_rows(PAPER, "small", "Best", [0.3], mode="fast", run=1),
    ]
    assert cell_of(rows + others).main.value == 0.9
    fast = cell_of(rows + others, paper=fake_paper(fast=True))
    assert fast.main.value == 0.3


def test_fast_has_no_large_set():
    comparison = compare(fake_paper(fast=True), [], "1")
    assert ("large", "Best", "auc") not in comparison.cells


def raised(paper, method="Best", version=2):
    """The paper with another version of the results of a method."""
    changed = replace(paper.methods[method], results_version=version)
    return replace(paper, methods={**paper.methods, method: changed})


def test_one_version_per_cell():
    new = make_rows(PAPER, "small", "Best", [0.9, 0.8])
    old = make_rows(PAPER, "small", "Best", [0.1, 0.2, 0.3], results_version=0)
    cell = cell_of(new + old)
    assert (cell.main.results_version, len(cell.main.runs)) == (1, 2)
    assert cell.main.is_current
    # Without today's version, the one with more runs.
    cell = cell_of(new + old, paper=raised(PAPER))
    assert (cell.main.results_version, cell.main.is_current) == (0, False)


def test_one_protocol_per_cell():
    now = make_rows(PAPER, "small", "Best", [0.9])
    before = make_rows(PAPER, "small", "Best", [0.1, 0.2], protocol="before")
    assert cell_of(before + now).main.value == 0.9
    assert not cell_of(before).main.is_current


def test_todays_version_counts_more_than_todays_protocol():
    now = make_rows(PAPER, "small", "Best", [0.9], protocol="before")
    old = make_rows(PAPER, "small", "Best", [0.1], results_version=0)
    cell = cell_of(old + now)
    assert (cell.main.results_version, cell.main.protocol) == (1, "before")
    assert cell.is_stale


def test_runs_of_two_tunings_are_not_mixed():
    before = make_rows(PAPER, "small", "Best", [0.1, 0.2], params='{"rank": 9}')
    now = make_rows(PAPER, "small", "Best", [0.7, 0.8, 0.9], params='{"rank": 1}')
    cell = cell_of(before + now)
    assert cell.main.value == pytest.approx(0.8)
    assert (cell.n_runs, cell.main.n_tried) == (3, 3)
    # If there are as many, the later in the order of the keys; whichever comes first.
    cell = cell_of(now[:2] + before)
    assert cell.main.value == pytest.approx(0.15)
    # What failed is no run.
    failed = [replace(row, auc=np.nan, error="no") for row in before]
    assert cell_of(failed + now[:1]).main.value == 0.7
    assert pick_params([]) == []


def test_a_run_that_was_tuned_twice_is_one_run():
    twice = [
        row
        for params in ("{}", '{"rank": 1}')
        for row in make_rows(PAPER, "small", "Best", [0.1] * 2, params=params)
    ]
    once = make_rows(PAPER, "small", "Best", [0.9] * 3, results_version=0)
    cell = cell_of(twice + once, paper=raised(PAPER))
    assert cell.main.results_version == 0


def test_stale_cells_are_counted():
    rows = make_rows(PAPER, "small", "Best", [0.9])
    rows += make_rows(PAPER, "odd", "Best", [0.9], results_version=0)
    comparison = compare(PAPER, rows, "1")
    # Of the set with old results, AUC and seconds.
    assert comparison.n_stale == 2
    assert not comparison.cells["small", "Best", "auc"].is_stale
    assert comparison.cells["odd", "Best", "auc"].is_stale


def test_copied_columns_come_from_their_paper():
    borrowed = make_rows(PAPER, "small", "Borrowed", [0.9, 0.8], method="Lender")
    lender = [replace(row, paper="other") for row in borrowed]
    # Rows of the same name in the paper itself are something else.
    own = make_rows(PAPER, "small", "Borrowed", [0.1])
    cell = cell_of(own, method="Borrowed", other={"other": lender})
    assert cell.verdict == "copied"
    assert cell.main.value == pytest.approx(0.85)
    assert cell.difference == pytest.approx(0.25)
    # What that paper had in mind is not known here.
    assert (cell.n_expected, cell.main.is_current) == (0, True)
    assert cell.source == "other"
    assert cell_of(own, method="Borrowed").verdict == "not run"


def lent(method, aucs, name="german", **changes):
    """Rows of gao2013, which has the columns that natole2019 copied."""
    return make_rows(load_paper("gao2013"), name, method, aucs, **changes)


def test_copied_columns_have_the_versions_of_their_paper():
    natole, gao = load_paper("natole2019"), load_paper("gao2013")
    # The lender's own entry of the method has the version.
    version = gao.methods["OPAUC"].results_version
    now = lent("OPAUC", [0.8], results_version=version)
    older = lent("OPAUC", [0.1, 0.2, 0.3], results_version=0)
    before = lent("OPAUC", [0.4, 0.5], results_version=version, protocol="before")
    assert now[0].protocol != current_protocol(
        natole.sets["german"], natole.methods["OPAUC"]
    )

    def copied(rows):
        comparison = compare(natole, [], "3", {"gao2013": rows})
        return comparison.cells["german", "OPAUC", "auc"], comparison.n_stale

    cell, n_stale = copied(older + before + now)
    assert (cell.verdict, cell.main.value) == ("copied", 0.8)
    assert (cell.is_stale, n_stale) == (False, 0)
    assert (cell.n_expected, cell.is_partial) == (25, True)
    cell, n_stale = copied(older + before)
    assert (cell.main.results_version, cell.is_stale, n_stale) == (version, True, 1)
    cell, n_stale = copied(older)
    assert (cell.main.results_version, cell.is_stale, n_stale) == (0, True, 1)


def test_copied_columns_have_the_headline_of_their_paper():
    natole = load_paper("natole2019")
    entry = replace(natole.methods["OPAUC"], copied_as=("OPAUC-f",))
    natole = replace(natole, methods={**natole.methods, "OPAUC": entry})
    rows = lent("OPAUC-f", [0.8], variant="default")
    rows += lent("OPAUC-f", [0.7], variant="published")
    cell = compare(natole, [], "3", {"gao2013": rows}).cells["german", "OPAUC", "auc"]
    assert (cell.headline, cell.main.value) == ("default", 0.8)


def test_copied_from_the_reduced_protocol():
    natole, gao = (load_paper(key, fast=True) for key in ("natole2019", "gao2013"))
    rows = make_rows(gao, "german", "OPAUC", [0.8] * 5)
    cell = compare(natole, [], "3", {"gao2013": rows}).cells["german", "OPAUC", "auc"]
    assert (cell.n_runs, cell.n_expected, cell.is_stale) == (5, 5, False)


TAKEN = "taken by that paper from the methods' own papers"


def test_figures_that_the_paper_took_do_not_count():
    paper = with_note("Plain | B", TAKEN)
    rows = make_rows(paper, "small", "Plain | B", [0.5] * 4)
    comparison = compare(paper, rows, "1")
    cell = comparison.cells["small", "Plain | B", "auc"]
    assert (cell.verdict, cell.is_comparable, cell.source) == ("copied", False, "")
    assert cell.difference == pytest.approx(-0.3)
    assert comparison.counts == (0, 0)
    text = f"The paper's figure is {TAKEN}, and does not count."
    assert texts_of(comparison, "small", "Plain | B", "auc")[-1] == text
    # It holds for the whole column, so that the column says it.
    assert comparison.notes[comparison.method_notes["Plain | B"][-1]] == text


def test_taken_figures_in_the_papers():
    kakkar = load_paper("kakkar2017")
    rows = make_rows(kakkar, "sonar", "OILK-RS", [0.9] * 20)
    rows += make_rows(kakkar, "sonar", "Kernel rankSVM", [0.9] * 20)
    comparison = compare(kakkar, rows, "2")
    assert comparison.cells["sonar", "OILK-RS", "auc"].verdict == "copied"
    assert comparison.counts.n_comparable == 1
    natole = compare(load_paper("natole2019"), [], "3")
    # Once is enough: the column has a note of its own.
    assert not [text for text in natole.notes.values() if "taken by" in text]
    assert "The paper took this column from gao2013" in " ".join(natole.notes.values())


def test_other_notes_of_printed_figures():
    paper = with_note("Plain | B", "on 80k rows", "")
    comparison = compare(paper, [], "1")
    assert texts_of(comparison, "small", "Plain | B", "auc")[-1] == (
        "In the paper: on 80k rows."
    )
    # Not of all its figures, so that the column does not say it.
    assert texts_of(comparison, "odd", "Plain | B", "auc") == [
        "Its buffer is smaller here."
    ]
    assert len(comparison.method_notes["Plain | B"]) == 1
    own = compare(with_note("Plain | B", "own runs"), [], "1")
    assert "own runs" not in " ".join(own.notes.values())


def test_copied_under_another_name():
    text = make_rows(PAPER, "small", "Borrowed", [0.7], method="Lender, text")
    plain = make_rows(PAPER, "small", "Borrowed", [0.8], method="Lender")
    cell = cell_of([], method="Borrowed", other={"other": text})
    assert cell.main.value == 0.7
    cell = cell_of([], method="Borrowed", other={"other": text + plain})
    assert cell.main.value == 0.8


def test_copied_column_whose_headline_is_another():
    rows = make_rows(
        PAPER, "small", "Borrowed", [0.9], method="Lender", variant="default"
    )
    cell = cell_of([], method="Borrowed", other={"other": rows})
    assert cell.main.value == 0.9


def test_seconds_and_sizes():
    rows = make_rows(PAPER, "small", "Best", [0.9, 0.9, 0.9])
    seconds = cell_of(rows, metric="train_s")
    assert seconds.main.value == 1.5
    assert seconds.verdict == "not comparable"
    assert read_metric(rows[0], "time_s") == 0.75
    size = cell_of(rows, metric="basis_functions", table="2")
    assert size.main.value == 12
    none = [replace(row, size=-1) for row in rows]
    cell = cell_of(none, metric="basis_functions", table="2")
    assert (cell.main, cell.verdict) == (None, "not comparable")


def test_footnotes():
    rows = make_rows(PAPER, "small", "Best", [0.9, 0.5], error="")
    rows[1] = replace(rows[1], error="it grew without bound")
    rows += make_rows(PAPER, "odd", "Best", [np.nan], error="KeyError: 'x'")
    comparison = compare(PAPER, rows, "1")
    notes = comparison.notes
    texts = [notes[key] for key in comparison.cells["small", "Best", "auc"].notes]
    assert texts == [
        "1 of 2 runs diverged and count as an AUC of 0.5: it grew without bound"
    ]
    failed = comparison.cells["odd", "Best", "auc"]
    assert failed.verdict == "failed"
    texts = [notes[key] for key in failed.notes]
    assert texts == ["The only run failed: KeyError: 'x'"]
    both = comparison.cells["halved", "Plain | B", "auc"].notes
    assert [notes[key] for key in both] == [
        "Which half it was is not known.",
        "Its buffer is smaller here.",
    ]
    assert notes[comparison.method_notes["Borrowed"][0]].startswith("The paper took")
    assert [notes[key] for key in comparison.method_notes["Given"]] == [UNTUNED]
    assert comparison.set_notes["small"] == ()
    # Seconds and AUC failed in the same way: one note.
    assert len(set(notes.values())) == len(notes)


def test_every_run_failed():
    rows = make_rows(PAPER, "small", "Best", [np.nan] * 2, error="no memory")
    rows[1] = replace(rows[1], error="another")
    comparison = compare(PAPER, rows, "1")
    cell = comparison.cells["small", "Best", "auc"]
    assert (cell.verdict, cell.main) == ("failed", None)
    assert texts_of(comparison, "small", "Best", "auc") == [
        "All 2 runs failed: no memory"
    ]
    assert comparison.has_results
    assert comparison.counts == (0, 0)


def test_trouble_of_the_other_variant():
    rows = make_rows(PAPER, "small", "Best", [0.9])
    rows += make_rows(
        PAPER, "small", "Best", [np.nan], variant="default", error="no memory"
    )
    comparison = compare(PAPER, rows, "1")
    assert texts_of(comparison, "small", "Best", "auc") == [
        "Untuned, the only run failed: no memory"
    ]
    assert comparison.cells["small", "Best", "auc"].other is None


GRID = ({"lambda": (1.0, 2.0)},)
LIMITS = {"tune_rows": 4000, "n_inner_used": 2}
LIMITED = "Tuned on at most 4,000 training rows and 2 of 5 inner folds."


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (LIMITS, LIMITED),
        ({"tune_rows": 1500}, "Tuned on at most 1,500 training rows."),
        ({"n_inner_used": 1}, "Tuned on 1 of 5 inner folds."),
        ({"n_inner_used": 9}, None),
        ({"n_inner_repeats": 3}, "Tuned on 5 inner folds, drawn 3 times."),
        (
            {"n_inner_repeats": 3, "n_inner_used": 2},
            "Tuned on 2 of 15 inner folds.",
        ),
        ({}, None),
    ],
)
def test_how_little_a_set_was_tuned_on(limits, text):
    paper = replace(with_set(**limits), methods=with_method(grid=GRID).methods)
    comparison = compare(paper, [], "1")
    assert [comparison.notes[key] for key in comparison.set_notes["small"]] == (
        [text] if text else []
    )


@pytest.mark.parametrize(
    "method",
    [
        {"grid": ()},
        {"grid": ({"lambda": (1.0,)},)},
        {"grid": GRID, "copied": "other"},
        {"grid": GRID, "estimator": "", "default": {}, "headline": "default"},
    ],
)
def test_only_what_is_tuned_has_such_a_note(method):
    paper = replace(with_set(**LIMITS), methods=with_method(**method).methods)
    assert compare(paper, [], "1").set_notes["small"] == ()


def test_methods_that_were_tuned_on_less():
    sets = with_set(**LIMITS).sets

    def told(**limits):
        changed = with_method(grid=GRID, **limits).methods
        comparison = compare(replace(PAPER, sets=sets, methods=changed), [], "1")
        notes = comparison.method_notes["Best"]
        return [comparison.notes[key] for key in notes]

    assert told() == []
    assert told(tune_rows=300) == ["Best: tuned on at most 300 training rows."]
    assert told(n_inner_used=1) == ["Best: tuned on at most 1 inner fold."]
    assert told(tune_rows=300, n_inner_used=3) == [
        "Best: tuned on at most 300 training rows and 3 inner folds."
    ]
    everywhere = {name: replace(use, **LIMITS) for name, use in sets.items()}
    sets = everywhere
    # No stricter than the sets themselves.
    assert told(tune_rows=5000, n_inner_used=2) == []


def test_failed_runs_do_not_spoil_the_mean():
    rows = make_rows(PAPER, "small", "Best", [0.9, np.nan, 0.8])
    rows[1] = replace(rows[1], error="no memory", seconds=np.nan)
    cell = cell_of(rows)
    assert cell.main.value == pytest.approx(0.85)
    assert (cell.main.n_failed, cell.main.n_diverged) == (1, 0)


def test_unknown_table_and_metric():
    with pytest.raises(ValueError, match=r"no table '9'\. Choose of: 1, 2"):
        compare(PAPER, [], "9")
    with pytest.raises(ValueError, match="'speed' is not known"):
        read_metric(make_rows(PAPER, "small", "Best", [0.9])[0], "speed")


def test_pick_version_of_nothing():
    assert pick_version([]) == ([], True)
