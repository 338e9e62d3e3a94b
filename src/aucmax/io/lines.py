# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a text file, whatever ends them, and how to complain of one."""

import re
from collections.abc import Iterator
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn

from aucmax.io.source import UNPACKING_ERRORS, Source

# How UTF-16 begins, whichever end is first.
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# What a byte that is not UTF-8 becomes.
ESCAPED = re.compile("[\udc80-\udcff]")
SHOWN = 40


def text_lines(source: Source, *, strict: bool = True) -> Iterator[str]:
    r"""Yield the lines of a file, without its byte order mark.

    Lines end with ``\n``, ``\r\n`` or ``\r``, which they keep.

    Parameters
    ----------
    source : Source
        The file.
    strict : bool, default=True
        Whether to refuse bytes that are not UTF-8; else they are written ``\xff``.

    Raises
    ------
    ValueError
        If the file is in UTF-16, not UTF-8, or cut off.
    """
    with source.open() as stream, suppress(*UNPACKING_ERRORS):
        if stream.read(2) in UTF_16:
            raise ValueError(
                f"{source.name} is in UTF-16. Save it in UTF-8, for example with "
                "iconv -f UTF-16 -t UTF-8."
            )
    errors = "surrogateescape" if strict else "backslashreplace"
    number = 0
    with TextIOWrapper(
        source.open(), encoding="utf-8-sig", errors=errors, newline=""
    ) as text:
        try:
            for number, line in enumerate(text, start=1):
                if strict and (bad := ESCAPED.search(line)):
                    fail(
                        source,
                        number,
                        f"the byte {ord(bad[0]) - 0xDC00:#x} is not UTF-8",
                        "Save the file in UTF-8, for example with "
                        "iconv -f LATIN1 -t UTF-8",
                    )
                yield line
        except UNPACKING_ERRORS as error:
            raise ValueError(
                f"{source.name} is cut off or damaged after line {number}: {error}. "
                "Get it again."
            ) from error


def fail(source: Source, number: int, problem: str, advice: str) -> NoReturn:
    """Raise ValueError: where, what is wrong, what to do."""
    raise ValueError(f"{source.name}, line {number}: {problem}. {advice}.")


def fail_if_empty(source: Source, n_rows: int) -> None:
    """Raise ValueError if there is no row."""
    if not n_rows:
        raise ValueError(f"{source.name} has no rows. Get it again.")


def short(text: str) -> str:
    """Return the beginning of a text, in quotes."""
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")
