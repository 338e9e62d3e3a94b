# SPDX-License-Identifier: BSD-3-Clause
import json

import numpy as np
import pandas as pd
import pytest
from browser import open_browser, visit
from cli.command import call
from html_tree import Reader

from aucmax.io import load
from aucmax.metrics import cost_curve, partial_auc, roc_auc_interval

TARGET = ("--target", "late")


@pytest.fixture
def truth(folder):
    frame = pd.read_csv(folder / "new.csv", parse_dates=["since"])
    model = load(folder / "loans.skops")
    scores = model.decision_function(frame[["income", "town", "since", "owns"]])
    return frame["late"] == "yes", scores


def test_numbers_are_those_of_the_metrics(folder, truth):
    choice = ("--max-fpr", "0.2", "--costs", "1,4", "--json")
    out, _ = call("evaluate", "loans.skops", "new.csv", *TARGET, *choice, folder=folder)
    told = json.loads(out)
    assert (told["rows"], told["positives"]) == (120, truth[0].sum())
    assert told["auc"] == pytest.approx(roc_auc_interval(*truth)._asdict())
    assert told["partial_auc"] == pytest.approx(
        {
            "max_fpr": 0.2,
            "area": partial_auc(*truth, max_fpr=0.2),
            "standardized": partial_auc(*truth, max_fpr=0.2, standardize=True),
        }
    )
    best = cost_curve(*truth, cost_fn=4).best()._asdict()
    assert told["best"] == pytest.approx({"cost_fp": 1.0, "cost_fn": 4.0, **best})


def test_text(invoke, truth):
    result = invoke("evaluate", "loans.skops", "new.csv", *TARGET)
    found = roc_auc_interval(*truth)
    assert f"AUC             {found.auc:.4f} ({found.low:.4f} to" in result.stdout
    # Both classes weigh the same.
    n_pos = truth[0].sum()
    cost = (120 - n_pos) / n_pos
    best = cost_curve(*truth, cost_fn=cost).best()
    weighed = "both classes weighing the same"
    assert f"{best.threshold:.6g}, with {weighed}\n" in result.stdout
    assert f"sensitivity     {best.sensitivity:.4f}" in result.stdout


def test_threshold_that_separates_nothing(invoke):
    choice = ("evaluate", "loans.skops", "new.csv", *TARGET, "--costs", "1,0")
    result = invoke(*choice)
    assert "call no row positive, with costs 1 and 0" in result.stdout
    assert "precision       undefined" in result.stdout
    text = invoke(*choice, "--json").stdout
    assert "Infinity" not in text
    assert "NaN" not in text
    assert json.loads(text)["best"]["threshold"] is None
    page = invoke(*choice, "--plot", "report.html")
    assert "Wrote report.html." in page.stderr


@pytest.mark.parametrize(
    ("name", "start"), [("roc.png", b"\x89PNG\r\n"), ("roc.svg", b"<?xml")]
)
def test_pictures(invoke, folder, name, start):
    result = invoke("evaluate", "loans.skops", "new.csv", *TARGET, "--plot", name)
    assert f"Wrote {name}." in result.stderr
    assert (folder / name).read_bytes().startswith(start)
    assert not [path for path in folder.iterdir() if path.suffix == ".tmp"]


def test_page(invoke, folder, truth):
    # A name that must not become markup.
    (folder / "new.csv").rename(folder / "<b>&.csv")
    choice = (*TARGET, "--plot", "report.html", "--json")
    told = json.loads(invoke("evaluate", "loans.skops", "<b>&.csv", *choice).stdout)
    assert told["plot"] == "report.html"
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Reader(text).page
    assert page.find("h1")[0].text == "loans on <b>&.csv"
    titles = [heading.text for heading in page.find("h2")]
    assert titles == ["ROC curve", "Scores of the classes", "Cost of each threshold"]
    assert len(page.find("svg", role="img")) == 3
    table = page.find("table")[0].text
    assert f"{roc_auc_interval(*truth).auc:.4f}" in table
    assert "yes: " in text
    assert "http://" not in text.replace("http://www.w3.org/", "")
    assert "https://" not in text
    with open_browser() as browser:
        tab, said, asked = visit(browser, folder / "report.html")
        boxes = [svg.bounding_box() for svg in tab.locator("svg").all()]
        assert said == []
        assert len(asked) == 1
        assert all(box["width"] > 200 and box["height"] > 150 for box in boxes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda late: late.where(late.index > 3, "maybe"),
            "holds maybe, but the model",
        ),
        (
            lambda late: np.full(len(late), "no"),
            "'late' of other.csv is no in all rows",
        ),
        (
            lambda late: late.where(late.index > 3),
            "row 0, counted from 0: the label is",
        ),
    ],
)
def test_labels_that_the_model_does_not_know(invoke, folder, change, words):
    frame = pd.read_csv(folder / "new.csv")
    frame["late"] = change(frame["late"])
    frame.to_csv(folder / "other.csv", index=False)
    result = invoke("evaluate", "loans.skops", "other.csv", *TARGET, code=1)
    assert words in result.stderr


def test_labels_in_another_type(invoke, folder):
    """Zero and one in training, 0.0 and 1.0 in the test."""
    for name, kind in (("loans.csv", int), ("new.csv", float)):
        frame = pd.read_csv(folder / name)
        frame["late"] = (frame["late"] == "yes").astype(kind)
        frame.to_csv(folder / name, index=False)
    choice = ("--model", "ranksvm", "--cv", "0", "--drop", "id", "--force")
    invoke("fit", "loans.csv", *TARGET, *choice)
    told = json.loads(
        invoke("evaluate", "loans.skops", "new.csv", *TARGET, "--json").stdout
    )
    assert told["labels"]["positive"] == "1"
    assert told["auc"]["auc"] > 0.65


def test_picture_into_no_folder(invoke):
    choice = (*TARGET, "--plot", "nowhere/roc.png")
    result = invoke("evaluate", "loans.skops", "new.csv", *choice, code=2)
    assert "there is no folder nowhere" in result.stderr


@pytest.mark.parametrize("name", ["report.html", "roc.png"])
def test_picture_is_not_replaced_unless_asked(invoke, folder, name):
    (folder / name).write_text("mine")
    given = ("evaluate", "loans.skops", "new.csv", *TARGET, "--plot", name)
    result = invoke(*given, code=1)
    assert result.stdout == ""
    assert f"{name} is there already. Name another file, or add" in result.stderr
    assert (folder / name).read_text() == "mine"
    invoke(*given, "--force")
    assert (folder / name).read_bytes() != b"mine"
