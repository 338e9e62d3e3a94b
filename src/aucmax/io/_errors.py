# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong with files, and how messages quote what is in them."""

import csv
import lzma
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from zipfile import BadZipFile

from aucmax._utils.optional import import_optional

FORMAT_REMEDY = "Get it again, or pass the right format."
# Characters of a name or a cell, and of what a library says, in a message.
SHOWN, TOLD = 40, 300


class Refused(ValueError):
    """Bad arguments rather than a bad file, so there is no line to look for."""


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


@contextmanager
def naming(name: str, kind: str = "") -> Iterator[None]:
    """Raise what a damaged file causes as a ValueError that names the file.

    ``kind`` is what the file should be, such as "a Parquet file".
    """
    try:
        yield
    # These name what is wrong already.
    except (Refused, FileNotFoundError, PermissionError):
        raise
    except damage_errors() as error:
        raise damaged(name, error, kind) from error


def damaged(
    name: str, error: Exception, kind: str = "", *, remedy: str = FORMAT_REMEDY
) -> ValueError:
    """Return the error for a file that a library could not read."""
    if isinstance(error, MemoryError):
        return ValueError(
            f"{name} does not fit into memory, or it is damaged. Read it in batches, "
            "with aucmax.io.read_batches, or leave out columns."
        )
    reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    if len(reason) > TOLD:
        reason = reason[:TOLD] + "..."
    if not kind:
        return ValueError(
            f"{name} cannot be read: {reason}. It may be damaged: get or write it "
            "again."
        )
    return ValueError(
        f"{name} is not {kind}, or it is damaged or not written to its end ({reason}). "
        f"{remedy}"
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
