# SPDX-License-Identifier: BSD-3-Clause
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from browser import open_browser, visit
from color_vision import contrast, distance
from fake_papers import VERSIONS, fake_paper, make_points, make_rows
from html_tree import Node, read
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy import stats

from aucmax.plots.boxes import PALETTE
from aucmax.plots.page import style_sheet
from aucmax_papers import report_plots
from aucmax_papers.compare import compare
from aucmax_papers.formatting import MISSING, TIMES
from aucmax_papers.protocol import Printed
from aucmax_papers.report import shade, write_report
from aucmax_papers.report_plots import draw_boxes, draw_lines
from aucmax_papers.study import collect_lines

RANGE = f"least {MISSING} median {MISSING} most"
PAPER = fake_paper()
OTHER = replace(PAPER, key="other", title="Another", figures={})
# Of Best, Plain | B and Given, by set; and how far the runs are off.
MEANS = {
    "small": (0.97, 0.75, 0.69),
    "odd": (0.78, 0.8, 0.82),
    "large": (0.9, 0.85, 0.8975),
}
OFF = {
    "Best": (0.004, -0.004, 0.001, -0.001),
    "Plain | B": (0.003, -0.004, 0.003, -0.002),
    "Given": (0.005, -0.003, 0.0, -0.002),
}


@pytest.fixture(scope="module")
def rows():
    made = []
    for name, means in MEANS.items():
        for (method, off), mean in zip(OFF.items(), means, strict=True):
            aucs = [mean + x for x in off]
            made += make_rows(PAPER, name, method, aucs, seconds=5.0)
    made += make_rows(PAPER, "small", "Best", [0.8, 0.82], variant="default")
    made += make_rows(PAPER, "halved", "Best", [0.7, 0.95, 0.9])
    for run in (0, 1):
        points = {1: 0.6 + run / 50, 10: 0.8, 100: 0.85}
        made += make_points(PAPER, "1", "small", "Best", points, run=run)
        made += make_points(PAPER, "1", "small", "Plain | B", points, run=run)
    return made


@pytest.fixture(scope="module")
def page(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "deep" / "report.html"
    written = write_report({"fake": rows}, path, papers=[PAPER, OTHER])
    assert written == path
    return path


@pytest.fixture(scope="module")
def tree(page):
    return read(page)


def make_report(tmp_path, rows, papers=(PAPER,), **options):
    path = tmp_path / "r.html"
    written = write_report(
        {papers[0].key: rows},
        path,
        papers=papers,
        **options,
    )
    return read(written)


def section(tree, name):
    return next(node for node in tree.find("section") if node.attrs.get("id") == name)


def table_lines(table):
    """Rows of a table by the names of its columns: the cells."""
    heads = [head.attrs["data-name"] for head in table.find("thead")[0].find("th")]
    body = (row.parts for row in table.find("tbody")[0].find("tr"))
    cells = ([part for part in row if isinstance(part, Node)] for row in body)
    return [dict(zip(heads, line, strict=True)) for line in cells]


def cell_list(tree, name="fake-table-1"):
    """The list of cells by set, method and metric."""
    lines = table_lines(section(tree, name).find("table", "list")[0])
    return {
        tuple(
            line[column].attrs["data-value"] for column in ("set", "method", "metric")
        ): line
        for line in lines
    }


def grid_cells(tree, number=0, name="fake-table-1"):
    """The cells of a grid by set and method."""
    lines = table_lines(section(tree, name).find("table", "grid")[number])
    return {
        (line["set"].attrs["data-value"], method): cell
        for line in lines
        for method, cell in line.items()
    }


def tiles(node):
    """The tiles by title: what they show, and the part that is blue."""
    found = {}
    for tile in node.find("div", "tile"):
        shown = [dd.text for dd in tile.find("dd")]
        bars = [
            part.attrs["style"] for part in tile.find("span") if "style" in part.attrs
        ]
        found[tile.find("dt")[0].text] = [*shown, *bars]
    return found


def test_page_is_whole(page, tree):
    ids = [node.attrs["id"] for node in tree if "id" in node.attrs]
    assert len(set(ids)) == len(ids)
    links = [node.attrs.get("href", node.attrs.get("xlink:href", "")) for node in tree]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert [path.name for path in page.parent.iterdir()] == ["report.html"]


def test_nothing_is_loaded(page):
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|@import|url\()\s*=?\s*["\']?http', text)
    outer = set(re.findall(r'href="(http[^"]*)"', text))
    assert outer == {"https://example.org/a?b=1&amp;c=2"}
    names = set(re.findall(r'"(http://[^"]*)"', text))
    assert all(name.startswith("http://www.w3.org/") for name in names)


def test_everything_is_escaped(page):
    text = page.read_text(encoding="utf-8")
    assert "<b>nothing" not in text
    assert "On &lt;b&gt;nothing&lt;/b&gt; &amp; more" in text


def test_links_of_other_kinds_are_not_made(rows, tmp_path):
    bad = replace(PAPER, link="javascript:alert(1)", figures={}, tables={})
    text = write_report({}, tmp_path / "r.html", papers=[bad]).read_text(
        encoding="utf-8"
    )
    assert "javascript:" not in text


def test_what_is_told(tree):
    text = tree.text
    assert "On <b>nothing</b> & more" in text
    assert "We had to guess." in text
    assert "aucmax bench run fake --table 1" in text
    assert "aucmax bench run fake --figure 1" in text
    assert "There are no results yet. This makes them: aucmax bench run other" in text
    assert "of another version of the method" not in text
    assert "1 of 4 comparable cells are not below the paper; of the methods" in text
    assert VERSIONS in text
    assert "Which half it was is not known." in text
    assert "Two sets of many." in text
    assert "Not run: odd." in text
    assert "Friedman" in text
    assert "reduced protocol" not in text


def test_same_results_same_bytes(rows, page, tmp_path):
    again = write_report({"fake": rows}, tmp_path / "b.html", papers=[PAPER, OTHER])
    assert again.read_bytes() == page.read_bytes()


def test_list_of_cells(tree, rows):
    cells = cell_list(tree)
    assert len(cells) == 32
    best = {k: cell.text for k, cell in cells["small", "Best", "AUC"].items()}
    assert best == {
        "set": "small",
        "method": "Best",
        "metric": "AUC",
        "paper": "0.9000 ± 0.0200",
        "ours": "0.9700 ± 0.0029",
        "difference": "+0.0700",
        "verdict": "▲ above",
        RANGE: "",
        "untuned or as published": "0.8100 ± 0.0100",
        "t-test p": MISSING,
        "runs": "4",
    }
    plain = {k: cell.text for k, cell in cells["odd", "Plain | B", "AUC"].items()}
    assert plain["untuned or as published"] == MISSING
    assert (plain["paper"], plain["difference"]) == (MISSING, MISSING)
    halved = {k: cell.text for k, cell in cells["halved", "Best", "AUC"].items()}
    assert halved["set"] == "halved 1"
    assert halved[RANGE] == f"0.7000 {MISSING} 0.9000 {MISSING} 0.9500"
    assert (halved["runs"], halved["verdict"]) == ("3", "not comparable")
    missing = cells["small", "Borrowed", "AUC"]
    assert [missing[k].text for k in ("ours", "verdict", "runs")] == [
        MISSING,
        "not run",
        "0",
    ]
    below = cells["odd", "Best", "AUC"]["verdict"]
    assert (below.text, below.attrs["class"]) == ("▼ below", "text below")


def test_p_values(tree):
    cells = cell_list(tree)
    for name, means in MEANS.items():
        runs = [mean + np.array(OFF[m]) for m, mean in zip(OFF, means, strict=True)]
        expected = stats.ttest_rel(runs[0], runs[2]).pvalue
        cell = cells[name, "Given", "AUC"]["t-test p"]
        assert float(cell.attrs["data-value"]) == pytest.approx(expected, rel=1e-6)
        mark = "○" if name == "odd" else "●"
        shown = f"{expected:.4f}" if name == "large" else "<0.0001"
        assert cell.text == f"{mark} {shown}"


def test_grid(tree):
    cells = grid_cells(tree)
    assert [
        cells[name, "Best"].text for name in ("small", "odd", "halved", "large")
    ] == [
        "▲ 0.9700(0.9000) +0.0700",
        "▼ 0.7800(0.8000) -0.0200",
        "0.8500(0.9500) -0.1000",
        "0.9000",
    ]
    assert cells["small", "Given"].text == "▼ 0.6900●(0.7000) -0.0100"
    assert cells["odd", "Given"].text == "0.8200○"
    assert cells["small", "Borrowed"].text == f"{MISSING}(0.6000)"
    assert float(cells["small", "Given"].attrs["data-value"]) == pytest.approx(0.69)
    seconds = grid_cells(tree, 1)
    assert seconds["small", "Best"].text == f"5(2) {TIMES}2.5"


def test_difference_sorts_by_what_it_shows(tree):
    def shown(*key):
        cell = cell_list(tree)[key]["difference"]
        value = cell.attrs["data-value"]
        return cell.text, float(value) if value else None

    assert shown("odd", "Best", "AUC") == ("-0.0200", pytest.approx(-0.02))
    # Of seconds it is a ratio.
    assert shown("small", "Best", "seconds to train") == (f"{TIMES}2.5", 2.5)
    assert shown("odd", "Best", "seconds to train") == (MISSING, None)


def test_tiles_and_papers(tree):
    expected = {
        "Not below the paper": ["2 of 5", "width: 40.0%"],
        "Of proposed methods": ["2 of 3", "width: 66.7%"],
        "Above the paper": ["2"],
        "Below the paper": ["3"],
        "Not comparable": ["6"],
        # Others that were not run have no figure in the paper.
        "Not run": ["1"],
    }
    assert tiles(section(tree, "fake")) == expected
    # The other paper, which was not run, is of the same size.
    assert tiles(tree.find("header")[0]) == expected | {"Not run": ["8"]}
    fake, other = table_lines(tree.find("table", "papers")[0])
    assert [cell.text for cell in fake.values()][:4] == [
        "fake",
        "2 of 5",
        "2 of 3",
        "1 of 7",
    ]
    assert float(fake["not below"].attrs["data-value"]) == 0.4
    assert [cell.text for cell in other.values()][1:4] == [MISSING, MISSING, "7 of 7"]


def lend(rows):
    """The rows, as if another paper had them."""
    return [replace(row, paper="other", method="Lender") for row in rows]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A report of cells that are incomplete, old, failed and copied."""
    bare = replace(PAPER, figures={})
    rows = make_rows(PAPER, "small", "Best", [0.9] * 4, results_version=0)
    rows += make_rows(PAPER, "small", "Plain | B", [0.5])
    rows += make_rows(PAPER, "small", "Given", [np.nan] * 4, error="KeyError: 'x'")
    rows += make_rows(PAPER, "odd", "Best", [0.7] * 4)
    rows += make_rows(PAPER, "odd", "Best", [0.7], variant="default", results_version=0)
    rows += make_rows(PAPER, "halved", "Best", [0.9], results_version=0)
    lent = lend(make_rows(PAPER, "small", "Borrowed", [0.6]))
    path = tmp_path_factory.mktemp("mixed") / "r.html"
    other = replace(OTHER, tables={})
    return read(
        write_report(
            {"fake": rows, "other": lent},
            path,
            papers=[bare, other],
        )
    )


def test_incomplete_old_and_failed_cells_are_marked(mixed):
    cells = grid_cells(mixed)
    assert cells["small", "Best"].text == "0.9000†(0.9000) 0.0000"
    assert cells["small", "Plain | B"].text == "0.5000 1/4(0.8000) -0.3000"
    assert cells["small", "Plain | B"].attrs["class"] == "grey"
    failed = cells["small", "Given"]
    assert re.fullmatch(r"failed \d\(0\.7000\)", failed.text)
    assert cells["small", "Borrowed"].text == "c 0.6000(0.6000) 0.0000"
    assert cells["halved", "Best"].text == "0.9000† 1/3(0.9500) -0.0500"
    lines = cell_list(mixed)
    told = {
        key[:2]: (line["verdict"].text, line["runs"].text)
        for key, line in lines.items()
        if key[2] == "AUC"
    }
    assert told["small", "Plain | B"] == ("incomplete", "1 of 4")
    assert told["small", "Given"][0].startswith("failed ")
    assert told["small", "Borrowed"] == ("c copied", "1")
    assert lines["small", "Best", "AUC"]["ours"].text == "0.9000 ± 0.0000†"
    odd = lines["odd", "Best", "AUC"]
    assert odd["ours"].text == "0.7000 ± 0.0000"
    assert odd["untuned or as published"].text == "0.7000 ± 0.0000†"
    table = section(mixed, "fake-table-1").text
    assert "All 4 runs failed: KeyError: 'x'" in table
    assert "1 of 2 comparable cells" in table
    assert "1 is incomplete and not counted." in table
    assert "There are no results yet" not in table


def test_tiles_of_incomplete_old_and_failed_cells(mixed):
    assert tiles(section(mixed, "fake")) == {
        "Not below the paper": [
            "1 of 3",
            "2 of them of an older version",
            "width: 33.3%",
        ],
        "Of proposed methods": [
            "1 of 3",
            "2 of them of an older version",
            "width: 33.3%",
        ],
        "Above the paper": ["0"],
        "Below the paper": ["2", "1 of them of an older version"],
        # A copied one, and a set of which the classes are not known.
        "Not comparable": ["2", "1 of them of an older version"],
        "Incomplete": ["1"],
        "Failed": ["1"],
        "Not run": ["0"],
    }


def test_an_older_version_is_a_warning(mixed, tree):
    (line,) = section(mixed, "fake-table-1").find("li", "warn")
    assert "than the present one (†)" in line.text
    assert not section(tree, "fake-table-1").find("li", "warn")


def test_figures_of_an_older_version(tmp_path):
    for version in (0, 1):
        points = {1: 0.8, 10: 0.9}
        rows = make_points(PAPER, "1", "small", "Best", points, results_version=version)
        told = section(make_report(tmp_path, rows), "fake-figure-1")
        warned = [line.text for line in told.find("p", "warn")]
        assert len(warned) == (version == 0)


def test_table_of_seconds_compares_nothing(tmp_path):
    table = replace(PAPER.tables["1"], metrics=("train_s",))
    paper = replace(PAPER, tables={"1": table}, figures={})
    rows = make_rows(paper, "small", "Best", [0.9] * 4)
    told = section(make_report(tmp_path, rows, [paper]), "fake-table-1").text
    assert "seconds to train" in told
    assert "comparable cells" not in told
    assert "compared" not in told


def test_ranks_say_what_they_leave_out(tmp_path):
    entry = replace(PAPER.methods["Best"], name="Borrowed")
    paper = replace(PAPER, methods={**PAPER.methods, "Borrowed": entry}, figures={})
    rows = [
        row
        for name in ("small", "odd", "large")
        for i, method in enumerate(OFF)
        for row in make_rows(paper, name, method, [0.9 - i / 10])
    ]
    rows += make_rows(paper, "small", "Borrowed", [0.9])
    (ranks,) = make_report(tmp_path, rows, [paper]).find("figure", "ranks")
    assert "Left out: Borrowed (run on 1 of 3 sets)." in ranks.text
    assert "over 3 sets" in ranks.text


FAST = replace(fake_paper(fast=True), figures={})


def test_fast_and_older_versions_are_told(tmp_path):
    rows = make_rows(FAST, "small", "Best", [0.9], results_version=0)
    # The papers themselves say whether they are reduced.
    for fast in (False, True):
        told = make_report(tmp_path, rows, [FAST], fast=fast)
        flags = told.find("span", "flag")
        # Of the page, the paper, and its two tables.
        assert len(flags) == 4
        assert "aucmax bench run fake --table 1 --fast" in told.text
        assert "than the present one" in told.text


def test_full_papers_are_not_flagged(tmp_path):
    bare = replace(PAPER, figures={})
    told = make_report(tmp_path, [], [bare], fast=True)
    assert told.find("span", "flag") == []


def test_full_and_fast_are_not_mixed(tmp_path):
    with pytest.raises(ValueError, match="a part of the papers is reduced: fake"):
        make_report(tmp_path, [], [FAST, OTHER])
    assert not list(tmp_path.iterdir())


def test_papers_that_are_not_known(tmp_path):
    with pytest.raises(ValueError, match="results of 'lost'"):
        write_report({"lost": []}, tmp_path / "r.html", papers=[PAPER])
    assert not list(tmp_path.iterdir())


def test_all_five_papers_without_results(tmp_path):
    text = write_report({}, tmp_path / "r.html").read_text(encoding="utf-8")
    for key in ("gao2013", "kakkar2017", "khalid2018", "natole2019", "szorenyi2017"):
        assert f'id="{key}"' in text
        assert f"aucmax bench run {key} --table" in text
    assert "<svg" not in text


@pytest.mark.parametrize(
    ("auc", "expected"),
    [
        (0.9, "even"),
        (0.9004, "even"),
        (0.901, "up-1"),
        (0.906, "up-2"),
        (0.92, "up-3"),
        (0.95, "up-4"),
        (0.899, "down-1"),
        (0.894, "down-2"),
        (0.88, "down-3"),
        (0.5, "down-4"),
    ],
)
def test_shades(auc, expected):
    comparison = compare(PAPER, make_rows(PAPER, "small", "Best", [auc] * 4), "1")
    assert shade(comparison.cells["small", "Best", "auc"]) == expected


def test_shades_of_what_is_not_compared():
    rows = make_rows(PAPER, "halved", "Best", [0.9])
    cells = compare(PAPER, rows, "1").cells
    assert shade(cells["halved", "Best", "auc"]) == "grey"
    assert shade(cells["small", "Best", "auc"]) == "none"
    printed = {("1", "small", "Given", "auc"): Printed(0.9, None, "")}
    paper = replace(PAPER, printed=printed)
    rows = make_rows(paper, "small", "Best", [0.9] * 4)
    assert shade(compare(paper, rows, "1").cells["small", "Best", "auc"]) == "grey"


def test_shades_begin_where_the_legend_says():
    # The difference is exact if the paper printed zero.
    paper = replace(
        PAPER, printed={("1", "small", "Best", "auc"): Printed(0.0, None, "")}
    )
    for step, auc in enumerate((0.0005, 0.005, 0.015, 0.04), start=1):
        rows = make_rows(paper, "small", "Best", [auc] * 4)
        cell = compare(paper, rows, "1").cells["small", "Best", "auc"]
        assert shade(cell) == f"up-{step}"


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn, on axes instead of in a page: displays and axes."""
    found = []

    def keep(draw, *, name, **rest):
        ax = Figure().subplots()
        found.append((draw(ax), ax))
        return f"<svg>{name}</svg>"

    monkeypatch.setattr(report_plots, "draw_svg", keep)
    return found


def test_boxes_in_per_cent(drawn):
    rows = make_rows(PAPER, "small", "Best", [0.9, 0.92, 0.94, 0.9])
    draw_boxes(compare(PAPER, rows, "2"))
    ((display, _),) = drawn
    assert display.values["Best"] == pytest.approx([90, 92, 94, 90])
    assert display.marks == pytest.approx({"Best": 91.2})
    draw_boxes(compare(PAPER, rows, "1"))
    assert drawn[1][0].marks == {"Best": 0.9}


def test_a_method_has_one_color_in_all_plots(drawn):
    rows = make_rows(PAPER, "small", "Best", [0.8, 0.9])
    rows += make_rows(PAPER, "small", "Given", [0.8, 0.9])
    rows += make_rows(PAPER, "odd", "Given", [0.8, 0.9])
    draw_boxes(compare(PAPER, rows, "1"))
    colors = [to_hex(display.boxes_["Given"].get_edgecolor()) for display, _ in drawn]
    assert colors == [PALETTE[2].lower()] * 2
    points = make_points(PAPER, "1", "small", "Best", {1: 0.8, 10: 0.9})
    points += make_points(PAPER, "1", "small", "Plain | B", {1: 0.8, 10: 0.9})
    points += make_points(PAPER, "1", "odd", "Plain | B", {1: 0.8, 10: 0.9})
    del drawn[:]
    draw_lines(PAPER, PAPER.figures["1"], collect_lines(PAPER, points, "1"))
    colors = [display.lines_["Plain | B"].get_color() for display, _ in drawn]
    assert colors == [PALETTE[1]] * 2


def test_axis_is_logarithmic_where_the_figure_says(drawn):
    points = make_points(PAPER, "1", "small", "Best", {1: 0.8, 10: 0.9})
    points += make_points(PAPER, "2", "small", "Best", {10: 0.8, 20: 0.9})
    for name in ("1", "2"):
        lines = collect_lines(PAPER, points, name)
        draw_lines(PAPER, PAPER.figures[name], lines)
    assert [ax.get_xscale() for _, ax in drawn] == ["log", "linear"]
    assert [ax.get_xlabel() for _, ax in drawn] == ["rank", "seconds to train"]


def test_colors_by_night_are_told_apart_by_all_readers():
    css = style_sheet()
    colors = dict(re.findall(r"--plot-(\d): (#[0-9a-f]{6})", css))
    assert sorted(colors) == [str(i + 1) for i in range(len(PALETTE))]
    assert min(distance(*pair) for pair in combinations(colors.values(), 2)) > 15
    (paper,) = re.findall(r"--plot-paper: (#[0-9a-f]{6}); --plot-grid: #2", css)
    assert min(contrast(color, paper) for color in colors.values()) > 4


# The rest is what a reader does, in a real browser.


@pytest.fixture(scope="module")
def browser():
    with open_browser() as started:
        yield started


GRID = "#fake-table-1 table.grid >> nth=0"


def test_page_in_a_browser(browser, page):
    tab, told, asked = visit(browser, page, viewport={"width": 1280, "height": 900})
    grid = tab.locator(GRID)

    def sets():
        return [text.split()[0] for text in grid.locator("tbody th").all_inner_texts()]

    # Sorted by a method: up, down, as in the paper. Sets without a figure stay last.
    head = grid.locator("th", has_text="Given")
    button = head.get_by_role("button")
    assert sets() == ["small", "odd", "halved", "large"]
    assert head.get_attribute("aria-sort") == "none"
    button.click()
    assert sets() == ["small", "odd", "large", "halved"]
    assert head.get_attribute("aria-sort") == "ascending"
    button.press("Enter")
    assert sets() == ["large", "odd", "small", "halved"]
    assert head.get_attribute("aria-sort") == "descending"
    by_name = grid.locator("th", has_text="set").first
    by_name.get_by_role("button").press("Space")
    assert sets() == ["halved", "large", "odd", "small"]
    assert head.get_attribute("aria-sort") == "none"
    by_name.get_by_role("button").click()
    by_name.get_by_role("button").click()
    assert sets() == ["small", "odd", "halved", "large"]

    # Below and above differ in colour and in class, and the figure is readable.
    above = grid.locator("tr[data-set=small] td").nth(0)
    below = grid.locator("tr[data-set=odd] td").nth(0)
    assert above.get_attribute("class") == "up-4"
    assert below.get_attribute("class") == "down-3 below"
    colors = [
        cell.evaluate("cell => getComputedStyle(cell).backgroundColor")
        for cell in (above, below)
    ]
    assert colors[0] != colors[1]
    assert grid.locator("tfoot td").nth(1).inner_text() == "2/0/1"

    # Plots have a size, once they are unfolded.
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    boxes = [svg.bounding_box() for svg in tab.locator("svg").all()]
    # Ranks, boxes of four sets and of one in table 2, lines of one set.
    assert len(boxes) == 7
    assert all(box["width"] > 150 and box["height"] > 60 for box in boxes)

    check_list_sorting(tab)
    check_filter(tab)
    assert (told, asked) == ([], [page.as_uri()])


def check_list_sorting(tab):
    """As numbers, which text would put into another order."""
    table = tab.locator("#fake-table-1 table.list")
    head = table.locator("th", has_text="difference")
    column = list(table.locator("thead th").all_inner_texts()).index(head.inner_text())

    def values():
        return table.evaluate(
            """(table, i) =>
                Array.from(table.tBodies[0].rows, row => row.cells[i].dataset.value)""",
            column,
        )

    for sign in (1, -1):
        head.get_by_role("button").click()
        found = [float(value) for value in values() if value]
        # Five differences and a ratio; whatever has none comes last.
        assert len(found) == 6
        assert found == sorted(found, key=lambda value: sign * value)
        assert values()[6:] == [""] * 26
    head.get_by_role("button").click()

    # Its head stays where it is.
    frame = tab.locator("#fake-table-1 .cells .scroll")
    frame.evaluate("frame => { frame.scrollTop = 400; }")
    assert frame.evaluate("frame => frame.scrollTop") > 100
    distance = head.bounding_box()["y"] - frame.bounding_box()["y"]
    assert 0 <= distance < 3


def check_filter(tab):
    section = tab.locator("#fake-table-1")
    box, grid = section.get_by_role("searchbox"), tab.locator(GRID)
    lines = section.locator("table.list tbody tr:visible")
    box.fill("odd")
    assert grid.locator("tbody tr:visible").count() == 1
    assert grid.locator("thead th:visible").count() == 5
    assert lines.count() == 8
    assert section.locator("output").inner_text() == "8 of 32 cells"
    box.fill("giv")
    assert grid.locator("tbody tr:visible").count() == 4
    assert grid.locator("thead th:visible").count() == 2
    assert lines.count() == 8
    # All words must be there, in any order: of the method, the set, the verdict.
    box.fill("ODD  best")
    assert grid.locator("tbody tr:visible").count() == 1
    assert grid.locator("thead th:visible").count() == 2
    assert grid.locator("tfoot td:visible").count() == 1
    assert lines.count() == 2
    box.fill("below")
    assert lines.count() == 3
    shown = grid.locator("tbody tr:visible").all()
    assert [row.get_attribute("data-set") for row in shown] == ["small", "odd"]
    assert grid.locator("thead th:visible").count() == 4
    # Of these six, three are not below.
    assert grid.locator("td.dim:visible").count() == 3
    box.fill("below small")
    assert lines.count() == 2
    assert grid.locator("td.dim:visible").count() == 0
    box.fill("nothing like it")
    assert grid.locator("tbody tr:visible").count() == 0
    box.fill("")
    assert grid.locator("tbody tr:visible").count() == 4
    assert grid.locator("thead th:visible").count() == 5
    assert lines.count() == 32


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_are_readable_on_every_shade(browser, page, scheme):
    tab, _, _ = visit(browser, page, color_scheme=scheme)
    steps = [f"{way}-{i}" for way in ("up", "down") for i in range(1, 5)]
    pairs = tab.evaluate(
        """names => names.map(name => {
            const cell = document.querySelector("table.grid td").cloneNode(true);
            cell.className = name;
            document.querySelector("table.grid tr").append(cell);
            const style = getComputedStyle(cell);
            return [style.color, style.backgroundColor];
        })""",
        [*steps, "even", "grey"],
    )
    grounds = set()
    for ink, ground in pairs:
        grounds.add(ground)
        assert contrast(ink, ground) > 4.5
    assert len(grounds) == 10


def test_print_is_readable_in_the_dark(browser, page):
    tab, _, _ = visit(browser, page, color_scheme="dark")
    places = ["h1", "p.small", ".tile dd", "table.grid td", "a", "figure svg", ".warn"]
    look = """places => places.flatMap(place => {
        const node = document.querySelector(place);
        if (!node) return [];
        let ground = node;
        const color = of => getComputedStyle(of).backgroundColor;
        while (color(ground) === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
        return [[getComputedStyle(node).color, color(ground)]];
    })"""
    by_night = tab.evaluate(look, places)
    tab.emulate_media(media="print", color_scheme="dark")
    on_paper = tab.evaluate(look, places)
    assert len(on_paper) == 6
    assert on_paper != by_night
    for ink, ground in on_paper:
        assert contrast(ground, "#ffffff") < 3
        assert contrast(ink, ground) > 4.5
    # Nothing of a long table is cut off.
    assert (
        tab.locator("#fake-table-1 .scroll").first.evaluate(
            "frame => getComputedStyle(frame).overflowX"
        )
        == "visible"
    )


def test_page_on_a_phone(browser, page):
    tab, told, _ = visit(browser, page, viewport={"width": 390, "height": 844})
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    width = tab.evaluate("document.documentElement.scrollWidth")
    assert width == 390
    # The wide table moves inside its own frame.
    inside, frame = tab.locator("#fake-table-1 .scroll").first.evaluate(
        "frame => [frame.scrollWidth, frame.clientWidth]"
    )
    assert inside > frame
    assert told == []
