# SPDX-License-Identifier: BSD-3-Clause
"""``aucmax fit`` of tables that are read in batches, as real processes."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucmax.io import load

pandas = pytest.importorskip("pandas")
N_ROWS = 3000


def frame():
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        {
            "income": 100 * rng.normal(size=N_ROWS) + 5,
            "age": rng.normal(size=N_ROWS),
            "town": rng.choice(["Graz", "Linz", "Wien"], N_ROWS),
            "number": np.arange(N_ROWS),
        }
    )
    score = table["income"] / 100 + table["age"] + rng.normal(size=N_ROWS)
    table["bad"] = np.where(score > 1.5, "yes", "no")
    table.loc[rng.random(N_ROWS) < 0.05, "age"] = np.nan
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("rows")
    table = frame()
    (place / "parts").mkdir()
    for k in range(3):
        table[1000 * k : 1000 * (k + 1)].to_parquet(place / "parts" / f"{k}.parquet")
    table.to_csv(place / "all.csv", index=False)
    return place


def run(place, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "aucmax.cli", "fit", *arguments],
        cwd=place,
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    return done


def test_a_pattern_of_files(folder, tmp_path):
    out = tmp_path / "model.skops"
    done = run(
        folder,
        *("parts/*.parquet", "--target", "bad", "--model", "ranksvm", "--stream"),
        *("--drop", "number", "--out", str(out), "--test", "all.csv", "--json"),
        *("--card", str(tmp_path / "card.md")),
    )
    facts = json.loads(done.stdout)
    table = frame()
    assert facts["rows"] == N_ROWS
    assert facts["features"] == 3
    assert facts["positives"] == int((table["bad"] == "yes").sum())
    assert facts["labels"]["positive"] == "yes"
    assert facts["auc"] is None
    assert facts["test"]["auc"] > 0.85
    assert (tmp_path / "card.md").read_text().startswith("#")
    model = load(out)
    scores = model.decision_function(table)
    in_memory = tmp_path / "in_memory.skops"
    run(
        folder,
        *("all.csv", "--target", "bad", "--model", "ranksvm", "--drop", "number"),
        *("--cv", "0", "--out", str(in_memory)),
    )
    # The same rows, of which the same medians and scales are found.
    assert_allclose(scores, load(in_memory).decision_function(table), atol=1e-6)


def test_rows_are_left_out_to_measure_by(folder, tmp_path):
    done = run(
        folder,
        *("parts", "--target", "bad", "--model", "opauc", "--stream", "--json"),
        *("--out", str(tmp_path / "model.skops")),
    )
    facts = json.loads(done.stdout)
    assert facts["measured"] == "on rows that were left out"
    assert facts["auc"]["low"] < facts["auc"]["auc"] < facts["auc"]["high"]
    learned = load(tmp_path / "model.skops").steps[-1][1].n_samples_seen_
    assert 0.85 * N_ROWS < learned < 0.95 * N_ROWS


def test_sparse_rows(folder, tmp_path):
    lines = [
        f"{int(value > 0)} 1:{value:.4f} {2 + k % 5}:1"
        for k, value in enumerate(np.random.default_rng(0).normal(size=500))
    ]
    (tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
    done = run(tmp_path, "rows.svm", "--model", "ranksvm", "--stream", "--json")
    assert json.loads(done.stdout)["auc"]["auc"] > 0.95


def test_killed_and_started_again(folder, tmp_path):
    arguments = [
        *("all.csv", "--target", "bad", "--model", "solam", "--cv", "0"),
        *("--checkpoint", str(tmp_path / "kept"), "--set", "n_passes=200"),
    ]
    whole, resumed = tmp_path / "whole.skops", tmp_path / "resumed.skops"
    run(folder, *arguments[:-4], *arguments[-2:], "--stream", "--out", str(whole))
    command = [sys.executable, "-m", "aucmax.cli", "fit", *arguments]
    with subprocess.Popen([*command, "--out", str(resumed)], cwd=folder) as process:
        for _ in range(1200):
            if len(list((tmp_path / "kept").glob("*.skops"))) == 2:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert not resumed.exists()
    assert len(list((tmp_path / "kept").glob("*.skops"))) == 2
    run(folder, *arguments, "--out", str(resumed))
    table = frame()
    assert_array_equal(
        load(resumed).decision_function(table), load(whole).decision_function(table)
    )
    # Another fit in the same folder is refused.
    other = [*arguments[:-1], "n_passes=201", "--out", str(tmp_path / "other.skops")]
    done = run(folder, *other, code=1)
    assert "checkpoints of another fit" in done.stderr
    assert not (tmp_path / "other.skops").exists()


def test_on_a_cluster(folder, tmp_path):
    distributed = pytest.importorskip("distributed")
    pieces = ("parts", "--target", "bad", "--model", "ranksvm", "--cv", "0")
    here, there = tmp_path / "here.skops", tmp_path / "there.skops"
    run(folder, *pieces, "--stream", "--out", str(here))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        run(folder, *pieces, "--dask-scheduler", address, "--out", str(there))
    table = frame()
    assert_allclose(
        load(there).decision_function(table),
        load(here).decision_function(table),
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["parts", "--stream"], "auto needs all rows in memory"),
        (["-", "--stream", "--model", "opauc"], "can be read only once"),
        (["parts", "--stream", "--model", "opauc", "--cv", "5"], "held out"),
        (["parts", "--stream", "--model", "opauc", "--every", "2"], "--checkpoint DIR"),
        (["parts", "--model", "oam", "--dask-scheduler", "x"], "run on a cluster"),
        (
            ["parts", "--model", "opauc", "--dask-scheduler", "x", "--checkpoint", "k"],
            "keeps no checkpoints",
        ),
    ],
)
def test_what_cannot_be(folder, arguments, message):
    done = run(folder, *arguments, "--target", "bad", code=2)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing/*.csv", "--target", "bad"], "nothing/*.csv"),
        (["parts", "--target", "good"], "'good'"),
        (["parts", "--target", "town"], "--positive"),
        (["parts", "--target", "bad", "--drop", "agee"], "nearest names: age"),
    ],
)
def test_bad_tables(folder, arguments, message, tmp_path):
    out = tmp_path / "model.skops"
    more = ("--model", "opauc", "--stream", "--out", str(out))
    done = run(folder, *arguments, *more, code=1)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()


def test_labels_are_those_of_the_file(folder, tmp_path):
    out = tmp_path / "model.skops"
    more = ("--target", "bad", "--model", "opauc", "--stream", "--out", str(out))
    run(folder, "parts", *more)
    assert load(out).classes_.tolist() == ["no", "yes"]
    run(folder, "parts", *more, "--positive", "no", "--force")
    assert load(out).classes_.tolist() == [False, True]


@pytest.mark.parametrize("missing", ["text", "number"])
def test_missing_labels(tmp_path, missing):
    table = frame()[["income", "bad"]]
    if missing == "number":
        table = table.assign(bad=(table["bad"] == "yes").astype(float))
    table.loc[2500, "bad"] = None
    table.to_csv(tmp_path / "rows.csv", index=False)
    more = ("--positive", "1") if missing == "number" else ()
    done = run(
        tmp_path,
        *("rows.csv", "--target", "bad", "--model", "opauc", "--stream", *more),
        code=1,
    )
    assert "row 2500" in done.stderr
    assert "Traceback" not in done.stderr


def test_text_late_in_a_column_of_numbers(tmp_path):
    rows = [f"{k % 7},{k % 2}" for k in range(600_000)]
    rows[-10] = "many,1"
    (tmp_path / "rows.csv").write_text("a,y\n" + "\n".join(rows) + "\n")
    done = run(
        tmp_path, "rows.csv", "--target", "y", "--model", "opauc", "--stream", code=1
    )
    assert "'many'" in done.stderr
    assert "--drop" in done.stderr
    assert "types=" not in done.stderr


def test_a_file_that_is_cut_off(folder, tmp_path):
    for file in (folder / "parts").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    data = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(data[: len(data) // 2])
    done = run(
        tmp_path,
        *("*.parquet", "--target", "bad", "--model", "opauc", "--stream"),
        code=1,
    )
    assert "1.parquet" in done.stderr
    assert "Traceback" not in done.stderr
