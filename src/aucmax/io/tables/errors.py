# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a table, as data that Python and the shell put in their words."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from aucmax.io._errors import damage_errors, reason_of, short


class Option(NamedTuple):
    """An option that helps; there is a phrase for it in Python, and in the shell."""

    name: str
    value: Any = None


# How Python names the options; "{}" is the value.
PYTHON = {
    "batches": "read it in batches, with aucmax.io.read_batches",
    "categories": "pass categories='one-hot' for a column of zeros and ones per text, "
    "'drop' to leave such columns out, or a dict with the texts of each column",
    "category": "add it to categories[{!r}]",
    "columns": "leave the column out with columns=",
    "format": "pass format={!r}",
    "header": "read it with aucmax.io.read_csv(..., header=False), which needs no "
    "names",
    "known format": "pass format=, one of {}",
    "leave out": "leave out {}",
    "missing": "pass missing='drop' to leave such rows out, or a number to fill in",
    "multilabel": "with several labels, read it with multilabel=True",
    "n_features": "raise n_features",
    "positive": "choose the positive one; all others are negative then",
    "right format": "pass the right format",
    "separator": "pass separator={!r}",
    "text": "read it as text, with types={{{0!r}: 'string'}} or read_table's "
    "text=[{0!r}]",
    "two classes": "make a column of two classes from it, such as whether it is above "
    "a limit, and choose that as the target",
    "whole": "read it as a whole with read_table",
}


class TableError(ValueError):
    """A file that makes no table, or not the one that was asked for.

    Parameters
    ----------
    problem : str
        What is wrong, as it follows the name of the file, or of the line or column.
    *remedies : str or Option
        What to do: one of these.
    file, line, row, column : optional
        Where: the file, its line from 1 or row from 0, the name of the column.
    """

    def __init__(
        self,
        problem: str,
        *remedies: str | Option,
        file: str = "",
        line: int | None = None,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        super().__init__(problem, *remedies)
        self.problem = problem
        self.remedies = remedies
        self.file = file
        self.line = line
        self.row = row
        self.column = column

    def __str__(self) -> str:
        return self.render(PYTHON)

    def render(self, phrases: Mapping[str, str]) -> str:
        """Return the message, with these phrases for options; others are left out."""
        place = f"{self.file} " if self.file else ""
        if self.line is not None:
            place = f"{self.file}, line {self.line}: "
        elif self.row is not None:
            place = f"{self.file}, row {self.row}, counted from 0: "
        elif self.column is not None:
            place = f"Column {short(self.column)} of {self.file} "
        advice = []
        for remedy in self.remedies:
            if isinstance(remedy, str):
                advice.append(remedy)
            elif remedy.name in phrases:
                advice.append(phrases[remedy.name].format(remedy.value))
        text = ", or ".join(advice)
        return f"{place}{self.problem}. {text[:1].upper()}{text[1:]}{'.' * bool(text)}"


def damaged(file: str, error: Exception, kind: str = "") -> TableError:
    """Return the error for a file that a library could not read."""
    if isinstance(error, MemoryError):
        problem = "does not fit into memory, or it is damaged"
        return TableError(problem, Option("batches"), "leave out columns", file=file)
    if not kind:
        problem = f"cannot be read: {reason_of(error)}"
        return TableError(
            problem, "it may be damaged: get or write it again", file=file
        )
    return TableError(
        f"is not {kind}, or it is damaged or not written to its end "
        f"({reason_of(error)})",
        "get it again",
        Option("right format"),
        file=file,
    )


@contextmanager
def naming(file: str, kind: str = "") -> Iterator[None]:
    """Raise what a damaged file causes as a `TableError` that names the file.

    ``kind`` is what the file should be, such as "a Parquet file".
    """
    try:
        yield
    # These name what is wrong already.
    except (TableError, FileNotFoundError, PermissionError):
        raise
    except damage_errors() as error:
        raise damaged(file, error, kind) from error
