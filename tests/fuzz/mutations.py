# SPDX-License-Identifier: BSD-3-Clause
"""Damage to bytes, as disks, networks, editors and programs do it."""

import struct

WORDS = [
    b"",
    b"\x00",
    b"\x00" * 64,
    b"\xff" * 8,
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"1e308",
    b"-1e309",
    b"nan",
    b"inf",
    b"9" * 400,
    b"18446744073709551616",
    b"-9223372036854775809",
    b"99999999999:1",
    b"0:1",
    b"-1:3",
    b"qid:1",
    b'"',
    b'""',
    b"'",
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b",",
    b",,,,,,,,",
    b"\t",
    b"#",
    b"%",
    b"{0 1, 1 2}",
    b"?",
    b"\xe2\x80\xa8",
    b"\xc3\x28",
    b"@data\n",
    b"@attribute x numeric\n",
    b"2026-13-45",
    b"0001-01-01 00:00:00",
    b"True",
    b"NA",
]
NUMBERS = [0, 1, -1, 2, 7, 127, 255, 256, 65535, 2**20, 2**31 - 1, -(2**31), 2**30]
LONG = 2**17


def flip_bits(rng, data, _):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 4, 32])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def set_bytes(rng, data, _):
    data = bytearray(data)
    for _ in range(rng.choice([1, 2, 8])):
        data[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF])
    return bytes(data)


def cut_end(rng, data, _):
    return data[: rng.choice([rng.randrange(len(data)), len(data) - 1])]


def cut_start(rng, data, _):
    return data[rng.choice([1, rng.randrange(len(data))]) :]


def cut_out(rng, data, _):
    low, high = _range(rng, data)
    return data[:low] + data[high:]


def insert_word(rng, data, _):
    word, where = rng.choice(WORDS), rng.choice([0, rng.randrange(len(data) + 1)])
    return data[:where] + word + data[where:]


def insert_long(rng, data, _):
    where = rng.randrange(len(data) + 1)
    word = rng.choice([b"1", b"a", b"0.", b",", b"\n", b"\x00", b'"', b"1:1 ", b"\t"])
    return data[:where] + word * (LONG // len(word)) + data[where:]


def overwrite_text(rng, data, _):
    word, where = rng.choice(WORDS), rng.randrange(len(data))
    return data[:where] + word + data[where + len(word) :]


def repeat_chunk(rng, data, _):
    low, high = _range(rng, data)
    times = rng.choice([2, 3, 50]) if high - low < 2**14 else 2
    return data[:low] + data[low:high] * times + data[high:]


def swap_chunks(rng, data, _):
    a, b, c, d = sorted(rng.randrange(len(data) + 1) for _ in range(4))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def splice(rng, data, other):
    """Go on in the middle of another file."""
    return data[: rng.randrange(len(data))] + other[rng.randrange(len(other)) :]


def zero_block(rng, data, _):
    """What a file system leaves of a page that was never written."""
    size = rng.choice([16, 512, 4096])
    where = rng.randrange(len(data)) // 16 * 16
    return (
        data[:where] + b"\x00" * len(data[where : where + size]) + data[where + size :]
    )


def change_number(rng, data, _):
    """Put another number where a length, a count or an offset may be."""
    form = rng.choice(["<i", "<q", "<H", ">i"])
    size = struct.calcsize(form)
    if len(data) < size:
        return b""
    places = range(0, len(data) - size + 1, 1 if form == "<H" else 4)
    small = [
        k for k in rng.choices(places, k=64) if 0 <= _at(form, data, k) < len(data)
    ]
    where = rng.choice(small or places)
    number = rng.choice(
        [*NUMBERS, len(data), _at(form, data, where) + rng.choice([-1, 1])]
    )
    bits = 8 * size
    number = number % 2**bits
    new = number.to_bytes(size, "big" if form[0] == ">" else "little")
    return data[:where] + new + data[where + size :]


def swap_numbers(rng, data, _):
    if len(data) < 8:
        return data[::-1]
    a, b = (rng.randrange(len(data) // 4) * 4 for _ in range(2))
    data = bytearray(data)
    data[a : a + 4], data[b : b + 4] = data[b : b + 4], data[a : a + 4]
    return bytes(data)


def to_utf16(rng, data, _):
    return data.decode("latin-1").encode(rng.choice(["utf-16", "utf-16-be"]))


def other_line_ends(rng, data, _):
    return data.replace(b"\n", rng.choice([b"\r", b"\r\n", b"\n\n", b"\x00", b" "]))


MUTATIONS = [
    flip_bits,
    set_bytes,
    cut_end,
    cut_start,
    cut_out,
    insert_word,
    insert_word,
    insert_long,
    overwrite_text,
    overwrite_text,
    repeat_chunk,
    swap_chunks,
    splice,
    zero_block,
    change_number,
    change_number,
    swap_numbers,
    to_utf16,
    other_line_ends,
]


def mutate(rng, data, other=b"\x00\x01"):
    """Return bytes damaged once or a few times; some pieces may be of another file."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if data:
            data = rng.choice(MUTATIONS)(rng, data, other)
    return data


def _at(form, data, where):
    return struct.unpack_from(form, data, where)[0]


def _range(rng, data):
    low = rng.randrange(len(data))
    return low, min(low + rng.choice([1, 8, 100, 5000]), len(data))
