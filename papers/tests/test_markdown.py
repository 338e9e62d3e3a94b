# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace

import numpy as np
import pytest
from fake_papers import VERSIONS, fake_paper, make_points, make_rows

from aucmax_papers.compare import compare
from aucmax_papers.markdown import figure_markdown, table_markdown
from aucmax_papers.protocol import Printed
from aucmax_papers.study import collect_lines

PAPER = fake_paper()
ROWS = [
    *make_rows(PAPER, "small", "Best", [0.9, 0.94, 0.89, 0.91]),
    *make_rows(PAPER, "small", "Best", [0.8], variant="default"),
    *make_rows(PAPER, "small", "Plain | B", [0.7, 0.72, 0.7, 0.7]),
    *make_rows(PAPER, "halved", "Best", [0.7, 0.95, 0.9]),
]


def text_of(rows=ROWS, table="1", paper=PAPER):
    return table_markdown(compare(paper, rows, table))


def cells_of(line):
    """The fields of a row; names may hold an escaped bar."""
    parts = line.replace("\\|", "\0").strip("| ").split(" | ")
    return [part.strip().replace("\0", "|") for part in parts]


def table_after(text, title):
    """Head and rows of the first table below a line."""
    lines = text.split(title, 1)[1].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append(cells_of(line))
    return rows[0], rows[2:]


def find(rows, *start):
    return next(row for row in rows if [c.split(" <")[0] for c in row[:2]] == [*start])


def test_all_rows_of_a_table_have_its_columns():
    lines = [line for line in text_of().splitlines() if line.startswith("|")]
    widths = {len(cells_of(line)) for line in lines}
    # Sets against four methods, twice; and the list.
    assert widths == {5, 10}


def test_grid():
    head, rows = table_after(text_of(), "AUC: ours")
    assert [name.split(" <")[0] for name in head] == [
        "set",
        "Best",
        "Plain | B",
        "Given",
        "Borrowed",
    ]
    assert rows[0] == [
        "small",
        "0.9100 (0.9000)",
        "**0.7050** (0.8000)",
        "\N{EN DASH} (0.7000)",
        "\N{EN DASH} (0.6000)",
    ]
    assert rows[-1][0] == "Best: win/tie/loss"
    assert rows[-1][1:3] == ["", "1/0/0"]
    _, seconds = table_after(text_of(), "seconds to train: ours")
    assert seconds[0][1] == "2 (2)"
    assert "win" not in seconds[-1][0]


def test_cell_by_cell():
    head, rows = table_after(text_of(), "Cell by cell")
    assert head == [
        "set",
        "method",
        "metric",
        "paper",
        "ours",
        "difference",
        "verdict",
        "least \N{EN DASH} median \N{EN DASH} most",
        "untuned or as published",
        "runs",
    ]
    assert find(rows, "small", "Best")[2:] == [
        "AUC",
        "0.9000 ± 0.0200",
        "0.9100 ± 0.0187",
        "+0.0100",
        "within",
        "",
        "0.8000 ± 0.0000",
        "4",
    ]
    assert find(rows, "small", "Plain | B")[5:7] == ["**-0.0950**", "**below**"]
    halved = find(rows, "halved", "Best")
    assert halved[6:8] == [
        "not comparable",
        "0.7000 \N{EN DASH} 0.9000 \N{EN DASH} 0.9500",
    ]
    assert halved[0] == "halved <sup>1</sup>"
    missing = find(rows, "large", "Best")
    assert missing[4:7] == ["\N{EN DASH}", "\N{EN DASH}", "not run"]
    assert missing[-1] == "0"


def test_incomplete_and_old_cells_are_marked():
    rows = make_rows(PAPER, "small", "Best", [0.5])
    rows += make_rows(PAPER, "odd", "Best", [0.9] * 4, results_version=0)
    rows += make_rows(PAPER, "small", "Plain | B", [0.8] * 4)
    rows += make_rows(
        PAPER, "small", "Plain | B", [0.7], variant="default", results_version=0
    )
    text = text_of(rows)
    _, grid = table_after(text, "AUC: ours")
    assert grid[0][1:3] == ["0.5000 [1/4] (0.9000)", "0.8000 (0.8000)"]
    assert grid[1][1] == "0.9000\N{DAGGER} (0.8000)"
    _, cells = table_after(text, "Cell by cell")
    assert find(cells, "odd", "Best")[4] == "0.9000 ± 0.0000\N{DAGGER}"
    assert find(cells, "small", "Plain | B")[7] == "0.7000 ± 0.0000\N{DAGGER}"
    assert find(cells, "small", "Best")[6] == "incomplete"
    assert "2 of 2 comparable cells are not below the paper" in text
    assert "propose, 1 of 1; 1 is incomplete and not counted." in text
    assert "[1/4]: runs so far" in text
    assert "present one (\N{DAGGER})" in text
    assert "so far" not in text_of()


def test_all_runs_failed():
    rows = make_rows(PAPER, "small", "Best", [np.nan] * 4, error="KeyError: 'x'")
    text = text_of(rows)
    _, grid = table_after(text, "AUC: ours")
    key = grid[0][1].removeprefix("failed (0.9000) ")
    assert f"{key} All 4 runs failed: KeyError: 'x'" in text
    _, cells = table_after(text, "Cell by cell")
    assert find(cells, "small", "Best")[6] == f"failed {key}"
    assert "Not run yet" not in text


def test_copied_figures_are_told():
    printed = {
        ("1", "small", "Best", "auc"): Printed(0.9, None, "taken by that paper from x")
    }
    text = text_of(paper=replace(PAPER, printed=printed))
    _, cells = table_after(text, "Cell by cell")
    assert find(cells, "small", "Best")[5:7] == ["+0.0100", "copied"]
    assert "Copied: the paper has the figure from elsewhere" in text
    assert "No cell can be compared with the paper." in text
    assert "Below is by" not in text


def test_nothing_is_compared_in_a_table_of_seconds():
    table = replace(PAPER.tables["1"], metrics=("train_s",))
    text = text_of(paper=replace(PAPER, tables={"1": table}))
    assert "comparable cells" not in text
    assert "compared with the paper" not in text
    assert "Below is by" not in text


def test_words_around():
    text = text_of()
    assert text.startswith("### fake, table 1: Test AUC\n")
    assert "1 of 2 comparable cells" in text
    assert "standard deviation, and 0.005 at least. Such cells are **bold**." in text
    assert "propose, 1 of 1." in text
    assert "Read it with care." in text
    assert "<sup>1</sup> Which half it was is not known." in text
    assert "and not here: lost." in text
    assert "optimistic" in text
    assert "than the present one" not in text
    assert VERSIONS in text
    assert text.endswith("\n    aucmax bench run fake --table 1\n")
    assert "reduced" not in text


def test_fast_says_so():
    paper = fake_paper(fast=True)
    text = text_of(make_rows(paper, "small", "Best", [0.9]), paper=paper)
    assert "reduced protocol (--fast)" in text
    assert text.endswith("--table 1 --fast\n")
    _, cells = table_after(text, "Cell by cell")
    assert find(cells, "small", "Best")[-1] == "1 of 2"


def test_runs_that_are_missing():
    rows = make_rows(PAPER, "small", "Best", [0.9])
    _, cells = table_after(text_of(rows), "Cell by cell")
    assert find(cells, "small", "Best")[-1] == "1 of 4"


def test_percent_and_sizes():
    _, rows = table_after(text_of(table="2"), "Cell by cell")
    assert rows[0][3:6] == ["91.2", "91.0 ± 1.9", "-0.2"]
    assert rows[1][3:6] == ["20", "13", "\N{MULTIPLICATION SIGN}0.65"]
    assert "standard deviation, and 0.5 at least." in text_of(table="2")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (999.6, "1000"),
        (0.00005, "0.00005"),
        (0.000051234, "0.0000512"),
        (12.345, "12.3"),
        (2.0, "2"),
        (0.0, "0"),
        (1234567.8, "1234568"),
    ],
)
def test_no_exponents(value, shown):
    rows = make_rows(PAPER, "small", "Best", [0.9], seconds=value)
    _, grid = table_after(text_of(rows), "seconds to train: ours")
    assert grid[0][1] == f"{shown} [1/4] (2)"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (500.0, "250"),
        (2468.0, "1234"),
        (0.0001, "0.00005"),
        (3.1, "1.6"),
        (199.9, "100"),
    ],
)
def test_ratios_have_no_exponents(seconds, shown):
    rows = make_rows(PAPER, "small", "Best", [0.9], seconds=seconds)
    _, cells = table_after(text_of(rows), "Cell by cell")
    line = [c for c in cells if c[:3] == ["small", "Best", "seconds to train"]]
    assert line[0][5] == f"\N{MULTIPLICATION SIGN}{shown}"


@pytest.mark.parametrize(
    ("auc", "shown"),
    [
        (0.89999, "0.0000"),
        (0.90001, "0.0000"),
        (0.8999, "-0.0001"),
        (0.9001, "+0.0001"),
    ],
)
def test_nothing_has_no_sign(auc, shown):
    _, cells = table_after(text_of(make_rows(PAPER, "small", "Best", [auc])), "Cell by")
    assert find(cells, "small", "Best")[5] == shown


def test_several_versions_are_told():
    rows = ROWS + make_rows(PAPER, "odd", "Best", [0.8], results_version=0)
    text = text_of(rows)
    assert (
        "2 cells are of another version of the method or of the protocol than the "
        "present one"
    ) in text


def test_diverged_runs_have_a_note():
    rows = make_rows(PAPER, "small", "Best", [0.5], error="grew | without <bound>")
    text = text_of(rows)
    _, cells = table_after(text, "Cell by cell")
    key = find(cells, "small", "Best")[6].removeprefix("incomplete ")
    assert f"{key} 1 of 1 runs diverged" in text
    assert "grew \\| without \\<bound>" in text


def test_nothing_was_run():
    text = text_of([])
    assert text == (
        "### fake, table 1: Test AUC\n\nNot run yet. This makes it:\n\n"
        "    aucmax bench run fake --table 1\n"
    )


def test_table_without_sets():
    table = replace(PAPER.tables["1"], sets=())
    paper = replace(PAPER, tables={"1": table})
    assert "Not run yet" in text_of(paper=paper)


def figure_text(rows, figure="1", paper=PAPER):
    lines = collect_lines(paper, rows, figure)
    return figure_markdown(paper, figure, lines)


def test_figure():
    rows = make_points(PAPER, "1", "small", "Best", {1: 0.8, 10: 0.9})
    rows += make_points(PAPER, "1", "small", "Plain | B", {10: 0.7})
    text = figure_text(rows)
    assert text.startswith("### fake, figure 1: Influence of the rank\n\nTwo sets")
    head, points = table_after(text, "small, mean AUC over 1 run:")
    assert head == ["rank", "Best", "Plain | B"]
    assert points == [["1", "0.8000", "\N{EN DASH}"], ["10", "0.9000", "0.7000"]]
    assert "another version" not in text
    assert text.endswith("\n    aucmax bench run fake --figure 1\n")


def test_figure_against_seconds():
    rows = make_points(PAPER, "2", "small", "Best", {10: 0.8, 20: 0.9})
    head, points = table_after(figure_text(rows, "2"), "small, mean")
    assert head == ["n\\_rows", "Best"]
    assert points == [["10", "0.8000 at 1 seconds"], ["20", "0.9000 at 2 seconds"]]


def test_points_without_exponents():
    points = {0.0000125: 0.8, 2500000: 0.9}
    rows = make_points(PAPER, "2", "small", "Best", points)
    _, shown = table_after(figure_text(rows, "2"), "small, mean")
    assert shown == [
        ["0.0000125", "0.8000 at 0.00000125 seconds"],
        ["2500000", "0.9000 at 250000 seconds"],
    ]


def test_long_curves_are_thinned():
    points = {x: 0.5 + x / 1000 for x in range(1, 101)}
    rows = make_points(PAPER, "1", "small", "Best", points)
    _, shown = table_after(figure_text(rows), "small, mean")
    assert [len(shown), shown[0][0], shown[-1]] == [12, "1", ["100", "0.6000"]]


def test_figure_of_an_older_version_and_without_results():
    rows = make_points(PAPER, "1", "small", "Best", {1: 0.8}, results_version=0)
    assert "Some are of another version" in figure_text(rows)
    assert "Not run yet" in figure_text([])
    nan = make_points(PAPER, "1", "small", "Best", {1: np.nan})
    assert "Not run yet" in figure_text(nan)


def test_names_with_blanks_are_quoted():
    paper = replace(PAPER, figures={"B, large": PAPER.figures["1"]})
    assert figure_text([], "B, large", paper).endswith("--figure 'B, large'\n")
