# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a text file, whatever ends them."""

import re
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader, RawIOBase, TextIOWrapper
from typing import IO, Any, NamedTuple, NoReturn

from aucmax.io.tables.errors import Option, TableError
from aucmax.io.tables.source import UNPACKING_ERRORS, Source

UNFINISHED = "check that whatever wrote it finished"
# How UTF-16 begins, whichever end is first.
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# What a byte that is not UTF-8 becomes.
ESCAPED = re.compile("[\udc80-\udcff]")
# Bytes of a line with the blank lines after it: enough for two million index:value
# pairs, but few beside the memory of a computer, which a line that never ends would
# fill. A packed file of a few hundred bytes may have one.
LONGEST_LINE = 2**25
BUFFER_BYTES = 2**18


class Line(NamedTuple):
    """A line of a file, counted from 1."""

    file: str
    number: int

    def fail(self, problem: str, *remedies: str | Option) -> NoReturn:
        """Raise what is wrong with it."""
        raise TableError(problem, *remedies, file=self.file, line=self.number)


class BoundedLines(RawIOBase):
    """Bytes of a text; ValueError if a line of it is longer than `LONGEST_LINE`."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._n_open = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return how many bytes."""
        data = self._stream.read(len(buffer))
        content = data.rstrip()
        end = max(content.rfind(b"\n"), content.rfind(b"\r"))
        self._n_open = len(data) - end - 1 + (self._n_open if end < 0 else 0)
        if self._n_open > LONGEST_LINE:
            raise LongLineError
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the stream too."""
        self._stream.close()
        super().close()


class LongLineError(ValueError):
    """A line is longer than `LONGEST_LINE`."""


def open_text(source: Source) -> BufferedReader:
    """Return the bytes of a text file; ValueError where a line is too long."""
    return BufferedReader(BoundedLines(source.open()), BUFFER_BYTES)


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
        If the file is in UTF-16, not UTF-8, or cut off, or if a line is too long.
    """
    with source.open() as stream, suppress(*UNPACKING_ERRORS):
        if stream.read(2) in UTF_16:
            raise TableError(
                "is in UTF-16",
                "save it in UTF-8, for example with iconv -f UTF-16 -t UTF-8",
                file=source.name,
            )
    errors = "surrogateescape" if strict else "backslashreplace"
    number = 0
    with TextIOWrapper(
        open_text(source), encoding="utf-8-sig", errors=errors, newline=""
    ) as text:
        try:
            for number, line in enumerate(text, start=1):
                if strict and (bad := ESCAPED.search(line)):
                    Line(source.name, number).fail(
                        f"the byte {ord(bad[0]) - 0xDC00:#x} is not UTF-8",
                        "save the file in UTF-8, for example with "
                        "iconv -f LATIN1 -t UTF-8",
                    )
                yield line
        except LongLineError:
            Line(source.name, number + 1).fail(
                "this line, or the blank lines up to it together, is longer than "
                f"{LONGEST_LINE} bytes",
                "check that it is text with line ends",
                "write it as Parquet",
            )
        except UNPACKING_ERRORS as error:
            raise TableError(
                f"is cut off or damaged after line {number}: {error}",
                "get it again",
                file=source.name,
            ) from error
