# SPDX-License-Identifier: BSD-3-Clause
import math

import pytest

from aucmax.io import read_parquet, write_parquet


def test_values_and_their_order_come_back(tmp_path):
    columns = {
        "name": ["ä", "", "a|b\nc"],
        "auc": [0.1 + 0.2, -1e-300, math.inf],
        "run": [-1, 0, 2**40],
        "flag": [True, False, True],
    }
    write_parquet(tmp_path / "a.parquet", columns)
    found = read_parquet(tmp_path / "a.parquet")
    assert list(found) == list(columns)
    assert found == columns


def test_nan_is_a_number_and_not_a_gap(tmp_path):
    write_parquet(tmp_path / "a.parquet", {"auc": [math.nan, 0.5]})
    first, second = read_parquet(tmp_path / "a.parquet")["auc"]
    assert math.isnan(first)
    assert second == 0.5


def test_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.parquet"
    write_parquet(path, {"auc": [0.5]})
    with pytest.raises(ValueError, match="length"):
        write_parquet(path, {"auc": [0.5, 0.6], "run": [1]})
    assert read_parquet(path) == {"auc": [0.5]}
    assert list(tmp_path.iterdir()) == [path]


def test_new_file_replaces_the_old_one(tmp_path):
    path = tmp_path / "a.parquet"
    write_parquet(path, {"auc": [0.5]})
    write_parquet(str(path), {"auc": [0.6]})
    assert read_parquet(path) == {"auc": [0.6]}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("keep", [0, 20, -10])
def test_damaged_file_is_named(tmp_path, keep):
    path = tmp_path / "a.parquet"
    write_parquet(path, {"auc": [0.5] * 100})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"a\.parquet is not a Parquet file, or it is"):
        read_parquet(path)


def test_absent_file_is_absent_and_not_damaged(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_parquet(tmp_path / "a.parquet")


def reads_as(path, columns):
    """Say whether the file has these values; None if it is refused, by its name."""
    try:
        return read_parquet(path) == columns
    except ValueError as error:
        return None if "a.parquet" in str(error) else False


def test_a_changed_bit_of_the_values_is_noticed(tmp_path):
    path = tmp_path / "a.parquet"
    columns = {
        "name": [f"row {i}" for i in range(200)],
        "auc": [i / 7 for i in range(200)],
    }
    write_parquet(path, columns)
    whole = path.read_bytes()
    end_of_values = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    found = []
    for place in range(0, end_of_values, 7):
        damaged = bytearray(whole)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        found.append(reads_as(path, columns))
    assert False not in found
    assert found.count(None) > len(found) / 2
