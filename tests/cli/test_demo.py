# SPDX-License-Identifier: BSD-3-Clause
import json
import re
import sys

import pytest
from browser import open_browser, visit
from cli.command import call
from click.testing import CliRunner
from color_vision import contrast
from fake_demo import OURS, make_set

from aucmax.cli import _base
from aucmax.cli.demo import demo
from aucmax.demo.models import make_models
from aucmax.demo.text import describe_all, describe_outcome

PAGE = "aucmax-demo/demo.html"
NOISES = {OURS: 0.5, "other": 3.0}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder in which a quick run was made, and what it wrote."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, *call("demo", "--quick", folder=folder)


def test_quick_run_prints_a_line_per_model_and_the_address(done):
    folder, out, err = done
    assert err == ""
    assert out.startswith("glass: ")
    for name in make_models():
        (line,) = re.findall(rf"^{re.escape(name)} +0\.\d+ \[.*$", out, re.MULTILINE)
        auc, low, high, *rest = map(float, re.findall(r"\d+\.\d+", line))
        assert 0.5 < low <= auc <= high <= 1.0
        assert len(rest) == (1 if name == OURS else 2)
    assert f"Open {(folder / PAGE).as_uri()} in a browser." in out
    assert [path.name for path in (folder / "aucmax-demo").iterdir()] == ["demo.html"]


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    """Calls the command with results at hand; ``asked`` has how they were asked for."""
    monkeypatch.chdir(tmp_path)
    asked = []

    def run_demo(*, is_quick, tell):
        asked.append(is_quick)
        for name in ("one", "two"):
            tell(f"{name}: at work")
            yield make_set(NOISES, name=name)

    monkeypatch.setattr("aucmax.demo.run.run_demo", run_demo)

    def invoke(*args):
        return CliRunner().invoke(demo, args)

    invoke.asked = asked
    return invoke


def unfold(text):
    return " ".join(text.split())


def test_all_sets_are_shown(invoke, tmp_path):
    result = invoke("--out", "new/folder")
    assert (result.exit_code, result.stderr, invoke.asked) == (0, "", [False])
    sets = [make_set(NOISES, name=name) for name in ("one", "two")]
    text = unfold(result.stdout)
    assert all(describe_outcome(each) in text for each in sets)
    assert describe_all(sets) in text
    assert max(map(len, result.stdout.splitlines()[:-1])) <= 80
    page = tmp_path / "new" / "folder" / "demo.html"
    assert "two: " in text
    assert page.as_uri() in result.stdout
    assert 'id="two"' in page.read_text(encoding="utf-8")


@pytest.fixture
def no_plots(monkeypatch):
    """Pages in no time."""
    monkeypatch.setattr(
        "aucmax.demo.page.write_demo", lambda sets, path, is_quick: path
    )


@pytest.mark.usefixtures("no_plots")
def test_json(invoke, tmp_path):
    result = invoke("--quick", "--json")
    assert (result.exit_code, invoke.asked) == (0, [True])
    found = json.loads(result.stdout)
    assert [each["set"] for each in found["sets"]] == ["one", "two"]
    assert found["page"] == str(tmp_path / PAGE)
    assert (tmp_path / PAGE).as_uri() in result.stderr


@pytest.mark.usefixtures("no_plots")
def test_progress_is_for_those_who_watch(invoke, monkeypatch):
    monkeypatch.setattr(_base, "is_watched", lambda: True)
    result = invoke()
    assert result.stderr == "one: at work\ntwo: at work\n"
    assert "at work" not in result.stdout


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_without_extras_there_is_a_table_and_advice(
    invoke, tmp_path, monkeypatch, package
):
    for name in [n for n in sys.modules if n.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    result = invoke()
    assert result.exit_code == 0
    assert OURS in result.stdout
    last = result.stdout.splitlines()[-1]
    assert last.startswith("There is no page with plots, which needs jinja2 and")
    assert 'pip install "aucmax[plot]"' in last
    assert list(tmp_path.iterdir()) == []
    found = json.loads(invoke("--json").stdout)
    assert found["page"] is None


def test_a_folder_that_cannot_be_is_told_before_any_work(invoke, tmp_path):
    (tmp_path / "file").touch()
    for out in ("file", "file/below"):
        result = invoke("--out", out)
        assert result.exit_code != 0
        assert out in result.stderr
        assert len(result.stderr.strip().splitlines()[-1]) < 120
    assert invoke.asked == []
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_stopped_by_hand_it_leaves_nothing(tmp_path, monkeypatch):
    def run_demo(**options):
        yield make_set(NOISES)
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("aucmax.demo.run.run_demo", run_demo)
    result = CliRunner().invoke(demo)
    assert result.exit_code == 130
    assert result.stderr == "\nStopped.\n"
    assert list(tmp_path.iterdir()) == []


# What a reader sees, in a real browser.


@pytest.fixture(scope="module")
def browser():
    with open_browser() as started:
        yield started


def test_page_in_a_browser(browser, done):
    page = done[0] / PAGE
    tab, told, asked = visit(browser, page, viewport={"width": 1280, "height": 900})
    boxes = [svg.bounding_box() for svg in tab.locator("svg").all()]
    # The AUCs; ROC curves, scores and calibration.
    assert len(boxes) == 4
    assert all(box["width"] > 250 and box["height"] > 100 for box in boxes)
    names = tab.locator("table.demo tbody th").all_inner_texts()
    assert names == list(make_models())
    assert tab.locator("table.board tbody tr:visible").count() > 3
    tab.locator("summary").click()
    assert tab.locator("table.board tbody tr:visible").count() == 0
    assert (told, asked) == ([], [page.as_uri()])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_readable_by_day_and_by_night(browser, done, scheme):
    tab, told, _ = visit(browser, done[0] / PAGE, color_scheme=scheme)
    places = ["h1", ".flag", ".byline", "tr.ours td", ".board td", "figure svg", "pre"]
    pairs = tab.evaluate(
        """places => places.map(place => {
            let ground = document.querySelector(place);
            const ink = getComputedStyle(ground).color;
            const color = of => getComputedStyle(of).backgroundColor;
            while (color(ground) === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
            return [ink, color(ground)];
        })""",
        places,
    )
    assert len(pairs) == len(places)
    for ink, ground in pairs:
        assert contrast(ink, ground) > 4.5
    is_dark = contrast(pairs[0][1], "#ffffff") > 4.5
    assert is_dark == (scheme == "dark")
    assert told == []


def test_page_on_a_phone(browser, done):
    tab, told, _ = visit(
        browser, done[0] / PAGE, viewport={"width": 390, "height": 844}
    )
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    # Wide tables move inside their own frames, and the names leave room for figures.
    for place in ("table.demo", "table.board"):
        name = tab.locator(f"{place} tbody th").first.bounding_box()
        assert name["width"] < 200
    assert told == []
