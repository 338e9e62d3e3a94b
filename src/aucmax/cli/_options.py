# SPDX-License-Identifier: BSD-3-Clause
"""Options of the commands that read tables and models."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

# What a table may be; the library, which is slow to import, has the same list.
FORMATS = (
    *("csv", "tsv", "jsonl", "parquet", "arrow", "feather", "ipc"),
    *("libsvm", "svm", "svmlight"),
)
# How the name of a plot may end.
PICTURES = (".png", ".svg", ".html")
# What a shell makes it hard to write.
SEPARATORS = {"\\t": "\t", "tab": "\t"}

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Finite(click.FloatRange):
    """A number in a range, but neither nan nor infinity, which are in any."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Return the number, or end the command."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


def format_option(command: _Function) -> _Function:
    """Add ``--format``."""
    return click.option(
        "--format",
        metavar="F",
        type=click.Choice(FORMATS, case_sensitive=False),
        help="What DATA holds, if its name does not say: csv, tsv, jsonl, parquet, "
        "arrow, feather or libsvm.",
    )(command)


class Separator(click.ParamType):  # type: ignore[type-arg]
    """A character that separates columns."""

    name = "separator"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the character, or end the command."""
        mark = SEPARATORS.get(value, value)
        if len(mark) != 1 or not mark.isascii() or mark.isalnum() or mark in '"\r\n.-':
            raise click.BadParameter(
                "give one character that is in no number or name, such as ';'; got "
                f"{value!r}."
            )
        return str(mark)


def separator_option(command: _Function) -> _Function:
    """Add ``--separator``."""
    return click.option(
        "--separator",
        metavar="C",
        type=Separator(),
        help="What is between the columns of a CSV, if it is no comma, such as ';'.",
    )(command)


def stream_options(command: _Function) -> _Function:
    """Add ``--stream``, ``--checkpoint``, ``--every`` and ``--dask-scheduler``."""
    for option in (
        click.option(
            "--dask-scheduler",
            metavar="ADDRESS",
            help="Train on this Dask cluster, such as tcp://host:8786, whose workers "
            "can read DATA.",
        ),
        click.option(
            "--every",
            metavar="N",
            type=click.IntRange(min=1),
            help="Keep the state after every N batches or steps; 1 if not given.",
        ),
        click.option(
            "--checkpoint",
            metavar="DIR",
            type=click.Path(file_okay=False, path_type=Path),
            help="Keep the state of the fit in this folder, and go on from there if "
            "the command was stopped. Implies --stream.",
        ),
        click.option(
            "--stream",
            is_flag=True,
            help="Read DATA in batches, as often as needed, and never all at once.",
        ),
    ):
        command = option(command)
    return command


def force_option(command: _Function) -> _Function:
    """Add ``--force``."""
    return click.option(
        "--force", is_flag=True, help="Replace regular files that are there."
    )(command)


def target_option(command: _Function) -> _Function:
    """Add ``--target``."""
    return click.option("--target", metavar="NAME", help="The column with the labels.")(
        command
    )


def drop_option(command: _Function) -> _Function:
    """Add ``--drop``."""
    return click.option(
        "--drop",
        metavar="COL",
        multiple=True,
        help="Leave out this column; may be given several times.",
    )(command)


def trust_option(command: _Function) -> _Function:
    """Add ``--trust``."""
    return click.option(
        "--trust",
        metavar="TYPE",
        multiple=True,
        help="A type that the model may contain though it is not known to be harmless; "
        "may be given several times.",
    )(command)


def _check_plot(
    ctx: click.Context, param: click.Parameter, path: Path | None
) -> Path | None:
    if path is not None and path.suffix.lower() not in PICTURES:
        raise click.BadParameter(f"give a name that ends with {', '.join(PICTURES)}.")
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {path.parent}.")
    return path


def plot_option(command: _Function) -> _Function:
    """Add ``--plot``."""
    return click.option(
        "--plot",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        callback=_check_plot,
        help="Draw the ROC curve, as .png or .svg; .html is a page with more.",
    )(command)


def is_page(path: Path) -> bool:
    """Say whether a plot is to be a web page."""
    return path.suffix.lower() == ".html"


def seed_option(command: _Function) -> _Function:
    """Add ``--seed``."""
    return click.option(
        "--seed",
        metavar="N",
        type=click.IntRange(0, 2**31 - 1),
        default=0,
        show_default=True,
        help="Of all random choices.",
    )(command)


def positive_option(command: _Function) -> _Function:
    """Add ``--positive``."""
    return click.option(
        "--positive",
        metavar="LABEL",
        help="The label to be ranked high; all others are negative. The larger one of "
        "two if not given.",
    )(command)
