# SPDX-License-Identifier: BSD-3-Clause
import gzip
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import pytest
from cli.command import call_here, environment, start
from cli.loans import make_loans
from sklearn.datasets import dump_svmlight_file

from aucmax.io import load, read_metadata
from aucmax.metrics import roc_auc_interval

TARGET = ("--target", "late")
QUICK = ("--drop", "id", "--model", "ranksvm", "--cv", "0")


def files(folder):
    return {path.name for path in folder.iterdir()}


# What it makes


def test_fit_tells_what_it_did(made):
    lines = dict(line.split(maxsplit=1) for line in made.out.splitlines())
    assert lines["model"] == "opauc"
    assert lines["rows"] == "240, with 4 features"
    assert re.fullmatch(r"\d+ \(yes\)", lines["positives"])
    pattern = r"0\.\d{4} \(0\.\d{4} to 0\.\d{4}\), out of fold"
    assert re.fullmatch(pattern, lines["AUC"])
    assert lines["out"] == "loans.skops"
    # Nobody watches, so there is no progress.
    assert made.err == ""
    assert files(made.folder) == {"loans.csv", "new.csv", "loans.skops"}


def test_file_can_be_used_from_python(made):
    model = load(made.folder / "loans.skops")
    assert model.classes_.tolist() == ["no", "yes"]
    frame = make_loans(50, seed=3)
    scores = model.decision_function(frame[["income", "town", "since", "owns"]])
    interval = roc_auc_interval(frame["late"], scores)
    assert interval.auc > 0.65
    told = read_metadata(made.folder / "loans.skops")["metadata"]
    assert told["columns"] == {
        "income": "number",
        "town": "text",
        "since": "date",
        "owns": "number",
    }
    assert told["auc"]["auc"] > 0.65


def test_auto_with_test_rows_and_card_as_json(invoke, folder):
    result = invoke(
        *("fit", "loans.csv", *TARGET, "--drop", "id", "--set", "families=['linear']"),
        *("--test", "new.csv", "--out", "auto.skops", "--card", "auto.md", "--json"),
    )
    told = json.loads(result.stdout)
    assert result.stderr == "Note: 1 column of new.csv unknown to the model: id.\n"
    model = load(folder / "auto.skops")
    assert type(model).__name__ == "AUCClassifier"
    assert told["auc"] == model.auc_interval_._asdict()
    new = pd.read_csv(folder / "new.csv", parse_dates=["since"])
    scores = model.decision_function(new[model.feature_names_in_])
    expected = roc_auc_interval(new["late"], scores)
    found = [told["test"][key] for key in ("auc", "low", "high", "std_error")]
    assert found == pytest.approx(list(expected))
    assert (told["out"], told["card"]) == ("auto.skops", "auto.md")
    assert told["labels"] == {"negative": "no", "positive": "yes", "is_rest": False}
    card = (folder / "auto.md").read_text(encoding="utf-8")
    assert card.startswith("# auto\n")
    assert f"- AUC: {expected.auc:.3f}" in card
    assert model.explain().splitlines()[0] in card
    assert files(folder) - {"loans.csv", "new.csv", "loans.skops"} == {
        "auto.skops",
        "auto.md",
    }


def test_seed_decides(invoke, folder):
    choice = ("fit", "loans.csv", *TARGET, "--drop", "id", "--model", "oam", "--json")
    names = ("a.skops", "b.skops", "c.skops")
    for name, seed in zip(names, (1, 1, 2), strict=True):
        invoke(*choice, "--cv", 0, "--out", name, "--seed", seed)
    first, same, other = (load(folder / name)[-1].coef_ for name in names)
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_settings_get_to_the_model(invoke, folder):
    invoke("fit", "loans.csv", *TARGET, *QUICK, "--set", "alpha=0.25", "--force")
    assert load(folder / "loans.skops")[-1].alpha == 0.25


def test_table_on_the_standard_input(invoke, folder):
    given = (folder / "loans.csv").read_bytes()
    result = invoke("fit", "-", *TARGET, *QUICK, given=given)
    assert "model.skops" in result.stdout
    assert load(folder / "model.skops").n_features_in_ == 4


@pytest.mark.parametrize("suffix", ["jsonl", "txt", "zip"])
def test_other_formats(invoke, folder, suffix):
    frame = pd.read_csv(folder / "loans.csv")
    file = folder / f"loans.{suffix}"
    more = ()
    if suffix == "jsonl":
        frame.to_json(file, orient="records", lines=True)
    elif suffix == "txt":
        frame.to_csv(file, sep=";", index=False)
        more = ("--separator", ";")
    else:
        with zipfile.ZipFile(file, "w") as archive:
            archive.write(folder / "loans.csv", "other.csv")
    done = invoke("fit", file, *TARGET, *QUICK, *more, "--force")
    assert "240, with 4 features" in done.stdout


def test_lines_of_json_are_not_streamed(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a": 1, "late": 0}\n')
    choice = (*TARGET, "--model", "ranksvm", "--stream")
    _, told = call_here("fit", "rows.jsonl", *choice, folder=tmp_path, code=1)
    assert "not read in batches. Leave out --stream, or write it as Parquet" in told


def test_sparse_rows(invoke, folder):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((80, 6)) < 0.5, 0.0, rng.normal(size=(80, 6)))
    y = np.where(X[:, 0] - X[:, 1] > 0, 1, -1)
    dump_svmlight_file(X, y, str(folder / "rows.svm"), zero_based=False)
    # Without the last column, so that the file does not know of it.
    dump_svmlight_file(X[:, :5], y, str(folder / "test.svm"), zero_based=False)
    choice = ("--model", "ranksvm", "--test", "test.svm", "--json")
    told = json.loads(invoke("fit", "rows.svm", *choice).stdout)
    assert (told["features"], told["labels"]["positive"]) == (6, "1")
    assert told["test"]["auc"] > 0.95
    lines = invoke("predict", "rows.skops", "test.svm").stdout.splitlines()
    assert len(lines) == 81
    wrong = invoke("fit", "rows.svm", *TARGET, "--model", "ranksvm", code=2)
    assert "Leave out --target" in wrong.stderr


def test_column_without_name_is_left_out(invoke, folder):
    make_loans().to_csv(folder / "index.csv")
    result = invoke("fit", "index.csv", *TARGET, *QUICK)
    assert "column 1 of index.csv has no name; it is left out" in result.stderr
    assert load(folder / "index.skops").n_features_in_ == 4


@pytest.mark.parametrize(
    ("positive", "labels", "classes"),
    [
        ("B", ["not B", "B", True], [False, True]),
        ("C", ["not C", "C", True], [False, True]),
    ],
)
def test_one_of_three_values(invoke, folder, positive, labels, classes):
    frame = make_loans().drop(columns="late")
    frame["grade"] = pd.cut(frame["income"].fillna(3), 3, labels=["A", "B", "C"])
    frame.to_csv(folder / "grades.csv", index=False)
    choice = ("--target", "grade", "--positive", positive, *QUICK, "--json")
    told = json.loads(invoke("fit", "grades.csv", *choice).stdout)
    assert list(told["labels"].values()) == labels
    assert told["positives"] == (frame["grade"] == positive).sum()
    assert load(folder / "grades.skops").classes_.tolist() == classes


def test_smaller_value_as_positive(invoke, folder):
    invoke("fit", "loans.csv", *TARGET, *QUICK, "--out", "yes.skops")
    invoke("fit", "loans.csv", *TARGET, *QUICK, "--positive", "no", "--out", "no.skops")
    found = [
        invoke("predict", name, "new.csv", "--label").stdout.splitlines()[1:]
        for name in ("yes.skops", "no.skops")
    ]
    yes, no = ([line.split(",") for line in lines] for lines in found)
    scores = np.array(
        [[float(a[0]), float(b[0])] for a, b in zip(yes, no, strict=True)]
    )
    assert scores[:, 0] == pytest.approx(-scores[:, 1], abs=1e-3)
    assert {label for _, label in no} == {"yes", "no"}
    told = invoke("evaluate", "no.skops", "new.csv", *TARGET).stdout
    assert "(no)" in told


# What it refuses


def test_existing_file_is_not_replaced(invoke, folder):
    before = (folder / "loans.skops").read_bytes()
    for option in (("--out", "loans.skops"), ("--out", "a.skops", "--card", "new.csv")):
        result = invoke("fit", "loans.csv", *TARGET, *QUICK, *option, code=1)
        assert f"{option[-1]} is there already" in result.stderr
    for same in (("--card", "loans.skops"), ("--out", "loans.csv", "--force")):
        result = invoke("fit", "loans.csv", *TARGET, *QUICK, *same, code=2)
        assert "would replace" in result.stderr
    result = invoke("fit", "loans.csv", *TARGET, *QUICK, code=1)
    assert "--force" in result.stderr
    assert (folder / "loans.skops").read_bytes() == before
    invoke("fit", "loans.csv", *TARGET, *QUICK, "--force")
    assert (folder / "loans.skops").read_bytes() != before


@pytest.mark.parametrize(
    ("text", "target", "words"),
    [
        ("", "y", r"rows\.csv is empty"),
        (
            "1,2\n3,4\n5,6\n",
            "y",
            "has numbers only in its first line, '1, 2'.*Add a line with a name",
        ),
        ("a,b,y\n1,2,0\n1,2\n", "y", r"rows\.csv, line 3: 2 columns, where 3 were"),
        ("a,b,Y\n1,2,0\n2,1,1\n", "y", "has no column 'y'. The nearest names: 'Y'"),
        (
            "a,y\n1,x\n2,y\n3,z\n4,x\n",
            "y",
            "'y' of rows.csv has 3 values, x, y, z, where two are needed. Name the "
            "positive one with --positive",
        ),
        ("a,y\n1,x\n2,x\n3,x\n", "y", r"'y' of rows\.csv is x in all rows"),
    ],
    ids=["empty", "header", "short line", "no column", "three values", "one class"],
)
def test_bad_tables(tmp_path, text, target, words):
    (tmp_path / "rows.csv").write_text(text)
    choice = ("--target", target, "--model", "opauc")
    out, err = call_here("fit", "rows.csv", *choice, folder=tmp_path, code=1)
    assert out == ""
    assert re.match(rf"Error: .*{words}", err)
    assert len(err.splitlines()) == 1
    assert files(tmp_path) == {"rows.csv"}


def test_packed_table_that_is_cut_off(tmp_path):
    packed = gzip.compress(make_loans().to_csv(index=False).encode())
    (tmp_path / "loans.csv.gz").write_bytes(packed[: len(packed) // 2])
    _, err = call_here("fit", "loans.csv.gz", *TARGET, folder=tmp_path, code=1)
    assert re.match(r"Error: loans\.csv\.gz is cut off or damaged", err)
    assert files(tmp_path) == {"loans.csv.gz"}


def test_unknown_model(tmp_path):
    choice = ("--target", "y", "--model", "xgb")
    _, err = call_here("fit", "none.csv", *choice, folder=tmp_path, code=2)
    assert "There is no model 'xgb'" in err
    assert "auto" in err
    assert "sparsekernelauc" in err


@pytest.mark.parametrize(
    ("choice", "code", "words"),
    [
        (["--set", "alpha"], 2, "such as alpha=0.1; got 'alpha'"),
        (["--set", "alhpa=1"], 2, "ranksvm has no parameter 'alhpa'. It has: alpha"),
        (["--set", "alpha=-1"], 1, "alpha"),
        (["--time-budget", "3"], 2, "for --model auto only"),
        (["--out", "nowhere/a.skops"], 1, "There is no folder nowhere"),
        (["--out", "."], 2, "is a directory"),
        (["--drop", "incone"], 1, "no column 'incone' to drop. The nearest.*income"),
        (["--positive", "maybe"], 1, "no value 'maybe' to be positive. It has no, yes"),
        (["--test", "none.csv"], 1, "There is no file none.csv"),
        (["--format", "xls"], 2, "'xls' is not one of 'csv', 'tsv', 'jsonl', "),
        (["--separator", "::"], 2, "give one character .* such as ';'; got '::'"),
    ],
)
def test_bad_options(invoke, folder, choice, code, words):
    before = files(folder)
    given = ("fit", "loans.csv", *TARGET, "--model", "ranksvm", "--out", "new.skops")
    result = invoke(*given, *choice, code=code)
    assert re.search(words, " ".join(result.stderr.split()))
    assert result.stdout == ""
    assert files(folder) == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,y\n" + "".join(f"1,{k}\n" for k in range(30)), "30 values, from 0 to 29"),
        ("a,y\n1,0.5\n2,1.25\n3,2\n", "3 values, from 0.5 to 2,"),
    ],
    ids=["many", "fractions"],
)
def test_target_that_looks_continuous(tmp_path, text, words):
    (tmp_path / "rows.csv").write_text(text)
    _, err = call_here("fit", "rows.csv", "--target", "y", folder=tmp_path, code=1)
    assert "'y' of rows.csv looks continuous: it has " in err
    assert words in err
    assert "name that with --target" in err
    assert "--positive" in err
    assert len(err.splitlines()) == 1


def test_classes_that_are_numbers_are_not_continuous(invoke, folder):
    (folder / "rows.csv").write_text("a,y\n1,0\n2,1\n3,2\n")
    result = invoke("fit", "rows.csv", "--target", "y", code=1)
    assert (
        "'y' of rows.csv has 3 values, 0, 1, 2, where two are needed" in result.stderr
    )


def test_positive_label_that_most_rows_have_is_told(invoke, folder):
    frame = make_loans()
    frame["late"] = frame["late"].map({"yes": "bad one", "no": "good"})
    frame.to_csv(folder / "good.csv", index=False)
    result = invoke("fit", "good.csv", *TARGET, *QUICK)
    n_pos = (frame["late"] == "good").sum()
    assert result.stderr == (
        "Note: the positive label of 'late' of good.csv is good, the last one in the "
        f"alphabet, which {n_pos} of 240 rows have. If bad one shall be ranked high, "
        "add --positive 'bad one'.\n"
    )
    named = invoke("fit", "good.csv", *TARGET, *QUICK, "--force", "--positive", "good")
    assert named.stderr == ""
    # Of numbers, the larger one is positive by custom.
    frame["late"] = (frame["late"] == "good").astype(int)
    frame.to_csv(folder / "good.csv", index=False)
    assert invoke("fit", "good.csv", *TARGET, *QUICK, "--force").stderr == ""


def test_long_names_are_cut_in_messages(invoke, folder):
    long = "x" * 5000
    given = ("fit", "loans.csv", *QUICK)
    for more in (
        ("--target", "late", "--drop", long),
        ("--target", "late", "--positive", long),
        ("--target", long),
    ):
        assert len(invoke(*given, *more, code=1).stderr) < 1000
    frame = pd.read_csv(folder / "loans.csv")
    frame.assign(late=long).to_csv(folder / "one.csv", index=False)
    result = invoke("fit", "one.csv", *TARGET, *QUICK, code=1)
    assert f"'late' of one.csv is '{long[:40]}...' in all rows" in result.stderr
    frame.rename(columns={"income": long}).to_csv(folder / "long.csv", index=False)
    choice = ("predict", "loans.skops", "long.csv")
    assert len(invoke(*choice, code=1).stderr) < 1000


def test_names_of_files_are_no_markup_in_the_card(invoke, folder):
    (folder / "<b>.csv").write_bytes((folder / "loans.csv").read_bytes())
    more = ("--out", "<i>.skops", "--card", "card.md")
    invoke("fit", "<b>.csv", *TARGET, *QUICK, *more)
    card = (folder / "card.md").read_text(encoding="utf-8")
    assert card.startswith("# &lt;i&gt;\n\nTrained by aucmax fit from &lt;b&gt;.csv.")


def test_one_is_not_many_and_the_card_names_the_file(invoke, folder):
    make_loans()[["income", "late"]].to_csv(folder / "one.csv", index=False)
    choice = ("--model", "ranksvm", "--cv", "0", "--out", "few.skops", "--card", "a.md")
    result = invoke("fit", "one.csv", *TARGET, *choice)
    assert "240, with 1 feature\n" in result.stdout
    card = (folder / "a.md").read_text(encoding="utf-8")
    assert 'model = load("few.skops")' in card


def test_value_that_a_model_stumbles_over(invoke, folder):
    choice = ("--model", "ranksvmcv", "--set", "cv=[1]", "--out", "new.skops")
    result = invoke("fit", "loans.csv", *TARGET, *choice, code=1)
    assert result.stdout == ""
    assert re.fullmatch(
        r"Error: ranksvmcv cannot learn with cv=\[1\] \(--set\): .*\. Give another "
        r"value\.\n",
        result.stderr,
    )
    assert not (folder / "new.skops").exists()


def test_standard_input_is_read_once(invoke, folder):
    given = (folder / "loans.csv").read_text()
    result = invoke("fit", "-", *TARGET, *QUICK, "--test", "-", given=given, code=2)
    assert "The standard input can be read only once." in result.stderr


def test_test_rows_in_another_format(invoke, folder):
    (folder / "rows.svm").write_text("1 1:2\n0 1:3\n1 1:1\n0 1:4\n")
    for choice in (("loans.csv", *TARGET, "--test", "rows.svm"), ("rows.svm",)):
        more = () if "--test" in choice else ("--test", "new.csv")
        result = invoke("fit", *choice, *QUICK, *more, "--force", code=2)
        assert "Give both in the same format." in " ".join(result.stderr.split())
    # A name that says nothing is read as DATA is.
    for name in ("loans", "new"):
        (folder / f"{name}.csv").rename(folder / f"{name}.txt")
    choice = ("--test", "new.txt", "--format", "CSV", "--force", "--json")
    told = json.loads(invoke("fit", "loans.txt", *TARGET, *QUICK, *choice).stdout)
    assert told["test"]["rows"] == 120


def test_no_target_and_no_file(invoke):
    assert "--target NAME" in invoke("fit", "loans.csv", code=2).stderr
    result = invoke("fit", "none.csv", *TARGET, code=1)
    assert result.stderr == "Error: There is no file none.csv.\n"


def test_infinity_is_told_with_its_column(invoke, folder):
    frame = make_loans().drop(columns="id")
    frame.loc[7, "income"] = np.inf
    frame.to_csv(folder / "inf.csv", index=False)
    result = invoke("fit", "inf.csv", *TARGET, code=1)
    assert (
        "inf.csv, row 7, counted from 0: infinity in column 'income'" in result.stderr
    )


def test_debug_shows_the_traceback(tmp_path):
    process = start("--debug", "fit", "none.csv", *TARGET, folder=tmp_path)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "Traceback" in err
    assert "There is no file none.csv." in err


# Stopping, watching, and many rows


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal and signals")
def test_interrupt_leaves_everything_as_it_was(folder):
    (folder / "loans.skops").write_text("old")
    before = files(folder)
    ours, theirs = pytest.importorskip("pty").openpty()
    # Many fits, each of them told of, because standard error is a terminal.
    choice = ("--model", "logistic", "--cv", "80", "--force", "--card", "loans.md")
    process = start("fit", "loans.csv", *TARGET, *choice, folder=folder, stderr=theirs)
    os.close(theirs)
    seen = read_until(ours, b"fold 3 of", seconds=240)
    assert b"fold 1 of" in seen
    os.killpg(process.pid, signal.SIGINT)
    seen = read_until(ours, b"Stopped.", seconds=60)
    assert process.communicate(timeout=60)[0] == ""
    assert process.returncode == 130
    assert b"Stopped." in seen
    assert b"Traceback" not in seen
    os.close(ours)
    assert (folder / "loans.skops").read_text() == "old"
    assert files(folder) == before


def read_until(file, words, *, seconds):
    """Return what a terminal showed up to these words, or to its end."""
    seen, end = b"", time.monotonic() + seconds
    while words not in seen and time.monotonic() < end:
        if select.select([file], [], [], 1.0)[0]:
            try:
                seen += os.read(file, 4096)
            except OSError:  # the other side has closed it
                break
    return seen


# The first table twice: what is imported last is there in the second run only.
PEAK = """\
import re, sys
from pathlib import Path
from aucmax.cli._main import main

small, large, *choice = sys.argv[1:]
for name in (small, small, large):
    main(["fit", name, *choice, "--force"], standalone_mode=False)
    status = Path("/proc/self/status").read_text()
    print(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1], file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_million_rows_take_little_memory(tmp_path):
    n_rows, n_block, n_columns = 10**6, 20_000, 10
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_block, n_columns)).round(4)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n_block) > 2).astype(int)
    frame = pd.DataFrame(X).add_prefix("x").assign(y=y)
    head, _, rows = frame.to_csv(index=False).partition("\n")
    (tmp_path / "small.csv").write_text(f"{head}\n{rows}")
    with (tmp_path / "large.csv").open("w") as file:
        file.write(f"{head}\n")
        for _ in range(n_rows // n_block):
            file.write(rows)
    choice = ("--target", "y", "--model", "opauc", "--cv", "0", "--json")
    done = subprocess.run(
        [sys.executable, "-c", PEAK, "small.csv", "large.csv", *choice],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    _, small, large = (1024 * int(line) for line in done.stderr.splitlines())
    told = json.loads("{" + done.stdout.rpartition("\n{\n")[2])
    assert told["rows"] == n_rows
    assert told["measured"] == "on rows before they were learned"
    assert told["auc"]["low"] > 0.9
    assert load(tmp_path / "large.skops")[-1].n_samples_seen_ == n_rows
    # Reading takes less than three tables; to prepare and shuffle all rows at once
    # would take two more.
    table = n_rows * (n_columns + 1) * 8
    assert large - small < 4 * table
