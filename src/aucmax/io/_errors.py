# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong with files, and how messages quote what is in them."""

import csv
import lzma
import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress
from zipfile import BadZipFile

from aucmax._utils.optional import import_optional

# Characters of a name or a cell, and of what a library says, in a message.
SHOWN, TOLD = 40, 300


def damage_errors() -> tuple[type[Exception], ...]:
    """Return what libraries raise that read a damaged file.

    NameError, AttributeError and TypeError are not among them: no file causes these,
    so they are mistakes of this code, which must be seen.
    """
    known: tuple[type[Exception], ...] = (
        *(ArithmeticError, EOFError, LookupError, MemoryError, OSError, RuntimeError),
        *(StopIteration, ValueError, BadZipFile, csv.Error, lzma.LZMAError, zlib.error),
        struct.error,
        # pandas warns, which `read_csv` turns into errors.
        Warning,
    )
    with suppress(ImportError):
        known += (import_optional("pyarrow", "io").ArrowException,)
    return known


def reason_of(error: Exception) -> str:
    """Return what a library says, in one line that is not too long."""
    reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return reason if len(reason) <= TOLD else reason[:TOLD] + "..."


def damaged(name: str, error: Exception, kind: str, *, remedy: str) -> ValueError:
    """Return the error for a file that a library could not read."""
    return ValueError(
        f"{name} is not {kind}, or it is damaged or not written to its end "
        f"({reason_of(error)}). {remedy}"
    )


def short(text: str) -> str:
    """Return the beginning of a text, in quotes."""
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")


def listed(texts: Sequence[str], most: int = 20) -> str:
    """Return the beginnings of the first texts, in quotes, and how many more.

    Examples
    --------
    >>> from aucmax.io._errors import listed
    >>> listed(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(map(short, texts[:most])) + more
