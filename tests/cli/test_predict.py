# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import shutil
import subprocess
import sys
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from cli.command import call, call_here, environment
from cli.loans import make_loans
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from aucmax.io import load, save

FEATURES = ["income", "town", "since", "owns"]


def table(text):
    return pd.read_csv(StringIO(text))


@pytest.fixture
def expected(folder):
    frame = pd.read_csv(folder / "new.csv", parse_dates=["since"])
    return load(folder / "loans.skops").decision_function(frame[FEATURES])


def test_columns_are_found_by_name(folder, expected):
    frame = pd.read_csv(folder / "new.csv")
    frame[["owns", "late", "since", "income", "id", "town"]].to_csv(
        folder / "other.csv", index=False
    )
    given = (folder / "other.csv").read_text()
    out, err = call("predict", "loans.skops", "-", folder=folder, given=given)
    assert table(out).columns.tolist() == ["score"]
    assert table(out)["score"].to_numpy() == pytest.approx(expected, rel=1e-12)
    assert err == (
        "Note: column 'late' of the standard input, the target of the model, is left "
        "out.\n"
        "Note: 1 column of the standard input unknown to the model: id.\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
@pytest.mark.parametrize("more", [(), ("--force",)])
def test_links_and_pipes_are_not_replaced(invoke, folder, more):
    (folder / "dangling.csv").symlink_to("nowhere.csv")
    (folder / "link.csv").symlink_to("new.csv")
    os.mkfifo(folder / "pipe.csv")
    given = ("predict", "loans.skops", "new.csv", *more, "--out")
    for name, target in (("dangling.csv", "nowhere.csv"), ("link.csv", "new.csv")):
        result = invoke(*given, name, code=2 if target == "new.csv" else 1)
        assert target in result.stderr
        assert (folder / name).is_symlink()
    assert "is a named pipe" in invoke(*given, "pipe.csv", code=1).stderr
    assert (folder / "pipe.csv").is_fifo()


def test_more_columns(invoke, folder, expected):
    choice = ("--label", "--keep", "id", "--keep", "income", "--out", "scores.csv")
    result = invoke("predict", "loans.skops", "new.csv", *choice)
    assert result.stdout == ""
    assert "Wrote scores.csv." in result.stderr
    found = pd.read_csv(folder / "scores.csv")
    assert found.columns.tolist() == ["id", "income", "score", "label"]
    new = pd.read_csv(folder / "new.csv")
    pd.testing.assert_frame_equal(found[["id", "income"]], new[["id", "income"]])
    assert found["label"].tolist() == np.where(expected > 0, "yes", "no").tolist()


def test_formulas_are_escaped_if_asked(invoke, folder):
    cells = ["=cmd|'/C calc'!A0", "@x", "\tx", "-1.5", "+1e3", "-x", "a=b", "'=1"]
    frame = pd.read_csv(folder / "new.csv").head(len(cells))
    frame["late"] = "no"
    frame.assign(**{"=note": cells, "n": -1.5}).to_csv(
        folder / "notes.csv", index=False
    )
    train = pd.read_csv(folder / "loans.csv").assign(
        late=lambda each: each["late"].replace({"yes": "=yes", "no": "-no"})
    )
    train.to_csv(folder / "train.csv", index=False)
    choice = ("--target", "late", "--drop", "id", "--model", "logistic", "--cv", "0")
    invoke("fit", "train.csv", *choice, "--positive", "=yes")
    given = ("predict", "train.skops", "notes.csv", "--keep", "=note", "--keep", "n")

    def read(*more):
        return table(invoke(*given, "--label", *more).stdout)

    plain = read()
    assert plain["=note"].tolist() == cells
    escaped = read("--escape-formulas")
    assert escaped.columns.tolist() == ["'=note", "n", "score", "label"]
    expected = [
        f"'{cell}" if k in (0, 1, 2, 5) else cell for k, cell in enumerate(cells)
    ]
    assert escaped["'=note"].tolist() == expected
    assert escaped["n"].tolist() == [-1.5] * len(cells)
    assert escaped["score"].tolist() == plain["score"].tolist()
    assert escaped["label"].tolist() == [f"'{each}" for each in plain["label"]]


def test_probabilities(invoke, folder):
    choice = ("--target", "late", "--drop", "id", "--model", "logistic", "--cv", "0")
    invoke("fit", "loans.csv", *choice, "--out", "logistic.skops")
    found = table(invoke("predict", "logistic.skops", "new.csv", "--proba").stdout)
    assert found["probability"].between(0, 1).all()
    assert found["score"].rank().equals(found["probability"].rank())
    result = invoke("predict", "loans.skops", "new.csv", "--proba", code=1)
    assert "loans.skops gives scores but no probabilities" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_reader_that_has_enough(folder):
    # More than fits into a pipe, so that writing fails half way.
    pd.concat([pd.read_csv(folder / "new.csv")] * 100).to_csv(
        folder / "long.csv", index=False
    )
    command = f"{sys.executable} -m aucmax.cli predict loans.skops - < long.csv"
    done = subprocess.run(
        ["sh", "-c", f"{{ {command} --keep id; echo $? > code; }} | head -1"],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "id,score\n"
    assert re.fullmatch("Note: .* of the standard input, .* left out.\n", done.stderr)
    assert (folder / "code").read_text() == "141\n"


def test_missing_columns_are_all_named(invoke, folder):
    frame = pd.read_csv(folder / "new.csv").drop(columns=["owns", "town"])
    frame.to_csv(folder / "less.csv", index=False)
    choice = ("predict", "loans.skops", "less.csv", "--out", "scores.csv")
    result = invoke(*choice, code=1)
    assert result.stdout == ""
    assert result.stderr == (
        "Error: less.csv lacks 2 columns of the model: town, owns. It has: id, income, "
        "since, late.\n"
    )
    assert not (folder / "scores.csv").exists()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: data[: len(data) // 2], "is not a model file, or it is damaged"),
        (lambda data: b"income,town\n", "is not a model file, or it is damaged"),
        (lambda data: b"", "is not a model file, or it is damaged"),
    ],
    ids=["cut off", "table", "empty"],
)
def test_damaged_model(invoke, folder, damage, words):
    path = folder / "loans.skops"
    path.write_bytes(damage(path.read_bytes()))
    result = invoke("predict", "loans.skops", "new.csv", code=1)
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: loans.skops {words}")
    assert len(result.stderr.splitlines()) == 1


def test_model_that_names_a_function_is_not_loaded(invoke, folder):
    steps = FunctionTransformer(shutil.rmtree), LogisticRegression()
    steps[1].fit([[0], [1]], [0, 1])
    save(make_pipeline(*steps), folder / "bad.skops")
    (folder / "new.csv").write_text("x\n1\n")
    result = invoke("predict", "bad.skops", "new.csv", code=1)
    assert result.stderr == (
        "Error: bad.skops was not loaded, because it names shutil.rmtree, whose code "
        "might do harm. If you trust whoever made it, add --trust shutil.rmtree.\n"
    )


def test_no_model(invoke):
    result = invoke("predict", "none.skops", "new.csv", code=1)
    assert result.stderr == "Error: There is no file none.skops.\n"


def test_text_where_numbers_were(invoke, folder):
    frame = pd.read_csv(folder / "new.csv").astype({"income": object})
    frame.loc[3, "income"] = "much"
    frame.to_csv(folder / "odd.csv", index=False)
    result = invoke("predict", "loans.skops", "odd.csv", code=1)
    assert re.search(
        "Column 'income' of odd.csv holds text, such as [0-9.]+, where the model "
        "learned from numbers.",
        result.stderr,
    )


def test_numbers_and_nothing_where_text_was(invoke, folder):
    frame = pd.read_csv(folder / "new.csv")
    frame["town"], frame["income"], frame["since"] = 4, None, None
    frame.to_csv(folder / "odd.csv", index=False)
    found = table(invoke("predict", "loans.skops", "odd.csv").stdout)
    assert len(found) == len(frame)
    assert np.isfinite(found["score"]).all()


def test_columns_of_a_model_without_names(invoke, folder, rng):
    X = rng.normal(size=(30, 2))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    save(model, folder / "plain.skops")
    pd.DataFrame(X, columns=["a", "b"]).to_csv(folder / "plain.csv", index=False)
    found = table(invoke("predict", "plain.skops", "plain.csv", "--label").stdout)
    assert found["score"].to_numpy() == pytest.approx(model.decision_function(X))
    assert set(found["label"]) == {True, False}
    result = invoke("predict", "plain.skops", "new.csv", code=1)
    assert "The model has 2 columns without names" in result.stderr


def test_keep_of_what_is_not_there_or_would_clash(invoke):
    result = invoke("predict", "loans.skops", "new.csv", "--keep", "Id", code=1)
    assert "new.csv has no column 'Id' to keep. The nearest names: id" in result.stderr
    result = invoke("predict", "loans.skops", "new.csv", "--keep", "score", code=2)
    assert "two columns of that name" in result.stderr


def test_other_formats(invoke, folder, expected):
    frame = make_loans(120, seed=1).drop(columns=["id", "late"])
    frame.astype({"town": "category"}).to_parquet(folder / "new.parquet")
    frame.to_csv(folder / "new.tsv.gz", sep="\t", index=False)
    for name in ("new.parquet", "new.tsv.gz"):
        result = invoke("predict", "loans.skops", name)
        assert result.stderr == ""
        assert table(result.stdout)["score"].to_numpy() == pytest.approx(expected)


def test_codes_mean_the_same_whatever_else_is_in_the_file(tmp_path):
    """All of a file's codes may look like numbers: they stay text all the same."""
    rng = np.random.default_rng(0)
    codes = rng.choice(["01", "02", "03", "A4"], 120)
    lines = [f"{c},{int(c in ('01', 'A4'))}" for c in codes]
    (tmp_path / "train.csv").write_text("\n".join(["code,y", *lines]) + "\n")
    (tmp_path / "alone.csv").write_text("code\n01\n")
    (tmp_path / "both.csv").write_text("code\n01\nA4\n")
    choice = ("--target", "y", "--model", "ranksvm", "--cv", "0")
    call_here("fit", "train.csv", *choice, folder=tmp_path)
    keep = ("--keep", "code")
    alone, both = (
        call_here("predict", "train.skops", f"{name}.csv", *keep, folder=tmp_path)
        for name in ("alone", "both")
    )
    assert alone[0].splitlines()[1].startswith("01,")
    assert alone[0].splitlines()[1] == both[0].splitlines()[1]


def test_output_never_replaces_input(invoke, folder):
    before = (folder / "new.csv").read_bytes()
    result = invoke("predict", "loans.skops", "new.csv", "--out", "new.csv", code=2)
    assert "would replace new.csv" in result.output
    assert (folder / "new.csv").read_bytes() == before


def test_output_is_not_replaced_unless_asked(invoke, folder):
    (folder / "scores.csv").write_text("mine")
    given = ("predict", "loans.skops", "new.csv", "--out", "scores.csv")
    result = invoke(*given, code=1)
    assert result.stderr == (
        "Error: scores.csv is there already. Name another file, or add --force.\n"
    )
    assert (folder / "scores.csv").read_text() == "mine"
    invoke(*given, "--force")
    assert (folder / "scores.csv").read_text().startswith("score\n")


def test_infinity_in_a_column_that_cannot_be_dropped(invoke, folder):
    frame = pd.read_csv(folder / "new.csv")
    frame.loc[7, "income"] = np.inf
    frame.to_csv(folder / "inf.csv", index=False)
    result = invoke("predict", "loans.skops", "inf.csv", code=1)
    assert result.stderr.endswith("infinity in column 'income'. Replace it.\n")


def test_numbers_are_no_dates(invoke, folder):
    frame = pd.read_csv(folder / "new.csv").assign(since=0)
    frame.to_csv(folder / "odd.csv", index=False)
    result = invoke("predict", "loans.skops", "odd.csv", code=1)
    assert "'since' of odd.csv holds numbers, such as 0" in result.output
