# SPDX-License-Identifier: BSD-3-Clause
"""``aucmax fit`` of tables that are read in batches."""

import json
import signal
import time

import numpy as np
import pytest
from cli.command import call, call_here, start
from numpy.testing import assert_allclose, assert_array_equal

from aucmax.cli import _streamed
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


def fit_here(place, *arguments, code=0):
    return call_here("fit", *arguments, folder=place, code=code)


def test_a_pattern_of_files(folder, tmp_path):
    out = tmp_path / "model.skops"
    told, _ = call(
        *("fit", "parts/*.parquet", "--target", "bad", "--model", "ranksvm"),
        *("--stream", "--drop", "number", "--out", out, "--test", "all.csv", "--json"),
        *("--card", tmp_path / "card.md"),
        folder=folder,
    )
    facts = json.loads(told)
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
    fit_here(
        folder,
        *("all.csv", "--target", "bad", "--model", "ranksvm", "--drop", "number"),
        *("--cv", "0", "--out", in_memory),
    )
    # The same rows, of which the same medians and scales are found.
    assert_allclose(scores, load(in_memory).decision_function(table), atol=1e-6)


def awkward(n_rows):
    """Dates, many texts, words, decimal commas, and values that are missing."""
    rng = np.random.default_rng(1)
    table = frame()[:n_rows].drop(columns="number")
    days = np.datetime64("2024-01-01") + rng.integers(0, 500, n_rows)
    table["since"] = pandas.Series(days.astype("M8[s]")).where(rng.random(n_rows) < 0.9)
    table["shop"] = [f"shop {k}" for k in rng.integers(0, 1200, n_rows)]
    table["owns"] = rng.choice(["yes", "no", None], n_rows)
    table["rate"] = [f"{k},5" for k in rng.integers(0, 9, n_rows)]
    return table


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dates_and_many_texts_as_in_memory(tmp_path, kind):
    table = awkward(2500)
    for name, rows in (("a", table[:1500]), ("b", table[1500:])):
        if kind == "csv":
            rows.to_csv(tmp_path / f"{name}.csv", index=False)
        else:
            rows.to_parquet(tmp_path / f"{name}.parquet")
    whole = tmp_path / f"whole.{kind}"
    getattr(table, f"to_{kind}")(whole, index=False)
    choice = ("--target", "bad", "--model", "ranksvm", "--set", "tol=1e-10")
    choice += ("--cv", "0", "--out")
    fit_here(tmp_path, f"[ab].{kind}", *choice, "stream.skops", "--stream")
    fit_here(tmp_path, whole.name, *choice, "memory.skops")
    streamed, memory = (load(tmp_path / f"{k}.skops") for k in ("stream", "memory"))
    assert streamed[0].columns_.kinds == memory[0].columns_.kinds
    names = streamed[0].get_feature_names_out().tolist()
    assert names == memory[0].get_feature_names_out().tolist()
    assert {"since", "rate", "owns", "shop_rare"} < set(names)
    assert_array_equal(
        streamed[0].transform(table).toarray(), memory[0].transform(table).toarray()
    )
    assert_allclose(
        streamed.decision_function(table), memory.decision_function(table), atol=1e-4
    )


def test_of_very_many_rows_a_sample_is_prepared_for(tmp_path, monkeypatch):
    monkeypatch.setattr(_streamed, "SAMPLE_ROWS", 500)
    table = awkward(3000).assign(town=np.repeat(["Graz", "Linz", "Wien"], 1000))
    table.loc[0, "town"] = "Ulm"
    table.to_csv(tmp_path / "rows.csv", index=False)
    for size, name in ((170, "a.skops"), (20_000, "b.skops")):
        monkeypatch.setattr(_streamed, "BATCH_ROWS", size)
        more = ("--target", "bad", "--model", "opauc", "--out", name, "--stream")
        told, _ = fit_here(tmp_path, "rows.csv", *more, "--json")
    model, other = (load(tmp_path / name) for name in ("a.skops", "b.skops"))
    # It is spread over the table, which is sorted by town; what is rare counts as
    # missing where the sample has none of it.
    names = model[0].get_feature_names_out().tolist()
    assert [name for name in names if name.startswith("town")] == [
        *("town_Graz", "town_Linz", "town_Wien")
    ]
    assert json.loads(told)["auc"]["auc"] > 0.8
    assert_array_equal(
        model[0].transform(table).toarray(), other[0].transform(table).toarray()
    )


def test_rows_are_left_out_to_measure_by(folder, tmp_path):
    told, _ = fit_here(
        folder,
        *("parts", "--target", "bad", "--model", "opauc", "--stream", "--json"),
        *("--out", tmp_path / "model.skops"),
    )
    facts = json.loads(told)
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
    told, _ = fit_here(tmp_path, "rows.svm", "--model", "ranksvm", "--stream", "--json")
    assert json.loads(told)["auc"]["auc"] > 0.95


def test_killed_and_started_again(folder, tmp_path):
    kept, n_passes = tmp_path / "kept", 60
    choice = ("all.csv", "--target", "bad", "--model", "solam", "--cv", "0")
    checkpoint = ("--checkpoint", kept)

    def passes(n):
        return ("--set", f"n_passes={n}")

    whole, resumed = tmp_path / "whole.skops", tmp_path / "resumed.skops"
    fit_here(folder, *choice, *passes(n_passes), "--stream", "--out", whole)
    again = (*choice, *checkpoint, *passes(n_passes), "--out", resumed)
    with start("fit", *again, folder=folder) as process:
        for _ in range(6000):
            if len(list(kept.glob("*.skops"))) == 2:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    # Killed in the middle, with two states to go on from.
    assert process.returncode == -signal.SIGKILL
    assert not resumed.exists()
    assert len(list(kept.glob("*.skops"))) == 2
    last = kept / f"checkpoint-{n_passes:08}.skops"
    assert not last.exists()
    fit_here(folder, *again)
    assert last.exists()
    table = frame()
    assert_array_equal(
        load(resumed).decision_function(table), load(whole).decision_function(table)
    )
    # Another fit in the same folder is refused.
    other = (*choice, *checkpoint, *passes(n_passes + 1))
    _, err = fit_here(folder, *other, "--out", tmp_path / "other.skops", code=1)
    assert "checkpoints of another fit" in err
    assert not (tmp_path / "other.skops").exists()


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        # One step is enough, so that the start is all there is to keep.
        ("ranksvm", ["tol=0.5"]),
        ("nbauc", ["n_landmarks=20", "alpha=1.0", "gamma=0.1", "tol=0.01"]),
        ("leastsquaresauc", []),
        ("opauc", []),
    ],
)
def test_killed_after_its_first_checkpoint(folder, tmp_path, model, settings):
    kept, resumed, whole = (tmp_path / name for name in ("kept", "a.skops", "b.skops"))
    choice = ["parts/*.parquet", "--target", "bad", "--model", model]
    choice += [part for text in settings for part in ("--set", text)]
    again = (*choice, "--checkpoint", kept, "--out", resumed)
    with start("fit", *again, folder=folder) as process:
        while process.poll() is None and not list(kept.glob("*.skops")):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not resumed.exists()
    assert list(kept.glob("*.skops"))
    fit_here(folder, *again)
    fit_here(folder, *choice, "--stream", "--out", whole)
    table = frame()
    assert_array_equal(
        load(resumed).decision_function(table), load(whole).decision_function(table)
    )


def test_a_pattern_is_no_name_of_a_model(folder, tmp_path):
    for part in (folder / "parts").iterdir():
        (tmp_path / part.name).write_bytes(part.read_bytes())
    fit_here(tmp_path, "*.parquet", "--target", "bad", "--model", "opauc", "--stream")
    assert (tmp_path / "model.skops").exists()


def test_on_a_cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    table = awkward(N_ROWS)
    (tmp_path / "parts").mkdir()
    for k in range(3):
        rows = table[1000 * k : 1000 * (k + 1)]
        rows.to_parquet(tmp_path / "parts" / f"{k}.parquet")
    pieces = ("parts", "--target", "bad", "--model", "ranksvm", "--cv", "0")
    here, there = tmp_path / "here.skops", tmp_path / "there.skops"
    fit_here(tmp_path, *pieces, "--stream", "--out", here)
    # In threads of this process, but the command reaches it from another.
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        dashboard_address=None,
    ) as cluster:
        address = cluster.scheduler_address
        choice = (*pieces, "--dask-scheduler", address, "--out", there)
        call("fit", *choice, folder=tmp_path)
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
        (["all.csv", "--model", "opauc", "--every", "2"], "--checkpoint DIR"),
        (["parts", "--model", "oam", "--dask-scheduler", "x"], "run on a cluster"),
        (
            ["parts", "--model", "opauc", "--dask-scheduler", "x", "--checkpoint", "k"],
            "keeps no checkpoints",
        ),
    ],
)
def test_what_cannot_be(folder, arguments, message):
    _, err = fit_here(folder, *arguments, "--target", "bad", code=2)
    assert message in err


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
    more = ("--model", "opauc", "--stream", "--out", out)
    _, err = fit_here(folder, *arguments, *more, code=1)
    assert message in err
    assert not out.exists()


def test_labels_are_those_of_the_file(folder, tmp_path):
    out = tmp_path / "model.skops"
    more = ("--target", "bad", "--model", "opauc", "--stream", "--out", out)
    fit_here(folder, "parts", *more)
    assert load(out).classes_.tolist() == ["no", "yes"]
    fit_here(folder, "parts", *more, "--positive", "no", "--force")
    assert load(out).classes_.tolist() == [False, True]


@pytest.mark.parametrize("missing", ["text", "number"])
def test_missing_labels(tmp_path, missing):
    table = frame()[["income", "bad"]]
    if missing == "number":
        table = table.assign(bad=(table["bad"] == "yes").astype(float))
    table.loc[2500, "bad"] = None
    table.to_csv(tmp_path / "rows.csv", index=False)
    more = ("--positive", "1") if missing == "number" else ()
    _, err = fit_here(
        tmp_path,
        *("rows.csv", "--target", "bad", "--model", "opauc", "--stream", *more),
        code=1,
    )
    assert "row 2500" in err


def test_text_late_in_a_column_of_numbers(tmp_path):
    # Types are those of the first MB, of which this is twice as much.
    rows = [f"{k / 7:.15f},{k % 2}" for k in range(100_000)]
    rows[-10] = "many,1"
    (tmp_path / "rows.csv").write_text("a,y\n" + "\n".join(rows) + "\n")
    assert (tmp_path / "rows.csv").stat().st_size > 2 * 2**20
    _, err = fit_here(
        tmp_path, "rows.csv", "--target", "y", "--model", "opauc", "--stream", code=1
    )
    assert "'many'" in err
    assert "--drop" in err
    assert "types=" not in err


def test_a_file_that_is_cut_off(folder, tmp_path):
    for file in (folder / "parts").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    data = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(data[: len(data) // 2])
    _, err = fit_here(
        tmp_path,
        *("*.parquet", "--target", "bad", "--model", "opauc", "--stream"),
        code=1,
    )
    assert "1.parquet" in err
