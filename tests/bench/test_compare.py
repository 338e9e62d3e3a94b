# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace

import numpy as np
import pytest
from fake_papers import CODE, VERSIONS, fake_paper, make_rows

from aucmax.bench.compare import UNTUNED, compare, pick_version, read_metric

PAPER = fake_paper()


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
    cell = cell_of(make_rows(PAPER, name, method, [auc]), name, method)
    assert cell.verdict == verdict


def test_counts_hold_comparable_cells_only():
    rows = [
        *make_rows(PAPER, "small", "Best", [0.5]),
        *make_rows(PAPER, "odd", "Best", [0.9]),
        *make_rows(PAPER, "small", "Plain | B", [0.8]),
        *make_rows(PAPER, "halved", "Best", [0.1, 0.2]),
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


def test_one_code_per_cell():
    new = make_rows(PAPER, "small", "Best", [0.9, 0.8])
    old = make_rows(PAPER, "small", "Best", [0.1, 0.2, 0.3], code="old")
    # Without today's version, the one with more runs.
    assert cell_of(new + old).main.code == "old"
    cell = cell_of(new + old, code_of=lambda method: CODE)
    assert (cell.main.code, len(cell.main.runs)) == (CODE, 2)
    assert cell.main.is_current
    cell = cell_of(new + old, code_of=lambda method: "unknown")
    assert (cell.main.code, cell.main.is_current) == ("old", False)


def test_one_protocol_per_cell():
    now = make_rows(PAPER, "small", "Best", [0.9])
    before = make_rows(PAPER, "small", "Best", [0.1, 0.2], protocol="before")
    assert cell_of(before + now).main.value == 0.9
    assert not cell_of(before).main.is_current


def test_stale_cells_are_counted():
    rows = make_rows(PAPER, "small", "Best", [0.9])
    rows += make_rows(PAPER, "odd", "Best", [0.9], code="old")
    comparison = compare(PAPER, rows, "1", code_of=lambda method: CODE)
    assert comparison.codes == {"Best": (CODE, "old")}
    # Of the set with old code, AUC and seconds.
    assert comparison.n_stale == 2


def test_copied_columns_come_from_their_paper():
    borrowed = make_rows(PAPER, "small", "Borrowed", [0.9, 0.8], method="Lender")
    lender = [replace(row, paper="other") for row in borrowed]
    # Rows of the same name in the paper itself are something else.
    own = make_rows(PAPER, "small", "Borrowed", [0.1])
    cell = cell_of(own, method="Borrowed", other={"other": lender})
    assert cell.verdict == "copied"
    assert cell.main.value == pytest.approx(0.85)
    assert cell.difference == pytest.approx(0.25)
    assert cell.n_expected == 0
    assert cell_of(own, method="Borrowed").verdict == "not run"


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
    assert cell_of(none, metric="basis_functions", table="2").main is None


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
    assert failed.verdict == "not run"
    texts = [notes[key] for key in failed.notes]
    assert texts == ["1 of 1 runs failed and are left out: KeyError: 'x'"]
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
