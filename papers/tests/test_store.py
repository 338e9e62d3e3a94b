# SPDX-License-Identifier: BSD-3-Clause
import math
import shutil
from dataclasses import replace

import pytest
from small_paper import make_row, untimed

from aucmax.io import read_parquet, write_parquet
from aucmax_papers import store as store_module
from aucmax_papers.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, "small")


def parts(store):
    return sorted((store.folder / "parts").glob("*"))


def test_nothing_is_there_before_the_first_run(store):
    assert store.rows() == []
    assert not store.folder.exists()


def test_added_rows_are_on_disk_after_a_flush(store, monkeypatch):
    monkeypatch.setattr(store_module, "FLUSH_SECONDS", 1e9)
    store.add([make_row(run=1)])
    assert Store(store.folder.parent, "small").rows() == []
    store.flush()
    assert Store(store.folder.parent, "small").rows() == [make_row(run=1)]


def test_added_rows_are_on_disk_by_themselves_after_a_while(store, monkeypatch):
    monkeypatch.setattr(store_module, "FLUSH_SECONDS", -1.0)
    store.add([make_row(run=1)])
    assert Store(store.folder.parent, "small").rows() == [make_row(run=1)]


def test_results_that_took_long_are_on_disk_at_once(store, monkeypatch):
    monkeypatch.setattr(store_module, "FLUSH_SECONDS", 50.0)
    # A model that diverged has no time of scoring.
    store.add([make_row(run=1, seconds=30.0, scoring=math.nan)])
    store.add([make_row(run=2, seconds=10.0, scoring=5.0)])
    assert store.rows() == []
    store.add([make_row(run=3, seconds=10.0, scoring=0.0)])
    assert [row.run for row in store.rows()] == [1, 2, 3]


def test_flush_of_nothing_makes_no_file(store):
    store.flush()
    store.compact()
    assert not store.folder.exists()


def test_rows_are_sorted_by_key_and_each_is_there_once(store):
    rows = [make_row(run=r, set=s) for s in ("glass", "german") for r in (2, 0, 1)]
    for row in [*rows, rows[0]]:
        store.add([row])
        store.flush()
    assert store.rows() == sorted(rows, key=lambda row: row.key)


def test_compact_makes_one_file_of_equal_content(store):
    for run in range(3):
        store.add([make_row(run=run)])
        store.flush()
    before = store.rows()
    assert len(parts(store)) == 3
    store.compact()
    assert list(store.folder.iterdir()) == [store.file]
    assert store.rows() == before
    assert read_parquet(store.file)["run"] == [0, 1, 2]


def test_later_result_of_the_same_run_replaces_the_earlier_one(store):
    store.add([make_row(auc=math.nan, error="ValueError: no")])
    store.compact()
    store.add([make_row(auc=0.9)])
    store.flush()
    assert store.rows() == [make_row(auc=0.9)]
    store.compact()
    assert store.rows() == [make_row(auc=0.9)]


@pytest.mark.parametrize(
    "change", [{"results_version": 2}, {"protocol": "b"}, {"mode": "fast"}]
)
def test_results_of_other_versions_are_kept_beside(store, change):
    store.add([make_row(), make_row(**change, auc=0.8)])
    store.compact()
    assert sorted(row.auc for row in store.rows()) == [0.75, 0.8]


def test_every_field_survives(store):
    row = make_row(auc=math.nan, seconds=math.nan, x=2**-14, error="ä\n| b", size=7)
    store.add([row])
    store.compact()
    (found,) = store.rows()
    assert untimed([found]) == untimed([row])
    assert math.isnan(found.seconds)
    assert replace(found, auc=0.0, seconds=0.0) == replace(row, auc=0.0, seconds=0.0)


def test_killed_between_writing_the_file_and_deleting_parts(store):
    store.add([make_row(run=1), make_row(run=2)])
    store.flush()
    copy = store.folder / "copy"
    shutil.copytree(store.folder / "parts", copy)
    store.compact()
    copy.rename(store.folder / "parts")
    with store:
        assert [row.run for row in store.rows()] == [1, 2]
    assert parts(store) == []


def test_reader_misses_nothing_when_a_run_ends_meanwhile(store, monkeypatch):
    for run in range(3):
        store.add([make_row(run=run)])
        store.flush()
    read, calls = store_module._read, []

    def read_slowly(path):
        rows = read(path)
        if not calls:
            calls.append(path)
            store.compact()
        return rows

    monkeypatch.setattr(store_module, "_read", read_slowly)
    reader = Store(store.folder.parent, "small")
    assert [row.run for row in reader.rows()] == [0, 1, 2]
    assert calls


def test_run_keeps_what_it_added_when_it_fails(store):
    def work():
        with store:
            store.add([make_row()])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert store.rows() == [make_row()]
    assert store.file.exists()


def test_second_run_in_the_same_folder_is_refused(store):
    other = Store(store.folder.parent, "small")
    with (
        store,
        pytest.raises(RuntimeError, match=r"Another run is at work in .*small"),
        other,
    ):
        pass
    with other:
        pass
    # Another paper has a lock of its own.
    with store, Store(store.folder.parent, "large"):
        pass


def test_drafts_of_a_killed_run_are_deleted(store):
    store.add([make_row()])
    store.flush()
    drafts = [
        store.folder / "results.parquet.123.tmp",
        store.folder / "parts" / "0a.parquet.123.tmp",
    ]
    for draft in drafts:
        draft.write_bytes(b"PAR1 half")
    assert store.rows() == [make_row()]
    with store:
        pass
    assert not any(draft.exists() for draft in drafts)
    assert store.rows() == [make_row()]


def test_what_is_not_ours_stays_and_does_not_hurt(store):
    store.add([make_row()])
    store.flush()
    note = store.folder / "parts" / "note.txt"
    note.touch()
    with store:
        pass
    assert note.exists()
    assert store.rows() == [make_row()]


def test_damaged_part_is_named_and_the_lock_is_free_again(store):
    store.add([make_row()])
    store.flush()
    bad = store.folder / "parts" / "00bad.parquet"
    bad.write_bytes(b"PAR1")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"00bad\.parquet is not a Parquet file"):
            store.__enter__()
    bad.unlink()
    with Store(store.folder.parent, "small") as again:
        assert again.rows() == [make_row()]


def test_file_without_a_column_is_named(store):
    store.folder.mkdir()
    write_parquet(store.file, {"auc": [0.5]})
    with pytest.raises(
        ValueError, match=r"results\.parquet has no column .*results_version, .*run"
    ):
        store.rows()
