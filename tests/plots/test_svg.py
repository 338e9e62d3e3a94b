# SPDX-License-Identifier: BSD-3-Clause
import re
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib import pyplot

from aucmax.plots import BoxDisplay, draw_svg
from aucmax.plots.boxes import PALETTE
from aucmax.plots.curve import COLORS

VALUES = {"a <b> & $c$": [0.81, 0.82, 0.83], "d": [0.7, 0.8]}


def draw(name="one two", title='What "it" shows & more'):
    display = BoxDisplay(VALUES, {"d": 0.9})
    return draw_svg(display.plot, size=(4, 2), name=name, title=title)


def test_same_plot_same_bytes():
    assert draw() == draw()


def test_element_stands_alone():
    root = ElementTree.fromstring(draw())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'What "it" shows & more'
    assert (root.get("width"), root.get("height")) == ("288pt", "144pt")
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "a <b> & $c$" in texts
    assert not [e for e in root.iter() if e.tag.endswith(("style", "metadata"))]


def test_every_reference_leads_somewhere():
    text = draw()
    ids = re.findall(r'\bid="([^"]*)"', text)
    references = re.findall(r'href="#([^"]*)"', text) + re.findall(
        r"url\(#([^)]*)", text
    )
    assert references
    assert set(references) <= set(ids)
    assert all(name.startswith("one-two-") for name in ids)
    other = re.findall(r'\bid="([^"]*)"', draw(name="three"))
    assert not set(ids) & set(other)


def test_colors_are_those_of_the_page():
    text = draw()
    assert "currentColor" in text
    assert f"var(--plot-1, {COLORS[0].lower()})" in text
    bare = re.sub(r"var\([^)]*\)", "", text)
    assert not re.findall(r"#[0-9a-f]{6}\b", bare)


def test_every_color_of_the_boxes_is_one_of_the_page():
    display = BoxDisplay({f"m{i}": [0.1 * i, 0.2] for i in range(8)})
    text = draw_svg(display.plot, size=(4, 3), name="n", title="t")
    for i, color in enumerate(PALETTE):
        assert f"var(--plot-{i + 1}, {color.lower()})" in text


def test_numbers_in_text_keep_their_digits():
    display = BoxDisplay({"v0.123456": [0.5, 0.6]})
    text = draw_svg(display.plot, size=(4, 2), name="n", title="t")
    assert ">v0.123456<" in text


def test_nothing_is_left_behind():
    before = dict(mpl.rcParams)
    draw()
    assert dict(mpl.rcParams) == before
    assert pyplot.get_fignums() == []
