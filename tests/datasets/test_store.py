# SPDX-License-Identifier: BSD-3-Clause
import bz2
import hashlib
import os
import sys

import pytest

from aucmax.datasets import DatasetDamaged, DatasetUnavailable, checks, fetch
from aucmax.datasets.folders import cache_folder


def test_mirror_comes_before_cache(toy, mirror, cache):
    toy.register(toy.part("train"))
    (cache / "toy.train.svm.bz2").write_bytes(toy.packed("train"))
    assert fetch("toy") == {"train": cache / "toy.train.svm.bz2"}
    (mirror / "toy.train.svm.bz2").write_bytes(toy.packed("train"))
    assert fetch("toy") == {"train": mirror / "toy.train.svm.bz2"}


def test_all_is_train_and_test_but_not_val(toy, mirror):
    toy.register(toy.part("train"), toy.part("test"), toy.part("val"))
    for name in toy.rows:
        (mirror / f"toy.{name}.svm.bz2").write_bytes(toy.packed(name))
    assert list(fetch("toy")) == ["train", "test"]
    assert list(fetch("toy", "val")) == ["val"]
    with pytest.raises(
        ValueError, match=r"toy has no part 'rest'. Choose one of train, "
    ):
        fetch("toy", "rest")


def test_file_of_the_wrong_size_is_refused(toy, mirror):
    toy.register(toy.part("train"))
    file = mirror / "toy.train.svm.bz2"
    file.write_bytes(toy.packed("train")[:-1])
    n_bytes = len(toy.packed("train"))
    with pytest.raises(
        DatasetDamaged,
        match=rf"{file}.*bytes {n_bytes} expected, {n_bytes - 1} received",
    ):
        fetch("toy")


def test_file_with_one_wrong_byte_is_refused(toy, mirror):
    toy.register(toy.part("train"))
    data = bytearray(toy.packed("train"))
    data[20] ^= 1
    (mirror / "toy.train.svm.bz2").write_bytes(data)
    wrong = hashlib.sha256(data).hexdigest()
    with pytest.raises(DatasetDamaged, match=f"sha256 .* expected, {wrong} received"):
        fetch("toy")


def test_checksum_is_computed_once_unless_the_file_changes(toy, mirror, monkeypatch):
    toy.register(toy.part("train"))
    file = mirror / "toy.train.svm.bz2"
    file.write_bytes(toy.packed("train"))
    seen = []
    real = checks.file_hash
    monkeypatch.setattr(
        checks, "file_hash", lambda *args: seen.append(args) or real(*args)
    )
    fetch("toy")
    fetch("toy")
    assert len(seen) == 1
    os.utime(file, ns=(0, 0))
    fetch("toy")
    assert len(seen) == 2


@pytest.mark.parametrize("end", [b"\n", b" \r\n"])
def test_public_file_is_checked_by_its_text(toy, mirror, end):
    text = hashlib.sha256(toy.rows["train"]).hexdigest()
    toy.register(toy.part("train", url="https://example.org/toy.bz2", text_sha256=text))
    # Same text, other white space at the ends of lines, other compression.
    same = toy.rows["train"].replace(b"\n", end)
    (mirror / "toy.bz2").write_bytes(bz2.compress(same, 1))
    assert fetch("toy")["train"].name == "toy.bz2"
    (mirror / "toy.bz2").write_bytes(bz2.compress(same.replace(b"4", b"5")))
    with pytest.raises(DatasetDamaged, match=f"sha256 of the text {text} expected"):
        fetch("toy")


def test_public_file_that_is_cut_off_is_refused(toy, cache):
    toy.register(
        toy.part("train", url="https://example.org/toy.bz2", text_sha256="0" * 64)
    )
    (cache / "toy.bz2").write_bytes(toy.packed("train")[:-5])
    with pytest.raises(DatasetDamaged, match=r"toy.bz2 is damaged.*cannot be unpacked"):
        fetch("toy")


def test_manual_set_says_what_to_do(toy, tmp_path):
    toy.register(toy.part("train"))
    with pytest.raises(DatasetUnavailable) as caught:
        fetch("toy")
    message = str(caught.value)
    assert "https://example.org/toy" in message
    assert "Ask the owner." in message
    assert "toy.train.svm.bz2" in message
    assert "AUCMAX_DATA" in message
    assert not (tmp_path / "cache").exists()


def test_variable_that_names_no_folder_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("AUCMAX_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetUnavailable, match=r"AUCMAX_DATA.*nowhere.*not a folder"):
        fetch("german")


def test_cache_is_the_users_unless_named(monkeypatch, tmp_path):
    monkeypatch.delenv("AUCMAX_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().name == "aucmax"


def test_files_at_hand_need_no_pooch(monkeypatch, toy):
    monkeypatch.delenv("AUCMAX_CACHE")
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert fetch("german")["all"].name == "german.svm.bz2"
    toy.register(toy.part("train", url="https://example.org/toy"))
    with pytest.raises(DatasetUnavailable, match=r'pip install "aucmax\[data\]"'):
        fetch("toy")


def test_errors_are_os_errors():
    assert issubclass(DatasetUnavailable, OSError)
    assert issubclass(DatasetDamaged, OSError)
