# SPDX-License-Identifier: BSD-3-Clause
import json
import sys

import numpy as np
import pandas as pd
import pytest
from cli.command import call
from html_tree import Reader

from aucmax.cli.compare import _usual_models

CHOICE = ("--target", "late", "--drop", "id")


def test_table_and_json_tell_the_same(folder):
    given = ("compare", "loans.csv", *CHOICE, "--models", "knn,ranksvm,logistic")
    out, err = call(*given, "--cv", "4", "--plot", "roc.png", "--json", folder=folder)
    assert err == ""
    told = json.loads(out)
    models = told["models"]
    assert list(models) == ["knn", "ranksvm", "logistic"]
    assert (told["rows"], told["folds"], told["plot"]) == (240, 4, "roc.png")
    assert models[told["best"]]["auc"] == max(each["auc"] for each in models.values())
    for name, each in models.items():
        assert each["low"] < each["auc"] < each["high"]
        assert each["seconds"] > 0
        expected = each["auc"] - models[told["best"]]["auc"]
        assert each["difference"] == pytest.approx(expected)
        assert (each["p_value"] == 1.0) == (name == told["best"])
    assert models["knn"]["p_value"] < models["logistic"]["p_value"]
    assert (folder / "roc.png").read_bytes().startswith(b"\x89PNG")


def test_table_is_sorted(invoke, folder):
    given = ("--models", "knn", "--models", "Logistic,knn", "--cv", "2")
    result = invoke("compare", "loans.csv", *CHOICE, *given, "--plot", "roc.html")
    head, *lines = result.stdout.splitlines()
    assert head.split("  ")[0] == "model"
    assert [line.split()[0] for line in lines] == ["logistic", "knn"]
    page = Reader((folder / "roc.html").read_text(encoding="utf-8")).page
    assert page.find("h1")[0].text == "Models on loans.csv"
    assert len(page.find("svg", role="img")) == 1
    assert "logistic" in page.find("table")[0].text


def test_auto_within_a_time(invoke):
    given = ("--models", "auto,logistic", "--cv", "2", "--time-budget", "0.5", "--json")
    told = json.loads(invoke("compare", "loans.csv", *CHOICE, *given).stdout)
    assert told["models"]["auto"]["auc"] > 0.6


def test_models_that_are_not_named(invoke, folder, monkeypatch):
    quick = ("--cv", "2", "--time-budget", "0.5", "--json")
    told = json.loads(invoke("compare", "loans.csv", *CHOICE, *quick).stdout)
    assert list(told["models"]) == ["auto", "logistic", "lightgbm", "nbauc"]
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    assert _usual_models(False) == ["auto", "logistic", "hgb", "nbauc"]
    # For which hgb has no use.
    assert _usual_models(True) == ["auto", "logistic", "nbauc"]


def test_few_positives(invoke, folder):
    frame = pd.read_csv(folder / "loans.csv")
    kept = [
        *np.flatnonzero(frame["late"] == "no"),
        *frame.index[frame["late"] == "yes"][:3],
    ]
    frame.loc[kept].to_csv(folder / "few.csv", index=False)
    frame.loc[kept[:-2]].to_csv(folder / "one.csv", index=False)
    given = (*CHOICE, "--models", "ranksvm")
    result = invoke("compare", "few.csv", *given)
    assert "Note: 3 folds instead of 5" in result.stderr
    result = invoke("compare", "one.csv", *given, code=1)
    assert "'late' of one.csv has one row only in one of its classes" in result.stderr


def test_unknown_names(invoke):
    given = ("--models", "auto,magic", "--target", "late")
    result = invoke("compare", "loans.csv", *given, code=2)
    assert "There is no model 'magic'" in result.stderr
    assert "lightgbm" in result.stderr


def test_package_that_is_missing(invoke, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    monkeypatch.delitem(sys.modules, "aucmax.cli._boosted", raising=False)
    given = ("--models", "logistic,lightgbm")
    result = invoke("compare", "loans.csv", *CHOICE, *given, code=2)
    told = " ".join(result.stderr.split())
    assert "There is no model lightgbm here: lightgbm is needed for this" in told
    assert 'pip install "aucmax[boost]"' in told


def test_time_without_a_model_that_takes_it(invoke):
    given = (*CHOICE, "--models", "logistic,knn", "--time-budget", "3")
    result = invoke("compare", "loans.csv", *given, code=2)
    assert (
        "--time-budget is for the model auto, which is not among --models."
        in result.stderr
    )


def test_picture_is_not_replaced_unless_asked(invoke, folder):
    (folder / "roc.svg").write_text("mine")
    given = (*CHOICE, "--models", "logistic", "--cv", "2", "--plot", "roc.svg")
    result = invoke("compare", "loans.csv", *given, code=1)
    assert "roc.svg is there already. Name another file, or add" in result.stderr
    assert (folder / "roc.svg").read_text() == "mine"
    invoke("compare", "loans.csv", *given, "--force")
    assert (folder / "roc.svg").read_text() != "mine"
