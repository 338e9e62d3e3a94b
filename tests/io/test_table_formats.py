# SPDX-License-Identifier: BSD-3-Clause
"""Lines of JSON, zip archives, and text whose name does not say how it is written."""

import gzip
import io
import json
import zipfile

import pytest
from numpy.testing import assert_array_equal

from aucmax.io import read_batches, read_table
from aucmax.io.tables import json_lines

CSV = b"a,b,kind\n1,2.5,x\n3,,y\n"
ROWS = [{"a": 1, "b": 2.5, "kind": "x"}, {"a": 3, "b": None, "kind": "y"}]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def zipped(**files):
    """Return a zip archive; names are given without the point."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("_", "."), data)
    return file.getvalue()


def check(table):
    assert table.names == ("a", "b")
    assert table.X["a"].tolist() == [1, 3]
    assert_array_equal(table.X["b"], [2.5, float("nan")])
    assert table.y.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("rows.jsonl", LINES),
        ("rows.NDJSON", LINES),
        ("rows.jsonl.gz", gzip.compress(LINES)),
        ("rows.txt", CSV),
        ("rows.csv.zip", zipped(rows_csv=CSV)),
        ("rows.zip", zipped(other_tsv=CSV.replace(b",", b"\t"))),
        ("rows.zip", zipped(rows_jsonl=LINES)),
        ("rows.csv.zip", zipped(rows=CSV)),
    ],
    # gzip writes the time, and a test must have the same name in all processes.
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_read(tmp_path, name, data):
    file = tmp_path / name
    file.write_bytes(data)
    check(read_table(file, target="kind"))


def test_streams(monkeypatch):
    check(read_table(io.BytesIO(LINES), target="kind", format="jsonl"))
    check(read_table(io.BytesIO(zipped(rows_csv=CSV)), target="kind"))
    check(read_table(io.BytesIO(zipped(rows_jsonl=LINES)), target="kind"))
    # A row that is longer than a block.
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", (16, 2**20))
    check(read_table(io.BytesIO(LINES), target="kind", format="jsonl"))


def test_text_with_a_separator(tmp_path):
    file = tmp_path / "rows.txt"
    file.write_bytes(CSV.replace(b",", b";"))
    check(read_table(file, target="kind", separator=";"))
    with pytest.raises(ValueError, match=r"separated by ';'.* Pass separator=';'"):
        read_table(file, target="kind")
    batches = read_batches(file, target="kind", separator=";", missing=0)
    assert batches.names == ("a", "b")


def test_values_that_are_left_out_are_missing(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1, "y": 0}\n\n{"y": 1, "b": true}\n')
    table = read_table(file, target="y")
    assert_array_equal(table.X["a"], [1, float("nan")])
    assert_array_equal(table.X["b"], [float("nan"), 1])
    with pytest.raises(ValueError, match=r"no column 'z'.* columns: 'a', 'y', 'b'"):
        read_table(file, target="z")


def test_what_only_looks_like_a_fault_of_json(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": "} null", "y": 0}\n{"a": "b", "y": 1}\n')
    assert read_table(file, target="y").X["a"].tolist() == ["} null", "b"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1}\n{"a": 2\n', """line 2: '{"a": 2' is not a JSON object"""),
        ('{"a": 1}\n[2]\n', r"line 2: '\[2\]' is not a JSON object"),
        ("a,b\n1,2\n", "line 1: 'a,b' is not a JSON object"),
        ('{"a": 1}\n{"a": "x"}\n', "line 2: 'a' is a text, but a number before"),
        ('{"a": 1}\n' + "[" * 10**5, r"line 2: '\[\[\[.* is not a JSON object"),
        ('null,"y":1}\n{"a": 1}\n', "line 1: .* is not a JSON object"),
        ("\xef\xbb\xbfnull\n", "line 1: 'null' is not a JSON object"),
        ('{"a": 1}\n null\n', "line 2: 'null' is not a JSON object"),
        ('{"a": 1} null {"a": 2}\n', "line 1: .* is not a JSON object"),
        ("", "is empty"),
        ("\n", "has no rows"),
        ('{"a": [1]}\n', "Column 'a' of .* holds list<item: int64> values"),
        ('{"a": 1}\n{"a": "\xff"}\n', "line 2: the byte 0xff is not UTF-8"),
    ],
)
def test_faults_of_json(tmp_path, text, problem):
    file = tmp_path / "rows.jsonl"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=problem) as caught:
        read_table(file)
    assert str(file) in str(caught.value)


def test_faults_of_archives(tmp_path):
    file = tmp_path / "rows.zip"

    def fails(data, problem, **options):
        file.write_bytes(data)
        with pytest.raises(ValueError, match=problem) as caught:
            read_table(file, **options)
        assert str(file) in str(caught.value)

    two = zipped(a_csv=CSV, b_csv=CSV)
    fails(two, "holds 2 files where one table is expected: 'a.csv', 'b.csv'. Unpack")
    many = zipped(**{f"{'n' * 500}{k}": b"" for k in range(50)})
    fails(many, "holds 50 files .* and 30 more")
    fails(zipped(), "holds 0 files where one table is expected. Unpack")
    fails(b"PK but no archive", "is not a zip archive, or it is damaged")
    fails(two[:-10], "is not a zip archive, or it is damaged")
    fails(zipped(a_xls=CSV), "does not say what it holds")
    locked = bytearray(zipped(a_csv=CSV))
    # The flag for a password, in both headers.
    locked[6] |= 1
    locked[locked.rindex(b"PK\x01\x02") + 8] |= 1
    fails(bytes(locked), "is not a zip archive, or .* password")
    broken = bytearray(zipped(a_csv=CSV))
    broken[45] ^= 255
    fails(bytes(broken), "is cut off or damaged after line")
    with pytest.raises(ValueError, match="the file given holds 2 files"):
        read_table(io.BytesIO(two))


def test_archives_of_macos_and_names_that_lead_elsewhere(tmp_path):
    file = tmp_path / "deep" / "rows.zip"
    file.parent.mkdir()
    with zipfile.ZipFile(file, "w") as archive:
        archive.mkdir("folder")
        archive.writestr("folder/../../rows.csv", CSV)
        archive.writestr("__MACOSX/._rows.csv", b"notes")
    check(read_table(file, target="kind"))
    assert [path.name for path in tmp_path.rglob("*")] == ["deep", "rows.zip"]


def test_archives_in_batches(tmp_path):
    file = tmp_path / "rows.zip"
    file.write_bytes(zipped(rows_svm="1 1:2\n0 2:1\n"))
    assert read_batches(file).n_features == 2
    file.write_bytes(zipped(rows_csv=CSV))
    with pytest.raises(ValueError, match="cannot be read in batches"):
        read_batches(file, target="kind")
