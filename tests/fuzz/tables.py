# SPDX-License-Identifier: BSD-3-Clause
"""Files of every format that a table is read from, whole and damaged."""

import bz2
import gzip
import io
import lzma
import struct
import zipfile
from functools import cache, lru_cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from fuzz.mutations import mutate

TEXT = ["csv", "tsv", "txt", "jsonl", "svm"]
BINARY = ["parquet", "feather", "arrow", "ipc"]
SUFFIXES = [
    *TEXT * 2,
    *BINARY * 4,
    *(f"{text}.{packer}" for text in TEXT for packer in ("gz", "bz2", "xz", "zip")),
]
N_VARIANTS = 6
# Where numbers are indices or offsets.
POINTERS = [-1, -(2**31), 2**31 - 1, 10**6, 64, 65, 1000, 3]
BOMB = 2**26
PIECE = 2**16


@cache
def frame(variant):
    """Return a table of numbers, flags, text, categories and dates, some missing."""
    rng = np.random.default_rng(variant)
    n = (64, 1, 2, 300, 33, 5)[variant]
    table = pd.DataFrame(
        {
            "real": rng.standard_normal(n) * 10.0 ** rng.integers(-5, 6, n),
            "small": rng.random(n).astype(np.float32),
            "whole": rng.integers(-(10**12), 10**12, n),
            "flag": rng.random(n) < 0.5,
            "town": pd.Series(rng.choice(["Graz", "Linz", "Wels, Ö", ""], n)),
            "kind": pd.Categorical(rng.choice(["a", "b"], n), ["a", "b", "c"]),
            "day": pd.Timestamp("2026-01-01")
            + pd.to_timedelta(rng.integers(0, 99, n), "D"),
            "mass": rng.integers(0, 4, n) / 2,
            "y": rng.integers(0, 2, n),
        }
    )
    if variant % 2:
        table.loc[rng.random(n) < 0.2, ["real", "town"]] = None
    # Readers of batches take no dates.
    return table.drop(columns="day") if variant < 4 else table


@cache
def whole(kind, variant):
    """Return the bytes of a good file."""
    table = frame(variant)
    return MAKERS[kind](table, variant)


def draw(rng, suffix):
    """Return the bytes of a file that may be damaged."""
    kind, _, packer = suffix.partition(".")
    data = whole(kind, rng.randrange(N_VARIANTS))
    other = whole(rng.choice([kind, rng.choice(TEXT + BINARY)]), 0)
    if packer and rng.random() < 0.02:
        data = data[:100] + rng.choice([b"1", b"\n", b"a,", b"1:1 "]) * (BOMB // 4)
    elif kind in ("arrow", "feather", "ipc") and rng.random() < 0.5:
        data = change_pointers(rng, data)
    elif rng.random() < (0.5 if packer else 0.97):
        data = mutate(rng, data, other)
    if packer:
        data = pack(data, suffix)
        if rng.random() < 0.6:
            data = mutate(rng, data, other)
    return data


@lru_cache(8)
def _compress_bz2(piece):
    # Of endless repeats it needs so long that it would count as a hang.
    return bz2.compress(piece)


def pack(data, suffix):
    """Return the bytes of a packed file."""
    kind, _, packer = suffix.partition(".")
    if packer == "bz2":
        pieces = (data[i : i + PIECE] for i in range(0, len(data), PIECE))
        return b"".join(map(_compress_bz2, pieces))
    if packer != "zip":
        return {"gz": gzip, "xz": lzma}[packer].compress(data)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(f"table.{kind}"), data)
    return out.getvalue()


def change_pointers(rng, data):
    """Make offsets of text and indices of categories lead out of their buffers."""
    places = _pointer_places(data)
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5]) if places else 0):
        at, n_bytes = rng.choice(places)
        size = rng.choice([4, 8])
        where = at + rng.randrange(max(n_bytes // size, 1)) * size
        number = rng.choice(POINTERS) % 2 ** (8 * size)
        data[where : where + size] = number.to_bytes(size, "little")
    return bytes(data)


@cache
def _pointer_places(data):
    """Return where a good file holds offsets or indices, and of how many bytes."""
    table = _read_ipc(data)
    chunks = [chunk for name in ("town", "kind") for chunk in table.column(name).chunks]
    chunks += [
        chunk.dictionary for chunk in chunks if pa.types.is_dictionary(chunk.type)
    ]
    places = []
    for chunk in chunks:
        is_dictionary = pa.types.is_dictionary(chunk.type)
        buffer = (chunk.indices if is_dictionary else chunk).buffers()[1]
        at = data.find(buffer.to_pybytes()) if buffer is not None else -1
        # Packed buffers are not found.
        if at >= 0 and buffer.size:
            places.append((at, buffer.size))
    return places


def _read_ipc(data):
    try:
        return pa.ipc.open_file(data).read_all()
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(data).read_all()


def _csv(table, variant):
    return table.to_csv(index=False).encode()


def _tsv(table, variant):
    return table.to_csv(index=False, sep="\t").encode()


def _jsonl(table, variant):
    return table.to_json(orient="records", lines=True, date_format="iso").encode()


def _svm(table, variant):
    rows = zip(table["y"], table["real"].fillna(0.5), table["mass"], strict=True)
    tail = ["", " # a remark", " 9:1e-3"][variant % 3]
    return "".join(f"{y} 1:{a:g} 5:{b}{tail}\n" for y, a, b in rows).encode()


def _parquet(table, variant):
    out = io.BytesIO()
    pq.write_table(
        pa.Table.from_pandas(table, preserve_index=bool(variant % 2)),
        out,
        row_group_size=(1000, 7)[variant % 2],
        compression=("NONE", "snappy", "zstd", "NONE", "gzip", "NONE")[variant],
        use_dictionary=variant != 3,
        write_page_checksum=variant == 4,
        data_page_version=("1.0", "2.0")[variant % 2],
    )
    return out.getvalue()


def _arrow(table, variant):
    content = pa.Table.from_pandas(table, preserve_index=False)
    out = io.BytesIO()
    packed = (None, None, None, None, "lz4", "zstd")[variant]
    options = pa.ipc.IpcWriteOptions(compression=packed)
    maker = pa.ipc.new_stream if variant % 2 else pa.ipc.new_file
    with maker(out, content.schema, options=options) as writer:
        writer.write_table(content, max_chunksize=(1000, 16)[variant == 3])
    return out.getvalue()


MAKERS = {
    "csv": _csv,
    "tsv": _tsv,
    "txt": _csv,
    "jsonl": _jsonl,
    "svm": _svm,
    "parquet": _parquet,
    "arrow": _arrow,
    "feather": _arrow,
    "ipc": _arrow,
}


def npy_with(data, **header):
    """Return an array's file with another header, which numpy reads as a dict."""
    text = repr(header).encode().ljust(118) + b"\n"
    return data[:8] + struct.pack("<H", len(text)) + text + data[128:]
