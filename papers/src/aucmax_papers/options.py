# SPDX-License-Identifier: BSD-3-Clause
"""Options that the verbs of ``aucmax bench`` share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_Function = TypeVar("_Function", bound=Callable[..., Any])


def results_option(command: _Function) -> _Function:
    """Add ``--results``."""
    return click.option(
        "--results",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        default="aucmax-results",
        envvar="AUCMAX_RESULTS",
        show_default=True,
        show_envvar=True,
        help="Folder of the results.",
    )(command)


def fast_option(command: _Function) -> _Function:
    """Add ``--fast``."""
    return click.option(
        "--fast",
        is_flag=True,
        help="The reduced protocol: fewer repeats, fewer rows, no large sets.",
    )(command)


def shown_options(command: _Function) -> _Function:
    """Add ``--table`` and ``--figure``."""
    for name in ("figure", "table"):
        command = click.option(
            f"--{name}",
            f"{name}s",
            metavar="N",
            multiple=True,
            help=f"Only this {name} of the paper; may be given several times.",
        )(command)
    return command
