# SPDX-License-Identifier: BSD-3-Clause
import json
from pathlib import Path

import pytest
from cli.command import NOWHERE, call, invoke_here

from aucmax.datasets import info, list_datasets

BUNDLED = {"german", "glass", "satimage", "vehicle"}


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.delenv("AUCMAX_DATA", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("AUCMAX_CACHE", str(tmp_path))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, NOWHERE)
    return lambda *args: invoke_here("datasets", *args)


def test_list_in_a_process_of_its_own(tmp_path):
    out, err = call("datasets", "list", folder=tmp_path)
    head, *lines = out.splitlines()
    assert head.split()[:2] == ["name", "rows"]
    names = [line.split()[0] for line in lines]
    assert names == list_datasets()
    assert {line.split()[0] for line in lines if " package " in line} == BUNDLED
    assert err == ""


def test_list_as_json(invoke):
    found = {
        entry["name"]: entry for entry in json.loads(invoke("list", "--json").stdout)
    }
    assert list(found) == list_datasets()
    letter = found["letter"]
    assert letter["n_features"] == 16
    assert letter["parts"]["train"]["n_rows"] == 15000
    assert letter["parts"]["train"]["place"] == "download"
    assert found["german"]["parts"]["all"]["place"] == "package"


def test_info(invoke):
    text = invoke("info", "satimage").stdout
    chosen = info("satimage")
    assert chosen.title in text
    assert chosen.licence in text
    assert "4,435 rows; package" in text
    assert chosen.source in text
    for key in chosen.papers:
        assert f"{key}:" in text


def test_info_as_json(invoke):
    facts = json.loads(invoke("info", "satimage", "--json").stdout)
    assert facts["licence"] == info("satimage").licence
    assert set(facts["parts"]) == {"train", "test"}
    assert sum(facts["parts"]["test"]["class_counts"].values()) == 2000


def test_fetch_prints_where_the_files_are(invoke):
    paths = invoke("fetch", "satimage").stdout.splitlines()
    assert len(paths) == 2
    assert all(Path(path).is_file() for path in paths)
    assert (
        invoke("fetch", "satimage", "--part", "test").stdout.splitlines() == paths[1:]
    )


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("info", "iris"), "no data set 'iris'. Choose one of a2a,"),
        (("fetch", "iris"), "no data set 'iris'. Choose one of a2a,"),
        (("fetch", "german", "--part", "test"), "german has no part 'test'"),
    ],
)
def test_unknown_names_are_wrong_usage(invoke, args, words):
    result = invoke(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_fetch_without_a_network_says_what_to_do(invoke):
    result = invoke("fetch", "letter")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: letter (train) is not at hand")
    assert "AUCMAX_DATA" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_wrong_folder_of_data_is_told(invoke, monkeypatch, tmp_path):
    monkeypatch.setenv("AUCMAX_DATA", str(tmp_path / "nowhere"))
    result = invoke("list")
    assert result.exit_code == 1
    assert "AUCMAX_DATA" in result.stderr
    assert "not a folder" in result.stderr
