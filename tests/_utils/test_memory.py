# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

from aucmax._utils.memory import parse_bytes


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        (1, 1),
        (10**12, 10**12),
        (np.int32(7), 7),
        ("12", 12),
        ("12B", 12),
        ("1kB", 1000),
        ("1KB", 1000),
        ("500MB", 500 * 10**6),
        ("4GB", 4 * 10**9),
        ("0.5 TB", 5 * 10**11),
        ("1.5gb", 15 * 10**8),
        (".5GiB", 2**29),
        (" 1KiB ", 1024),
        ("3MiB", 3 * 2**20),
        ("2 tib", 2**41),
        ("1.9B", 1),
    ],
)
def test_amounts(text, n_bytes):
    assert parse_bytes(text) == n_bytes
    assert type(parse_bytes(text)) is int


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GB",
        "4 GX",
        "-1GB",
        "0",
        "0.1B",
        "1e3MB",
        "4GB!",
        "1 2MB",
        0,
        -5,
        True,
        None,
    ],
)
def test_anything_else_is_an_error(text):
    with pytest.raises(ValueError, match=r"is not an amount of memory.*\"4GB\""):
        parse_bytes(text)


@pytest.mark.parametrize("text", [1.5, np.nan])
def test_bytes_are_whole(text):
    with pytest.raises(ValueError, match="not an amount"):
        parse_bytes(text)
