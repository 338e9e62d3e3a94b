# SPDX-License-Identifier: BSD-3-Clause
"""Messages of the library in the words of the command: options, not arguments."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

DROP = "Leave it out with columns=, or turn"
# What a message says, and what to say instead.
WORDS = (
    (r"Pass format=, one of ", "Name it with --format, one of "),
    (r"\b[Pp]ass format='(\w+)'", r"add --format \1"),
    (r"\b[Pp]ass separator=('[^']*')", r"add --separator \1"),
    (r"^separator must be", "--separator must be"),
    (r"has no separator\. Leave it out", "has no separator. Leave out --separator"),
    (r"or pass the right format", "or name what it is with --format"),
    (r"Leave out target and columns", "Leave out --target"),
    (r"Name it, or leave it out with columns=;", "Name it;"),
    (r"\bwith columns=", "with --drop"),
    (
        r"types= or else the first rows say\. Mend it, or give the right type, such as "
        r"types=\{.*?\}\.",
        "the first rows say. Mend it, or leave out the column with --drop.",
    ),
    (r"Read it as a whole with read_table,", "Leave out --stream,"),
    # What only Python can do.
    (r", or read it with aucmax\.io\.read_csv\(.*?\), which needs no names", ""),
    (r"; with several labels, read it with multilabel=True", ""),
)


def in_options(message: str, *, can_drop: bool = True) -> str:
    """Return a message that names options of the command.

    Parameters
    ----------
    message : str
        What the library says.
    can_drop : bool, default=True
        Whether the command has an option to leave out columns.

    Returns
    -------
    message : str
        The same, for somebody at a shell.

    Examples
    --------
    >>> from aucmax.cli._words import in_options
    >>> in_options("It seems to be separated by ';'. Pass separator=';'.")
    "It seems to be separated by ';'. Add --separator ';'."
    """
    if not can_drop:
        message = message.replace(DROP, "Turn")
    for said, better in WORDS:
        message = re.sub(said, better, message)
    return re.sub(r"(?<=\. )add (?=--)", "Add ", message)


@contextmanager
def told_in_options(*, can_drop: bool = True) -> Iterator[None]:
    """Turn a ValueError of the library into one that names options."""
    try:
        yield
    except ValueError as error:
        raise ValueError(in_options(str(error), can_drop=can_drop)) from error
