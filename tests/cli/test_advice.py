# SPDX-License-Identifier: BSD-3-Clause
"""Tables that are not as expected: what to do is said in options of the command."""

import re

import numpy as np
import pandas as pd
import pytest
from cli.loans import make_loans

TARGET = ("--target", "late")
QUICK = (*TARGET, "--drop", "id", "--model", "ranksvm", "--cv", "0", "--force")
# Arguments of Python, which nobody can give to a command.
ARGUMENT = re.compile(r"\b(target|format|columns|separator|header|multilabel)=")


def make_nested(folder):
    frame = make_loans().assign(tags=[["a"]] * 240)
    frame.to_parquet(folder / "rows.parquet")
    return "rows.parquet"


def make_text(name, content):
    def make(folder):
        (folder / name).write_text(content)
        return name

    return make


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (make_text("a.csv", "x;late\n1;yes\n2;no\n"), r"Add --separator ';'\.$"),
        (make_text("a.csv", "x|late\n1|yes\n2|no\n"), r"Add --separator '\|'\.$"),
        (make_text("a.csv", "x\tlate\n1\tyes\n"), r"Add --separator '\\t'\.$"),
        (make_text("a.tsv", "x,late\n1,yes\n"), r"Add --separator ','\.$"),
        (
            make_text("a.csv", "1,2\n3,4\n"),
            r"Add a line with a name for each column\.$",
        ),
        (
            make_text("a.dat", "x,late\n1,yes\n"),
            "Name it with --format, one of csv, tsv",
        ),
        (make_text("a.parquet", "x,late\n"), r"or name what it is with --format\.$"),
        (make_nested, "'tags' of .* Leave the column out with --drop, or turn it into"),
    ],
    ids=["semicolon", "bar", "tab", "comma", "numbers", "name", "damage", "nested"],
)
def test_advice_names_options(invoke, folder, make, words):
    result = invoke("fit", make(folder), *QUICK, code=1)
    assert re.search(words, result.stderr.strip())
    assert not ARGUMENT.search(result.stderr)


def test_several_labels(invoke, folder):
    (folder / "rows.svm").write_text("1,2 1:0.5\n")
    result = invoke("fit", "rows.svm", code=1)
    assert "'1,2' is not a label" in result.stderr
    assert not ARGUMENT.search(result.stderr)


def test_column_that_is_dropped_breaks_nothing(invoke, folder):
    invoke("fit", make_nested(folder), *QUICK, "--drop", "tags")


def test_column_that_cannot_be_dropped(invoke, folder):
    name = make_nested(folder)
    result = invoke("predict", "loans.skops", name, "--keep", "tags", code=1)
    assert "values. Turn it into columns of numbers or text." in result.stderr
    assert "--drop" not in result.stderr


# --separator


@pytest.mark.parametrize(
    ("mark", "given"), [(";", ";"), ("\t", "tab"), ("\t", "\\t"), ("|", "|")]
)
def test_separator(invoke, folder, mark, given):
    for name in ("loans", "new"):
        frame = pd.read_csv(folder / f"{name}.csv")
        frame.to_csv(folder / f"{name}.csv", index=False, sep=mark)
    choice = ("--separator", given)
    told = invoke("fit", "loans.csv", *QUICK, "--test", "new.csv", *choice).stdout
    assert "240, with 4 features" in told
    assert "120 test rows" in told
    scores = invoke("predict", "loans.skops", "new.csv", *choice).stdout
    assert len(scores.splitlines()) == 121
    told = invoke("evaluate", "loans.skops", "new.csv", *TARGET, *choice).stdout
    assert re.search("rows +120", told)
    given = ("--drop", "id", "--models", "logistic", "--cv", "2", *choice)
    told = invoke("compare", "loans.csv", *TARGET, *given).stdout
    assert "logistic" in told


def test_separator_of_a_table_that_has_none(invoke, folder):
    name = make_nested(folder)
    result = invoke("fit", name, *QUICK, "--drop", "tags", "--separator", ";", code=1)
    assert "read as parquet, which has no separator. Leave out --sep" in result.stderr


def test_separator_is_not_that_of_test_rows_in_another_format(invoke, folder):
    make_loans().to_csv(folder / "loans.csv", index=False, sep=";")
    make_loans(120, seed=1).to_parquet(folder / "new.parquet")
    choice = ("--separator", ";", "--test", "new.parquet")
    assert "120 test rows" in invoke("fit", "loans.csv", *QUICK, *choice).stdout


def test_decimal_commas_are_read(invoke, folder):
    frame = make_loans().assign(big=np.linspace(1e3, 1e6, 240).round(2))
    frame.to_csv(folder / "point.csv", index=False)
    frame.to_csv(folder / "comma.csv", index=False, sep=";", decimal=",")
    invoke("fit", "point.csv", *QUICK)
    result = invoke("fit", "comma.csv", *QUICK, "--separator", ";")
    assert result.stderr == ""
    scores = invoke("predict", "comma.skops", "comma.csv", "--separator", ";").stdout
    assert scores == invoke("predict", "point.skops", "point.csv").stdout
