# SPDX-License-Identifier: BSD-3-Clause
"""What all commands share: how errors are told, options, and what is written where."""

import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from aucmax.cli import INTERRUPTED, READER_GONE

# What the library raises on purpose, with a message for the user.
EXPECTED = (ValueError, OSError, ImportError, RuntimeError)
# How commands that have such an option name what helps; "{}" is the value.
SHELL = {
    "batches": ("stream", "add --stream"),
    "columns": ("drop", "leave the column out with --drop"),
    "format": ("format", "add --format {}"),
    "known format": ("format", "name it with --format, one of {}"),
    "leave out": ("format", "leave out --{}"),
    "positive": (
        "positive",
        "name the positive one with --positive; all others are negative then",
    ),
    "right format": ("format", "name what it is with --format"),
    "separator": ("separator", "add --separator {!r}"),
    "two classes": (
        "target",
        "make a column of two classes from it, such as whether it is above a limit, "
        "and name that with --target",
    ),
    "whole": ("stream", "leave out --stream"),
}

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Commands(click.Group):
    """A group that tells errors in one sentence, unless ``--debug`` is given."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments."""
        try:
            return super().make_context(*args, **kwargs)
        except KeyboardInterrupt:
            tell("\nStopped.")
            raise click.exceptions.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _end_without_reader()

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was chosen."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            tell("\nStopped. Resume with the same command; what is done is kept.")
            ctx.exit(INTERRUPTED)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except BrokenPipeError:
            _end_without_reader()
        except Exception as error:  # of any kind: one sentence, unless --debug is given
            if ctx.params["debug"]:
                raise
            command = self.commands.get(ctx.invoked_subcommand or "")
            options = {option.name for option in command.params} if command else set()
            raise click.ClickException(_sentence(error, options)) from error


def _end_without_reader() -> NoReturn:
    """End without a word: the reader of a pipe, such as head, has enough."""
    # Else Python would try again to write what is left, and complain.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    sys.exit(READER_GONE)


class Command(click.Command):
    """A command that keeps nothing when it is stopped, and tells warnings in a line."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            with _told_warnings():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            tell("\nStopped.")
            ctx.exit(INTERRUPTED)


@contextmanager
def _told_warnings() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # About code, which is not the user's.
        for kind in (DeprecationWarning, FutureWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", kind)
        try:
            yield
        finally:
            for text in dict.fromkeys(str(each.message) for each in caught):
                tell(f"Note: {' '.join(text.split())}")


def _sentence(error: Exception, options: Collection[str | None]) -> str:
    if hasattr(error, "render"):
        # A TableError, whose module takes long to import.
        known = {k: phrase for k, (need, phrase) in SHELL.items() if need in options}
        return str(error.render(known)).strip()
    if isinstance(error, EXPECTED) and str(error):
        return str(error)
    return (
        f"{type(error).__name__}: {error}. This should not happen; aucmax --debug ... "
        "shows where it did."
    )


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn a ValueError about a name into an error of usage, with its exit code."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def fail(message: str) -> NoReturn:
    """End the command with an error."""
    raise click.ClickException(message)


def tell(message: str) -> None:
    """Say something that is not the result."""
    click.echo(message, err=True)


def tell_progress(message: str) -> None:
    """Say what is going on, if somebody is there to see it."""
    if is_watched():
        tell(message)


def show_json(value: Any) -> None:
    """Print a result for programs."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def count(number: int, word: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> from aucmax.cli._base import count
    >>> count(1, "row"), count(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def finite_or_none(value: float) -> float | None:
    """Return a number for JSON, which knows no infinity."""
    return float(value) if math.isfinite(value) else None


def interval_text(auc: float, low: float, high: float) -> str:
    """Return an AUC with its interval.

    Examples
    --------
    >>> from aucmax.cli._base import interval_text
    >>> interval_text(0.8, 0.75, 0.85)
    '0.8000 (0.7500 to 0.8500)'
    """
    return f"{auc:.4f} ({low:.4f} to {high:.4f})"


def show_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows with aligned columns, the last one as it is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(f"{v:<{w}}" for v, w in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file into a folder that is there: all of it, or nothing."""
    from aucmax.io._atomic import replacing

    with replacing(path) as draft:
        draft.write_bytes(data)


def check_new(path: Path, *others: str | Path | None, force: bool) -> None:
    """End the command if a file cannot be written, or is one of the others."""
    from aucmax.io._atomic import check_replaceable

    for other in others:
        if other is not None and Path(other).resolve() == path.resolve():
            raise click.UsageError(f"{path} would replace {other}. Name another file.")
    if not path.parent.is_dir():
        fail(f"There is no folder {path.parent} to write {path.name} to.")
    check_replaceable(path)
    if path.exists() and not force:
        fail(f"{path} is there already. Name another file, or add --force.")


def is_watched() -> bool:
    """Say whether somebody sees a bar on standard error."""
    # It is None if the process was started without.
    return sys.stderr is not None and sys.stderr.isatty()


def examples(*commands: str) -> str:
    """Return the text below a command's help, which click must not fill."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def split_names(texts: Sequence[str], known: Collection[str]) -> list[str] | None:
    """Return the names in "a,b"; None if there is no text.

    Parameters
    ----------
    texts : sequence of str
        What the user gave, name by name or with commas in between.
    known : collection of str
        Names that may have a comma themselves.

    Returns
    -------
    names : list of str or None
        Known names as far as possible; what is left, piece by piece.

    Examples
    --------
    >>> from aucmax.cli._base import split_names
    >>> split_names(["skin, all rows,usps"], {"skin", "skin, all rows", "usps"})
    ['skin, all rows', 'usps']
    """
    names = []
    for text in texts:
        pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
        while pieces:
            sizes = range(len(pieces), 0, -1)
            size = next((n for n in sizes if ", ".join(pieces[:n]) in known), 1)
            names.append(", ".join(pieces[:size]))
            pieces = pieces[size:]
    if texts and not names:
        raise click.UsageError(f"Give at least one name of: {', '.join(known)}.")
    return names or None


def json_option(command: _Function) -> _Function:
    """Add ``--json``."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, for programs."
    )(command)
