# SPDX-License-Identifier: BSD-3-Clause
"""Amounts of memory, as people write them."""

import math
import re
from numbers import Integral

UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
PATTERN = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*", re.IGNORECASE)


def parse_bytes(text: str | int) -> int:
    """Return a number of bytes, at least one.

    Parameters
    ----------
    text : str or int
        A number of bytes, or a number with one of the units B, kB, MB, GB, TB (powers
        of 1000) or KiB, MiB, GiB, TiB (powers of 1024), in any case.

    Returns
    -------
    n_bytes : int
        Rounded down.

    Examples
    --------
    >>> from aucmax._utils.memory import parse_bytes
    >>> parse_bytes("1.5GB"), parse_bytes("1 KiB"), parse_bytes(512)
    (1500000000, 1024, 512)
    """
    n_bytes = 0
    if isinstance(text, Integral) and not isinstance(text, bool):
        n_bytes = int(text)
    elif isinstance(text, str):
        match = PATTERN.fullmatch(text)
        if match is not None and match[2].lower() in UNITS:
            amount = float(match[1]) * UNITS[match[2].lower()]
            n_bytes = math.floor(amount) if math.isfinite(amount) else 0
    if n_bytes < 1:
        raise ValueError(
            f"{text!r} is not an amount of memory. Pass a positive number of bytes, or "
            'a text such as "500MB", "4GB" or "1GiB".'
        )
    return n_bytes
