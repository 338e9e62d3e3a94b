# SPDX-License-Identifier: BSD-3-Clause
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from fake_papers import CODE, VERSIONS, fake_paper, make_points, make_rows

from aucmax.bench.compare import compare
from aucmax.bench.protocol import Printed
from aucmax.bench.report import shade, write_report

PAPER = fake_paper()
OTHER = replace(PAPER, key="other", title="Another", figures={})


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.004, 4)
    made = []
    for name, aucs in {
        "small": (0.97, 0.75, 0.7),
        "odd": (0.78, 0.8, 0.82),
        "large": (0.9, 0.85, 0.86),
    }.items():
        for method, auc in zip(("Best", "Plain | B", "Given"), aucs, strict=True):
            runs = auc + noise + rng.normal(0, 0.001, 4)
            made += make_rows(PAPER, name, method, runs.tolist())
    made += make_rows(PAPER, "small", "Best", [0.8, 0.81], variant="default")
    made += make_rows(PAPER, "halved", "Best", [0.7, 0.95, 0.9])
    for run in (0, 1):
        points = {1: 0.6 + run / 50, 10: 0.8, 100: 0.85}
        made += make_points(PAPER, "1", "small", "Best", points, run=run)
        made += make_points(PAPER, "1", "small", "Plain | B", points, run=run)
    return made


@pytest.fixture(scope="module")
def page(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "deep" / "report.html"
    written = write_report(
        {"fake": rows}, path, code_of=lambda method: CODE, papers=[PAPER, OTHER]
    )
    assert written == path
    return path


class Checker(HTMLParser):
    """Complains of elements that are not closed, and of ids that are there twice."""

    EMPTY = frozenset({"meta", "link", "input", "br"})

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.texts, self.links = [], [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in self.EMPTY:
            self.open.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if "href" in attrs or "xlink:href" in attrs:
            self.links.append(attrs.get("href") or attrs["xlink:href"])

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def checked(page):
    checker = Checker()
    checker.feed(page.read_text(encoding="utf-8"))
    checker.close()
    return checker


def test_page_is_whole(page, checked):
    assert checked.open == []
    assert len(set(checked.ids)) == len(checked.ids)
    inner = [link[1:] for link in checked.links if link.startswith("#")]
    assert set(inner) <= set(checked.ids)
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
    text = write_report(
        {}, tmp_path / "r.html", code_of=lambda method: CODE, papers=[bad]
    ).read_text(encoding="utf-8")
    assert "javascript:" not in text


def test_what_is_told(checked):
    text = " ".join(" ".join(checked.texts).split())
    assert "On <b>nothing</b> & more" in text
    assert "We had to guess." in text
    assert "aucmax bench run fake --table 1" in text
    assert "aucmax bench run fake --figure 1" in text
    assert "There are no results yet. This makes them: aucmax bench run other" in text
    assert f"Code {CODE}." in text
    assert VERSIONS in text
    assert "Which half it was is not known." in text
    assert "Two sets of many." in text
    assert "Not run: odd." in text
    assert "Friedman" in text
    assert "reduced protocol" not in text


def test_same_results_same_bytes(rows, page, tmp_path):
    again = write_report({"fake": rows}, tmp_path / "b.html", code_of=lambda method: CODE, papers=[PAPER, OTHER])  # fmt: skip  # noqa: E501
    assert again.read_bytes() == page.read_bytes()


def test_fast_and_older_code_are_told(tmp_path):
    paper = replace(fake_paper(fast=True), figures={})
    rows = make_rows(paper, "small", "Best", [0.9])
    path = write_report({"fake": rows}, tmp_path / "r.html", fast=True, code_of=lambda method: "new", papers=[paper])  # fmt: skip  # noqa: E501
    text = path.read_text(encoding="utf-8")
    assert "reduced protocol (--fast)" in text
    assert "aucmax bench run fake --table 1 --fast" in text
    assert "than the present one" in text


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
    comparison = compare(PAPER, make_rows(PAPER, "small", "Best", [auc]), "1")
    assert shade(comparison.cells["small", "Best", "auc"]) == expected


def test_shades_of_what_is_not_compared():
    rows = make_rows(PAPER, "halved", "Best", [0.9])
    cells = compare(PAPER, rows, "1").cells
    assert shade(cells["halved", "Best", "auc"]) == "grey"
    assert shade(cells["small", "Best", "auc"]) == "none"
    printed = {("1", "small", "Given", "auc"): Printed(0.9, None, "")}
    paper = replace(PAPER, printed=printed)
    rows = make_rows(paper, "small", "Best", [0.9])
    assert shade(compare(paper, rows, "1").cells["small", "Best", "auc"]) == "grey"


# The rest is what a reader does, in a real browser.

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is missing")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    with api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


def visit(browser, path, **options):
    """The page, and lists of what it complained of and what it asked for."""
    tab = browser.new_context(**options).new_page()
    told, asked = [], []
    tab.on("console", lambda message: told.append(message.text))
    tab.on("pageerror", lambda error: told.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(path.as_uri())
    return tab, told, asked


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

    check_filter(tab)
    assert (told, asked) == ([], [page.as_uri()])


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
    box.fill("nothing like it")
    assert grid.locator("tbody tr:visible").count() == 0
    box.fill("")
    assert grid.locator("tbody tr:visible").count() == 4
    assert grid.locator("thead th:visible").count() == 5
    assert lines.count() == 32


def luminance(color):
    """Relative luminance of a colour as the browser writes it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    ]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


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
        low, high = sorted((luminance(ink), luminance(ground)))
        # What WCAG asks of small text.
        assert (high + 0.05) / (low + 0.05) > 4.5
    assert len(grounds) == 10


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
